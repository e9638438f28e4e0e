/* yaml_build: see yaml_build.h. Recursion is bounded by max_depth. */
#include "yaml_build.h"
#include "base/arena.h"
#include "base/mem.h"
#include "base/table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Per text. Bounded, because an attacker can choose names with equal hashes. */
#define ANCHORS_MAX 10000

struct anchor {
    UT_hash_handle hh;
    char *name;
    const char *why_not; /* NULL: the target may be used */
    struct anchor_target target;
};

struct yaml_anchors {
    struct arena *arena; /* holds the anchors, replaced ones included */
    struct anchor *by_name;
    json_t *kept;
    unsigned count; /* in all documents */
};

static struct yaml_anchors *yaml_anchors_new(void)
{
    struct yaml_anchors *anchors = MEM_NEW(struct yaml_anchors);
    anchors->arena = arena_new();
    anchors->kept = json_array();
    return anchors;
}

static void yaml_anchors_free(struct yaml_anchors *anchors)
{
    if (!anchors)
        return;
    HASH_CLEAR(hh, anchors->by_name);
    arena_free(anchors->arena);
    json_decref(anchors->kept);
    free(anchors);
}

/* Forgets all anchors; call at the start of a document. */
static void yaml_anchors_clear(struct yaml_anchors *anchors)
{
    HASH_CLEAR(hh, anchors->by_name);
    arena_free(anchors->arena);
    anchors->arena = arena_new();
    (void)json_array_clear(anchors->kept);
}

int yaml_anchors_open(struct yaml_anchors *anchors, const char *name, const char *why_not,
                      struct text_position at, struct anchor **ret_anchor, struct err *err)
{
    if (anchors->count == ANCHORS_MAX)
        return err_set(err, EMSGSIZE, "%zu:%zu: more than %d anchors", at.line, at.column,
                       ANCHORS_MAX);
    anchors->count++;
    struct anchor *old = NULL;
    struct anchor *anchor = ARENA_NEW(anchors->arena, struct anchor);
    anchor->name = arena_strdup(anchors->arena, name);
    anchor->why_not = why_not;
    HASH_REPLACE(hh, anchors->by_name, name[0], strlen(anchor->name), anchor, old);
    (void)old;
    *ret_anchor = anchor;
    return 0;
}

static void yaml_anchors_close(struct yaml_anchors *anchors, struct anchor *anchor,
                               struct anchor_target target)
{
    yaml_anchors_keep(anchors, json_incref(target.value));
    anchor->target = target;
    anchor->why_not = NULL;
}

void yaml_anchors_keep(struct yaml_anchors *anchors, json_t *value)
{
    if (json_array_append_new(anchors->kept, value) < 0)
        abort();
}

/* -EINVAL, with `at` in the message: the anchor is unknown, or not allowed here. */
static int yaml_anchors_find(const struct yaml_anchors *anchors, const char *name,
                             struct text_position at, struct anchor_target *ret_target,
                             struct err *err)
{
    struct anchor *anchor = NULL;
    HASH_FIND_STR(anchors->by_name, name, anchor);
    if (!anchor)
        return err_set(err, EINVAL, "%zu:%zu: no anchor &%.100s before this alias", at.line,
                       at.column, name);
    if (anchor->why_not)
        return err_set(err, EINVAL, "%zu:%zu: the alias *%.100s cannot be used: its anchor %s",
                       at.line, at.column, name, anchor->why_not);
    *ret_target = anchor->target;
    return 0;
}

struct yaml_build *yaml_build_new(struct yaml_source *source, const struct yaml_options *options,
                                  const struct json_stream_handler *handler,
                                  struct yaml_places *places)
{
    struct yaml_build *build = MEM_NEW(struct yaml_build);
    build->source = source;
    build->options = options;
    build->handler = handler;
    build->places = places;
    if (options->spent)
        build->cost = *options->spent;
    build->anchors = yaml_anchors_new();
    build->keys = yaml_keys_new();
    return build;
}

void yaml_build_free(struct yaml_build *build)
{
    if (!build)
        return;
    yaml_anchors_free(build->anchors);
    yaml_keys_free(build->keys);
    free(build);
}

