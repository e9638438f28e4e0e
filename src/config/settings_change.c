/* settings_change: how settings differ, key by key. The values are compared as the policy file
 * would have them, as JSON. */
#include "base/mem.h"
#include "config/settings.h"
#include "formats/json_values.h"
#include "setting.h"

#include <stdlib.h>
#include <string.h>

/* Most of a value in a message. */
#define VALUE_MAX 400

static const struct yaml_options LIMITS = {.max_depth = 16, .max_values = 1000000};

/* Fractions with the digits of the file: jansson writes 0.2 as 0.20000000000000001. Only sections
 * have any. */
static void keep_digits(json_t *root)
{
    const char *name = NULL;
    json_t *section = NULL;
    json_object_foreach (root, name, section) {
        const char *key = NULL;
        json_t *value = NULL;
        json_object_foreach (section, key, value) {
            if (json_is_real(value))
                (void)json_object_set_new(section, key,
                                          json_sprintf("%.15g", json_real_value(value)));
        }
    }
}

/* The output of settings_print() is always valid. */
static json_t *tree_of(const struct settings *settings)
{
    struct buf text;
    json_t *root = NULL;
    struct yaml_places *places = NULL;
    buf_init(&text, BUF_UNBOUNDED); /* settings are bounded */
    settings_print(settings, &text);
    if (yaml_read(buf_text(&text), text.len, &LIMITS, &root, &places, NULL) < 0)
        abort();
    yaml_places_free(places);
    buf_fini(&text);
    keep_digits(root);
    return root;
}

void settings_json(const struct settings *settings, struct buf *out)
{
    json_auto_t *root = tree_of(settings);
    json_put(root, JSON_COMPACT, out);
}

char *settings_policy_text(void *context, struct arena *arena)
{
    struct buf out;
    buf_init(&out, BUF_UNBOUNDED); /* settings are bounded */
    buf_add_text(&out, "{\"values\":");
    settings_json(context, &out);
    buf_add_text(&out, "}");
    char *copy = arena_strndup(arena, buf_text(&out), out.len);
    buf_fini(&out);
    return copy;
}

struct comparison {
    struct arena *arena;
    struct settings_difference *items;
    size_t n, n_room;
};

static const char *text_of(const json_t *value, struct arena *arena)
{
    if (!value)
        return "";
    struct buf text;
    buf_init(&text, BUF_UNBOUNDED); /* settings are bounded */
    json_put(value, JSON_COMPACT | JSON_ENCODE_ANY, &text);
    const bool is_long = text.len > VALUE_MAX;
    const char *copy =
        arena_printf(arena, "%.*s%s", VALUE_MAX, buf_text(&text), is_long ? "..." : "");
    buf_fini(&text);
    return copy;
}

static void add(struct comparison *comparison, const struct setting *row, const char *key,
                const json_t *const values[2])
{
    if (values[0] == values[1] || json_equal(values[0], values[1]))
        return;
    if (comparison->n == comparison->n_room) {
        comparison->n_room = comparison->n_room ? 2 * comparison->n_room : 16;
        comparison->items =
            mem_grow(comparison->items, comparison->n_room, sizeof *comparison->items);
    }
    comparison->items[comparison->n++] =
        (struct settings_difference){.key = arena_strdup(comparison->arena, key),
                                     .before = text_of(values[0], comparison->arena),
                                     .after = text_of(values[1], comparison->arena),
                                     .needs_restart = row->change == SETTING_RESTART,
                                     .needs_lists = row->change == SETTING_LISTED};
}

static void add_entries(struct comparison *comparison, const struct setting *row,
                        const json_t *const maps[2])
{
    for (int side = 0; side < 2; side++) {
        const char *name = NULL;
        json_t *value = NULL;
        json_object_foreach ((json_t *)(uintptr_t)maps[side], name, value) {
            const json_t *const values[2] = {json_member(maps[0], name),
                                             json_member(maps[1], name)};
            if (side == 0 || !values[0])
                add(comparison, row, arena_printf(comparison->arena, "%s.%s", row->path, name),
                    values);
        }
    }
}

/* A list of objects with names as a map. */
static json_t *map_of(const json_t *list)
{
    json_t *map = json_object();
    size_t i = 0;
    json_t *item = NULL;
    json_array_foreach (list, i, item)
        (void)json_object_set(map, json_string_value(json_member(item, "name")), item);
    return map;
}

static const json_t *value_of(const json_t *root, const struct setting *row)
{
    const size_t len = setting_section_len(row);
    char section[64] = "";
    if (len == 0)
        return json_member(root, row->path);
    memcpy(section, row->path, len);
    return json_member(json_member(root, section), setting_key(row));
}

static void compare(struct comparison *comparison, const struct setting *row,
                    const json_t *const roots[2])
{
    const json_t *const values[2] = {value_of(roots[0], row), value_of(roots[1], row)};
    if (row->kind == SETTING_QUOTAS) {
        json_auto_t *before = map_of(values[0]);
        json_auto_t *after = map_of(values[1]);
        const json_t *const maps[2] = {before, after};
        add_entries(comparison, row, maps);
    } else if (row->kind == SETTING_ALIASES || row->kind == SETTING_DRIVERS) {
        add_entries(comparison, row, values);
    } else {
        add(comparison, row, row->path, values);
    }
}

size_t settings_differences(const struct settings *before, const struct settings *after,
                            struct arena *arena, struct settings_difference **ret_differences)
{
    json_auto_t *old = tree_of(before);
    json_auto_t *new = tree_of(after);
    const json_t *const roots[2] = {old, new};
    struct comparison comparison = {.arena = arena};
    for (const struct setting *row = SETTINGS; row < SETTINGS + N_SETTINGS; row++)
        compare(&comparison, row, roots);
    *ret_differences = arena_copy(arena, comparison.items, comparison.n, sizeof *comparison.items);
    free(comparison.items);
    return comparison.n;
}
