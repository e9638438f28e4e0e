/* device_copy_node: the slices that concern a node, and the devices that placed replicas use. */
#include "base/mem.h"
#include "device_copy_priv.h"

#include <string.h>
#include <utlist.h>

#define HOSTNAME "kubernetes.io/hostname"

/* A question for one node. */
struct node_question {
    const struct device_copy *copy;
    const struct label_view *node;
    struct arena *arena;
    struct node_pools {
        struct allocate_slice *slices;
        size_t n, room;
        const char *not_judged;
    } named, others;
};

/* Each selector is asked once per question. */
static bool selects(const struct node_question *question, struct copied_details *nodes)
{
    if (nodes->asked != *question->copy->n_questions) {
        nodes->asked = *question->copy->n_questions;
        nodes->holds = node_selector_holds(nodes->details.nodes, question->node);
    }
    return nodes->holds;
}

static bool reaches(const struct node_question *question, const struct copied_reach *reach)
{
    if (reach->node_name[0])
        return strcmp(reach->node_name, question->node->node_name) == 0;
    return !reach->nodes || !reach->nodes->details.nodes || selects(question, reach->nodes);
}

static struct allocate_slice view_of(const struct node_question *question,
                                     const struct copied_slice *slice)
{
    struct allocate_slice view = slice->shown;
    if (!slice->device_reach) {
        view.reaches_node = reaches(question, &slice->reach);
        return view;
    }
    bool *reach = ARENA_ARRAY(question->arena, bool, view.n_devices);
    for (size_t i = 0; i < view.n_devices; i++)
        reach[i] = reaches(question, &slice->device_reach[i]);
    view.devices_reach = reach;
    return view;
}

static bool concerns_node(const struct node_question *question, const struct copied_slice *slice)
{
    if (!slice->device_reach)
        return reaches(question, &slice->reach);
    for (size_t i = 0; i < slice->shown.n_devices; i++) {
        if (reaches(question, &slice->device_reach[i]))
            return true;
    }
    return false;
}

static bool has_pool(const struct node_question *question, const struct copied_pool *pool)
{
    const struct copied_slice *slice = NULL;
    LL_FOREACH2(pool->slices, slice, next_of_pool)
    {
        if (slice->shown.n_shared_counters > 0 || concerns_node(question, slice))
            return true;
    }
    return false;
}

static void add_pool(struct node_question *question, struct copied_pool *pool)
{
    const struct copied_slice *slice = NULL;
    if (pool->asked == *question->copy->n_questions)
        return;
    pool->asked = *question->copy->n_questions;
    if (!has_pool(question, pool))
        return;
    struct node_pools *pools = pool->is_other ? &question->others : &question->named;
    LL_FOREACH2(pool->slices, slice, next_of_pool)
    {
        pools->slices = arena_grow(question->arena, pools->slices, pools->n, &pools->room,
                                   sizeof *pools->slices);
        pools->slices[pools->n++] = view_of(question, slice);
        if (slice->not_judged)
            pools->not_judged = slice->not_judged;
    }
}

static void add_pools_of(struct node_question *question, const struct copied_node *nodes,
                         const char *name)
{
    const struct copied_node *node = NULL;
    if (name)
        HASH_FIND_STR(nodes, name, node);
    for (size_t i = 0; node && i < node->n; i++)
        add_pool(question, node->pools[i]);
}

static struct device_copy_slices slices_of(const struct node_question *question)
{
    const struct device_copy *copy = question->copy;
    const struct node_pools *named = &question->named;
    const struct node_pools *others = &question->others;
    struct device_copy_slices answer = {
        .slices = named->slices,
        .n = named->n,
        .not_judged = copy->named.not_judged ? copy->named.not_judged : named->not_judged,
        .n_with_others = named->n + others->n,
        .others_not_judged =
            copy->others.not_judged ? copy->others.not_judged : others->not_judged};
    if (others->n == 0)
        return answer;
    struct allocate_slice *all =
        ARENA_ARRAY(question->arena, struct allocate_slice, answer.n_with_others);
    for (size_t i = 0; i < answer.n_with_others; i++)
        all[i] = i < named->n ? named->slices[i] : others->slices[i - named->n];
    answer.slices = all;
    return answer;
}