json_t *yaml_build_must(json_t *value)
{
    if (!value)
        abort();
    return value;
}

typedef bool take_large(void *context, const json_t *part, const struct json_over *over);

/* Who takes the current object if it is too large; NULL: nobody. */
static take_large *taker_of_large(const struct yaml_build *build)
{
    if (!build->handler)
        return NULL;
    return build->is_item ? build->handler->on_large_item : build->handler->on_large_envelope;
}

static int count_object(struct yaml_build *build, size_t n_values, struct text_position at,
                        struct err *err)
{
    build->n_values += n_values;
    if (build->n_values <= build->options->max_values)
        return 0;
    build->is_over = taker_of_large(build) != NULL;
    if (build->is_over)
        return 0;
    return err_set(err, EMSGSIZE, "%zu:%zu: more than %zu values in one object", at.line, at.column,
                   build->options->max_values);
}

/* Counts values and bytes of memory. at: for the message. */
static int yaml_build_count(struct yaml_build *build, size_t n_values, size_t n_bytes,
                            struct text_position at, struct err *err)
{
    const struct yaml_options *options = build->options;
    build->cost.n_values += n_values;
    build->cost.n_bytes += n_bytes;
    if (options->spent)
        *options->spent = build->cost;
    int r = count_object(build, n_values, at, err);
    if (r < 0 || !options->budget)
        return r;
    r = json_cost_check(build->cost, options->budget, "the text ", err);
    if (r < 0)
        err_prefix(err, "%zu:%zu: ", at.line, at.column);
    return r;
}

static size_t bytes_of(const struct yaml_source_event *event)
{
    if (event->kind == SOURCE_SCALAR)
        return JSON_COST_STRING + event->len;
    return event->kind == SOURCE_MAPPING_BEGIN ? JSON_COST_OBJECT : JSON_COST_ARRAY;
}

static int too_deep(const struct yaml_build *build, struct text_position at, struct err *err)
{
    return err_set(err, EINVAL, "%zu:%zu: nested deeper than %zu levels", at.line, at.column,
                   build->options->max_depth);
}

int yaml_build_enter(struct yaml_build *build, const struct yaml_source_event *event,
                     struct err *err)
{
    if (build->depth == build->options->max_depth)
        return too_deep(build, event->at, err);
    build->depth++;
    if (build->depth > build->deepest)
        build->deepest = build->depth;
    return 0;
}

/* The depth of an alias's value counts as if written here. */
static int check_height(struct yaml_build *build, size_t height, struct text_position at,
                        struct err *err)
{
    if (height > build->options->max_depth - build->depth)
        return too_deep(build, at, err);
    if (build->depth + height > build->deepest)
        build->deepest = build->depth + height;
    return 0;
}

static size_t most_alias_values(const struct yaml_options *options)
{
    return options->max_alias_values > 0 ? options->max_alias_values : options->max_values;
}

/* Decoders copy the texts of an alias each time. The limit of values also bounds these bytes, by
 * this average. */
#define ALIAS_BYTES_A_VALUE ((size_t)16)

static int check_alias_bytes(struct yaml_build *build, size_t n_bytes, struct text_position at,
                             struct err *err)
{
    const size_t most = most_alias_values(build->options) * ALIAS_BYTES_A_VALUE;
    build->n_bytes += n_bytes;
    build->n_alias_bytes += n_bytes;
    if (build->n_alias_bytes <= most)
        return 0;
    return err_set(err, EMSGSIZE, "%zu:%zu: the aliases expand to more than %zu bytes of text",
                   at.line, at.column, most);
}

static int alias_value(struct yaml_build *build, const struct yaml_source_event *event,
                       json_t **ret_value, struct err *err)
{
    struct anchor_target target = {0};
    int r = yaml_anchors_find(build->anchors, event->anchor, event->at, &target, err);
    if (r < 0)
        return r;
    build->n_alias_values += target.n_values;
    if (build->n_alias_values > most_alias_values(build->options))
        return err_set(err, EMSGSIZE, "%zu:%zu: the aliases expand to more than %zu values",
                       event->at.line, event->at.column, most_alias_values(build->options));
    /* A merge copies the keys. */
    r = yaml_build_count(build, target.n_values, target.n_values * JSON_COST_KEY + target.n_bytes,
                         event->at, err);
    if (r == 0)
        r = check_alias_bytes(build, target.n_bytes, event->at, err);
    if (r == 0)
        r = check_height(build, target.height, event->at, err);
    if (r < 0)
        return r;
    *ret_value = json_incref(target.value);
    return 0;
}

