/*
 * template_walk: finds the pod templates in an object, by their shape.
 *
 * A template is an object that has spec.containers and lies under a key that ends in "template" or
 * "Template". Nothing is looked for inside one, nor in metadata and status.
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
    bool known; /* false: nothing said how many */
};

struct pod_template {
    const char *path;     /* "spec.replicatedJobs[driver].template.spec.template" */
    const json_t *object; /* borrowed */
    struct pod_count count;
    const char *problem; /* a count that is none, and why; NULL: none */
};

struct template_list {
    struct pod_template *items;
    size_t n;
};

/* start: the count to begin with. In the order of the object. Deeper than TEMPLATE_WALK_DEPTH_MAX
 * nothing is looked for. */
#define TEMPLATE_WALK_DEPTH_MAX 24
struct template_list template_walk(json_t *object, struct pod_count start, struct arena *arena);

/* Whether it has spec.containers. */
bool template_is_pod(const json_t *object);

#endif
