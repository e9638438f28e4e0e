/* yaml_mapping: mappings with merges, and the top-level list of items (yaml_build.h). */
#include "base/mem.h"
#include "yaml_build.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct yaml_keys {
    struct seen_key *keys;
    size_t count;
    size_t size;
};

struct yaml_keys *yaml_keys_new(void)
{
    return MEM_NEW(struct yaml_keys);
}

void yaml_keys_free(struct yaml_keys *keys)
{
    if (!keys)
        return;
    yaml_keys_truncate(keys, 0);
    free(keys->keys);
    free(keys);
}

/* Takes over the key's text. */
static void yaml_keys_push(struct yaml_keys *keys, struct seen_key key)
{
    if (keys->count == keys->size) {
        keys->size = keys->size ? 2 * keys->size : 64;
        keys->keys = mem_grow(keys->keys, keys->size, sizeof *keys->keys);
    }
    keys->keys[keys->count++] = key;
}

static size_t yaml_keys_count(const struct yaml_keys *keys)
{
    return keys->count;
}

/* Valid until the next push. */
static const struct seen_key *yaml_keys_at(const struct yaml_keys *keys, size_t index)
{
    return &keys->keys[index];
}

void yaml_keys_truncate(struct yaml_keys *keys, size_t count)
{
    while (keys->count > count)
        free(keys->keys[--keys->count].text);
}

/* -EINVAL: the last key already occurs at index first or later. */
static int yaml_keys_refuse_second(const struct yaml_keys *keys, size_t first, struct err *err)
{
    const struct seen_key *last = &keys->keys[keys->count - 1];
    for (const struct seen_key *key = keys->keys + first; key < last; key++)
        if (strcmp(key->text, last->text) == 0)
            return err_set(
                err, EINVAL, "%zu:%zu: the key \"%.100s\" is here twice; it stands at %zu:%zu too",
                last->at.line, last->at.column, last->text, key->at.line, key->at.column);
    return 0;
}

/* The shortest text that reads as the same float, as sigs.k8s.io/yaml writes keys (Go's
 * FormatFloat(real, 'g', -1, 32)). */
static void write_real(double real, char *ret_text, size_t size)
{
    int n_decimals = -1;
    do
        (void)snprintf(ret_text, size, "%.*e", ++n_decimals, real);
    while (n_decimals < FLT_DECIMAL_DIG && strtof(ret_text, NULL) != (float)real);
    const long exponent = strtol(strchr(ret_text, 'e') + 1, NULL, 10);
    if (exponent >= -4 && exponent < 6)
        (void)snprintf(ret_text, size, "%.*f",
                       n_decimals > exponent ? n_decimals - (int)exponent : 0, real);
}

/* The key text of a scalar, as in sigs.k8s.io/yaml: yes is "true", 0x10 is "16". The caller frees
 * it; NULL: the value cannot be a key. */
