/* gpu_demand: choice of classes, forks and read access. See include/ledger/gpu_demand.h; the
 * counting is in model_pool.c and demand_index.c. */
#include "ledger/gpu_demand.h"
#include "base/mem.h"
#include "ledger.h"
#include "ledger/admit.h"
#include "ledger/shape_limits.h"

#include <stdlib.h>
#include <string.h>

/* Bounds how many shapes are examined. Shapes too large for every node are skipped. */
#define LOOKED_AT_MAX 1024

/* Sorted by name, so that sums over demands do not depend on the order of nodes. */
static int compare_names(const struct gpu_demand_entry *a, const struct gpu_demand_entry *b)
{
    return strcmp(a->demand.resource->name, b->demand.resource->name);
}

struct gpu_demand *gpu_demand_find_or_add(struct cluster *cluster, const struct resource *resource)
{
    struct gpu_demand_entry *entry = NULL;
    LL_SEARCH_SCALAR(cluster->demands, entry, demand.resource, resource);
    if (!entry) {
        entry = MEM_NEW(struct gpu_demand_entry);
        entry->demand.resource = resource;
        shapes_ref_resource(resource);
        LL_INSERT_INORDER(cluster->demands, entry, compare_names);
    }
    return &entry->demand;
}

static void free_pool(struct model_pool *pool)
{
    mem_free_ptr(&pool->model);
    free(pool);
}

/* A fork's classes hold no reference to its origin's shapes. */
static void drop_class(struct cluster *cluster, struct demand_class *class)
{
    free(class->admitted);
    if (!cluster->is_fork)
        shapes_unref_shape(cluster->shapes, NULL, class->shape);
}

static void free_demand(struct cluster *cluster, struct gpu_demand_entry *entry)
{
    struct gpu_demand *demand = &entry->demand;
    for (size_t i = 0; i < demand->n_classes; i++)
        drop_class(cluster, &demand->classes[i]);
    for (size_t i = 0; i < demand->n_pools; i++)
        free_pool(demand->pools[i]);
    free(demand->pools);
    shapes_unref_resource(cluster->shapes, demand->resource);
    free(entry);
}

void gpu_demand_free_all(struct cluster *cluster)
{
    struct gpu_demand_entry *entry = NULL;
    struct gpu_demand_entry *next = NULL;
    LL_FOREACH_SAFE(cluster->demands, entry, next)
    {
        free_demand(cluster, entry);
    }
}

/* Live pods. */

bool gpu_demand_counts(const struct pod *pod)
{
    return !pod->finished && (pod->node_name[0] || (!pod->gated && !pod->refusal));
}

void gpu_demand_count(struct cluster *cluster, const struct pod *pod, int64_t n)
{
    if (gpu_demand_counts(pod) && shapes_count_live(pod->shape, n) < LOOKED_AT_MAX)
        cluster->settled = false;
}

/* Settling. */

/* Frees pools without nodes. */
static void sweep_pools(struct gpu_demand *demand)
{
    size_t n = 0;
    for (size_t i = 0; i < demand->n_pools; i++) {
        struct model_pool *pool = demand->pools[i];
        if (pool->n_nodes == 0) {
            free_pool(pool);
            continue;
        }
        pool->index = n;
        demand->pools[n++] = pool;
    }
    demand->n_pools = n;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t max_devices(const struct node *node, const struct resource *resource)
{
    int64_t max = 0;
    for (size_t i = 0; i < node->n_devices; i++) {
        const struct node_device_group *group = &node->devices[i];
        if (group->pool && group->resource == resource)
            max = larger(max, group->total);
    }
    return max;
}

static int64_t max_gpus(const struct cluster *cluster, const struct resource *resource)
{
    int64_t max = 0;
    for (const struct node *node = cluster_next_node(cluster, NULL); node;
         node = cluster_next_node(cluster, node)) {
        const struct node_resource *has = node_find_resource(node, resource);
        max = larger(max, has && has->pool ? has->allocatable : 0);
        max = larger(max, max_devices(node, resource));
    }
    return max;
}

static void sweep_demands(struct cluster *cluster)
{
    struct gpu_demand_entry *entry = NULL;
    struct gpu_demand_entry *next = NULL;
    LL_FOREACH_SAFE(cluster->demands, entry, next)
    {
        sweep_pools(&entry->demand);
        entry->demand.max_gpus = max_gpus(cluster, entry->demand.resource);
        if (entry->demand.n_pools > 0)
            continue;
        LL_DELETE(cluster->demands, entry);
        free_demand(cluster, entry);
    }
}

/* Classes for which a node that admits them is sought in each pool. */
struct admission {
    struct demand_class *classes[GPU_DEMAND_CLASSES_MAX];
    size_t n;
    size_t n_left; /* pools that do not admit a class yet, of all classes */
};

static void admit_to_pool(struct admission *admission, const struct node *node,
                          const struct model_pool *pool)
{
    for (size_t i = 0; i < admission->n && pool; i++) {
        struct demand_class *class = admission->classes[i];
        if (!class->admitted[pool->index] && admit_gpus(node, class->shape)) {
            class->admitted[pool->index] = true;
            admission->n_left--;
        }
    }
}

static bool all_of(const bool *flags, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!flags[i])
            return false;
    }
    return true;
}

