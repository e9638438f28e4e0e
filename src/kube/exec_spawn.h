/*
 * exec_spawn: starts a credential plugin, in a process group of its own.
 *
 * It gets nothing on standard input and no file of ours, and no signal is blocked or ignored in it.
 */
#ifndef KUBE_EXEC_SPAWN_H
#define KUBE_EXEC_SPAWN_H

#include "base/err.h"
#include "kube/target.h"

#include <sys/types.h>

struct exec_child {
    pid_t pid;
    int out_fd, err_fd; /* what it writes; reading does not wait */
};

/* info is the value of KUBERNETES_EXEC_INFO. The message does not name the command. */
int exec_spawn(const struct kube_exec *exec, const char *info, struct exec_child *ret_child,
               struct err *err);
/* The same message where the command is not there, or may not be run; nothing is started. */
int exec_spawn_check(const struct kube_exec *exec, struct err *err);

#endif