static char *yaml_keys_text(const json_t *value)
{
    char number[24];
    if (json_is_string(value))
        return mem_strdup(json_string_value(value));
    if (json_is_boolean(value))
        return mem_strdup(json_is_true(value) ? "true" : "false");
    if (json_is_integer(value))
        (void)snprintf(number, sizeof number, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    else if (json_is_real(value) && fabs(json_real_value(value)) < 0x1p63)
        write_real(json_real_value(value), number, sizeof number);
    else
        return NULL;
    return mem_strdup(number);
}

/* The mapping being read. */
struct mapping {
    json_t *object;
    size_t first_key;
    struct drop_place place;
};

/* Only MEMBER_PLAIN adds to the object; duplicates of the others are found by yaml_keys. */
enum yaml_member_kind { MEMBER_PLAIN, MEMBER_MERGE, MEMBER_DROPPED, MEMBER_ITEMS };

/* ---- the list of items ---- */

static int each_item(struct yaml_build *build, const struct yaml_source_event *event,
                     struct err *err)
{
    json_t *item;
    struct text_position at = event->at;
    build->n_values = 0;
    build->is_item = true;
    if (!build->handler->on_item)
        return yaml_build_skip(build, event, err);
    int r = yaml_build_node(build, event, drop_paths_root(build->options->drop), &item, err);
    if (r < 0)
        return r;
    r = yaml_build_hand_over(build, item, at, err);
    json_decref(item);
    return r;
}

static int each_items(struct yaml_build *build, struct err *err)
{
    struct yaml_source_event event;
    int r = 0;
    while (r == 0) {
        r = yaml_source_next(build->source, &event, err);
        if (r < 0 || event.kind == SOURCE_SEQUENCE_END)
            break;
        r = each_item(build, &event, err);
    }
    return r;
}

/* so_far: members of the list before its items. */
static int build_items(struct yaml_build *build, const struct yaml_source_event *list,
                       json_t *so_far, struct err *err)
{
    size_t envelope_values = build->n_values;
    struct text_position at = list->at;
    struct anchor *unused;
    int r = yaml_tags_check(list, err);
    if (r == 0 && list->anchor)
        r = yaml_anchors_open(build->anchors, list->anchor,
                              "is the list of items, which is not kept", list->at, &unused, err);
    if (r == 0)
        r = yaml_build_enter(build, list, err);
    if (r == 0)
        r = yaml_build_hand_over_list(build, so_far, at, err);
    if (r == 0)
        r = each_items(build, err);
    build->depth--;
    build->n_values = envelope_values;
    build->is_item = false;
    return r;
}

/* ---- mappings ---- */

static bool is_merge_key(const struct yaml_source_event *event)
{
    return event->kind == SOURCE_SCALAR && event->is_plain && !event->tag &&
           strcmp(event->text, "<<") == 0;
}

static int read_key(struct yaml_build *build, const struct yaml_source_event *event,
                    char **ret_text, struct err *err)
{
    json_t *value = NULL;
    struct text_position at = event->at;
    if (event->kind == SOURCE_SCALAR || event->kind == SOURCE_ALIAS) {
        int r = yaml_build_node(build, event, YAML_BUILD_NOWHERE, &value, err);
        if (r < 0)
            return r;
        build->n_values--; /* a key is no value */
        build->cost.n_values--;
        build->cost.n_bytes += JSON_COST_KEY - JSON_COST_STRING;
    }
    char *text = yaml_keys_text(value);
    json_decref(value);
    if (!text)
        return err_set(err, EINVAL, "%zu:%zu: a key is null, a list or a mapping, should be text",
                       at.line, at.column);
    *ret_text = text;
    return 0;
}

/* As in go-yaml v2: over the keys before "<<", and under those after it. */
static int apply_merge(const struct yaml_build *build, const struct mapping *mapping,
                       json_t *source)
{
    const char *key;
    json_t *value;
    if (!json_is_object(source))
        return -EINVAL;
    json_object_foreach (source, key, value) {
        if (json_object_set(mapping->object, key, value) < 0)
            abort();
        if (build->places)
            yaml_places_copy(build->places, source, mapping->object, key);
    }
    return 0;
}

static int build_merge(struct yaml_build *build, struct mapping *mapping,
                       const struct yaml_source_event *event, struct err *err)
{
    json_t *value;
    struct text_position at = event->at;
    const bool is_one = event->kind != SOURCE_SEQUENCE_BEGIN;
    int r = yaml_build_node(build, event, YAML_BUILD_NOWHERE, &value, err);
    if (r < 0)
        return r;
    yaml_anchors_keep(build->anchors, value);
    if (is_one)
        r = apply_merge(build, mapping, value);
    /* Earlier sources win. */
    for (size_t i = json_array_size(value); r == 0 && i-- > 0;)
        r = apply_merge(build, mapping, json_array_get(value, i));
    if (r < 0)
        return err_set(err, EINVAL, "%zu:%zu: << needs a mapping, or a list of mappings", at.line,
                       at.column);
    return 0;
}

static int build_value(struct yaml_build *build, const struct mapping *mapping,
                       const struct yaml_source_event *event, struct drop_place place,
                       struct err *err)
{
    json_t *value;
    struct text_position at = event->at;
    size_t index = yaml_keys_count(build->keys) - 1;
    int r = yaml_build_node(build, event, place, &value, err);
    if (r < 0)
        return r;
    const struct seen_key *key = yaml_keys_at(build->keys, index);
    if (json_object_set_new(mapping->object, key->text, value) < 0)
        abort();
    if (build->places)
        yaml_places_add(build->places, mapping->object, key->text, key->at, at);
    return 0;
}

static enum yaml_member_kind member_kind(const struct yaml_build *build,
                                         const struct mapping *mapping,
                                         const struct yaml_source_event *event, const char *key,
                                         struct drop_place *ret_inside)
{
    enum drop_verdict verdict = drop_paths_member(mapping->place, key, strlen(key), ret_inside);
    if (is_merge_key(event))
        return MEMBER_MERGE;
    if (verdict == DROP_MEMBER)
        return MEMBER_DROPPED;
    if (build->handler && build->depth == 1 && strcmp(key, "items") == 0)
        return MEMBER_ITEMS;
    return MEMBER_PLAIN;
}

static int build_member_value(struct yaml_build *build, struct mapping *mapping,
                              enum yaml_member_kind kind, struct drop_place inside, struct err *err)
{
    struct yaml_source_event event;
    int r = yaml_source_next(build->source, &event, err);
    if (r < 0)
        return r;
    if (kind == MEMBER_MERGE)
        return build_merge(build, mapping, &event, err);
    if (kind == MEMBER_DROPPED)
        return yaml_build_skip(build, &event, err);
    if (kind == MEMBER_ITEMS && event.kind == SOURCE_SEQUENCE_BEGIN)
        return build_items(build, &event, mapping->object, err);
    return build_value(build, mapping, &event, inside, err);
}

static int build_member(struct yaml_build *build, struct mapping *mapping,
                        const struct yaml_source_event *event, struct err *err)
{
    struct seen_key key = {NULL, event->at};
    struct drop_place inside;
    int r = read_key(build, event, &key.text, err);
    if (r < 0)
        return r;
    yaml_keys_push(build->keys, key);
    enum yaml_member_kind kind = member_kind(build, mapping, event, key.text, &inside);
    if (kind != MEMBER_PLAIN || json_object_get(mapping->object, key.text))
        r = yaml_keys_refuse_second(build->keys, mapping->first_key, err);
    if (r < 0)
        return r;
    return build_member_value(build, mapping, kind, inside, err);
}

static int build_members(struct yaml_build *build, struct mapping *mapping, struct err *err)
{
    struct yaml_source_event event;
    for (;;) {
        int r = yaml_source_next(build->source, &event, err);
        if (r < 0 || event.kind == SOURCE_MAPPING_END)
            return r;
        r = build->is_over ? yaml_build_skip(build, &event, err)
                           : build_member(build, mapping, &event, err);
        if (r < 0)
            return r;
    }
}

int yaml_mapping_read(struct yaml_build *build, struct drop_place place, json_t **ret_value,
                      struct err *err)
{
    json_auto_t *object = yaml_build_must(json_object());
    struct mapping mapping = {object, yaml_keys_count(build->keys), place};
    int r = build_members(build, &mapping, err);
    if (r < 0)
        return r;
    yaml_keys_truncate(build->keys, mapping.first_key);
    *ret_value = json_incref(object);
    return 0;
}
