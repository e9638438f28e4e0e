/*
 * exec_process: runs a credential plugin once, to its end or to that of its time.
 */
#ifndef KUBE_CREDENTIALS_EXEC_PROCESS_H
#define KUBE_CREDENTIALS_EXEC_PROCESS_H

#include "base/buf.h"
#include "base/err.h"
#include "kube/target.h"

#include <stdint.h>

/* info is the value of KUBERNETES_EXEC_INFO; answer takes what it writes to standard output. The
 * plugin and what it has started are killed when it takes longer, writes more than answer may hold,
 * or stop_fd becomes readable (-ECANCELED). Messages name the command and have the end of what it
 * wrote to standard error, never of what it answered. */
int exec_process_run(const struct kube_exec *exec, const char *info, int64_t timeout_ms,
                     int stop_fd, struct buf *answer, struct err *err);
/* Whether there is such a command, and it may be run; -errno, with the message that running it
 * would give. */
int exec_process_check(const struct kube_exec *exec, struct err *err);

#endif