static struct demand_class class_of(const struct pod_shape *shape, int64_t gpus, int64_t n_live)
{
    return (struct demand_class){
        .shape = shape,
        .n_live = n_live,
        .gpus = gpus,
        .milli_cores = shape_demand(&shape->facts, "cpu"),
        .memory_bytes = shape_demand(&shape->facts, "memory"),
    };
}

/* Tenants may write hundreds of thousands of values into an affinity, and each would be compared
 * with every node at every settling. */
static bool is_dear(const struct shape_facts *facts)
{
    return shape_comparisons(facts) >= GPU_DEMAND_COMPARISONS_MAX;
}

static void admit_everywhere(const struct gpu_demand *demand, struct demand_class *class)
{
    class->admitted = MEM_ARRAY(bool, demand->n_pools);
    memset(class->admitted, true, demand->n_pools * sizeof(bool));
    class->unconfined = true;
}

/* A pool is admitted if one of its nodes is. All classes together, because to walk over the nodes
 * of a large cluster takes longest. */
static void admit(const struct cluster *cluster, const struct gpu_demand *demand,
                  struct admission *admission)
{
    for (size_t i = 0; i < admission->n; i++)
        admission->classes[i]->admitted = MEM_ARRAY(bool, demand->n_pools);
    admission->n_left = admission->n * demand->n_pools;
    for (const struct node *node = cluster_next_node(cluster, NULL); node && admission->n_left > 0;
         node = cluster_next_node(cluster, node)) {
        const struct node_resource *has = node_find_resource(node, demand->resource);
        admit_to_pool(admission, node, has ? has->pool : NULL);
        for (size_t i = 0; i < node->n_devices; i++) {
            if (node->devices[i].resource == demand->resource)
                admit_to_pool(admission, node, node->devices[i].pool);
        }
    }
    for (size_t i = 0; i < admission->n; i++)
        admission->classes[i]->unconfined =
            all_of(admission->classes[i]->admitted, demand->n_pools);
}

static void admit_one(const struct cluster *cluster, const struct gpu_demand *demand,
                      struct demand_class *class)
{
    struct admission admission = {.classes = {class}, .n = 1};
    if (is_dear(&class->shape->facts))
        admit_everywhere(demand, class);
    else
        admit(cluster, demand, &admission);
}

/* Earlier results stay true while the nodes do not change. */
static bool admit_as_before(struct gpu_demand *demand, struct demand_class *class)
{
    for (size_t i = 0; i < demand->n_classes; i++) {
        struct demand_class *old = &demand->classes[i];
        if (old->shape != class->shape || !old->admitted)
            continue;
        class->admitted = old->admitted;
        class->unconfined = old->unconfined;
        old->admitted = NULL;
        return true;
    }
    return false;
}

