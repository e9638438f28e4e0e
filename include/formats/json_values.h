/*
 * json_values: members of JSON objects, read and written.
 */
#ifndef FORMATS_JSON_VALUES_H
#define FORMATS_JSON_VALUES_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- json get ---- */
/* Typed access to JSON members, with errors that name the path and the value.  Messages look
 * like `spec.containers[1].name: is the number 3, should be a string`. A missing or null member
 * is no error: the functions return 0 and leave the output unchanged. */

/* Seeds the hashes of all JSON objects. Call before the first object and the first thread. */
void json_set_seed(size_t seed);

/* Type names for messages: "a string", "a number with a fraction", "an object" ... */
const char *json_type_text(const json_t *value);
/* Adds the value as messages show it: `the string "x"`, `the number 3`, `an array`; long strings
 * are cut. */
void json_add_shown(const json_t *value, struct buf *out);

/* Borrowed; NULL if object is NULL or no object, or the member is missing or null. */
json_t *json_member(const json_t *object, const char *key);

/* 0 and the borrowed value (unchanged if missing), or -EINVAL for another type. */
int json_get_string(const json_t *object, const char *key, const char **ret_text, struct err *err);
int json_get_bool(const json_t *object, const char *key, bool *ret_value, struct err *err);
int json_get_integer(const json_t *object, const char *key, int64_t *ret_value, struct err *err);
int json_get_object(const json_t *object, const char *key, json_t **ret_value, struct err *err);
int json_get_array(const json_t *object, const char *key, json_t **ret_value, struct err *err);

/* ---- JSON values as text ---- */

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
