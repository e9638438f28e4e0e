/*
 * workload: what in a manifest makes pods, and how many.
 *
 * Pod, PodTemplate, Deployment, StatefulSet, ReplicaSet, ReplicationController, DaemonSet, Job,
 * CronJob, List; a table row each for LeaderWorkerSet, RayCluster and JobSet; and any other kind
 * that carries pod templates, found by their shape: an object with spec.containers under a key that
 * ends in "template" or "Template". Counts multiply along the path from the object to the template.
 */
#ifndef OBJECTS_WORKLOAD_H
#define OBJECTS_WORKLOAD_H

#include "objects/pod.h"

struct workload {
    const char *kind; /* as written */
    const char *name; /* of the object; with the path to the template where it has several */
    const char *namespace_;
    int64_t replicas;    /* 0 or more */
    bool replicas_known; /* false: the count could not be told from the object, and 1 was taken */
    bool per_node;       /* DaemonSet: replicas (1) on each node that admits it */
    struct pod_facts pod;
    /* Not NULL: the template can't be read, and why; pod is then not set. */
    const char *problem;
    struct text_list not_evaluated;
    bool has_claims; /* dynamic resource allocation: what the pod gets is not judged */
};

/* An object that makes no pods. */
struct skipped_object {
    const char *kind;
    const char *name;
    const char *why; /* "holds no pods" */
};

struct workload_list {
    struct workload *items;
    size_t n;
    struct skipped_object *skipped;
    size_t n_skipped;
};

/* Reads one object of a manifest (unchanged; a List: each of its items) and appends to the list,
 * which lives in the arena and begins as {0}. A template or a count that can't be read is that
 * workload's problem. -EINVAL: no object, no kind, a name that is none. */
int workload_from_json(json_t *object, const struct policy *policy, struct arena *arena,
                       struct workload_list *list, struct err *err);

#endif
