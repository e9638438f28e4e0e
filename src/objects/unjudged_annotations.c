/* unjudged_annotations: what annotations ask for that is not judged. See unjudged.h. */
#include "unjudged.h"

#include "annotations.h"
#include "base/nearest.h"
#include "formats/json_get.h"
#include "quoted.h"

#include <stdint.h>
#include <string.h>

/* Without the prefix gpu-extender.io/. */
static const char *const KNOWN[] = {"models", "exclude-models", "min-gpu-memory", "allow-shared"};
/* What our bindings leave on a pod, and its owner may have copied: nobody is to write it. */
#define LEFT_BY_BIND "bound-by"

static void add_legacy(const json_t *metadata, struct lines *lines)
{
    static const char *const MEMBERS[] = {"podAffinity", "podAntiAffinity"};
    json_auto_t *affinity = annotations_legacy_affinity(metadata);
    for (size_t i = 0; i < sizeof MEMBERS / sizeof MEMBERS[0]; i++) {
        if (json_member(affinity, MEMBERS[i]))
            lines_add(lines, "annotation " ANNOTATION_LEGACY_AFFINITY ": %s", MEMBERS[i]);
    }
    if (json_member(json_member(metadata, "annotations"), ANNOTATION_LEGACY_TOLERATIONS))
        lines_add(lines, "annotation " ANNOTATION_LEGACY_TOLERATIONS);
}

/* NULL where the name is known. */
static const char *nearest_of(const char *name)
{
    const char *nearest = KNOWN[0];
    size_t least = SIZE_MAX;
    for (size_t i = 0; i < sizeof KNOWN / sizeof KNOWN[0]; i++) {
        size_t distance = nearest_distance(name, KNOWN[i]);
        if (distance < least) {
            least = distance;
            nearest = KNOWN[i];
        }
    }
    return strcmp(nearest, name) == 0 ? NULL : least == SIZE_MAX ? "" : nearest;
}

static void add_ours(const char *key, struct lines *lines)
{
    const char *name = key + strlen(ANNOTATION_PREFIX);
    const char *nearest = nearest_of(name);
    if (!nearest || strcmp(name, LEFT_BY_BIND) == 0)
        return;
    const char *shown = quoted_plain(lines->arena, key);
    if (*nearest)
        lines_add(lines, "annotation %s is not known; did you mean " ANNOTATION_PREFIX "%s?", shown,
                  nearest);
    else
        lines_add(lines, "annotation %s is not known", shown);
}

void unjudged_annotations(const json_t *metadata, struct lines *lines)
{
    add_legacy(metadata, lines);
    const char *key = NULL;
    const json_t *value = NULL;
    json_object_foreach (json_member(metadata, "annotations"), key, value) {
        if (strncmp(key, ANNOTATION_PREFIX, strlen(ANNOTATION_PREFIX)) == 0)
            add_ours(key, lines);
    }
}
