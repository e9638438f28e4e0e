/*
 * quantity_json: quantities as JSON has them: a string, or a whole number.
 *
 * A number with a fraction has been through floating point and is refused. Messages carry no path:
 * the caller puts it in front.
 */
#ifndef OBJECTS_QUANTITY_JSON_H
#define OBJECTS_QUANTITY_JSON_H

#include "base/err.h"

#include <jansson.h>
#include <stdint.h>

#define QUANTITY_JSON_NUMBER_BYTES 24

/* The quantity's text: borrowed from the value, or written into number, which must hold
 * QUANTITY_JSON_NUMBER_BYTES. -EINVAL: neither a string nor a whole number. */
int quantity_json_text(const json_t *value, char *number, const char **ret_text, struct err *err);

/* In the unit of the resource (types/facts.h), rounded up. -EINVAL: no quantity, or a negative one;
 * -ERANGE: does not fit. */
int quantity_json_amount(const json_t *value, const char *resource, int64_t *ret_amount,
                         struct err *err);

#endif
