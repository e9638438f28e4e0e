/* wrong_value: see wrong_value.h. */
#include "wrong_value.h"

#include "base/buf.h"
#include "formats/json_get.h"
#include "quantity_json.h"
#include "quoted.h"
#include "types/quantity.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define SHOWN_MAX 400
#define MIB (INT64_C(1) << 20)

/* "is the number 8, should be a string: write \"8\"" */
static const char *wrong(const json_t *value, const char *right, struct arena *arena)
{
    struct buf out;
    buf_init(&out, SHOWN_MAX);
    buf_add_text(&out, "is ");
    json_add_shown(value, &out);
    buf_printf(&out, ", should be %s", right);
    if (json_is_boolean(value) && strcmp(right, "a string") == 0)
        buf_printf(&out, ": write \"%s\"", json_is_true(value) ? "true" : "false");
    if (json_is_integer(value) && strcmp(right, "a string") == 0)
        buf_printf(&out, ": write \"%" JSON_INTEGER_FORMAT "\"", json_integer_value(value));
    if (json_is_real(value) && strcmp(right, "a string") == 0)
        buf_add_text(&out, ": write it in quotes");
    const char *text = arena_strdup(arena, buf_text(&out));
    buf_fini(&out);
    return text;
}

static bool is_text(const json_t *value)
{
    return json_is_string(value) || json_is_null(value);
}

/* Names the first item that is no string. */
static const char *wrong_item(const json_t *array, struct arena *arena)
{
    for (size_t i = 0; i < json_array_size(array); i++) {
        const json_t *item = json_array_get(array, i);
        if (!is_text(item))
            return arena_printf(arena, "item %zu %s", i, wrong(item, "a string", arena));
    }
    return NULL;
}

static bool is_object(const json_t *value)
{
    return json_is_object(value) || json_is_null(value);
}

static const char *wrong_member(const json_t *object, bool (*is_right)(const json_t *value),
                                const char *right, struct arena *arena)
{
    for (void *at = json_object_iter((json_t *)(uintptr_t)object); at;
         at = json_object_iter_next((json_t *)(uintptr_t)object, at)) {
        const json_t *value = json_object_iter_value(at);
        if (!is_right(value))
            return arena_printf(arena, "%s %s", quoted(arena, json_object_iter_key(at)),
                                wrong(value, right, arena));
    }
    return NULL;
}

static bool is_of_shape(const json_t *value, char shape)
{
    switch (shape) {
    case 'B':
        return json_is_boolean(value);
    case 'I':
    case 'J':
        return json_is_integer(value);
    case 'X':
        return json_is_integer(value) || json_is_string(value);
    case 'S':
        return json_is_string(value);
    case 'O':
    case 'M':
    case 'N':
        return json_is_object(value);
    case 'L':
    case 'T':
        return json_is_array(value);
    default:
        return true;
    }
}

static const char *right_of_shape(char shape)
{
    static const char SHAPES[] = "BIJXSOMNLT";
    static const char *const RIGHT[] = {
        "true or false",
        "a whole number",
        "a whole number",
        "a whole number or a string",
        "a string",
        "an object",
        "an object",
        "an object",
        "an array: begin each item with \"- \"",
        "an array of strings, as in [\"a\", \"b\"]",
    };
    return RIGHT[strchr(SHAPES, shape) - SHAPES];
}

static bool is_too_large(const json_t *value, char shape)
{
    const json_int_t n = json_integer_value(value);
    return (shape == 'I' || shape == 'X') && (n < INT32_MIN || n > INT32_MAX);
}

const char *wrong_value_of_field(const json_t *value, char shape, struct arena *arena)
{
    if (json_is_null(value))
        return NULL;
    if (!is_of_shape(value, shape))
        return wrong(value, right_of_shape(shape), arena);
    if (is_too_large(value, shape))
        return wrong(value, "at most 2147483647, in 32 bits", arena);
    return shape == 'M'   ? wrong_member(value, is_text, "a string", arena)
           : shape == 'N' ? wrong_member(value, is_object, "an object", arena)
           : shape == 'T' ? wrong_item(value, arena)
                          : NULL;
}

const char *wrong_value_of_amount(const json_t *value, const char *resource, struct arena *arena)
{
    char number[QUANTITY_JSON_NUMBER_BYTES];
    const char *text = NULL;
    int64_t bytes = 0;
    if (json_is_null(value))
        return "has no value, which counts as 0: write an amount";
    if (strcmp(resource, "memory") != 0 || json_is_real(value) ||
        quantity_json_text(value, number, &text, NULL) < 0 ||
        quantity_value(text, &bytes, NULL) < 0 || bytes <= 0 || bytes >= MIB)
        return NULL;
    const int n_digits = (int)strspn(text, "0123456789.");
    const char *unit = text + n_digits;
    const bool is_likely = *unit == '\0' || strcmp(unit, "m") == 0;
    const char *meant =
        is_likely ? arena_printf(arena, "; did you mean %.*sMi?", n_digits, text) : "";
    return arena_printf(arena, "%s is less than 1Mi%s", quoted(arena, text), meant);
}
