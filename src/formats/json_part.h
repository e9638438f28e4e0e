/*
 * json_part: the first part of a JSON object, as an object. The caller has validated the text.
 */
#ifndef FORMATS_JSON_PART_H
#define FORMATS_JSON_PART_H

#include <jansson.h>
#include <stddef.h>

/* text starts an object and ends after its '{' or after a member of it, or of an object or list
 * inside. Closes what is open. NULL: jansson cannot read it. */
json_t *json_part(const char *text, size_t len, size_t json_flags);

#endif
