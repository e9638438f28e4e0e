/* pieces: a text read in pieces of limited size, for tests of readers. */
#ifndef PIECES_H
#define PIECES_H

#include "formats/documents.h"

#include <errno.h>
#include <string.h>

struct pieces {
    const char *text;
    size_t len;
    size_t piece;       /* bytes */
    size_t n_read;      /* in total */
    size_t fails_after; /* bytes; 0: never */
};

/* A bytes_read. */
static inline int pieces_read(void *context, char *bytes, size_t size, size_t *ret_n,
                              struct err *err)
{
    struct pieces *pieces = context;
    size_t n = pieces->len - pieces->n_read;
    if (pieces->fails_after > 0 && pieces->n_read >= pieces->fails_after)
        return err_set(err, EIO, "the disk is gone");
    n = n < pieces->piece ? n : pieces->piece;
    n = n < size ? n : size;
    memcpy(bytes, pieces->text + pieces->n_read, n);
    pieces->n_read += n;
    *ret_n = n;
    return 0;
}

#endif
