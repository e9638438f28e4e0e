/*
 * nul: replaces U+0000 in input. Private to formats.
 *
 * Kubernetes accepts U+0000 in an annotation, but this program's strings end there. Replacing it by
 * U+FFFD everywhere keeps one tenant's text from making a list unreadable or being cut silently.
 */
#ifndef FORMATS_NUL_H
#define FORMATS_NUL_H

#include "base/buf.h"

#include <stddef.h>

/* Offset of the first \u0000 of a JSON text at or after `from`; len if there is none. */
size_t nul_find_escaped(const char *json, size_t len, size_t from);
/* Replaces every \u0000 of a JSON text by \ufffd, of equal length. */
void nul_replace_escaped(char *json, size_t len);

/* Appends the bytes, with U+FFFD for each NUL. */
void nul_add_replaced(struct buf *out, const char *bytes, size_t len);

#endif
