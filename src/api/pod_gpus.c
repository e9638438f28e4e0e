/* pod_gpus: see pod_gpus.h. */
#include "api/pod_gpus.h"

struct pod_gpus pod_gpus_copy(const struct pod_shape *shape, struct arena *arena)
{
    struct amount *items = ARENA_ARRAY(arena, struct amount, shape->n_gpu_needs);
    for (size_t i = 0; i < shape->n_gpu_needs; i++)
        items[i] = (struct amount){arena_strdup(arena, shape->needs[i].resource->name),
                                   shape->needs[i].amount};
    return (struct pod_gpus){items, shape->n_gpu_needs};
}

json_t *pod_gpus_json(const struct pod_gpus *gpus)
{
    json_t *json = json_object();
    for (size_t i = 0; i < gpus->n; i++)
        (void)json_object_set_new(json, gpus->items[i].resource,
                                  json_integer(gpus->items[i].amount));
    return json;
}
