/*
 * world_priv: what the files of claims/ share.
 */
#ifndef CLAIMS_WORLD_PRIV_H
#define CLAIMS_WORLD_PRIV_H

#include "base/table.h"
#include "claims/world.h"
#include "devices/devices.h"
#include "objects/device_details.h"

/* Details that several devices or slices have in common, by their text. */
struct world_details {
    UT_hash_handle hh;
    struct device_details details;
    uint64_t asked; /* the last question of which `holds` is known */
    bool holds;     /* its nodes have the node of the question */
};

/* Devices with the same bytes of what is read of them. */
struct world_group {
    UT_hash_handle hh;
    struct cel_device facts;
    const struct cel_fact *unread; /* after the others */
    size_t n_unread;
    struct allocate_capacity *capacities;
    size_t n_capacities;
    const char *not_judged;
};

/* The nodes that reach a slice or a device. */
struct world_reach {
    const char *node_name;       /* "": several may */
    struct world_details *nodes; /* their selector; NULL: all nodes */
};

struct world_slice {
    UT_hash_handle hh; /* by its name */
    struct allocate_slice shown;
    struct allocate_device *devices;
    struct world_reach reach;
    const struct world_reach *device_reach; /* perDeviceNodeSelection; else NULL */
    const char *not_judged;
    struct world_side *side;
    struct world_pool *pool;
    struct world_slice *next_of_pool;
};

struct world_pool {
    UT_hash_handle hh; /* by driver and name */
    const char *driver, *name;
    struct world_slice *slices;
    bool is_other; /* of a driver that the policy does not name */
    bool has_counters;
    bool is_wide;       /* may concern nodes that no world_node has it for */
    bool has_hosts;     /* a selector of its names hosts */
    bool repeats_names; /* of devices */
    uint64_t asked;     /* the last question that came across it */
    size_t last_taken; /* devices that concern all its nodes: n_taken after the last; may be more */
};

struct world_node {
    UT_hash_handle hh;
    struct world_pool **pools;
    size_t n, room;
    size_t last_taken; /* the same, of devices that concern this node alone */
};

struct taken_device {
    struct world_slice *slice;
    struct allocate_device *device;
    struct allocate_device before;
};

/* Slices of drivers that the policy names, or apart from these, of others. */
struct world_side {
    const char *not_judged; /* NULL: claims that depend on it can be judged */
    size_t n_devices;
    size_t n_wide_reaches; /* slices and devices that several nodes may reach */
    struct world_mix *mixes;
    size_t n_taints; /* of all mixes */
};

/* A slice as copied in one hold of the lock. */
struct read_slice {
    struct slice_facts facts;
    const struct device_status *statuses;
    struct read_slice *next;
};

struct claims_world {
    struct arena *arena;
    const struct cel_read *reads;
    size_t n_reads;
    const struct given_devices *given; /* NULL: none */
    const struct policy *policy;       /* NULL: no driver is another */
    bool has_others;
    size_t n_given; /* slices of these that were read */
    const struct cluster *cluster;
    struct world_side named; /* all claims depend on it */
    struct world_side others;
    struct world_slice *slices;
    struct world_pool *pools;
    struct world_pool **wide;
    size_t n_wide, wide_room;
    struct world_node *nodes; /* by name */
    struct world_node *hosts; /* by the label kubernetes.io/hostname */
    struct world_group *groups;
    struct world_details *details;
    struct world_rule *rules;
    struct world_target *targets;
    struct taken_device *taken;
    size_t n_taken, taken_room;
    size_t last_wide_taken; /* as of a pool, of those that may concern any node */
    uint64_t *n_questions;  /* of nodes */
    struct slices_walk walk;
    struct read_slice *read; /* in walk.arena */
    uint64_t rules_at;
    struct device_taint_facts *read_rules; /* in walk.arena */
    size_t n_read_rules;
    bool has_rules; /* all rules were read */
    bool is_done;
};

/* world_facts.c */
/* NULL: none. */
struct world_details *world_details_of(struct claims_world *world, const char *text);
/* The shared facts of a device. */
const struct world_group *world_facts_of(struct claims_world *world, const char *driver,
                                         const struct device_facts *facts,
                                         const struct world_details *details);
void world_facts_free(struct claims_world *world);

/* world_taints.c */
void world_add_rule(struct claims_world *world, const struct device_taint_facts *rule);
/* Those of the device and of rules. */
void world_set_taints(struct claims_world *world, struct world_side *side,
                      const struct slice_facts *slice, const struct world_details *details,
                      struct allocate_device *device);
void world_taints_free(struct claims_world *world);

/* world_slices.c */
void world_add_slice(struct claims_world *world, const struct read_slice *read);

/* world_pools.c */
void world_add_to_index(struct claims_world *world, struct world_slice *slice);
/* After the last slice. */
void world_finish_pools(struct claims_world *world);

#endif
