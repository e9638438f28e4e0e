/*
 * device_json: a device of a ResourceSlice, as selectors see it; and the loop of a program that
 * answers lines of JSON.
 */
#ifndef TESTS_CEL_DEVICE_JSON_H
#define TESTS_CEL_DEVICE_JSON_H

#include "cel/cel.h"

#include <jansson.h>

/* Borrows from json, which must outlive it. */
struct cel_device device_from_json(const json_t *json, const char *driver, struct arena *arena);
/* Reads questions from standard input, a line each, and writes the answers. flags: of json_loads().
 * Returns the program's status: 1 at the first line that is no JSON. */
int answer_lines(size_t flags, json_t *(*answer)(const json_t *question, struct arena *arena));
/* The text of a member; "" without one. */
const char *json_text(const json_t *object, const char *key);

#endif
