/*
 * child: runs a program to its end, with input and output in memory. It does not outlive this one.
 */
#ifndef KUBECTL_CHILD_H
#define KUBECTL_CHILD_H

#include "base/buf.h"
#include "base/err.h"

/* The descriptor of the settings. */
#define CHILD_SETTINGS 3

/* When a child is killed, with all processes of its group. */
struct child_bound {
    int limit_ms;
    int stop; /* a descriptor: as soon as it can be read */
};

struct child_streams {
    const char *in; /* standard input */
    size_t len;
    struct buf *out; /* standard output and standard error, up to the buffers' maximums */
    struct buf *complaints;
    const char *settings;            /* read by the child at CHILD_SETTINGS; NULL: none */
    const struct child_bound *bound; /* NULL: none; the child is in the group of this process */
};

/* argv ends with NULL; its first word is looked up in PATH. *ret_status: the exit status; 128 or
 * more: a signal ended it. A negative errno: it did not run, wrote more than the output's buffer
 * can take (EFBIG), or was killed for its bound (ETIMEDOUT, ECANCELED). From any thread. */
int child_run(const char *const *argv, const struct child_streams *streams, int *ret_status,
              struct err *err);

#endif
