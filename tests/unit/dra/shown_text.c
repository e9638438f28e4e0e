/* shown_text: see shown_text.h. */
#include "shown_text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static const char *joined(struct arena *arena, const char **texts, size_t n)
{
    const char *text = "";
    if (n > 1)
        qsort(texts, n, sizeof(const char *), compare_texts);
    for (size_t i = 0; i < n; i++)
        text = arena_printf(arena, "%s %s", text, texts[i]);
    return text;
}

/* None keeps nothing off. */
static const char *taints_text(struct arena *arena, const struct allocate_device *device)
{
    const char **texts = ARENA_ARRAY(arena, const char *, device->n_taints);
    size_t n = 0;
    for (size_t i = 0; i < device->n_taints; i++) {
        const struct allocate_taint *taint_of = &device->taints[i];
        if (strcmp(taint_of->effect, "None") != 0)
            texts[n++] =
                arena_printf(arena, "%s=%s:%s", taint_of->key, taint_of->value, taint_of->effect);
    }
    return joined(arena, texts, n);
}

static const char *set_text(struct arena *arena, const struct allocate_counter_set *set)
{
    const char **texts = ARENA_ARRAY(arena, const char *, set->n_counters);
    for (size_t i = 0; i < set->n_counters; i++)
        texts[i] =
            arena_printf(arena, "%s=%" PRId64, set->counters[i].name, set->counters[i].amount);
    return arena_printf(arena, "%s:%s", set->name, joined(arena, texts, set->n_counters));
}

static const char *sets_text(struct arena *arena, const struct allocate_counter_set *sets, size_t n)
{
    const char **texts = ARENA_ARRAY(arena, const char *, n);
    for (size_t i = 0; i < n; i++)
        texts[i] = set_text(arena, &sets[i]);
    return joined(arena, texts, n);
}

static const char *capacities_text(struct arena *arena, const struct allocate_device *device)
{
    const char **texts = ARENA_ARRAY(arena, const char *, device->n_capacities);
    for (size_t i = 0; i < device->n_capacities; i++) {
        const struct allocate_capacity *capacity = &device->capacities[i];
        texts[i] =
            arena_printf(arena, "%s=%" PRId64 "-%" PRId64 "%s", capacity->name, capacity->value,
                         capacity->consumed, capacity->policy ? " by policy" : "");
    }
    return joined(arena, texts, device->n_capacities);
}

static bool reaches(const struct allocate_slice *slice, size_t device)
{
    return slice->devices_reach ? slice->devices_reach[device] : slice->reaches_node;
}

const char *slice_text(struct arena *arena, const struct allocate_slice *slice)
{
    const char *text = arena_printf(
        arena, "%s/%s %" PRId64 " of %" PRId64 ":%s", slice->driver, slice->pool, slice->generation,
        slice->n_slices, sets_text(arena, slice->shared_counters, slice->n_shared_counters));
    for (size_t i = 0; i < slice->n_devices; i++) {
        const struct allocate_device *device = &slice->devices[i];
        text = arena_printf(
            arena, "%s\n %s%s%s%s%s%s; taints%s; consumes%s; capacities%s", text, device->name,
            reaches(slice, i) ? " here" : "", device->is_allocated ? " allocated" : "",
            device->is_shared ? " shared" : "", device->has_consumed_capacity ? " consumed" : "",
            device->binding_conditions ? " waits" : "", taints_text(arena, device),
            sets_text(arena, device->consumes, device->n_consumes), capacities_text(arena, device));
    }
    return text;
}

const char *answer_text(struct arena *arena, const struct allocate_question *asked,
                        const struct allocate_answer *answer)
{
    const char *text = arena_printf(arena, "%d %s", (int)answer->verdict, answer->message);
    if (strstr(answer->message, "too many combinations"))
        return NULL;
    for (size_t c = 0; answer->verdict == ALLOCATE_FITS && c < asked->n_claims; c++) {
        for (size_t i = 0; i < answer->results[c].n; i++) {
            const struct allocate_result *result = &answer->results[c].devices[i];
            text = arena_printf(arena, "%s\n %zu.%zu.%zu: %s/%s/%s", text, c, result->request,
                                result->want, result->slice->driver, result->slice->pool,
                                result->device->name);
        }
    }
    return text;
}
