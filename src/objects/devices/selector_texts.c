/* selector_texts: see selector_texts.h. */
#include "objects/devices/selector_texts.h"

#include "cel/cel.h"
#include "formats/json_values.h"
#include "objects/fields.h"

#include <string.h>

struct selector_texts selector_texts_from_json(const json_t *selectors, struct arena *arena)
{
    static const struct selector_texts CUT = {.is_cut = true};
    const size_t n = json_array_size(selectors);
    size_t n_bytes = 0;
    if (!selectors || json_is_null(selectors))
        return (struct selector_texts){0};
    if (!json_is_array(selectors) || n > SELECTOR_TEXTS_MAX)
        return CUT;
    const char **texts = ARENA_ARRAY(arena, const char *, n);
    for (size_t i = 0; i < n; i++) {
        const json_t *cel = json_member(json_array_get(selectors, i), "cel");
        const char *text = json_string_value(json_member(cel, "expression"));
        if (!text || (n_bytes += strlen(text) + 1) > SELECTOR_TEXTS_BYTES_MAX)
            return CUT;
        texts[i] = arena_strdup(arena, text);
    }
    return (struct selector_texts){texts, n, false};
}

const char *selector_texts_driver(const json_t *selectors, struct arena *arena)
{
    size_t i = 0;
    json_t *selector = NULL;
    json_array_foreach (selectors, i, selector) {
        const char *expression =
            json_string_value(json_member(json_member(selector, "cel"), "expression"));
        const char *driver = cel_driver(expression ? expression : "", arena);
        if (driver[0] && strlen(driver) <= META_NAME_BYTES_MAX)
            return driver;
    }
    return "";
}

json_t *selector_texts_of_driver(const char *driver)
{
    return json_pack("[{s:{s:o}}]", "cel", "expression",
                     json_sprintf("device.driver == \"%s\"", driver));
}

/* The API knows no selector without a member, so one that has none stands for those left out; see
 * selector_texts_from_json(). */
json_t *selector_texts_to_json(const struct selector_texts *selectors, const char *driver)
{
    if (selectors->is_cut) {
        json_t *cut = driver[0] ? selector_texts_of_driver(driver) : json_array();
        (void)json_array_append_new(cut, json_object());
        return cut;
    }
    json_t *list = selectors->n > 0 ? json_array() : NULL;
    for (size_t i = 0; i < selectors->n; i++)
        (void)json_array_append_new(
            list, json_pack("{s:{s:s}}", "cel", "expression", selectors->texts[i]));
    return list;
}
