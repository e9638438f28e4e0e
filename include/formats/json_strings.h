/*
 * json_strings: reads a long list of strings from a JSON object, without a jansson value for each.
 *
 * For the one list that makes up nearly all of a text; jansson reads the rest. One other member may
 * be set aside, to be read within a budget of its own.
 */
#ifndef FORMATS_JSON_STRINGS_H
#define FORMATS_JSON_STRINGS_H

#include "base/arena.h"
#include "base/err.h"
#include "base/hash.h"
#include "formats/json_parse.h"

#include <stdbool.h>
#include <stddef.h>

/* In the arena or the text. */
struct json_strings {
    struct hashed_text *items; /* NULL: the list is not there, or no list, and then in rest */
    size_t n;
    bool are_plain;   /* they need no escape in buf_add_quoted() */
    const char *rest; /* the object with an empty list in place of the list, and aside null */
    size_t rest_len;
    char *aside; /* the value set aside; NULL: it is not there */
    size_t aside_len;
    size_t n_aside_values;
};

/* Members of the top level. */
struct json_strings_keys {
    const char *list;
    const char *aside;
};

/* Scans the text once, and ends each item in it by a NUL. Returns false and leaves the text as it
 * is if it is no JSON, has neither member at its top level, or needs a full parser (an escape, a
 * non-string item, a duplicate key): then use json_parse(), which also reports faults. */
bool json_strings_take(char *text, size_t len, const struct json_strings_keys *keys,
                       struct arena *arena, struct json_strings *ret_strings);

/* Parses the value set aside, which must be there. -EMSGSIZE: over the values of the budget, with
 * the message of json_parse(). -EINVAL: "LINE:COLUMN: what is wrong", from the value's first byte.
 * The caller owns *ret_value. */
int json_strings_read_aside(const struct json_strings *strings, const struct json_budget *budget,
                            json_t **ret_value, struct err *err);

#endif
