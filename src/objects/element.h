/*
 * element: typed access to array elements, like formats/json_get.h for members.
 *
 * Messages begin with "NAME[INDEX]: ". A null element leaves the output unchanged and is no error:
 * Kubernetes reads null as an empty object or string.
 */
#ifndef OBJECTS_ELEMENT_H
#define OBJECTS_ELEMENT_H

#include "base/err.h"

#include <jansson.h>

/* Returns 0 and the borrowed value, or -EINVAL for another type. */
int element_object(const json_t *array, size_t index, const char *name, json_t **ret_object,
                   struct err *err);
int element_string(const json_t *array, size_t index, const char *name, const char **ret_text,
                   struct err *err);

#endif
