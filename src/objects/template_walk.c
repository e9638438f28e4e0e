/*
 * template_walk: see template_walk.h.
 *
 * On the way down there is only a chain of steps on the stack; paths are written, and counts
 * multiplied, where a template is found.
 */
#include "template_walk.h"

#include "base/buf.h"
#include "formats/json_get.h"
#include "quoted.h"

#include <string.h>

#define PATH_BYTES_MAX 4096

/* From the object to one of its members, or from an array to one of its elements. */
struct step {
    const struct step *parent; /* NULL: the root */
    const json_t *object;      /* that has the member; NULL for an element */
    const char *key;           /* for an element that of the array */
    const json_t *element;
    size_t index; /* of the element */
    size_t depth;
};

struct walk {
    struct arena *arena;
    struct pod_count start;
    struct template_list found;
};

bool template_is_pod(const json_t *object)
{
    return json_is_array(json_member(json_member(object, "spec"), "containers"));
}

static bool ends_in_template(const char *key)
{
    const size_t tail = strlen("emplate");
    size_t len = strlen(key);
    return len > tail && strcmp(key + len - tail, "emplate") == 0 &&
           (key[len - tail - 1] == 't' || key[len - tail - 1] == 'T');
}

/* Elements that have a name are told by it, as people know them by it. */
static void write_element(const struct step *step, struct arena *arena, struct buf *out)
{
    const char *name = json_string_value(json_member(step->element, "name"));
    if (name)
        buf_printf(out, "[%s]", quoted_plain(arena, name));
    else
        buf_printf(out, "[%zu]", step->index);
}

static void write_path(const struct step *step, struct arena *arena, struct buf *out)
{
    if (!step->parent)
        return;
    write_path(step->parent, arena, out);
    if (!step->object)
        write_element(step, arena, out);
    else
        buf_printf(out, "%s%s", out->len > 0 ? "." : "", quoted_plain(arena, step->key));
}

static const char *path_of(const struct step *step, struct arena *arena)
{
    struct buf out;
    buf_init(&out, PATH_BYTES_MAX);
    write_path(step, arena, &out);
    const char *path = arena_strdup(arena, buf_text(&out));
    buf_fini(&out);
    return path;
}

/* Multiplies what the objects from the root down to the step say. */
static int count_pods(const struct step *step, struct arena *arena, struct pod_count *count,
                      struct err *err)
{
    if (!step->parent)
        return 0;
    int r = count_pods(step->parent, arena, count, err);
    if (r < 0 || !step->object)
        return r;
    if ((r = pod_count_multiply(step->object, step->parent->key, step->key, count, err)) < 0) {
        const char *path = path_of(step->parent, arena);
        err_prefix(err, "%s%s", path, *path ? "." : "");
    }
    return r;
}

static void make_room(struct walk *walk)
{
    struct template_list *found = &walk->found;
    bool is_full = (found->n & (found->n - 1)) == 0; /* at every power of two */
    if (!is_full)
        return;
    struct pod_template *items =
        ARENA_ARRAY(walk->arena, struct pod_template, found->n ? found->n * 2 : 1);
    if (found->n > 0)
        memcpy(items, found->items, found->n * sizeof *items);
    found->items = items;
}

static void add_template(struct walk *walk, const json_t *object, const struct step *step)
{
    struct pod_template found = {
        .path = path_of(step, walk->arena), .object = object, .count = walk->start};
    struct pod_count count = walk->start;
    struct err why = {""};
    if (count_pods(step, walk->arena, &count, &why) < 0)
        found.problem = arena_strdup(walk->arena, why.text);
    else
        found.count = count;
    make_room(walk);
    walk->found.items[walk->found.n++] = found;
}

static void walk_value(struct walk *walk, json_t *value, const struct step *step);

static bool is_skipped(const struct step *step, const char *key)
{
    return !step->parent && (strcmp(key, "metadata") == 0 || strcmp(key, "status") == 0);
}

static void walk_object(struct walk *walk, json_t *object, const struct step *step)
{
    const char *key = NULL;
    json_t *value = NULL;
    json_object_foreach (object, key, value) {
        if ((!json_is_object(value) && !json_is_array(value)) || is_skipped(step, key))
            continue;
        const struct step into = {
            .parent = step, .object = object, .key = key, .depth = step->depth + 1};
        if (ends_in_template(key) && template_is_pod(value))
            add_template(walk, value, &into);
        else
            walk_value(walk, value, &into);
    }
}

static void walk_value(struct walk *walk, json_t *value, const struct step *step)
{
    if (step->depth > TEMPLATE_WALK_DEPTH_MAX)
        return;
    if (json_is_object(value))
        walk_object(walk, value, step);
    for (size_t i = 0; i < json_array_size(value); i++) {
        json_t *inside = json_array_get(value, i);
        const struct step element = {.parent = step,
                                     .key = step->key,
                                     .element = inside,
                                     .index = i,
                                     .depth = step->depth + 1};
        walk_value(walk, inside, &element);
    }
}

struct template_list template_walk(json_t *object, struct pod_count start, struct arena *arena)
{
    struct walk walk = {.arena = arena, .start = start};
    const struct step root = {.key = ""};
    walk_value(&walk, object, &root);
    return walk.found;
}
