/* claim_takes: see include/decide/claim_rules.h. */
#include "decide/claim_rules.h"

#include <string.h>

struct claim_taking {
    const struct device_copy *copy;
    struct claim_takes *takes;
    struct device_copy_gpu *seen; /* GPUs that were whole */
    size_t n_seen;
};

static void add(struct claim_takes *takes, const char *resource)
{
    size_t i = 0;
    while (i < takes->n && strcmp(takes->items[i].resource, resource) != 0)
        i++;
    if (i == CLAIM_TAKES_MAX)
        return;
    if (i == takes->n)
        takes->items[takes->n++] = (struct claim_take){.resource = resource};
    takes->items[i].gpus++;
}

static bool was_seen(const struct claim_taking *taking, const struct device_copy_gpu *gpu)
{
    for (size_t i = 0; i < taking->n_seen; i++) {
        const struct device_copy_gpu *seen = &taking->seen[i];
        if (seen->pool == gpu->pool && strcmp(seen->gpu, gpu->gpu) == 0)
            return true;
    }
    return false;
}

static void take(struct claim_taking *taking, const struct allocate_result *result)
{
    const struct device_copy_gpu gpu = device_copy_gpu_of(taking->copy, result);
    if (!gpu.resource)
        return;
    taking->takes->memory_bytes += gpu.memory_bytes < ALLOCATE_CAPACITY_MAX ? gpu.memory_bytes : 0;
    if (!gpu.resource[0] || !gpu.is_whole_now || was_seen(taking, &gpu))
        return;
    taking->seen[taking->n_seen++] = gpu;
    add(taking->takes, gpu.resource);
}

static void take_all(struct claim_taking *taking, const struct allocate_claim *claim,
                     const struct allocate_results *results)
{
    size_t last = SIZE_MAX;
    for (size_t i = 0; i < results->n; i++) {
        const struct allocate_result *result = &results->devices[i];
        const struct allocate_request *request = &claim->requests[result->request];
        if (request->has_alternatives && result->request != last)
            taking->takes->order += result->want;
        last = result->request;
        if (!request->wants[result->want].is_admin)
            take(taking, result);
    }
}

const struct claim_takes *claim_takes_of(const struct device_copy *copy,
                                         const struct allocate_question *asked,
                                         const struct allocate_answer *answer, struct arena *arena)
{
    struct claim_taking taking = {.copy = copy, .takes = ARENA_NEW(arena, struct claim_takes)};
    size_t n = 0;
    for (size_t i = 0; copy && i < asked->n_claims; i++)
        n += answer->results[i].n;
    taking.seen = ARENA_ARRAY(arena, struct device_copy_gpu, n);
    for (size_t i = 0; n > 0 && i < asked->n_claims; i++)
        take_all(&taking, &asked->claims[i], &answer->results[i]);
    return taking.takes;
}

bool claim_takes_are_alike(const struct claim_takes *a, const struct claim_takes *b)
{
    bool are_alike = a->n == b->n && a->memory_bytes == b->memory_bytes;
    for (size_t i = 0; are_alike && i < a->n; i++)
        are_alike = a->items[i].gpus == b->items[i].gpus &&
                    strcmp(a->items[i].resource, b->items[i].resource) == 0;
    return are_alike;
}
