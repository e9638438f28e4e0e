/*
 * json_strings: a long list of strings out of a JSON object, without a jansson value for each.
 *
 * For the one list that makes nearly all of a text; jansson reads the rest.
 */
#ifndef FORMATS_JSON_STRINGS_H
#define FORMATS_JSON_STRINGS_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

/* All in the arena. */
struct json_strings {
    const char **items; /* never NULL */
    size_t n;
    const char *rest; /* the object with an empty list in the list's place */
    size_t rest_len;
};

/* False where the text is no JSON, has no such list at its top level, or has anything in it that
 * needs more thought (an escape, an item that is no string, the key twice): then the text is to be
 * read with json_parse(), which also says what is wrong. */
bool json_strings_take(const char *text, size_t len, const char *key, struct arena *arena,
                       struct json_strings *ret_strings);

#endif
