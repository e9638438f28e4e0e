/* node_index: see node_index.h. */
#include "ledger/nodes/node_index.h"
#include "base/mem.h"
#include "ledger/ledger.h"

#include <stdlib.h>
#include <string.h>

#define LEAST_SLOTS ((size_t)16)

/* How many names a step of a lookup is ahead of the next one, which needs the memory that it
 * fetches: first the slot, then the node. */
#define AHEAD ((size_t)8)

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

/* ---- many names ---- */

/* A node by the hash alone; NULL: there is none. */
static struct node *fetch_node(const struct node_index *index, uint64_t hash)
{
    struct node *node = index->slots[probe(index, hash, hash)].node;
    if (node) {
        __builtin_prefetch(&node->hot);
        __builtin_prefetch(&node->name);
    }
    return node;
}

static const struct node *checked(const struct node_index *index, const struct hashed_text *name,
                                  const struct node *node)
{
    if (node && strcmp(node->name, name->text) != 0)
        node = find(index, name->text, name->hash);
    return node && node->traits ? node : NULL;
}

void node_index_find_all(const struct node_index *index, const struct hashed_text *names, size_t n,
                         const struct node **ret_nodes)
{
    for (size_t i = 0; i < n + 2 * AHEAD; i++) {
        if (i < n && index->n > 0)
            __builtin_prefetch(&index->slots[names[i].hash & (index->n_slots - 1)]);
        if (i >= AHEAD && i - AHEAD < n)
            ret_nodes[i - AHEAD] = index->n > 0 ? fetch_node(index, names[i - AHEAD].hash) : NULL;
        if (i >= 2 * AHEAD)
            ret_nodes[i - 2 * AHEAD] =
                checked(index, &names[i - 2 * AHEAD], ret_nodes[i - 2 * AHEAD]);
    }
}
