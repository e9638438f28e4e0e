/*
 * annotations: requests in a pod's annotations: the legacy affinity (Kubernetes 1.3 to 1.5), and
 * GPU wishes (gpu-extender.io/...).
 *
 * An annotation that is unreadable or longer than the limits in annotations.c rejects the pod, but
 * is never an error. Tenants write annotations, and a pod's use must not depend on them.
 */
#ifndef OBJECTS_ANNOTATIONS_H
#define OBJECTS_ANNOTATIONS_H

#include "base/arena.h"
#include "base/err.h"
#include "types/facts.h"
#include "types/policy.h"

#include <jansson.h>

#define ANNOTATION_LEGACY_AFFINITY "scheduler.alpha.kubernetes.io/affinity"
#define ANNOTATION_LEGACY_TOLERATIONS "scheduler.alpha.kubernetes.io/tolerations"
#define ANNOTATION_PREFIX "gpu-extender.io/"
#define ANNOTATION_MODELS ANNOTATION_PREFIX "models"
#define ANNOTATION_EXCLUDE_MODELS ANNOTATION_PREFIX "exclude-models"
#define ANNOTATION_MIN_GPU_MEMORY ANNOTATION_PREFIX "min-gpu-memory"
#define ANNOTATION_DOMAIN ANNOTATION_PREFIX "domain"
#define ANNOTATION_ALLOW_SHARED ANNOTATION_PREFIX "allow-shared"
#define ANNOTATION_GANG ANNOTATION_PREFIX "gang"
#define ANNOTATION_GANG_SIZE ANNOTATION_PREFIX "gang-size"
/* Of LeaderWorkerSets, whose pods then choose a domain one by one. */
#define ANNOTATION_EXCLUSIVE_TOPOLOGY "leaderworkerset.sigs.k8s.io/exclusive-topology"

/* The key without ANNOTATION_PREFIX; NULL: it has another prefix. */
const char *annotations_own_name(const char *key);
/* The wish in pods' annotations that is nearest to this name, both without ANNOTATION_PREFIX. "":
 * none is near. NULL: the name itself is one. */
const char *annotations_nearest(const char *name);
/* Whether the policy must have groups (gangs.mode) for this name to count. */
bool annotations_is_of_gangs(const char *name);
/* What carries this name of ours instead of pods: "an annotation of nodes". "": pods do, but nobody
 * need write it (our bindings do, and owners copy it). NULL: a wish, or unknown. */
const char *annotations_elsewhere(const char *name);

/* Sets the shape's legacy_affinity, wants and allow_shared, and appends preferred terms. Sets
 * *ret_refusal if an annotation is unreadable or contradicts another, else leaves it. -EINVAL:
 * annotations is no object, or a value is no string. */
int annotations_read(const json_t *metadata, const struct policy *policy, struct arena *arena,
                     struct shape_facts *shape, const char **ret_refusal, struct err *err);

/* Sets gang and gang_size of the facts, which have the namespace: the pod's group (ledger/gangs.h),
 * if the policy has groups. Its own annotations precede the policy's gangs.conventions. -EINVAL:
 * one of the annotations is missing or unreadable, or the size exceeds the policy's; then there is
 * no group. */
int annotations_read_gang(const json_t *metadata, const struct policy *policy, struct arena *arena,
                          struct pod_facts *facts, struct err *err);

/* The legacy affinity annotation as JSON; NULL: absent, empty or unreadable. The caller owns it
 * (json_decref()). */
json_t *annotations_legacy_affinity(const json_t *metadata);

#endif
