/* yaml_mapping: mappings with merges, and the top-level list of items (yaml_build_priv.h). */
#include "yaml_anchors.h"
#include "yaml_build_priv.h"
#include "yaml_keys.h"
#include "yaml_places.h"
#include "yaml_tags.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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
