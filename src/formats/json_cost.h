/*
 * json_cost: counts struct json_cost. Private to formats.
 *
 * The bytes are those of jansson 2.14 over glibc's malloc on 64 bits, with the slot in the
 * container, which doubles when it is full, and the smaller one that it replaces. Without the bytes
 * of strings and keys: their text, escapes included, is at least as long.
 */
#ifndef FORMATS_JSON_COST_H
#define FORMATS_JSON_COST_H

#include "formats/json_parse.h"

#include <stdbool.h>

/* Of each value: its slot in an array. */
#define JSON_COST_LITERAL ((size_t)32)
#define JSON_COST_NUMBER ((size_t)64)
#define JSON_COST_STRING ((size_t)112)
#define JSON_COST_ARRAY ((size_t)192)
#define JSON_COST_OBJECT ((size_t)272)
#define JSON_COST_KEY ((size_t)144)

/* The cost of what was counted between the two. */
struct json_cost json_cost_since(struct json_cost now, struct json_cost then);

/* -EMSGSIZE: over the budget. what: begins the message ("the object that begins here "). */
int json_cost_check(struct json_cost cost, const struct json_budget *budget, const char *what,
                    struct err *err);

/* jansson's parser, for a text that a scan has counted. U+0000 must have been replaced. */
json_t *json_cost_load(const char *text, size_t len, size_t flags, json_error_t *ret_error);

#endif
