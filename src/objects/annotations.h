/*
 * annotations: what a pod's annotations ask for: the legacy affinity (Kubernetes 1.3 to 1.5), and
 * the GPUs that it wants (gpu-extender.io/...).
 *
 * A text that can't be read, or is longer than the limits in annotations.c, is the pod's refusal,
 * never an error: annotations are the tenant's, and what a pod uses must not depend on them.
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
#define ANNOTATION_ALLOW_SHARED ANNOTATION_PREFIX "allow-shared"

/* metadata.annotations into the shape: legacy_affinity, wants, allow_shared, and preferred terms
 * behind those that are there. *ret_refusal is set where a text can't be read or contradicts
 * another, and left alone else. -EINVAL: annotations are no object, or one is no text. */
int annotations_read(const json_t *metadata, const struct policy *policy, struct arena *arena,
                     struct shape_facts *shape, const char **ret_refusal, struct err *err);

/* The legacy affinity annotation as JSON; NULL where it is missing, empty or can't be read. The
 * caller's (json_decref()). */
json_t *annotations_legacy_affinity(const json_t *metadata);

#endif
