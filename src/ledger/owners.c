/* owners: see include/ledger/owners.h and pod_names.h. */
#include "ledger/owners.h"
#include "base/mem.h"
#include "ledger.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

const struct owner *owners_find(const struct cluster *cluster, const char *uid)
{
    struct owner *owner = NULL;
    if (uid && uid[0])
        HASH_FIND_STR(cluster->owners.table, uid, owner);
    return owner;
}

struct owner *owners_ref(struct owners *owners, const char *uid)
{
    struct owner *owner = NULL;
    if (!uid || !uid[0])
        return NULL;
    HASH_FIND_STR(owners->table, uid, owner);
    if (!owner) {
        owner = MEM_NEW_WITH_TEXT(struct owner, uid, uid);
        HASH_ADD_STR(owners->table, uid, owner);
    }
    owner->refs++;
    return owner;
}

void owners_unref(struct owners *owners, struct owner *owner)
{
    if (!owner || --owner->refs > 0)
        return;
    HASH_DEL(owners->table, owner);
    free(owner->nodes);
    free(owner);
}

/* The index of the first entry that is not before the node. */
static size_t place_of(const struct owner *owner, const struct node *node)
{
    size_t low = 0;
    size_t high = owner->n_nodes;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if ((uintptr_t)owner->nodes[middle].node < (uintptr_t)node)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_at(const struct owner *owner, size_t at, const struct node *node)
{
    return at < owner->n_nodes && owner->nodes[at].node == node;
}

void owners_add(struct owner *owner, const struct node *node)
{
    if (!owner)
        return;
    const size_t at = place_of(owner, node);
    if (is_at(owner, at, node)) {
        owner->nodes[at].n++;
        return;
    }
    if (owner->n_nodes == owner->n_room) {
        owner->n_room = owner->n_room > 0 ? 2 * owner->n_room : 1;
        owner->nodes = mem_grow(owner->nodes, owner->n_room, sizeof *owner->nodes);
    }
    struct owner_node *place = &owner->nodes[at];
    memmove(place + 1, place, (owner->n_nodes - at) * sizeof *place);
    *place = (struct owner_node){node, 1};
    owner->n_nodes++;
}

void owners_remove(struct owner *owner, const struct node *node)
{
    if (!owner)
        return;
    const size_t at = place_of(owner, node);
    struct owner_node *place = &owner->nodes[at];
    if (--place->n > 0)
        return;
    owner->n_nodes--;
    memmove(place, place + 1, (owner->n_nodes - at) * sizeof *place);
}

const struct owner_node *owners_nodes(const struct owner *owner, size_t *ret_n)
{
    *ret_n = owner ? owner->n_nodes : 0;
    return owner ? owner->nodes : NULL;
}

size_t owners_n_on(const struct owner *owner, const struct node *node)
{
    if (!owner)
        return 0;
    const size_t at = place_of(owner, node);
    return is_at(owner, at, node) ? owner->nodes[at].n : 0;
}

const char *owners_uid(const struct owner *owner)
{
    return owner ? owner->uid : "";
}
