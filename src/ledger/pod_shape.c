/* pod_shape: see include/ledger/pod_shape.h. */
#include "ledger/pod_shape.h"

#include <string.h>

int64_t needs_find(const struct need *needs, size_t n, const struct resource *resource)
{
    for (size_t i = 0; i < n; i++) {
        if (needs[i].resource == resource)
            return needs[i].amount;
    }
    return 0;
}

int64_t shape_need(const struct pod_shape *shape, const struct resource *resource)
{
    return needs_find(shape->needs, shape->n_needs, resource);
}

size_t needs_put_gpus_first(struct need *needs, size_t n_needs)
{
    size_t n_gpu = 0;
    for (size_t i = 0; i < n_needs; i++) {
        if (!needs[i].resource->is_gpu)
            continue;
        const struct need gpu = needs[i];
        memmove(&needs[n_gpu + 1], &needs[n_gpu], (i - n_gpu) * sizeof *needs);
        needs[n_gpu++] = gpu;
    }
    return n_gpu;
}
