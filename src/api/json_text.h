/* json_text: members of our own answers as text, for their tables. Private to api. */
#ifndef API_JSON_TEXT_H
#define API_JSON_TEXT_H

#include "base/arena.h"

#include <jansson.h>

/* The string; "" where there is none. Borrowed. */
const char *json_text_of(const json_t *object, const char *key);
/* The integer in decimal; "" where there is none. */
const char *json_number_text(const json_t *object, const char *key, struct arena *arena);
/* The number with three decimals; "" where there is none. */
const char *json_decimal_text(const json_t *object, const char *key, struct arena *arena);

#endif
