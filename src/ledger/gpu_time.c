/* gpu_time: see include/ledger/gpu_time.h. A pod remembers the sum that it counts in, because what
 * made it count there may change: labels of its namespace and its node, and the policy. */
#include "ledger/gpu_time.h"
#include "base/mem.h"
#include "ledger.h"

#include <stdlib.h>
#include <string.h>

enum time_kind { GUARANTEED, BORROWED, UNLIMITED, N_KINDS };

static const char *const KINDS[N_KINDS] = {"guaranteed", "borrowed", "unlimited"};

struct gpu_time_entry {
    enum time_kind kind;
    const char *model;
    int64_t gpus;   /* of its pods now */
    int64_t gpu_ms; /* until since_ms */
    int64_t since_ms;
    UT_hash_handle hh;
    char key[]; /* kind, namespace, '/', model */
};

/* A pod without an end, with more GPUs than any node has, stays below INT64_MAX for centuries. */
#define POD_GPUS_MAX 4096

static int64_t sum_until(const struct gpu_time_entry *entry, int64_t now_ms)
{
    const int64_t ms = now_ms > entry->since_ms ? now_ms - entry->since_ms : 0;
    int64_t more = 0;
    int64_t sum = 0;
    return __builtin_mul_overflow(entry->gpus, ms, &more) ||
                   __builtin_add_overflow(entry->gpu_ms, more, &sum)
               ? INT64_MAX
               : sum;
}

static void change(struct gpu_time_entry *entry, int64_t gpus, int64_t now_ms)
{
    entry->gpu_ms = sum_until(entry, now_ms);
    entry->since_ms = now_ms;
    entry->gpus += gpus;
}

/* ---- the table ---- */

/* False: all sums are in use. */
static bool make_room(struct cluster *cluster)
{
    struct gpu_time_entry *idle = NULL;
    for (struct gpu_time_entry *entry = cluster->gpu_times; entry; entry = entry->hh.next) {
        if (entry->gpus == 0 && (!idle || entry->since_ms < idle->since_ms))
            idle = entry;
    }
    if (!idle || cluster->now_ms - idle->since_ms < GPU_TIME_IDLE_MS)
        return false;
    HASH_DEL(cluster->gpu_times, idle);
    free(idle);
    return true;
}

static struct gpu_time_entry *find(const struct cluster *cluster, const char *key)
{
    struct gpu_time_entry *entry = NULL;
    HASH_FIND_STR(cluster->gpu_times, key, entry);
    return entry;
}

static struct gpu_time_entry *add(struct cluster *cluster, enum time_kind kind, const char *key)
{
    struct gpu_time_entry *entry = MEM_NEW_WITH_TEXT(struct gpu_time_entry, key, key);
    entry->kind = kind;
    entry->model = strchr(entry->key, '/') + 1;
    entry->since_ms = cluster->now_ms;
    HASH_ADD_KEYPTR(hh, cluster->gpu_times, entry->key, strlen(entry->key), entry);
    return entry;
}

static const char *key_of(enum time_kind kind, const char *namespace_, const char *model,
                          struct arena *arena)
{
    return arena_printf(arena, "%c%s/%s", 'a' + (int)kind, namespace_, model);
}

static struct gpu_time_entry *find_or_add(struct cluster *cluster, enum time_kind kind,
                                          const char *key, struct arena *arena)
{
    struct gpu_time_entry *entry = find(cluster, key);
    if (!entry && HASH_COUNT(cluster->gpu_times) >= GPU_TIME_MAX && !make_room(cluster)) {
        key = key_of(kind, "", "", arena);
        entry = find(cluster, key);
    }
    return entry ? entry : add(cluster, kind, key);
}

/* ---- pods ---- */

static enum time_kind kind_of(const struct cluster *cluster, const struct pod *pod,
                              const struct node *node)
{
    const struct quota_standing standing = namespace_usage_standing(
        cluster, pod->namespace_, (struct quota_pod){pod->shape, pod->priority}, node);
    if (!standing.limit)
        return UNLIMITED;
    return standing.borrows ? BORROWED : GUARANTEED;
}