struct device_copy_slices device_copy_on_node(const struct device_copy *copy,
                                              const struct label_view *node, struct arena *arena)
{
    struct node_question question = {.copy = copy, .node = node, .arena = arena};
    ++*copy->n_questions;
    if (!copy->named.not_judged) {
        add_pools_of(&question, copy->nodes, node->node_name);
        add_pools_of(&question, copy->hosts, labels_find(node->labels, node->n_labels, HOSTNAME));
        for (size_t i = 0; i < copy->n_wide; i++)
            add_pool(&question, copy->wide[i]);
    }
    return slices_of(&question);
}

/* ---- who reaches the devices of a claim ---- */

struct claims_place {
    const char *node_name; /* "": several nodes may */
    const struct copied_reach *reaches[ALLOCATE_RESULTS_MAX];
    size_t n;
};

/* NULL: unknown. */
static const struct copied_reach *reach_of(const struct device_copy *copy,
                                           const struct allocate_result *result)
{
    struct copied_slice *slice = NULL;
    HASH_FIND_STR(copy->slices, result->slice->name, slice);
    if (!slice)
        return NULL;
    return slice->device_reach ? &slice->device_reach[result->device - slice->shown.devices]
                               : &slice->reach;
}

/* Source: createNodeSelector() upstream. */
const struct claims_place *device_copy_place(const struct device_copy *copy,
                                             const struct allocate_results *results,
                                             const char *node_name)
{
    struct claims_place *place = ARENA_NEW(copy->arena, struct claims_place);
    place->node_name = "";
    for (size_t i = 0; i < results->n; i++) {
        const struct copied_reach *reach = reach_of(copy, &results->devices[i]);
        if (!reach || reach->node_name[0] || results->devices[i].device->binds_to_node)
            place->node_name = arena_strdup(copy->arena, node_name);
        place->reaches[place->n++] = reach;
    }
    return place;
}

bool device_copy_reaches(const struct device_copy *copy, const struct claims_place *place,
                         const struct label_view *node)
{
    const struct node_question question = {.copy = copy, .node = node};
    if (place->node_name[0])
        return strcmp(place->node_name, node->node_name) == 0;
    ++*copy->n_questions;
    for (size_t i = 0; i < place->n; i++) {
        if (!reaches(&question, place->reaches[i]))
            return false;
    }
    return true;
}

static bool is_whole(const struct copied_pool *pool, const char *gpu)
{
    const struct copied_slice *slice = NULL;
    LL_FOREACH2(pool->slices, slice, next_of_pool)
    {
        for (size_t i = 0; i < slice->shown.n_devices; i++) {
            const struct allocate_device *device = &slice->devices[i];
            if ((device->is_allocated || device->is_shared) && strcmp(slice->gpus[i].gpu, gpu) == 0)
                return false;
        }
    }
    return true;
}

struct device_copy_gpu device_copy_gpu_of(const struct device_copy *copy,
                                          const struct allocate_result *result)
{
    struct copied_slice *slice = NULL;
    HASH_FIND_STR(copy->slices, result->slice->name, slice);
    const struct device_driver *driver =
        slice && copy->policy ? policy_device_driver(copy->policy, slice->shown.driver) : NULL;
    if (!driver)
        return (struct device_copy_gpu){.resource = NULL};
    const struct copied_gpu *gpu = &slice->gpus[result->device - slice->shown.devices];
    return (struct device_copy_gpu){.resource = driver->resource,
                                    .memory_bytes = gpu->memory_bytes,
                                    .pool = slice->pool,
                                    .gpu = gpu->gpu,
                                    .is_whole_now = is_whole(slice->pool, gpu->gpu)};
}

/* ---- what replicas take ---- */

/* A device that claims take, and the name's other devices in its pool with it. */
struct taking {
    const struct allocate_device *device; /* the one that the allocator gave, before */
    const struct allocate_want *want;
};

/* The amount that the claim takes of a capacity of that name. */
static int64_t amount_of(const struct taking *taking, const char *name)
{
    for (size_t i = 0; i < taking->device->n_capacities; i++) {
        const struct allocate_capacity *capacity = &taking->device->capacities[i];
        if (strcmp(capacity->name, name) == 0)
            return allocate_amount_taken(taking->want, capacity);
    }
    return 0;
}