static void choose_classes(struct cluster *cluster, struct gpu_demand *demand, bool same_nodes)
{
    struct demand_class classes[GPU_DEMAND_CLASSES_MAX];
    const struct demand_index *index = shapes_demand_index(demand->resource);
    struct admission admission = {.n = 0};
    size_t n = 0;
    for (size_t i = 0; i < index->n && i < LOOKED_AT_MAX && n < GPU_DEMAND_CLASSES_MAX; i++) {
        const struct demand_index_item *item = &index->items[i];
        if (item->amount > demand->max_gpus)
            continue;
        struct demand_class *class = &classes[n++];
        *class = class_of(&item->shape->shape, item->amount, item->shape->n_live);
        if (is_dear(&class->shape->facts))
            admit_everywhere(demand, class);
        else if (!same_nodes || !admit_as_before(demand, class))
            admission.classes[admission.n++] = class;
        shapes_ref_shape(cluster->shapes, NULL, class->shape);
    }
    admit(cluster, demand, &admission);
    for (size_t i = 0; i < demand->n_classes; i++)
        drop_class(cluster, &demand->classes[i]);
    memcpy(demand->classes, classes, n * sizeof *classes);
    demand->n_classes = n;
}

bool gpu_demand_is_settled(const struct cluster *cluster)
{
    return cluster->settled;
}

void gpu_demand_settle(struct cluster *cluster)
{
    if (cluster->settled)
        return;
    const bool same_nodes = cluster->settled_nodes == cluster->nodes_version;
    struct gpu_demand_entry *entry = NULL;
    if (!same_nodes) {
        node_table_order(cluster);
        sweep_demands(cluster);
    }
    LL_FOREACH (cluster->demands, entry) {
        choose_classes(cluster, &entry->demand, same_nodes);
    }
    cluster->settled_nodes = cluster->nodes_version;
    cluster->settled = true;
}

/* Forks. */

/* Copied into the fork's arena, because the origin may free the shape. */
static const struct pod_shape *shape_of_fork(struct cluster *fork, const struct pod_shape *shape)
{
    struct pod_shape *copy = ARENA_NEW(fork->fork_arena, struct pod_shape);
    copy->facts = shape_copy(&shape->facts, fork->fork_arena);
    return copy;
}

static void copy_classes(struct gpu_demand *to, const struct gpu_demand *from)
{
    to->n_classes = from->n_classes;
    to->n_pools = from->n_pools;
    memcpy(to->classes, from->classes, sizeof from->classes);
    for (size_t i = 0; i < from->n_classes; i++) {
        to->classes[i].admitted = MEM_ARRAY(bool, from->n_pools);
        memcpy(to->classes[i].admitted, from->classes[i].admitted, from->n_pools * sizeof(bool));
    }
}

static void fork_classes(struct cluster *fork, struct gpu_demand *copy,
                         const struct gpu_demand *demand)
{
    copy_classes(copy, demand);
    for (size_t i = 0; i < demand->n_classes; i++) {
        copy->classes[i].shape = is_dear(&demand->classes[i].shape->facts)
                                     ? NULL
                                     : shape_of_fork(fork, demand->classes[i].shape);
    }
}

static struct gpu_demand copy_of(struct cluster *fork, const struct gpu_demand *demand)
{
    struct gpu_demand copy = *demand;
    copy.pools = MEM_ARRAY(struct model_pool *, demand->n_pools);
    for (size_t i = 0; i < demand->n_pools; i++) {
        copy.pools[i] = MEM_NEW(struct model_pool);
        *copy.pools[i] = *demand->pools[i];
        copy.pools[i]->model = mem_strdup(demand->pools[i]->model);
    }
    fork_classes(fork, &copy, demand);
    shapes_ref_resource(copy.resource);
    return copy;
}

void gpu_demand_fork_all(struct cluster *fork, const struct cluster *cluster)
{
    const struct gpu_demand_entry *entry = NULL;
    fork->fork_arena = arena_new();
    LL_FOREACH (cluster->demands, entry) {
        struct gpu_demand_entry *copy = MEM_NEW(struct gpu_demand_entry);
        copy->demand = copy_of(fork, &entry->demand);
        LL_APPEND(fork->demands, copy);
    }
    fork->settled = true;
    fork->settled_nodes = fork->nodes_version = cluster->nodes_version;
}

