/*
 * child: runs a program to its end, with input and output in memory. It does not outlive this one.
 */
#ifndef KUBECTL_CHILD_H
#define KUBECTL_CHILD_H

#include "base/buf.h"
#include "base/err.h"

/* The descriptor of the settings. */
#define CHILD_SETTINGS 3

struct child_streams {
    const char *in; /* standard input */
    size_t len;
    struct buf *out; /* standard output and standard error, up to the buffers' maximums */
    struct buf *complaints;
    const char *settings; /* read by the child at CHILD_SETTINGS; NULL: none */
};

/* argv ends with NULL; its first word is looked up in PATH. *ret_status: the exit status; 128 or
 * more: a signal ended it. A negative errno: it did not run, or (EFBIG) wrote too much. */
int child_run(const char *const *argv, const struct child_streams *streams, int *ret_status,
              struct err *err);

#endif
