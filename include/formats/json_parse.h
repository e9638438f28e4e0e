/*
 * json_parse: JSON text into jansson's tree, within a budget.
 *
 * A tree may take 90 times the memory of its text, so bytes alone are no limit. A scan counts the
 * values, and the memory that the tree will take, before jansson sees the text. Every text comes
 * this way: here, or object by object in json_stream.h. YAML counts the same while it is read.
 */
#ifndef FORMATS_JSON_PARSE_H
#define FORMATS_JSON_PARSE_H

#include "base/err.h"

#include <jansson.h>
#include <stddef.h>

struct json_budget {
    /* Elements and members of all levels, and the outermost value; keys do not count. */
    size_t max_values;
    size_t max_tree_bytes; /* of jansson's tree, by an upper bound */
    size_t max_depth;      /* nesting of arrays and objects; at most jansson's */
    /* Policy keys, for messages; NULL: there is none. */
    const char *values_key, *bytes_key;
};

/* The cost of a text as jansson's tree: its values, and an upper bound of its bytes. */
struct json_cost {
    size_t n_values;
    size_t n_bytes;
};

/* For text that this program wrote, or that its user gave to it: no limit but jansson's depth. */
extern const struct json_budget JSON_OWN;
/* For an answer about one object, such as a Lease. */
extern const struct json_budget JSON_ANSWER;

/* Parses the complete text as one JSON value. -EINVAL: "LINE:COLUMN: what is wrong" (columns in
 * bytes). -EMSGSIZE: over the budget: "has N values, should have at most M (limits.KEY)". flags as
 * in jansson. The caller owns *ret_value (json_decref()). */
int json_parse(const char *text, size_t len, size_t flags, const struct json_budget *budget,
               json_t **ret_value, struct err *err);

/* A value of any type that this program wrote; NULL: it is none. The caller's. */
json_t *json_parse_own(const char *text);

/* The values of a tree, as a budget counts them. */
size_t json_count_values(const json_t *value);

/* Draws the keys of all hash tables, so that nobody outside can make their entries collide. Call it
 * before the first table, JSON object and thread. */
int json_parse_seed(struct err *err);

#endif
