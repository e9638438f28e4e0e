/* shapes: see shapes.h. */
#include "shapes.h"
#include "base/mem.h"
#include "core/shape_copy.h"

#include <stdlib.h>
#include <string.h>

/* A key is as long as what a pod's JSON may be, at the most; that is bounded where it is read. */
#define KEY_MAX_BYTES (SIZE_MAX / 2)

struct shapes *shapes_new(const struct policy *policy)
{
    struct shapes *shapes = MEM_NEW(struct shapes);
    shapes->policy = policy;
    shapes->refs = 1;
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

const struct resource *shapes_hold_resource(struct shapes *shapes, const char *name)
{
    struct resource_entry *entry = NULL;
    HASH_FIND_STR(shapes->resources, name, entry);
    if (!entry) {
        size_t size = strlen(name) + 1;
        entry = mem_new(sizeof *entry + size);
        memcpy(entry->name, name, size);
        entry->resource.name = entry->name;
        entry->resource.is_gpu = policy_is_gpu_resource(shapes->policy, name);
        entry->resource.quota_scopes = policy_quota_scopes(shapes->policy, name);
        HASH_ADD_STR(shapes->resources, name, entry);
    }
    entry->refs++;
    return &entry->resource;
}

/* Resources of a ledger are entries; the const is for everybody else. */
static struct resource_entry *entry_of(const struct resource *resource)
{
    return (struct resource_entry *)(uintptr_t)resource;
}

void shapes_hold_resource_again(const struct resource *resource)
{
    entry_of(resource)->refs++;
}

void shapes_drop_resource(struct shapes *shapes, const struct resource *resource)
{
    struct resource_entry *entry = entry_of(resource);
    if (--entry->refs > 0)
        return;
    HASH_DEL(shapes->resources, entry);
    wanting_fini(&entry->wanting);
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
        needs[i].resource = shapes_hold_resource(shapes, facts->demand[i].resource);
        needs[i].amount = facts->demand[i].amount;
    }
    shape->needs = needs;
    shape->n_needs = facts->n_demand;
    shape->n_gpu_needs = needs_put_gpus_first(needs, shape->n_needs);
}

const struct pod_shape *shapes_hold(struct shapes *shapes, const struct shape_facts *facts)
{
    struct buf key;
    buf_init(&key, KEY_MAX_BYTES);
    shape_write_key(facts, &key);
    struct shape_entry *entry = NULL;
    HASH_FIND(hh, shapes->shapes, key.data, key.len, entry);
    if (!entry) {
        entry = MEM_NEW(struct shape_entry);
        entry->arena = arena_new();
        entry->shape.facts = shape_copy(facts, entry->arena);
        entry->key_len = key.len;
        entry->key = buf_take(&key);
        make_needs(shapes, entry);
        HASH_ADD_KEYPTR(hh, shapes->shapes, entry->key, entry->key_len, entry);
    }
    buf_fini(&key);
    entry->refs++;
    return &entry->shape;
}

/* Shapes of a ledger are entries, like resources. */
static struct shape_entry *shape_entry_of(const struct pod_shape *shape)
{
    return (struct shape_entry *)(uintptr_t)shape;
}

void shapes_hold_again(const struct pod_shape *shape)
{
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
    for (size_t i = 0; i < shape->n_gpu_needs && entry->n_live > 0; i++) {
        struct wanting *wanting = &entry_of(shape->needs[i].resource)->wanting;
        first = least(first, wanting_remove(wanting, entry, shape->needs[i].amount));
    }
    entry->n_live += n;
    for (size_t i = 0; i < shape->n_gpu_needs && entry->n_live > 0; i++) {
        struct wanting *wanting = &entry_of(shape->needs[i].resource)->wanting;
        first = least(first, wanting_add(wanting, entry, shape->needs[i].amount));
    }
    return first;
}

const struct wanting *shapes_wanting(const struct resource *resource)
{
    return &entry_of(resource)->wanting;
}

void shapes_drop(struct shapes *shapes, const struct pod_shape *shape)
{
    struct shape_entry *entry = shape_entry_of(shape);
    if (--entry->refs > 0)
        return;
    HASH_DEL(shapes->shapes, entry);
    for (size_t i = 0; i < shape->n_needs; i++)
        shapes_drop_resource(shapes, shape->needs[i].resource);
    arena_free(entry->arena);
    free(entry->key);
    free(entry);
}