/* ---- dropped values ---- */

static int skip_members(struct yaml_build *build, enum yaml_source_kind end, struct err *err)
{
    struct yaml_source_event event;
    for (;;) {
        int r = yaml_source_next(build->source, &event, err);
        if (r < 0 || event.kind == end)
            return r;
        r = yaml_build_skip(build, &event, err);
        if (r < 0)
            return r;
    }
}

int yaml_build_skip(struct yaml_build *build, const struct yaml_source_event *event,
                    struct err *err)
{
    if (event->anchor && !build->is_over) {
        json_t *value = NULL;
        int r = yaml_build_node(build, event, YAML_BUILD_NOWHERE, &value, err);
        if (r == 0)
            json_decref(value);
        return r;
    }
    if (event->kind == SOURCE_SCALAR || event->kind == SOURCE_ALIAS)
        return 0;
    int r = yaml_build_enter(build, event, err);
    if (r < 0)
        return r;
    r = skip_members(
        build, event->kind == SOURCE_MAPPING_BEGIN ? SOURCE_MAPPING_END : SOURCE_SEQUENCE_END, err);
    build->depth--;
    return r;
}

/* ---- sequences ---- */

static int build_element(struct yaml_build *build, json_t *array,
                         const struct yaml_source_event *event, struct drop_place place,
                         struct err *err)
{
    json_t *value;
    char index[24];
    struct text_position at = event->at;
    int r = yaml_build_node(build, event, place, &value, err);
    if (r < 0)
        return r;
    if (build->places) {
        (void)snprintf(index, sizeof index, "%zu", json_array_size(array));
        yaml_places_add(build->places, array, index, at, at);
    }
    if (json_array_append_new(array, value) < 0)
        abort();
    return 0;
}

static int build_sequence(struct yaml_build *build, struct drop_place place, json_t **ret_value,
                          struct err *err)
{
    json_auto_t *array = yaml_build_must(json_array());
    struct drop_place inside = place;
    inside.of_elements = false;
    struct yaml_source_event event;
    for (;;) {
        int r = yaml_source_next(build->source, &event, err);
        if (r < 0)
            return r;
        if (event.kind == SOURCE_SEQUENCE_END)
            break;
        r = build->is_over ? yaml_build_skip(build, &event, err)
                           : build_element(build, array, &event,
                                           place.of_elements ? inside : YAML_BUILD_NOWHERE, err);
        if (r < 0)
            return r;
    }
    *ret_value = json_incref(array);
    return 0;
}

int yaml_build_hand_over_list(const struct yaml_build *build, json_t *so_far,
                              struct text_position at, struct err *err)
{
    const struct json_stream_handler *handler = build->handler;
    return handler->on_list ? handler->on_list(handler->context, so_far, at, err) : 0;
}

static int hand_over_large(struct yaml_build *build, const json_t *part, struct text_position at,
                           struct err *err)
{
    const struct yaml_options *options = build->options;
    struct err why;
    const struct json_over over = {.why = why.text};
    if (options->values_key)
        (void)err_set(&why, EMSGSIZE, "has more than %zu values (%s)", options->max_values,
                      options->values_key);
    else
        (void)err_set(&why, EMSGSIZE, "has more than %zu values", options->max_values);
    build->is_over = false;
    if (taker_of_large(build)(build->handler->context, part, &over))
        return 0;
    return err_set(err, EMSGSIZE, "%zu:%zu: the object that begins here %s", at.line, at.column,
                   why.text);
}

int yaml_build_hand_over(struct yaml_build *build, json_t *object, struct text_position at,
                         struct err *err)
{
    const struct json_stream_handler *handler = build->handler;
    int (*take)(void *, json_t *, struct text_position, struct err *) =
        build->is_item ? handler->on_item : handler->on_envelope;
    if (build->is_over)
        return hand_over_large(build, object, at, err);
    return take ? take(handler->context, object, at, err) : 0;
}

