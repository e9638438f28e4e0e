/* node_index: see node_index.h. */
#include "ledger/nodes/node_index.h"
#include "base/mem.h"
#include "ledger/ledger.h"

#include <stdlib.h>
#include <string.h>

#define LEAST_SLOTS ((size_t)16)

/* How many names a step of a lookup takes before the next step, which needs the memory that it
 * fetches: first the slots, then the nodes. */
#define STEP ((size_t)32)

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

struct node_index node_index_of(size_t n_slots)
{
    struct node_slot *slots = mem_new_aligned(64, n_slots * sizeof *slots);
    return (struct node_index){slots, n_slots, 0};
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
    put(index, (struct node_slot){hash_name(node->name, strlen(node->name)), node});
    index->n++;
}

void node_index_remove(struct node_index *index, const struct node *node)
{
    const size_t mask = index->n_slots - 1;
    size_t gap = hash_name(node->name, strlen(node->name)) & mask;
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
    return index->n > 0 ? find(index, name, hash_name(name, strlen(name))) : NULL;
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

static uint64_t word_at(const char *text)
{
    return siphash_bytes((const unsigned char *)text, sizeof(uint64_t));
}

/* By words, as long as these are equal. */
static bool is_named(const struct node *node, const struct hashed_text *name)
{
    size_t at = 0;
    if (name->len < sizeof(uint64_t))
        return strcmp(node->name, name->text) == 0;
    for (; at + sizeof(uint64_t) <= name->len; at += sizeof(uint64_t)) {
        if (word_at(node->name + at) != word_at(name->text + at))
            return false;
    }
    at = name->len - sizeof(uint64_t);
    return word_at(node->name + at) == word_at(name->text + at) && !node->name[name->len];
}

static const struct node *checked(const struct node_index *index, const struct hashed_text *name,
                                  const struct node *node)
{
    if (node && !is_named(node, name))
        node = find(index, name->text, name->hash);
    return node && node->traits ? node : NULL;
}

void node_index_find_all(const struct node_index *index, const struct hashed_text *names, size_t n,
                         const struct node **ret_nodes)
{
    if (index->n == 0) {
        memset(ret_nodes, 0, n * sizeof(const struct node *));
        return;
    }
    for (size_t begin = 0, end = 0; begin < n; begin = end) {
        end = n - begin < STEP ? n : begin + STEP;
        for (size_t i = begin; i < end; i++)
            __builtin_prefetch(&index->slots[names[i].hash & (index->n_slots - 1)]);
        for (size_t i = begin; i < end; i++)
            ret_nodes[i] = fetch_node(index, names[i].hash);
        for (size_t i = begin; i < end; i++)
            ret_nodes[i] = checked(index, &names[i], ret_nodes[i]);
    }
}
