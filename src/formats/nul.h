/*
 * nul: the character U+0000 in texts that are read. Private to formats.
 *
 * Kubernetes takes it in an annotation, but strings in this program end at it: what came after
 * would be lost, silently. So it is read as U+FFFD everywhere, and one tenant's text neither makes
 * a whole list unreadable nor is it ever cut.
 */
#ifndef FORMATS_NUL_H
#define FORMATS_NUL_H

#include "base/buf.h"

#include <stddef.h>

/* Where the next \u0000 of a JSON text begins, at or after `from`; len if there is none. */
size_t nul_find_escaped(const char *json, size_t len, size_t from);
/* Makes every \u0000 of a JSON text, which is as long, a \ufffd. */
void nul_replace_escaped(char *json, size_t len);

/* Adds the bytes, U+FFFD for each that is NUL. */
void nul_add_replaced(struct buf *out, const char *bytes, size_t len);

#endif
