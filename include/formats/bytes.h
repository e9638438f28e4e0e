/*
 * bytes: input of this folder's readers, in pieces.
 */
#ifndef FORMATS_BYTES_H
#define FORMATS_BYTES_H

#include "base/err.h"

#include <stddef.h>

/* Reads up to size bytes (size > 0). *ret_n 0: the end, also in repeated calls. A negative errno
 * ends the reading; fill err. */
typedef int bytes_read(void *context, char *bytes, size_t size, size_t *ret_n, struct err *err);

/* A text in memory. */
struct bytes_at_hand {
    const char *text; /* may be NULL if len is 0 */
    size_t len;
};

/* A bytes_read; the context is a struct bytes_at_hand, which keeps the unread rest. */
int bytes_read_at_hand(void *context, char *bytes, size_t size, size_t *ret_n, struct err *err);

#endif
