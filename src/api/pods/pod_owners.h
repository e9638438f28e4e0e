/* pod_owners: the owners of pending pods. Private to api. */
#ifndef API_PODS_POD_OWNERS_H
#define API_PODS_POD_OWNERS_H

#include "base/arena.h"
#include "types/policy.h"

#include <jansson.h>

/* Adds the members `remedies` and `remediesTried` to an owner of which n pods find no place, the
 * first of them at this index. */
struct pod_owners_help {
    void (*add_remedies)(void *context, size_t pod, json_int_t n, json_t *owner);
    void *context;
};

/* PendingOwners of these PodStatus, in the order of their first pods. A pod without a controller is
 * its own owner. Pods without a place get the remedies of their owner. */
json_t *pod_owners_json(const json_t *pods, const struct policy *policy,
                        const struct pod_owners_help *help, struct arena *arena);
/* The GPUs that a PodStatus asks for. */
json_int_t pod_owners_count_gpus(const json_t *pod, const struct policy *policy);
/* The GPUs that all of them wait for. */
json_int_t pod_owners_gpus(const json_t *owners);

#endif