static void free_classes(struct gpu_demand *demand)
{
    for (size_t i = 0; i < demand->n_classes; i++)
        free(demand->classes[i].admitted);
}

void gpu_demand_fork_again(struct cluster *fork, const struct cluster *cluster)
{
    struct gpu_demand_entry *copy = fork->demands;
    const struct gpu_demand_entry *entry = NULL;
    LL_FOREACH (cluster->demands, entry) {
        for (size_t i = 0; i < entry->demand.n_pools; i++)
            copy->demand.pools[i]->free = entry->demand.pools[i]->free;
        free_classes(&copy->demand);
        fork_classes(fork, &copy->demand, &entry->demand);
        copy = copy->next;
    }
}

static bool same_shape(const struct pod_shape *a, const struct pod_shape *b)
{
    const struct siphash128 digest_a = shape_digest(&a->facts);
    const struct siphash128 digest_b = shape_digest(&b->facts);
    return digest_a.low == digest_b.low && digest_a.high == digest_b.high;
}

/* Classes in their order, which is that of demand_index.h. */

static bool comes_before(const struct demand_class *a, const struct demand_class *b)
{
    const int64_t taken_a = amount_times(a->gpus, a->n_live);
    const int64_t taken_b = amount_times(b->gpus, b->n_live);
    if (taken_a != taken_b)
        return taken_a > taken_b;
    return a->shape && b->shape && shape_order(&a->shape->facts) < shape_order(&b->shape->facts);
}

/* GPU_DEMAND_CLASSES_MAX: it is none, as others take more. */
static size_t place_of(const struct gpu_demand *demand, const struct demand_class *class)
{
    size_t at = demand->n_classes;
    while (at > 0 && comes_before(class, &demand->classes[at - 1]))
        at--;
    return at;
}

static struct demand_class take_out(struct gpu_demand *demand, size_t at)
{
    struct demand_class *place = &demand->classes[at];
    const struct demand_class class = *place;
    demand->n_classes--;
    memmove(place, place + 1, (demand->n_classes - at) * sizeof *place);
    return class;
}

/* There must be room. */
static void put_in(struct gpu_demand *demand, size_t at, const struct demand_class *class)
{
    struct demand_class *place = &demand->classes[at];
    memmove(place + 1, place, (demand->n_classes - at) * sizeof *place);
    *place = *class;
    demand->n_classes++;
}

/* n_classes: none. */
static size_t find_class(const struct gpu_demand *demand, const struct pod_shape *shape)
{
    size_t at = 0;
    while (at < demand->n_classes &&
           !(demand->classes[at].shape && same_shape(demand->classes[at].shape, shape)))
        at++;
    return at;
}

static void expect(struct cluster *fork, struct gpu_demand *demand, struct demand_class *class)
{
    const size_t known = find_class(demand, class->shape);
    if (known < demand->n_classes) {
        const int64_t n = class->n_live;
        *class = take_out(demand, known);
        class->n_live = amount_add(class->n_live, n);
    }
    const size_t at = place_of(demand, class);
    if (at == GPU_DEMAND_CLASSES_MAX)
        return;
    if (!class->admitted)
        admit_one(fork, demand, class);
    if (demand->n_classes == GPU_DEMAND_CLASSES_MAX)
        drop_class(fork, &demand->classes[--demand->n_classes]);
    put_in(demand, at, class);
}

void gpu_demand_expect(struct cluster *fork, const struct pod_shape *shape, int64_t n)
{
    const size_t n_needs = shape->facts.over ? 0 : shape->n_gpu_needs;
    for (size_t i = 0; i < n_needs && n > 0; i++) {
        struct gpu_demand_entry *entry = NULL;
        LL_SEARCH_SCALAR(fork->demands, entry, demand.resource, shape->needs[i].resource);
        if (!entry)
            continue;
        struct demand_class class = class_of(shape, shape->needs[i].amount, n);
        expect(fork, &entry->demand, &class);
    }
}

struct gpu_demand_entry *gpu_demand_save(const struct cluster *fork)
{
    struct gpu_demand_entry *saved = NULL;
    const struct gpu_demand_entry *entry = NULL;
    LL_FOREACH (fork->demands, entry) {
        struct gpu_demand_entry *copy = MEM_NEW(struct gpu_demand_entry);
        copy_classes(&copy->demand, &entry->demand);
        LL_APPEND(saved, copy);
    }
    return saved;
}

