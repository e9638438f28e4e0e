/*
 * json_part: the beginning of a JSON object, as an object. It judges nothing: the text was read
 * before.
 */
#ifndef FORMATS_JSON_PART_H
#define FORMATS_JSON_PART_H

#include <jansson.h>
#include <stddef.h>

/* text begins an object, and ends behind its '{' or behind a member of it, or of an object or list
 * inside: what is open is closed. NULL where jansson cannot read it. */
json_t *json_part(const char *text, size_t len, size_t json_flags);

#endif
