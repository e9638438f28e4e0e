/*
 * quantity_json: quantities in JSON: a string or a number, of which kubectl sends the shortest text
 * that reads as the same double. Messages have no path; the caller prepends it.
 */
#ifndef OBJECTS_QUANTITY_JSON_H
#define OBJECTS_QUANTITY_JSON_H

#include "base/err.h"

#include <jansson.h>
#include <stdint.h>

#define QUANTITY_JSON_NUMBER_BYTES 32

/* The quantity's text: borrowed from the value, or written into number, which must have
 * QUANTITY_JSON_NUMBER_BYTES. -EINVAL: neither string nor number. */
int quantity_json_text(const json_t *value, char *number, const char **ret_text, struct err *err);

/* The amount in the resource's unit (types/facts.h), rounded up. -EINVAL: no quantity, or negative;
 * -ERANGE: too large. */
int quantity_json_amount(const json_t *value, const char *resource, int64_t *ret_amount,
                         struct err *err);

#endif
