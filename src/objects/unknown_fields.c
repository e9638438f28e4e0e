/*
 * unknown_fields: see unknown_fields.h. The walk follows the types of schema.h, so it is as deep
 * as these.
 */
#include "unknown_fields.h"

#include "base/buf.h"
#include "base/nearest.h"
#include "formats/json_get.h"
#include "quoted.h"
#include "schema.h"

#include <stdint.h>
#include <string.h>

#define PATH_BYTES_MAX 8192
/* Names of a manifest that are compared with all fields of their type. */
#define LOOKUPS_MAX 1000

struct field_walk {
    const struct warned *object;
    const char *prefix; /* of paths: "spec.template"; "" for the object */
    bool only_near;
    const struct inline_pods *row; /* whose parts are known, too; NULL: none */
};

/* A member, or an element of an array. */
struct field_place {
    const struct field_place *parent; /* NULL: the start of the walk */
    const char *key;                  /* NULL: an element */
    size_t index;
};

static void write_place(const struct field_place *place, struct buf *out)
{
    if (!place->parent)
        return;
    write_place(place->parent, out);
    if (place->key)
        buf_printf(out, "%s%s", out->len > 0 ? "." : "", place->key);
    else
        buf_printf(out, "[%zu]", place->index);
}

static const char *path_of(const struct field_walk *walk, const struct field_place *place,
                           const char *key)
{
    struct arena *arena = walk->object->arena;
    const struct field_place last = {.parent = place, .key = quoted_plain(arena, key)};
    struct buf out;
    buf_init(&out, PATH_BYTES_MAX);
    buf_add_text(&out, walk->prefix);
    write_place(&last, &out);
    const char *path = arena_strdup(arena, buf_text(&out));
    buf_fini(&out);
    return path;
}

/* Few enough differences for names that may well be meant. */
static bool is_close(size_t distance, const char *name)
{
    return distance <= (strlen(name) > 6 ? 2U : 1U);
}

/* The known name that was probably meant; NULL: none, or the object has it. */
static const char *find_meant(const struct field_walk *walk, const json_t *object, int type,
                              const char *key)
{
    const struct schema_type *fields = &SCHEMA_TYPES[type];
    struct nearest nearest = {.asked = key, .least = SIZE_MAX};
    for (size_t i = 0; i < fields->n; i++)
        (void)nearest_try(&nearest, SCHEMA_FIELDS[fields->first + i].name);
    if (!nearest.found || json_object_get(object, nearest.found) ||
        (walk->only_near && !is_close(nearest.least, nearest.found)))
        return NULL;
    return nearest.found;
}

static void judge_unknown(const struct field_walk *walk, const json_t *object, int type,
                          const char *key, const struct field_place *place)
{
    struct workload_list *list = walk->object->list;
    struct arena *arena = walk->object->arena;
    const char *meant = NULL;
    if (walk->row && !place->parent && inline_pods_has_part(walk->row, key))
        return;
    if (list->n_lookups < LOOKUPS_MAX) {
        list->n_lookups++;
        meant = find_meant(walk, object, type, key);
    }
    if (!meant && walk->only_near)
        return;
    warned_add(walk->object, path_of(walk, place, key),
               meant ? arena_printf(arena, "unknown field; did you mean %s?", meant)
                     : "unknown field");
}

static void judge(const struct field_walk *walk, const json_t *value, int type,
                  const struct field_place *at);

static void judge_members(const struct field_walk *walk, const json_t *object, int type,
                          const struct field_place *at)
{
    const char *key = NULL;
    json_t *value = NULL;
    json_object_foreach ((json_t *)(uintptr_t)object, key, value) {
        if (warned_is_full(walk->object))
            return;
        const struct schema_field *field = schema_field(type, key);
        const struct field_place inside = {.parent = at, .key = key};
        if (field)
            judge(walk, value, field->type, &inside);
        else
            judge_unknown(walk, object, type, key, at);
    }
}

static void judge(const struct field_walk *walk, const json_t *value, int type,
                  const struct field_place *at)
{
    if (type == SCHEMA_ANY)
        return;
    if (json_is_object(value))
        judge_members(walk, value, type, at);
    for (size_t i = 0; i < json_array_size(value); i++) {
        const struct field_place element = {.parent = at, .index = i};
        judge(walk, json_array_get(value, i), type, &element);
    }
}

bool unknown_fields_find(const struct warned *object, const char *api_version)
{
    const int type = schema_type_of_kind(object->kind, api_version);
    const struct field_walk walk = {.object = object, .prefix = ""};
    const struct field_place root = {0};
    judge(&walk, object->object, type, &root);
    return type != SCHEMA_ANY;
}

static void judge_inline(const struct field_walk *walk, const struct pod_template *template)
{
    const struct inline_pods *row = template->row;
    const struct field_place root = {0};
    if (row->type)
        judge(walk, template->part, *row->type, &root);
    for (size_t i = 0; i < INLINE_PARTS_MAX && row->parts[i].key; i++) {
        const struct inline_part *part = &row->parts[i];
        const struct field_place inside = {.parent = &root, .key = part->key};
        if (part->type)
            judge(walk, json_member(template->part, part->key), *part->type, &inside);
    }
}

void unknown_fields_find_near(const struct warned *object, const struct pod_template *template)
{
    const struct field_walk walk = {
        .object = object, .prefix = template->path, .only_near = true, .row = template->row};
    const struct field_place root = {0};
    if (template->row)
        judge_inline(&walk, template);
    else
        judge(&walk, template->object, SCHEMA_POD_TEMPLATE, &root);
}
