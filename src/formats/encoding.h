/*
 * encoding: what no parser should see of its input: UTF-16 and U+0000.
 */
#ifndef FORMATS_ENCODING_H
#define FORMATS_ENCODING_H

#include "base/buf.h"
#include "formats/documents.h"

#include <stdbool.h>
#include <stddef.h>

/* Turns input in UTF-16 into UTF-8, as Windows' shells write files. Input in UTF-8 passes
 * unchanged. UTF-16 is known by its byte order mark, or by a NUL among the first two bytes: UTF-8
 * with one is neither YAML nor JSON. */
struct utf16 {
    bytes_read *read;
    void *context;
    enum { UTF16_UNDECIDED, UTF16_IS_UTF8, UTF16_LITTLE, UTF16_BIG } encoding;
    unsigned char left; /* half a unit, if has_left */
    bool has_left;
    unsigned high; /* the first half of a surrogate pair; 0: none */
    bool ended;
    struct buf out;
    size_t n_passed; /* of out */
};

void utf16_init(struct utf16 *utf16, bytes_read *read, void *context);
void utf16_fini(struct utf16 *utf16);
/* A bytes_read; the context is a struct utf16. Half characters become U+FFFD. */
int utf16_read(void *context, char *bytes, size_t size, size_t *ret_n, struct err *err);

/* Kubernetes accepts U+0000 in an annotation, but this program's strings end there. Replacing it
 * by U+FFFD everywhere keeps one tenant's text from making a list unreadable or being cut
 * silently. */

/* Offset of the first \u0000 of a JSON text at or after `from`; len if there is none. */
size_t encoding_find_nul(const char *json, size_t len, size_t from);
/* Replaces every \u0000 of a JSON text by \ufffd, of equal length. */
void encoding_replace_nuls(char *json, size_t len);

/* Appends the bytes, with U+FFFD for each NUL. */
void encoding_add_replaced(struct buf *out, const char *bytes, size_t len);

#endif
