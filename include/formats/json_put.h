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
/* The text of the value, the caller's (free()), never NULL. Takes over the value. flags as in
 * json_dumps(). */
char *json_take_text(json_t *value, size_t flags, size_t *ret_len);

#endif