static const struct allocate_capacity *capacities_after(struct arena *arena,
                                                        const struct allocate_device *device,
                                                        const struct taking *taking)
{
    struct allocate_capacity *after =
        arena_copy(arena, device->capacities, device->n_capacities, sizeof *after);
    for (size_t i = 0; i < device->n_capacities; i++) {
        const int64_t amount = amount_of(taking, after[i].name);
        const bool is_known = amount >= 0 && after[i].consumed >= 0;
        after[i].consumed = is_known ? after[i].consumed + amount : ALLOCATE_UNKNOWN;
    }
    return after;
}

/* Points to the count of taken devices as of the last one that concerns the same nodes. */
static size_t *last_taken(struct device_copy *copy, const struct copied_slice *slice,
                          const struct allocate_device *device)
{
    const struct copied_reach *reach =
        slice->device_reach ? &slice->device_reach[device - slice->devices] : &slice->reach;
    struct copied_node *node = NULL;
    if (slice->pool->is_wide || slice->pool->has_hosts)
        return &copy->last_wide_taken;
    if (reach->node_name[0] && device->n_consumes == 0) /* counters are those of the pool */
        HASH_FIND_STR(copy->nodes, reach->node_name, node);
    return node ? &node->last_taken : &slice->pool->last_taken;
}

static void take_device(struct device_copy *copy, struct copied_slice *slice,
                        struct allocate_device *device, const struct taking *taking)
{
    copy->taken =
        arena_grow(copy->arena, copy->taken, copy->n_taken, &copy->taken_room, sizeof *copy->taken);
    copy->taken[copy->n_taken++] = (struct taken_device){slice, device, *device};
    *last_taken(copy, slice, device) = copy->n_taken;
    if (!taking->device->facts->allows_multiple) {
        device->is_allocated = true;
        return;
    }
    device->capacities = capacities_after(copy->arena, device, taking);
    device->is_shared = true;
    device->has_consumed_capacity |= taking->device->n_capacities > 0;
}

/* A name in a pool is one device, however many slices have it. */
static void take_namesakes(struct device_copy *copy, const struct copied_slice *of,
                           const struct allocate_device *taken, const struct taking *taking)
{
    struct copied_slice *slice = NULL;
    LL_FOREACH2(of->pool->slices, slice, next_of_pool)
    {
        for (size_t i = 0; i < slice->shown.n_devices; i++) {
            if (&slice->devices[i] != taken && strcmp(slice->devices[i].name, taken->name) == 0)
                take_device(copy, slice, &slice->devices[i], taking);
        }
    }
}

void device_copy_take(struct device_copy *copy, const struct allocate_claim *claim,
                      const struct allocate_results *results)
{
    for (size_t i = 0; i < results->n; i++) {
        const struct allocate_result *result = &results->devices[i];
        const struct allocate_want *want = &claim->requests[result->request].wants[result->want];
        struct copied_slice *slice = NULL;
        if (want->is_admin)
            continue;
        HASH_FIND_STR(copy->slices, result->slice->name, slice);
        if (!slice)
            continue;
        struct allocate_device *device = &slice->devices[result->device - slice->shown.devices];
        const struct allocate_device before = *device;
        const struct taking taking = {&before, want};
        take_device(copy, slice, device, &taking);
        if (slice->pool->repeats_names)
            take_namesakes(copy, slice, device, &taking);
    }
}

void device_copy_give_back(struct device_copy *copy, size_t n)
{
    while (copy->n_taken > n) {
        const struct taken_device *last = &copy->taken[--copy->n_taken];
        *last->device = last->before;
        *last_taken(copy, last->slice, last->device) = n;
    }
}

size_t device_copy_n_taken(const struct device_copy *copy)
{
    return copy->n_taken;
}

/* Any node may have a pool's host label, so such pools count for every node. */
bool device_copy_touches(const struct device_copy *copy, size_t n, const char *node_name)
{
    const struct copied_node *node = NULL;
    if (copy->last_wide_taken > n)
        return true;
    HASH_FIND_STR(copy->nodes, node_name, node);
    if (node && node->last_taken > n)
        return true;
    for (size_t i = 0; node && i < node->n; i++) {
        if (node->pools[i]->last_taken > n)
            return true;
    }
    return false;
}
