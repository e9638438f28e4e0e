/*
 * slice_room: bounds what slices take here, so that a node's driver cannot fill the memory. Slices
 * of counted drivers are bounded by the policy: those of one node, those of one driver, and all.
 * Those of other drivers have one bound.
 *
 * A slice that has no room gets some when it is put again, such as by the next list. Of those
 * without, SLICES_LEFT_OUT_MAX of a node (or driver) are remembered.
 */
#include "base/mem.h"
#include "devices_priv.h"

#include <stdlib.h>
#include <string.h>

static const char OF_NODE[] = "limits.nodeSlicesBytes";
static const char OF_DRIVER[] = "limits.driverSlicesBytes";
static const char OF_ALL[] = "limits.slicesBytes";
static const char OF_OTHERS[] = "";        /* no policy key */
static const char LEFT_OUT[] = "left out"; /* those without room */

/* ---- sizes ---- */

static size_t size_of_text(const char *text)
{
    return text ? strlen(text) + 1 : 0;
}

static size_t size_of_sets(const struct counter_set *sets, size_t n)
{
    size_t size = n * (sizeof(struct set) + sizeof(struct consumption));
    for (size_t i = 0; i < n; i++) {
        size += size_of_text(sets[i].name) + sets[i].n_counters * sizeof(struct counter_part);
        for (size_t k = 0; k < sets[i].n_counters; k++)
            size += size_of_text(sets[i].counters[k].name);
    }
    return size;
}

/* Beside its bytes, of a text that is kept once. */
#define INTERNED_BYTES ((size_t)80)

/* Attributes of neighbours are mostly the same. before NULL: none. */
static size_t size_of_attribute(const struct device_facts *facts, size_t i,
                                const struct device_facts *before)
{
    const struct device_attribute *is = &facts->attributes[i];
    const struct device_attribute *was =
        before && i < before->n_attributes ? &before->attributes[i] : NULL;
    size_t size =
        sizeof(struct device_attribute) + size_of_text(is->name) + size_of_text(is->value);
    size += was && strcmp(was->name, is->name) == 0 ? 0 : INTERNED_BYTES;
    return size + (was && strcmp(was->value, is->value) == 0 ? 0 : INTERNED_BYTES);
}

static size_t size_of_device(const struct device_facts *facts, const struct device_facts *before)
{
    size_t size = sizeof(struct device) + sizeof(struct device_name) + size_of_text(facts->name) +
                  size_of_text(facts->node_name) + size_of_text(facts->details) +
                  size_of_sets(facts->consumes, facts->n_consumes);
    for (size_t i = 0; i < facts->n_attributes; i++)
        size += size_of_attribute(facts, i, before);
    return size;
}

size_t devices_slice_bytes(const struct slice_facts *facts)
{
    size_t size =
        sizeof(struct kept_slice) + sizeof(struct pool) + sizeof(struct node_pool) +
        sizeof(struct device_place) + sizeof(struct node_slice) + size_of_text(facts->name) +
        size_of_text(facts->driver) + size_of_text(facts->pool) + size_of_text(facts->node_name) +
        size_of_text(facts->details) + size_of_sets(facts->counter_sets, facts->n_counter_sets);
    for (size_t i = 0; i < facts->n_devices; i++)
        size += size_of_device(&facts->devices[i], i > 0 ? &facts->devices[i - 1] : NULL);
    return size;
}

/* ---- shares ---- */

struct slice_bound {
    const char *key;  /* in the policy */
    const char *name; /* of the node or driver; "": of all */
    size_t max_bytes;
};

/* Returns their number. */
static size_t bounds_of(const struct devices *devices, const struct slice_facts *facts,
                        struct slice_bound bounds[SLICE_SHARES_MAX])
{
    const struct policy *policy = devices->policy;
    size_t n = 0;
    if (!policy_device_driver(policy, facts->driver)) {
        bounds[n++] = (struct slice_bound){OF_OTHERS, "", DEVICES_OTHER_BYTES_MAX};
        return n;
    }
    bounds[n++] = (struct slice_bound){OF_ALL, "", policy->slices_bytes};
    bounds[n++] = (struct slice_bound){OF_DRIVER, facts->driver, policy->driver_slices_bytes};
    if (facts->node_name[0])
        bounds[n++] = (struct slice_bound){OF_NODE, facts->node_name, policy->node_slices_bytes};
    return n;
}

static struct slice_share *ref_share(struct devices *devices, const struct slice_bound *bound)
{
    struct string_table *strings = &devices->strings;
    const struct pair key = {bound->key, string_table_intern(strings, bound->name)};
    struct slice_share *share = NULL;
    HASH_FIND(hh, devices->shares, &key, sizeof key, share);
    if (share) {
        string_table_unref(strings, key.second);
    } else {
        share = MEM_NEW(struct slice_share);
        share->key = key;
        HASH_ADD(hh, devices->shares, key, sizeof share->key, share);
    }
    share->refs++;
    return share;
}

static void unref_share(struct devices *devices, struct slice_share *share)
{
    if (--share->refs > 0)
        return;
    HASH_DEL(devices->shares, share);
    string_table_unref(&devices->strings, share->key.second);
    free(share);
}

void slice_room_release(struct devices *devices, struct slice_room *room)
{
    for (size_t i = 0; i < room->n_shares; i++) {
        room->shares[i]->bytes -= room->bytes;
        room->shares[i]->n_left_out -= room->full != NULL;
        unref_share(devices, room->shares[i]);
    }
    room->n_shares = 0;
}

static struct slice_room without_room(struct devices *devices, const struct slice_facts *facts,
                                      const char *full)
{
    const char *name = facts->node_name[0] ? facts->node_name : facts->driver;
    struct slice_share *share =
        ref_share(devices, &(struct slice_bound){.key = LEFT_OUT, .name = name});
    share->n_left_out++;
    return (struct slice_room){.shares = {share},
                               .n_shares = 1,
                               .full = full,
                               .is_forgotten = share->n_left_out > SLICES_LEFT_OUT_MAX};
}

struct slice_room slice_room_take(struct devices *devices, const struct slice_facts *facts)
{
    struct slice_bound bounds[SLICE_SHARES_MAX];
    const size_t n = bounds_of(devices, facts, bounds);
    struct slice_room room = {.bytes = devices_slice_bytes(facts)};
    const char *full = NULL;
    for (size_t i = 0; i < n; i++) {
        struct slice_share *share = ref_share(devices, &bounds[i]);
        share->bytes += room.bytes;
        if (share->bytes > bounds[i].max_bytes)
            full = bounds[i].key; /* the narrowest one is the last */
        room.shares[room.n_shares++] = share;
    }
    if (!full)
        return room;
    slice_room_release(devices, &room);
    return without_room(devices, facts, full);
}