void gpu_demand_restore(struct cluster *fork, const struct gpu_demand_entry *saved)
{
    struct gpu_demand_entry *entry = NULL;
    LL_FOREACH (fork->demands, entry) {
        free_classes(&entry->demand);
        copy_classes(&entry->demand, &saved->demand);
        saved = saved->next;
    }
}

void gpu_demand_drop_saved(struct gpu_demand_entry *saved)
{
    while (saved) {
        struct gpu_demand_entry *next = saved->next;
        free_classes(&saved->demand);
        free(saved);
        saved = next;
    }
}

/* A pod that the watch has not shown yet. */

bool gpu_demand_lacks(const struct cluster *cluster, const char *uid)
{
    return uid && !cluster->is_fork && !cluster_find_pod(cluster, uid);
}

static bool is_alike(const struct demand_class *a, const struct demand_class *b)
{
    return a->gpus == b->gpus && a->milli_cores == b->milli_cores &&
           a->memory_bytes == b->memory_bytes && !is_dear(&a->shape->facts) &&
           same_shape(a->shape, b->shape);
}

static void admit_in_arena(const struct cluster *cluster, const struct gpu_demand *demand,
                           struct demand_class *class, struct arena *arena)
{
    admit_one(cluster, demand, class);
    bool *admitted = class->admitted;
    class->admitted = arena_copy(arena, admitted, demand->n_pools, sizeof *admitted);
    free(admitted);
}

/* Live pods of the shape in the ledger, which is none of the classes. The rest of a long index is
 * too small to become one. */
static int64_t count_outside(const struct gpu_demand *demand, const struct demand_class *class)
{
    const struct demand_index *index = shapes_demand_index(demand->resource);
    const uint64_t order = shape_order(&class->shape->facts);
    for (size_t i = 0; i < index->n && i < LOOKED_AT_MAX; i++) {
        const struct demand_index_item *item = &index->items[i];
        if (item->amount == class->gpus && item->shape->order == order &&
            same_shape(&item->shape->shape, class->shape))
            return item->shape->n_live;
    }
    return 0;
}

const struct gpu_demand *gpu_demand_with(const struct cluster *cluster,
                                         const struct gpu_demand *demand,
                                         const struct pod_shape *shape, struct arena *arena)
{
    const int64_t gpus = shape->facts.over ? 0 : shape_need(shape, demand->resource);
    if (gpus <= 0 || gpus > demand->max_gpus)
        return demand;
    struct gpu_demand *more = arena_copy(arena, demand, 1, sizeof *demand);
    struct demand_class class = class_of(shape, gpus, 0);
    size_t known = 0;
    while (known < more->n_classes && !is_alike(&more->classes[known], &class))
        known++;
    if (known < more->n_classes)
        class = take_out(more, known);
    else if (more->n_classes == GPU_DEMAND_CLASSES_MAX)
        class.n_live = count_outside(demand, &class);
    class.n_live = amount_add(class.n_live, 1);
    const size_t at = place_of(more, &class);
    if (at == GPU_DEMAND_CLASSES_MAX)
        return demand;
    if (!class.admitted)
        admit_in_arena(cluster, more, &class, arena);
    if (more->n_classes == GPU_DEMAND_CLASSES_MAX)
        more->n_classes--;
    put_in(more, at, &class);
    return more;
}

/* Reading. */

const struct gpu_demand *gpu_demand_find(const struct cluster *cluster,
                                         const struct resource *resource)
{
    const struct gpu_demand_entry *entry = NULL;
    LL_SEARCH_SCALAR(cluster->demands, entry, demand.resource, resource);
    return entry ? &entry->demand : NULL;
}

const struct gpu_demand *gpu_demand_next(const struct cluster *cluster,
                                         const struct gpu_demand *demand)
{
    const struct gpu_demand_entry *next =
        demand ? CONTAINER_OF(demand, const struct gpu_demand_entry, demand)->next
               : cluster->demands;
    return next ? &next->demand : NULL;
}
