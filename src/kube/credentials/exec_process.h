/*
 * exec_process: runs a credential plugin once, to its end or its time-out.
 */
#ifndef KUBE_CREDENTIALS_EXEC_PROCESS_H
#define KUBE_CREDENTIALS_EXEC_PROCESS_H

#include "base/buf.h"
#include "base/err.h"
#include "kube/target.h"

#include <stdint.h>

/* info: the value of KUBERNETES_EXEC_INFO; answer receives standard output. The plugin and its
 * children are killed on a time-out, if answer overflows, or if stop_fd becomes readable
 * (-ECANCELED). Messages name the command and quote the end of standard error, never the answer. */
int exec_process_run(const struct kube_exec *exec, const char *info, int64_t timeout_ms,
                     int stop_fd, struct buf *answer, struct err *err);
/* Whether the command exists and may be run; else -errno, with the message of a failed run. */
int exec_process_check(const struct kube_exec *exec, struct err *err);

#endif
