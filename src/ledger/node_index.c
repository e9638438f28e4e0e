/* node_index: see node_index.h. */
#include "node_index.h"
#include "base/hash.h"
#include "base/mem.h"
#include "ledger.h"

#include <stdlib.h>
#include <string.h>

#define LEAST_SLOTS ((size_t)16)

/* Names per pipeline step of a lookup. */
#define ABREAST ((size_t)8)

/* The first slot, starting at from, that is free or has the hash. */
static size_t probe(const struct node_index *index, uint64_t hash, size_t from)
{
    const size_t mask = index->n_slots - 1;
    size_t at = from & mask;
    while (index->slots[at].node && index->slots[at].hash != hash)
        at = (at + 1) & mask;
    return at;
}

static struct node *find(const struct node_index *index, const char *name, uint64_t hash)
{
    size_t at = probe(index, hash, hash);
    while (index->slots[at].node && strcmp(index->slots[at].node->name, name) != 0)
        at = probe(index, hash, at + 1);
    return index->slots[at].node;
}

static void put(struct node_index *index, struct node_slot slot)
{
    const size_t mask = index->n_slots - 1;
    size_t at = slot.hash & mask;
    while (index->slots[at].node)
        at = (at + 1) & mask;
    index->slots[at] = slot;
}

static void grow(struct node_index *index)
{
    const struct node_index old = *index;
    index->n_slots = old.n_slots ? 2 * old.n_slots : LEAST_SLOTS;
    index->slots = MEM_ARRAY(struct node_slot, index->n_slots);
    for (size_t i = 0; i < old.n_slots; i++) {
        if (old.slots[i].node)
            put(index, old.slots[i]);
    }
    free(old.slots);
}

void node_index_free(struct node_index *index)
{
    free(index->slots);
    *index = (struct node_index){NULL, 0, 0};
}

void node_index_add(struct node_index *index, struct node *node)
{
    if (index->n + 1 > index->n_slots / 4 * 3)
        grow(index);
    put(index, (struct node_slot){hash_text(node->name), node});
    index->n++;
}

void node_index_remove(struct node_index *index, const struct node *node)
{
    const size_t mask = index->n_slots - 1;
    size_t gap = hash_text(node->name) & mask;
    while (index->slots[gap].node != node)
        gap = (gap + 1) & mask;
    /* Moves each later node of the run forward, but never before the slot of its hash. */
    for (size_t at = (gap + 1) & mask; index->slots[at].node; at = (at + 1) & mask) {
        const size_t passed = (at - index->slots[at].hash) & mask;
        if (passed >= ((at - gap) & mask)) {
            index->slots[gap] = index->slots[at];
            gap = at;
        }
    }
    index->slots[gap].node = NULL;
    index->n--;
}

struct node *node_index_find(const struct node_index *index, const char *name)
{
    return index->n > 0 ? find(index, name, hash_text(name)) : NULL;
}

/* ---- pipelined lookup ---- */

/* A batch of names between two pipeline steps. */
struct abreast {
    const char *const *names;
    size_t n; /* at most ABREAST */
    uint64_t hashes[ABREAST];
};

static void fetch_slots(const struct node_index *index, struct abreast *some)
{
    const struct siphash_key key = hash_key();
    for (size_t i = 0; i < some->n; i++) {
        some->hashes[i] = hash_keyed(key, some->names[i], strlen(some->names[i]));
        __builtin_prefetch(&index->slots[some->hashes[i] & (index->n_slots - 1)]);
    }
}

static void fetch_nodes(const struct node_index *index, const struct abreast *some)
{
    for (size_t i = 0; i < some->n; i++) {
        const uint64_t hash = some->hashes[i];
        const struct node *node = index->slots[probe(index, hash, hash)].node;
        if (!node)
            continue;
        __builtin_prefetch(&node->hot);
        __builtin_prefetch(&node->name);
    }
}

static void find_nodes(const struct node_index *index, const struct abreast *some,
                       const struct node **ret_nodes)
{
    for (size_t i = 0; i < some->n; i++)
        ret_nodes[i] = find(index, some->names[i], some->hashes[i]);
}

static void find_abreast(const struct node_index *index, const char *const *names, size_t n,
                         const struct node **ret_nodes)
{
    struct abreast ways[3];
    for (size_t begin = 0, way = 0; begin < n + 2 * ABREAST; begin += ABREAST, way++) {
        struct abreast *first = &ways[way % 3];
        const size_t from = begin < n ? begin : n;
        first->names = &names[from];
        first->n = n - from < ABREAST ? n - from : ABREAST;
        fetch_slots(index, first);
        if (way >= 1)
            fetch_nodes(index, &ways[(way - 1) % 3]);
        if (way >= 2)
            find_nodes(index, &ways[(way - 2) % 3], &ret_nodes[begin - 2 * ABREAST]);
    }
}

/* Three batches overlap: one is looked up while the nodes of the next and the slots of the third
 * are fetched. */
void node_index_find_all(const struct node_index *index, const char *const *names, size_t n,
                         const struct node **ret_nodes)
{
    if (index->n > 0)
        find_abreast(index, names, n, ret_nodes);
    for (size_t i = 0; index->n == 0 && i < n; i++)
        ret_nodes[i] = NULL;
}
