/*
 * device_copy_priv: what the files device_copy_*.c share.
 */
#ifndef DRA_DEVICE_COPY_PRIV_H
#define DRA_DEVICE_COPY_PRIV_H

#include "base/table.h"
#include "dra/device_copy.h"
#include "dra/devices.h"

/* Details that several devices or slices have in common, by their text. */
struct copied_details {
    UT_hash_handle hh;
    struct device_details details;
    uint64_t asked; /* the last question of which `holds` is known */
    bool holds;     /* its nodes have the node of the question */
};

/* Devices with the same bytes of what is read of them. */
struct copied_group {
    UT_hash_handle hh;
    struct cel_device facts;
    const struct cel_fact *unread; /* after the others */
    size_t n_unread;
    struct allocate_capacity *capacities;
    size_t n_capacities;
    const char *not_judged;
};

/* The nodes that reach a slice or a device. */
struct copied_reach {
    const char *node_name;        /* "": several may */
    struct copied_details *nodes; /* their selector; NULL: all nodes */
};

struct copied_slice {
    UT_hash_handle hh; /* by its name */
    struct allocate_slice shown;
    struct allocate_device *devices;
    struct copied_gpu {
        const char *gpu; /* equal in parts of one GPU */
        int64_t memory_bytes;
    } * gpus; /* of each device */
    struct copied_reach reach;
    const struct copied_reach *device_reach; /* perDeviceNodeSelection; else NULL */
    const char *not_judged;
    struct copied_drivers *drivers;
    struct copied_pool *pool;
    struct copied_slice *next_of_pool;
};

struct copied_pool {
    UT_hash_handle hh; /* by driver and name */
    const char *driver, *name;
    struct copied_slice *slices;
    bool is_other; /* of a driver that the policy does not name */
    bool has_counters;
    bool is_wide;       /* may concern nodes that no copied_node has it for */
    bool has_hosts;     /* a selector of its names hosts */
    bool repeats_names; /* of devices */
    uint64_t asked;     /* the last question that came across it */
    size_t last_taken; /* devices that concern all its nodes: n_taken after the last; may be more */
};

struct copied_node {
    UT_hash_handle hh;
    struct copied_pool **pools;
    size_t n, room;
    size_t last_taken; /* the same, of devices that concern this node alone */
};

struct taken_device {
    struct copied_slice *slice;
    struct allocate_device *device;
    struct allocate_device before;
};

/* Slices of drivers that the policy names, or apart from these, of others. */
struct copied_drivers {
    const char *not_judged; /* NULL: claims that depend on it can be judged */
    size_t n_devices;
    size_t n_wide_reaches; /* slices and devices that several nodes may reach */
    struct taint_set *taint_sets;
    size_t n_taints; /* of all taint_sets */
};

/* A slice as copied in one hold of the lock. */
struct read_slice {
    struct slice_facts facts;
    const struct device_status *statuses;
    struct read_slice *next;
};

struct device_copy {
    struct arena *arena;
    const struct cel_read *reads;
    size_t n_reads;
    const struct device_details_reader *reader;
    const struct given_devices *given; /* NULL: none */
    const struct policy *policy;       /* NULL: no driver is another */
    bool has_others;
    size_t n_given; /* slices of these that were read */
    const struct devices *devices;
    struct copied_drivers named; /* all claims depend on it */
    struct copied_drivers others;
    struct copied_slice *slices;
    struct copied_pool *pools;
    struct copied_pool **wide;
    size_t n_wide, wide_room;
    struct copied_node *nodes; /* by name */
    struct copied_node *hosts; /* by the label kubernetes.io/hostname */
    struct copied_group *groups;
    struct copied_details *details;
    struct copied_rule *rules;
    struct copied_target *targets;
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

/* device_copy_facts.c */
/* NULL: none. */
struct copied_details *device_copy_details_of(struct device_copy *copy, const char *text);
/* The shared facts of a device. before: those of facts[-1], in the same slice; NULL: none. */
const struct copied_group *device_copy_facts_of(struct device_copy *copy, const char *driver,
                                                const struct device_facts *facts,
                                                const struct copied_details *details,
                                                const struct copied_group *before);
/* Whether the attribute's value tells devices apart, for claims with these reads. */
bool device_copy_tells(const struct cel_read *reads, size_t n,
                       const struct device_attribute *attribute);
void device_copy_facts_free(struct device_copy *copy);

void device_copy_add_rule(struct device_copy *copy, const struct device_taint_facts *rule);
/* Those of the device and of rules. */
void device_copy_set_taints(struct device_copy *copy, struct copied_drivers *drivers,
                            const struct slice_facts *slice, const struct copied_details *details,
                            struct allocate_device *device);
void device_copy_taints_free(struct device_copy *copy);

/* device_copy_slices.c */
void device_copy_add_slice(struct device_copy *copy, const struct read_slice *read);

/* After the last slice. */
void device_copy_finish_pools(struct device_copy *copy);

#endif
