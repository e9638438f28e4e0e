/*
 * json_put: JSON values as text.
 */
#ifndef FORMATS_JSON_PUT_H
#define FORMATS_JSON_PUT_H

#include "base/buf.h"

#include <jansson.h>
#include <stddef.h>

/* Adds the value's text, or its beginning if the buffer overflows. flags as in json_dumps(). */
void json_put(const json_t *value, size_t flags, struct buf *out);
/* The text of the value, the caller's (free()), never NULL. Takes over the value, which may have
 * packed ones in it. flags: JSON_COMPACT or JSON_INDENT(n). */
char *json_take_text(json_t *value, size_t flags, size_t *ret_len);

/* An array or object as a value that takes the memory of its text, about a tenth. Takes it over.
 * Only the two functions here know such values: json_take_text(), and the next one. In the tree of
 * an answer, at most four levels deep. */
json_t *json_packed(json_t *value);
/* The value as it was, or the same one if it is not packed. The caller's. */
json_t *json_unpacked(const json_t *value);

#endif
