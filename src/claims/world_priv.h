/*
 * world_priv: what the files of claims/ share.
 */
#ifndef CLAIMS_WORLD_PRIV_H
#define CLAIMS_WORLD_PRIV_H

#include "base/table.h"
#include "claims/world.h"
#include "devices/devices.h"

/* Devices with the same bytes of what is read of them. */
struct world_group {
    UT_hash_handle hh;
    struct cel_device facts;
    struct allocate_capacity *capacities;
    size_t n_capacities;
    const char *not_judged;
};

struct world_slice {
    UT_hash_handle hh; /* by its name */
    struct allocate_slice shown;
    struct allocate_device *devices;
    const char *node_name;     /* "": several nodes may reach it, or each device says */
    const char **device_nodes; /* perDeviceNodeSelection; else NULL */
    const char *not_judged;
    struct world_slice *next_of_pool;
};

struct world_pool {
    UT_hash_handle hh; /* by driver and name */
    struct world_slice *slices;
    bool is_wide; /* concerns nodes that the ledger does not know */
};

struct world_node {
    UT_hash_handle hh; /* by its name */
    struct world_pool **pools;
    size_t n, room;
};

struct taken_device {
    struct world_slice *slice;
    size_t device;
};

/* What one hold of the lock copied. */
struct read_slice {
    struct slice_facts facts;
    const struct device_status *statuses;
    struct read_slice *next;
};

struct claims_world {
    struct arena *arena;
    const struct cel_read *reads;
    size_t n_reads;
    const struct cluster *cluster;
    const char *not_judged; /* all nodes */
    size_t n_devices;
    struct world_slice *slices;
    struct world_pool *pools;
    struct world_pool **wide;
    size_t n_wide, wide_room;
    struct world_node *nodes;
    struct world_group *groups;
    struct taken_device *taken;
    size_t n_taken, taken_room;
    struct slices_walk walk;
    struct read_slice *read; /* in walk.arena */
    bool is_done;
};

/* world_facts.c. The shared facts of a device. */
const struct world_group *world_facts_of(struct claims_world *world, const char *driver,
                                         const struct device_facts *facts);
void world_facts_free(struct claims_world *world);

#endif
