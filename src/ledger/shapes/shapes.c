/* shapes: see shapes.h. */
#include "ledger/shapes/shapes.h"
#include "base/mem.h"
#include "ledger/shape_limits.h"
#include "types/policy.h"

#include <stdlib.h>
#include <string.h>

/* More GPU resources than a node has MIG profiles. */
#define DEMAND_NEW_GPUS_MAX 16

/* Only a what-if reads them. */
#define OWN_TERMS_SHARE ((size_t)4)

struct shapes *shapes_new(const struct policy *policy)
{
    struct shapes *shapes = MEM_NEW(struct shapes);
    shapes->policy = policy;
    shapes->refs = 1;
    shapes->peers.share = 1;
    shapes->own_terms.share = OWN_TERMS_SHARE;
    return shapes;
}

void shapes_ref(struct shapes *shapes)
{
    shapes->refs++;
}

void shapes_unref(struct shapes *shapes)
{
    if (--shapes->refs == 0)
        free(shapes);
}

const struct resource *shapes_find_resource(const struct shapes *shapes, const char *name)
{
    struct resource_entry *entry = NULL;
    HASH_FIND_STR(shapes->resources, name, entry);
    return entry ? &entry->resource : NULL;
}

struct resource shapes_resource(const struct policy *policy, const char *name)
{
    return (struct resource){.name = name,
                             .is_gpu = policy_is_gpu_resource(policy, name),
                             .is_unlisted = accelerator_is_unlisted(policy, name),
                             .is_always_kept = policy_is_common_resource(policy, name),
                             .quota_scopes = policy_quota_scopes(policy, name)};
}

const struct resource *shapes_intern_resource(struct shapes *shapes, const char *name)
{
    struct resource_entry *entry = NULL;
    HASH_FIND_STR(shapes->resources, name, entry);
    if (!entry) {
        entry = MEM_NEW_WITH_TEXT(struct resource_entry, name, name);
        entry->resource = shapes_resource(shapes->policy, entry->name);
        HASH_ADD_STR(shapes->resources, name, entry);
    }
    entry->refs++;
    return &entry->resource;
}

/* Every resource of a ledger is in an entry; const binds other modules only. */
static struct resource_entry *entry_of(const struct resource *resource)
{
    return CONTAINER_OF(resource, struct resource_entry, resource);
}

void shapes_ref_resource(const struct resource *resource)
{
    entry_of(resource)->refs++;
}

uint64_t shapes_begin_marks(struct shapes *shapes)
{
    return ++shapes->n_marks;
}

bool shapes_mark(const struct resource *resource, uint64_t mark)
{
    struct resource_entry *entry = entry_of(resource);
    const bool is_first = entry->mark != mark;
    entry->mark = mark;
    return is_first;
}

void shapes_ref_row(const struct resource *resource)
{
    shapes_ref_resource(resource);
    entry_of(resource)->n_rows++;
}

void shapes_unref_row(struct shapes *shapes, const struct resource *resource)
{
    entry_of(resource)->n_rows--;
    shapes_unref_resource(shapes, resource);
}

void shapes_unref_resource(struct shapes *shapes, const struct resource *resource)
{
    struct resource_entry *entry = entry_of(resource);
    if (--entry->refs > 0)
        return;
    HASH_DEL(shapes->resources, entry);
    demand_index_fini(&entry->index);
    free(entry);
}

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

static void make_needs(struct shapes *shapes, struct shape_entry *entry)
{
    struct pod_shape *shape = &entry->shape;
    const struct shape_facts *facts = &shape->facts;
    struct need *needs = ARENA_ARRAY(entry->arena, struct need, facts->n_demand);
    for (size_t i = 0; i < facts->n_demand; i++) {
        needs[i].resource = shapes_intern_resource(shapes, facts->demand[i].resource);
        needs[i].amount = facts->demand[i].amount;
    }
    shape->needs = needs;
    shape->n_needs = facts->n_demand;
    shape->n_gpu_needs = needs_put_gpus_first(needs, shape->n_needs);
}

static struct shape_entry *find_shape(const struct shapes *shapes, const struct siphash128 *digest)
{
    struct shape_entry *entry = NULL;
    HASH_FIND(hh, shapes->shapes, digest, sizeof *digest, entry);
    return entry;
}

/* bytes: shape_bytes() of the facts. */
static struct shape_entry *new_shape(struct shapes *shapes, const struct shape_facts *facts,
                                     const struct siphash128 *digest, size_t bytes)
{
    struct shape_entry *entry = MEM_NEW(struct shape_entry);
    const size_t names_bytes = shape_names_bytes(facts, shapes->policy);
    entry->arena = arena_new_sized(bytes - names_bytes);
    entry->shape.facts = shape_copy(facts, entry->arena);
    entry->bytes = sizeof *entry + arena_bytes(entry->arena) + names_bytes;
    entry->digest = *digest;
    entry->order = shape_order(facts);
    entry->serial = ++shapes->n_serials;
    make_needs(shapes, entry);
    HASH_ADD(hh, shapes->shapes, digest, sizeof entry->digest, entry);
    *(facts->demand_only ? &shapes->demand_bytes : &shapes->limited_bytes) += entry->bytes;
    return entry;
}

