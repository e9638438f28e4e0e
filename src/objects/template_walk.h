/*
 * template_walk: finds pod templates in an object by their structure.
 *
 * A template is an object with spec.containers under a key that ends in "template" or "Template".
 * The walk skips the inside of templates, metadata and status.
 */
#ifndef OBJECTS_TEMPLATE_WALK_H
#define OBJECTS_TEMPLATE_WALK_H

#include "base/arena.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pod_count {
    int64_t n;
    bool known; /* false: no count was given */
};

struct pod_template {
    const char *path;     /* "spec.replicatedJobs[driver].template.spec.template" */
    const json_t *object; /* borrowed */
    struct pod_count count;
    const char *problem; /* why a count is invalid; NULL: none is */
};

struct template_list {
    struct pod_template *items;
    size_t n;
};

/* Templates in the order of the object. start: initial count. Stops at depth
 * TEMPLATE_WALK_DEPTH_MAX. */
#define TEMPLATE_WALK_DEPTH_MAX 24
struct template_list template_walk(json_t *object, struct pod_count start, struct arena *arena);

/* Whether the object has spec.containers. */
bool template_is_pod(const json_t *object);

#endif
