/*
 * element: typed reading of array elements, as formats/json_get.h does for members.
 *
 * Messages begin with "NAME[INDEX]: ". A null element is no error: the output is left as it was
 * (Kubernetes reads null as an empty object or text).
 */
#ifndef OBJECTS_ELEMENT_H
#define OBJECTS_ELEMENT_H

#include "base/err.h"

#include <jansson.h>

/* 0 and the borrowed value, or -EINVAL: the type is another. */
int element_object(const json_t *array, size_t index, const char *name, json_t **ret_object,
                   struct err *err);
int element_string(const json_t *array, size_t index, const char *name, const char **ret_text,
                   struct err *err);

#endif