static bool is_had_by_nodes(const struct shapes *shapes, const char *name)
{
    const struct resource *resource = shapes_find_resource(shapes, name);
    return resource && entry_of(resource)->n_rows > 0;
}

/* Reduces the demand of a namespace over its share to the names that are kept. Allocates in the
 * arena. */
static void keep_known_names(const struct shapes *shapes, struct shape_facts *facts,
                             struct arena *arena)
{
    struct amount *kept = ARENA_ARRAY(arena, struct amount, facts->n_demand);
    size_t n = 0;
    size_t n_new = 0;
    for (size_t i = 0; i < facts->n_demand; i++) {
        const char *name = facts->demand[i].resource;
        const bool is_known =
            policy_is_common_resource(shapes->policy, name) || is_had_by_nodes(shapes, name);
        if (is_known ||
            (policy_is_gpu_resource(shapes->policy, name) && n_new++ < DEMAND_NEW_GPUS_MAX))
            kept[n++] = facts->demand[i];
    }
    facts->demand = kept;
    facts->n_demand = n;
}

static const struct pod_shape *intern_demand(struct shapes *shapes, const struct shape_facts *facts,
                                             enum shape_limit over)
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    struct shape_facts demand = shape_demand_only(facts, over);
    keep_known_names(shapes, &demand, arena);
    const struct siphash128 digest = shape_digest(&demand);
    struct shape_entry *entry = find_shape(shapes, &digest);
    if (!entry)
        entry = new_shape(shapes, &demand, &digest, shape_bytes(&demand, shapes->policy, SIZE_MAX));
    entry->refs++;
    return &entry->shape;
}

const struct pod_shape *shapes_intern(struct shapes *shapes, const char *namespace_,
                                      const struct shape_facts *facts)
{
    const size_t max_bytes = shapes->policy->pod_shape_bytes;
    const size_t max_sum = shapes->policy->pod_shapes_bytes;
    const size_t bytes = shape_bytes(facts, shapes->policy, max_bytes);
    if (facts->demand_only || bytes > max_bytes)
        return intern_demand(shapes, facts, facts->over ? facts->over : SHAPE_LIMIT_POD);
    const struct siphash128 digest = shape_digest(facts);
    struct shape_entry *entry = find_shape(shapes, &digest);
    const bool may = entry ? shape_accounts_may_have(&shapes->accounts, namespace_, entry,
                                                     shapes->limited_bytes, max_sum)
                           : shape_accounts_may_add(&shapes->accounts, namespace_, bytes,
                                                    shapes->limited_bytes + bytes, max_sum);
    if (!may)
        return intern_demand(shapes, facts, facts->over ? facts->over : SHAPE_LIMIT_SUM);
    if (!entry)
        entry = new_shape(shapes, facts, &digest, bytes);
    shape_accounts_charge(&shapes->accounts, namespace_, entry);
    entry->refs++;
    return &entry->shape;
}

/* Every shape of a ledger is in an entry, like resources. */
static struct shape_entry *shape_entry_of(const struct pod_shape *shape)
{
    return CONTAINER_OF(shape, struct shape_entry, shape);
}

void shapes_ref_shape(struct shapes *shapes, const char *namespace_, const struct pod_shape *shape)
{
    if (namespace_ && !shape->facts.demand_only)
        shape_accounts_charge(&shapes->accounts, namespace_, shape_entry_of(shape));
    shape_entry_of(shape)->refs++;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

size_t shapes_count_live(const struct pod_shape *shape, int64_t n)
{
    struct shape_entry *entry = shape_entry_of(shape);
    size_t first = SIZE_MAX;
    /* A shape over a limit lost its constraints, so its eligible nodes are unknown. */
    const size_t n_needs = shape->facts.over ? 0 : shape->n_gpu_needs;
    for (size_t i = 0; i < n_needs && entry->n_live > 0; i++) {
        struct demand_index *index = &entry_of(shape->needs[i].resource)->index;
        first = least(first, demand_index_remove(index, entry, shape->needs[i].amount));
    }
    entry->n_live += n;
    for (size_t i = 0; i < n_needs && entry->n_live > 0; i++) {
        struct demand_index *index = &entry_of(shape->needs[i].resource)->index;
        first = least(first, demand_index_add(index, entry, shape->needs[i].amount));
    }
    return first;
}

const struct demand_index *shapes_demand_index(const struct resource *resource)
{
    return &entry_of(resource)->index;
}

void shapes_unref_shape(struct shapes *shapes, const char *namespace_,
                        const struct pod_shape *shape)
{
    struct shape_entry *entry = shape_entry_of(shape);
    const bool demand_only = shape->facts.demand_only;
    if (namespace_ && !demand_only)
        shape_accounts_release(&shapes->accounts, namespace_, entry);
    if (--entry->refs > 0)
        return;
    *(demand_only ? &shapes->demand_bytes : &shapes->limited_bytes) -= entry->bytes;
    HASH_DEL(shapes->shapes, entry);
    for (size_t i = 0; i < shape->n_needs; i++)
        shapes_unref_resource(shapes, shape->needs[i].resource);
    arena_free(entry->arena);
    free(entry);
}
