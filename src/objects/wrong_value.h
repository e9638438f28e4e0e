/*
 * wrong_value: values of known fields that Kubernetes' API does not accept, or that nobody means.
 */
#ifndef OBJECTS_WRONG_VALUE_H
#define OBJECTS_WRONG_VALUE_H

#include "base/arena.h"

#include <jansson.h>

/* Says what is wrong with the shape, which is that of struct schema_field. NULL: nothing, or the
 * value is null. */
const char *wrong_value_of_field(const json_t *value, char shape, struct arena *arena);
/* For an amount in limits or requests: it is missing, or so little memory that no process can
 * start. NULL: neither; the decoders report what is no quantity. */
const char *wrong_value_of_amount(const json_t *value, const char *resource, struct arena *arena);

#endif
