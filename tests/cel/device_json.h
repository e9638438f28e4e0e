/*
 * device_json: a device of a ResourceSlice, as selectors see it.
 */
#ifndef TESTS_CEL_DEVICE_JSON_H
#define TESTS_CEL_DEVICE_JSON_H

#include "cel/cel.h"

#include <jansson.h>

/* Borrows from json, which must outlive it. */
struct cel_device device_from_json(const json_t *json, const char *driver, struct arena *arena);
/* The text of a member; "" without one. */
const char *json_text(const json_t *object, const char *key);

#endif
