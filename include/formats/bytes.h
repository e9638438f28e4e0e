/*
 * bytes: where the readers of this folder get their text from, piece by piece.
 */
#ifndef FORMATS_BYTES_H
#define FORMATS_BYTES_H

#include "base/err.h"

#include <stddef.h>

/* Gives up to size bytes (size is never 0); *ret_n 0 is the end, then and whenever it is called
 * again. A negative errno ends it all; fill err. */
typedef int bytes_read(void *context, char *bytes, size_t size, size_t *ret_n, struct err *err);

/* A text that is at hand. */
struct bytes_at_hand {
    const char *text; /* may be NULL where len is 0 */
    size_t len;
};

/* A bytes_read; context is the struct bytes_at_hand, which is left with what was not yet read. */
int bytes_read_at_hand(void *context, char *bytes, size_t size, size_t *ret_n, struct err *err);

#endif
