/* json_text: see json_text.h. */
#include "json_text.h"

const char *json_text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

const char *json_number_text(const json_t *object, const char *key, struct arena *arena)
{
    const json_t *value = json_object_get(object, key);
    if (!json_is_integer(value))
        return "";
    return arena_printf(arena, "%lld", (long long)json_integer_value(value));
}

const char *json_decimal_text(const json_t *object, const char *key, struct arena *arena)
{
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? arena_printf(arena, "%.3f", json_number_value(value)) : "";
}
