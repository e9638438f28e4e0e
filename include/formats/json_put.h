/*
 * json_put: JSON values as text.
 */
#ifndef FORMATS_JSON_PUT_H
#define FORMATS_JSON_PUT_H

#include "base/buf.h"

#include <jansson.h>
#include <stddef.h>

/* Adds the text of the value, or the beginning of it if the buffer overflows. flags as
 * json_dumps(). */
void json_put(const json_t *value, size_t flags, struct buf *out);
/* The text of the value, which it takes over; free() it. flags as json_dumps(). Never NULL. */
char *json_take_text(json_t *value, size_t flags, size_t *ret_len);

#endif
