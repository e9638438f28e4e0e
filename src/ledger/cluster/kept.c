/* kept: the tables of ledger.h: objects of a kind by their ids, and the lists that replace them. */
#include "base/mem.h"
#include "ledger/ledger.h"

#include <stdlib.h>
#include <string.h>

struct kept *kept_find(const struct cluster *cluster, enum cluster_kind kind, const char *id)
{
    struct kept *object = NULL;
    HASH_FIND_STR(cluster->kept[kind].first, id, object);
    return object;
}

struct kept *kept_see(struct cluster *cluster, enum cluster_kind kind, const char *id)
{
    struct kept *object = kept_find(cluster, kind, id);
    if (object)
        object->seen = cluster->relists[kind];
    return object;
}

void kept_add(struct cluster *cluster, enum cluster_kind kind, struct kept *object, const char *id)
{
    HASH_ADD_KEYPTR(hh, cluster->kept[kind].first, id, strlen(id), object);
    object->seen = cluster->relists[kind];
}

void kept_remove(struct cluster *cluster, enum cluster_kind kind, struct kept *object)
{
    struct kept_objects *objects = &cluster->kept[kind];
    if (objects->swept_to == object)
        objects->swept_to = object->hh.next;
    HASH_DEL(objects->first, object);
    if (LEDGER_KINDS[kind].let_go)
        LEDGER_KINDS[kind].let_go(cluster, object);
    free(object);
}

void kept_changed(struct cluster *cluster, enum cluster_kind kind)
{
    if (LEDGER_KINDS[kind].changed)
        LEDGER_KINDS[kind].changed(cluster);
    else
        cluster->version++;
}

void kept_delete(struct cluster *cluster, enum cluster_kind kind, const char *id)
{
    struct kept *object = kept_find(cluster, kind, id);
    if (!object)
        return;
    kept_remove(cluster, kind, object);
    kept_changed(cluster, kind);
}

bool kept_sweep(struct cluster *cluster, enum cluster_kind kind, size_t work)
{
    struct kept_objects *objects = &cluster->kept[kind];
    bool has_changed = false;
    if (!objects->is_sweeping)
        objects->swept_to = objects->first;
    for (size_t done = 0; objects->swept_to && done < work; done++) {
        struct kept *object = objects->swept_to;
        objects->swept_to = object->hh.next;
        if (object->seen == cluster->relists[kind])
            continue;
        kept_remove(cluster, kind, object);
        has_changed = true;
        done += CLUSTER_SWEEP_DELETION - 1;
    }
    objects->is_sweeping = objects->swept_to != NULL;
    if (has_changed)
        kept_changed(cluster, kind);
    return !objects->is_sweeping;
}

void kept_free_all(struct cluster *cluster)
{
    for (int kind = 0; kind < N_LEDGER_KINDS; kind++) {
        while (cluster->kept[kind].first)
            kept_remove(cluster, (enum cluster_kind)kind, cluster->kept[kind].first);
    }
}