static int64_t gpus_of(const struct pod_shape *shape)
{
    int64_t sum = 0;
    for (size_t i = 0; i < shape->n_gpu_needs; i++)
        sum = amount_add(sum, shape->needs[i].amount);
    return sum < POD_GPUS_MAX ? sum : POD_GPUS_MAX;
}

void gpu_time_add_pod(struct cluster *cluster, struct pod_entry *pod)
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    const struct pod_shape *shape = pod->pod.shape;
    char model[MODEL_POOL_NAME_BYTES];
    struct node_traits traits;
    if (!pod->node || shape->n_gpu_needs == 0)
        return;
    const enum time_kind kind = kind_of(cluster, &pod->pod, pod->node);
    traits = *namespace_usage_traits(pod->node);
    traits.gpus.model = traits.gpus.counted_model; /* labels are missing now and then */
    (void)model_pool_name(&traits, shape->needs[0].resource->name, model);
    pod->timed = find_or_add(cluster, kind, key_of(kind, pod->pod.namespace_, model, arena), arena);
    change(pod->timed, gpus_of(shape), cluster->now_ms);
}

void gpu_time_remove_pod(const struct cluster *cluster, struct pod_entry *pod)
{
    if (pod->timed)
        change(pod->timed, -gpus_of(pod->pod.shape), cluster->now_ms);
    pod->timed = NULL;
}

void gpu_time_renew_node(struct cluster *cluster, const struct node *node)
{
    for (struct pod_entry *pod = node->pods; pod; pod = pod->next) {
        gpu_time_remove_pod(cluster, pod);
        gpu_time_add_pod(cluster, pod);
    }
}

/* ---- all ---- */

void gpu_time_continue(struct cluster *to, const struct cluster *from)
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    for (struct gpu_time_entry *entry = to->gpu_times; entry; entry = entry->hh.next)
        entry->gpu_ms = 0;
    to->now_ms = from->now_ms;
    for (struct gpu_time_entry *entry = to->gpu_times; entry; entry = entry->hh.next)
        entry->since_ms = to->now_ms;
    for (const struct gpu_time_entry *old = from->gpu_times; old; old = old->hh.next) {
        struct gpu_time_entry *entry = find_or_add(to, old->kind, old->key, arena);
        if (strcmp(entry->key, old->key) == 0)
            entry->gpu_ms = sum_until(old, from->now_ms);
    }
}

size_t gpu_time_copy(const struct cluster *cluster, int64_t now_ms, struct arena *arena,
                     struct gpu_time **ret_times)
{
    const size_t n_room = cluster->now_ms > 0 ? HASH_COUNT(cluster->gpu_times) : 0;
    struct gpu_time *times = ARENA_ARRAY(arena, struct gpu_time, n_room);
    const struct gpu_time_entry *entry = cluster->gpu_times;
    for (size_t i = 0; i < n_room; i++, entry = entry->hh.next) {
        const char *namespace_ = &entry->key[1];
        times[i] = (struct gpu_time){
            .namespace_ = arena_strndup(arena, namespace_, (size_t)(entry->model - namespace_) - 1),
            .model = arena_strdup(arena, entry->model),
            .kind = KINDS[entry->kind],
            .gpu_ms = sum_until(entry, now_ms)};
    }
    *ret_times = times;
    return n_room;
}

void gpu_time_free_all(struct cluster *cluster)
{
    struct gpu_time_entry *entry = NULL;
    struct gpu_time_entry *next = NULL;
    HASH_ITER (hh, cluster->gpu_times, entry, next) {
        HASH_DEL(cluster->gpu_times, entry);
        free(entry);
    }
}

bool gpu_time_is_right(const struct cluster *cluster)
{
    int64_t gpus = 0;
    for (const struct gpu_time_entry *entry = cluster->gpu_times; entry; entry = entry->hh.next)
        gpus += entry->gpus;
    for (const struct pod_entry *pod = cluster->pods; pod; pod = pod->hh.next) {
        const bool counts = pod->node && pod->pod.shape->n_gpu_needs > 0;
        if (counts != (pod->timed != NULL))
            return false;
        gpus -= counts ? gpus_of(pod->pod.shape) : 0;
    }
    return gpus == 0;
}
