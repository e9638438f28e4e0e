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
#include "base/err.h"
#include "objects/fields.h"
#include "objects/templates/inline_pods.h"
#include "types/policy.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- controller labels ---- */
/* The labels that Kubernetes' own controllers add to the pods of a template. Keys of
 * matchLabelKeys mostly name these. */

/* The object around a template. */
struct controller {
    const char *kind;
    const char *name;
    bool is_known; /* all labels that it adds are in the table */
};

/* The pod template `made` with these labels: a new reference, which shares the rest. An unknown
 * value, such as the hash of a template, becomes one that no label may have, so no running pod has
 * it. */
json_t *controller_labels_add(const json_t *made, const struct controller *controller);
/* A line for each key of matchLabelKeys and mismatchLabelKeys, in required terms, whose value is
 * not known. made: the template without the added labels. */
struct text_list controller_labels_not_evaluated(const json_t *made,
                                                 const struct controller *controller,
                                                 struct arena *arena);

/* ---- count fields ---- */
/* Members beside and above a pod template that may multiply or empty it, told by their names:
 * size, numNodes, workerReplicas, minReplicas, suspend, mode. For kinds whose counts nobody here
 * knows. */

#define COUNT_FIELDS_MAX ((size_t)8)

struct count_fields {
    const char *paths[COUNT_FIELDS_MAX]; /* the first; each once */
    size_t n;
};

/* An object on the way to a pod template. */
struct counted_object {
    const json_t *object;
    const char *path; /* "" for the root */
    const char *next; /* the member towards the template */
    const char *read; /* the members that the count is made of: "replicas suspend" */
};

/* Adds one, which is borrowed. */
void count_fields_add_path(struct count_fields *fields, const char *path);
/* Adds those of the object that were not read, and of objects in it without a pod template. All in
 * the arena. */
void count_fields_add(struct count_fields *fields, const struct counted_object *counting,
                      struct arena *arena);

/* ---- pod count ---- */
/* How many pods the objects around a template request. Counts multiply from the root down to the
 * template. */

struct pod_count {
    int64_t n;
    bool known; /* false: no count was given */
};

/* An object on the path to a template. */
struct counting_object {
    const json_t *object;
    const char *name;   /* its key, or that of its array: "spec", "workerGroupSpecs" */
    const char *within; /* the key of the object around it */
    const char *next;   /* its key towards the template */
};

/* Multiplies by what the object counts. -EINVAL: an invalid count; the message begins with its
 * key. */
int pod_count_multiply(const struct counting_object *at, struct pod_count *count, struct err *err);
/* The members that pod_count_multiply() reads, with spaces between them. */
const char *pod_count_reads(const struct counting_object *at);
/* Multiplies by the member, if the object has it. */
int pod_count_multiply_by(const json_t *object, const char *key, struct pod_count *count,
                          struct err *err);
int pod_count_times(struct pod_count *count, const char *key, int64_t n, struct err *err);

/* ---- template walk ---- */

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
    json_t *made;               /* owns inline pods, and pods that got a scheduler */
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

/* ---- podless ---- */
/* Which kinds make no pods. Of the others without a pod template nobody knows. */

/* Whether objects of the kind make no pods that ask for GPUs, and may name GPUs all the same:
 * quotas, classes, rules of admission. */
bool podless_is(const char *kind, const char *api_version);
/* Whether it is neither such a kind nor one of Kubernetes' own. Without an apiVersion: no. */
bool podless_is_unknown(const char *kind, const char *api_version);
/* Whether controllers make pods with GPUs for such an object although it need not say so: they know
 * the pods from another object, or from a preset. */
bool podless_makes_gpu_pods(const char *kind, const char *api_version);

#endif