/* ---- nodes and documents ---- */

static int build_content(struct yaml_build *build, const struct yaml_source_event *event,
                         struct drop_place place, json_t **ret_value, struct err *err)
{
    if (event->kind == SOURCE_SCALAR) {
        build->n_bytes += event->len;
        return yaml_tags_scalar(event, ret_value, err);
    }
    bool is_mapping = event->kind == SOURCE_MAPPING_BEGIN;
    int r = yaml_tags_check(event, err);
    if (r == 0)
        r = yaml_build_enter(build, event, err);
    if (r < 0)
        return r;
    r = is_mapping ? yaml_mapping_read(build, place.of_elements ? YAML_BUILD_NOWHERE : place,
                                       ret_value, err)
                   : build_sequence(build, place, ret_value, err);
    build->depth--;
    return r;
}

static int build_anchored(struct yaml_build *build, const struct yaml_source_event *event,
                          struct drop_place place, json_t **ret_value, struct err *err)
{
    size_t values_before = build->n_values;
    size_t bytes_before = build->n_bytes;
    size_t deepest_before = build->deepest;
    struct anchor *anchor = NULL;
    int r = yaml_anchors_open(build->anchors, event->anchor, "contains this alias", event->at,
                              &anchor, err);
    if (r < 0)
        return r;
    build->deepest = build->depth;
    r = build_content(build, event, place, ret_value, err);
    if (r < 0)
        return r;
    yaml_anchors_close(build->anchors, anchor,
                       (struct anchor_target){
                           .value = *ret_value,
                           .n_values = build->n_values - values_before + 1,
                           .n_bytes = build->n_bytes - bytes_before,
                           .height = build->deepest - build->depth,
                       });
    if (deepest_before > build->deepest)
        build->deepest = deepest_before;
    return 0;
}

int yaml_build_node(struct yaml_build *build, const struct yaml_source_event *event,
                    struct drop_place place, json_t **ret_value, struct err *err)
{
    json_t *value = NULL;
    if (event->kind == SOURCE_ALIAS)
        return alias_value(build, event, ret_value, err);
    int r = yaml_build_count(build, 1, bytes_of(event), event->at, err);
    if (r == 0)
        r = event->anchor ? build_anchored(build, event, place, &value, err)
                          : build_content(build, event, place, &value, err);
    if (r < 0)
        return r;
    *ret_value = value;
    return 0;
}

/* Hands over "items" from an alias or a merge, which could not be streamed. */
static int hand_over_rest(struct yaml_build *build, json_t *root, struct text_position at,
                          struct err *err)
{
    json_t *items = build->handler && !build->is_over ? json_object_get(root, "items") : NULL;
    json_t *item;
    size_t i;
    if (!json_is_array(items))
        return 0;
    int r = yaml_build_hand_over_list(build, root, at, err);
    if (r < 0)
        return r;
    build->is_item = true;
    json_array_foreach (items, i, item) {
        if (r == 0)
            r = yaml_build_hand_over(build, item, at, err);
    }
    build->is_item = false;
    if (r < 0)
        return r;
    return json_object_del(root, "items");
}

int yaml_build_document(struct yaml_build *build, json_t **ret_root, struct text_position *ret_at,
                        struct err *err)
{
    struct yaml_source_event event;
    json_t *root = NULL;
    yaml_anchors_clear(build->anchors);
    yaml_keys_truncate(build->keys, 0); /* of a document with a fault */
    build->depth = 0;
    build->n_values = 0;
    build->is_over = false;
    int r = yaml_source_next(build->source, &event, err);
    if (r < 0)
        return r;
    struct text_position at = event.at;
    r = yaml_build_node(build, &event, drop_paths_root(build->options->drop), &root, err);
    if (r < 0)
        return r;
    r = hand_over_rest(build, root, at, err);
    if (r == 0)
        r = yaml_source_next(build->source, &event, err); /* the document's end */
    if (r < 0) {
        json_decref(root);
        return r;
    }
    *ret_root = root;
    *ret_at = at;
    return 0;
}
