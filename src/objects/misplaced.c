/* misplaced: see misplaced.h. Unreadable metadata give no warning; the decoders report them. */
#include "misplaced.h"

#include "annotations.h"
#include "base/nearest.h"
#include "formats/json_get.h"
#include "quoted.h"

#include <stdint.h>
#include <string.h>

/* The metadata of one object or template. */
struct place {
    const struct warned *object;
    const char *prefix; /* of paths: "", "spec.template." */
};

static void add(const struct place *place, const char *map, const char *key, const char *message)
{
    struct arena *arena = place->object->arena;
    warned_add(
        place->object,
        arena_printf(arena, "%smetadata.%s[%s]", place->prefix, map, quoted_plain(arena, key)),
        message);
}

static bool is_known(const char *name)
{
    return name && !annotations_nearest(name);
}

/* The name after a prefix that is nearly ours, or without any; NULL: the key is not meant for us.
 * "models" alone may be somebody else's. */
static const char *name_without_prefix(const char *key)
{
    char prefix[sizeof ANNOTATION_PREFIX + 8];
    const char *slash = strchr(key, '/');
    if (!slash)
        return is_known(key) && strcmp(key, "models") != 0 ? key : NULL;
    const size_t len = (size_t)(slash - key);
    if (annotations_own_name(key) || !is_known(slash + 1) || len >= sizeof prefix)
        return NULL;
    memcpy(prefix, key, len);
    prefix[len] = '\0';
    return nearest_distance(prefix, "gpu-extender.io") == SIZE_MAX ? NULL : slash + 1;
}

static void check_key(const struct place *place, const char *key)
{
    if (warned_is_full(place->object))
        return;
    const char *name = annotations_own_name(key);
    const char *meant = name ? annotations_nearest(name) : name_without_prefix(key);
    if (!meant || (name && strcmp(name, ANNOTATION_BY_BIND) == 0))
        return;
    if (*meant == '\0')
        add(place, "annotations", key, "unknown key");
    else
        add(place, "annotations", key,
            arena_printf(place->object->arena, "unknown key; did you mean " ANNOTATION_PREFIX "%s?",
                         meant));
}

/* where: the path of the pod's metadata, with a trailing '.', or "". */
static void check_labels(const struct place *place, const json_t *metadata, const char *where)
{
    const char *key = NULL;
    const json_t *value = NULL;
    json_object_foreach (json_member(metadata, "labels"), key, value) {
        if (!warned_is_full(place->object) && is_known(annotations_own_name(key)))
            add(place, "labels", key,
                arena_printf(place->object->arena,
                             "a label has no effect; write it under %smetadata.annotations",
                             where));
    }
}

static const json_t *metadata_of(const json_t *object)
{
    return json_member(object, "metadata");
}

/* "spec.template."; "" for a pod. */
static const char *prefix_of(const struct pod_template *template, struct arena *arena)
{
    return arena_printf(arena, "%s%s", template->path, *template->path ? "." : "");
}

void misplaced_find(const struct warned *object, const struct pod_template *template)
{
    const struct place place = {object, prefix_of(template, object->arena)};
    const json_t *metadata = metadata_of(template->object);
    const char *key = NULL;
    const json_t *value = NULL;
    json_object_foreach (json_member(metadata, "annotations"), key, value)
        check_key(&place, key);
    check_labels(&place, metadata, place.prefix);
}

void misplaced_find_outside(const struct warned *object, const struct pod_template *template)
{
    const struct place place = {object, ""};
    const char *prefix = prefix_of(template, object->arena);
    const json_t *metadata = metadata_of(object->object);
    const json_t *inside = json_member(metadata_of(template->object), "annotations");
    const char *key = NULL;
    const json_t *value = NULL;
    json_object_foreach (json_member(metadata, "annotations"), key, value) {
        if (!warned_is_full(object) && is_known(annotations_own_name(key)) &&
            !json_member(inside, key))
            add(&place, "annotations", key,
                arena_printf(object->arena,
                             "has no effect here; write it under %smetadata.annotations", prefix));
    }
    check_labels(&place, metadata, prefix);
}
