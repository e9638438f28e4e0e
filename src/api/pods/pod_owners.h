/* pod_owners: the owners of pending pods. Private to api. */
#ifndef API_PODS_POD_OWNERS_H
#define API_PODS_POD_OWNERS_H

#include "base/arena.h"
#include "types/policy.h"

#include <jansson.h>

/* PendingOwners of these PodStatus, in the order of their first pods. A pod without a controller is
 * its own owner. */
json_t *pod_owners_json(const json_t *pods, const struct policy *policy, struct arena *arena);
/* The GPUs that a PodStatus asks for. */
json_int_t pod_owners_count_gpus(const json_t *pod, const struct policy *policy);
/* The GPUs that all of them wait for. */
json_int_t pod_owners_gpus(const json_t *owners);

#endif
