/*
 * pod_gpus: the GPUs that a pod requests, copied under the inventory's lock and written without it.
 * Private to api.
 */
#ifndef API_POD_GPUS_H
#define API_POD_GPUS_H

#include "ledger/cluster.h"

#include <jansson.h>

struct pod_gpus {
    const struct amount *items;
    size_t n;
};

struct pod_gpus pod_gpus_copy(const struct pod_shape *shape, struct arena *arena);
/* {"nvidia.com/gpu": 2} */
json_t *pod_gpus_json(const struct pod_gpus *gpus);

#endif
