/*
 * template_walk: finds pod templates in an object by their structure, and requests for GPUs that
 * are in none of them.
 *
 * A template is an object with spec.containers under a key that ends in "template" or "Template",
 * one of roleTemplates that a templateRef names, or what inline_pods.h makes of the kind. The walk
 * skips the inside of templates, metadata and status.
 */
#ifndef OBJECTS_TEMPLATES_TEMPLATE_WALK_H
#define OBJECTS_TEMPLATES_TEMPLATE_WALK_H

#include "base/arena.h"
#include "objects/templates/count_fields.h"
#include "objects/templates/inline_pods.h"
#include "objects/templates/pod_count.h"
#include "types/policy.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pod_template {
    const char *path;     /* "spec.replicatedJobs[driver].template.spec.template" */
    const json_t *object; /* borrowed from the walked object, or from the list */
    struct pod_count count;
    const char *problem; /* why a count is invalid; NULL: none is */
    /* For an inline pod; else NULL: its row, and the part of the walked object. */
    const struct inline_pods *row;
    const json_t *part;
};

/* A request for a GPU in no template. */
struct stray_request {
    const char *path;     /* "spec.worker.resources.limits" */
    const char *resource; /* "nvidia.com/gpu", "resourceClaims", or the member that names a GPU */
    bool is_by_name;      /* only the member's name or its value tells: of an unknown kind */
};

#define INLINE_PODS_MAX ((size_t)1000)
#define STRAY_REQUESTS_MAX ((size_t)16)

struct template_list {
    struct pod_template *items;
    size_t n;
    struct stray_request strays[STRAY_REQUESTS_MAX]; /* the first */
    size_t n_strays;
    struct count_fields unread; /* that may change the pods; of a kind with known counts only
                                 * patches, loops and references */
    json_t *made;               /* owns the inline pods */
};

struct template_question {
    json_t *object;
    const struct inline_pods *rows; /* of its kind; NULL: none */
    struct pod_count start;
    bool has_known_counts;       /* of its kind the count is right */
    const struct policy *policy; /* which resources are GPUs; NULL: do not look for requests */
    bool is_unknown;             /* podless_is_unknown(): look for members that name GPUs, too */
    size_t *n_inline;            /* inline pods made so far, at most INLINE_PODS_MAX */
};

/* Templates in the order of the object. Stops at depth TEMPLATE_WALK_DEPTH_MAX. Call
 * template_list_fini() after use. */
#define TEMPLATE_WALK_DEPTH_MAX 24
struct template_list template_walk(const struct template_question *question, struct arena *arena);
void template_list_fini(struct template_list *list);

/* Whether the object has spec.containers. */
bool template_is_pod(const json_t *object);

#endif
