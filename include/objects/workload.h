/*
 * workload: the pod templates of a manifest, and their replicas.
 *
 * Pod, PodTemplate, Deployment, StatefulSet, ReplicaSet, ReplicationController, DaemonSet, Job,
 * CronJob, List; a table row each for LeaderWorkerSet, RayCluster and JobSet; kinds that write a
 * pod's spec inline (src/objects/templates/inline_pods.c); and any other kind with pod templates,
 * found by their shape: an object with spec.containers under a key that ends in "template" or
 * "Template". Counts multiply along the path from the object to the template.
 */
#ifndef OBJECTS_WORKLOAD_H
#define OBJECTS_WORKLOAD_H

#include "ledger/asked_claims.h"
#include "objects/device_requests.h"
#include "objects/pod.h"

struct workload {
    const char *kind; /* as written */
    const char *name; /* of the object; with the path to the template if it has several */
    const char *object_name;
    size_t object; /* which object of the manifest has the template: from 1, equal names or not */
    const char *template_path; /* "spec.template"; "" for a Pod */
    bool is_inline; /* the template is an inline pod (src/objects/templates/inline_pods.c) */
    const char *namespace_;
    /* Annotations gpu-extender.io/models and exclude-models as written; NULL: none. */
    const char *models_text, *exclude_models_text;
    bool chooses_gpus;                /* its annotations do, whether or not it asks for any */
    const struct shape_facts *chosen; /* what they choose then; NULL: they are unreadable */
    struct domain_wish domain;        /* its annotation */
    const char *runtime_class;        /* "" if none */
    int64_t replicas;                 /* 0 or more */
    bool replicas_known; /* false: the object has no readable count, and 1 was assumed */
    bool per_node;       /* DaemonSet: replicas (1) on each node that admits it */
    struct pod_facts pod;
    /* Not NULL: why the template is unreadable; pod is not set then. */
    const char *problem;
    struct text_list not_evaluated;
    bool in_group; /* its pods should start together, and nothing here sees to it */
};

/* An object without pods, or one that is unreadable. */
struct skipped_object {
    const char *kind;
    const char *name;
    const char *why; /* "holds no pods" */
};

#define WORKLOAD_UNREADABLE_MAX ((size_t)100)

/* In the message "request 8 is more than its limit 2". */
#define WARNING_OVER_LIMIT " is more than its limit"
/* The end of others. */
#define WARNING_REJECTED ": the API server rejects it"

/* Something without effect: an annotation of ours, because of its place or its key; a field or a
 * kind that Kubernetes does not have. */
struct manifest_warning {
    const char *object; /* "Deployment ml/web" */
    const char *path;   /* "spec.template.metadata.annotations[gpu-extender.io/model]" */
    const char *message;
    size_t line; /* of the manifest's text; 0: unknown */
};

/* The resource of pods of which only their controller knows the GPUs. */
#define STRAY_GPUS "GPUs"

/* A request for a GPU that is in no pod template. */
struct stray_gpu {
    const char *kind;
    const char *name;
    const char *path;     /* "spec.worker.resources.limits" */
    const char *resource; /* "nvidia.com/gpu"; "resourceClaims" for claims; or STRAY_GPUS */
};

#define WORKLOAD_STRAYS_MAX ((size_t)100)
#define WORKLOAD_WARNINGS_MAX ((size_t)100)

struct workload_list {
    struct workload *items;
    size_t n;
    struct skipped_object *skipped;
    size_t n_skipped;
    size_t n_unreadable;               /* of the skipped */
    struct manifest_warning *warnings; /* the first WORKLOAD_WARNINGS_MAX */
    size_t n_warnings;
    struct stray_gpu *strays; /* the first WORKLOAD_STRAYS_MAX */
    size_t n_strays;
    size_t n_unjudged;          /* objects and fields that may make pods, and are not judged */
    const char *first_unjudged; /* "Training x: spec.size" */
    size_t n_inline;            /* pods without a template around them */
    size_t n_lookups;           /* for the warnings: names compared with all known ones */
    size_t n_objects;           /* not lists */
    const char *const *texts;   /* of the manifest, for the lines of later warnings */
    size_t n_texts;
    struct device_request_list requests;
    struct given_claims given;
    struct given_devices given_devices;
};

/* Reads one object of a manifest (unchanged; for a List, each item) and appends to the list, which
 * lives in the arena and starts as {0}. An unreadable template or count becomes that workload's
 * problem. -EINVAL: no object, no kind, or an invalid name. */
int workload_from_json(json_t *object, const struct policy *policy, struct arena *arena,
                       struct workload_list *list, struct err *err);
/* Appends an object that workload_from_json() did not read. False: WORKLOAD_UNREADABLE_MAX are
 * there. */
bool workload_add_unreadable(const json_t *object, const char *why, struct arena *arena,
                             struct workload_list *list);

#endif
