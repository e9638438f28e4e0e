/*
 * device_copy: the devices of the cluster as the allocator sees them, copied from the ledger.
 *
 * The copy is made in steps, each a short hold of the ledger's lock. An object that changes between
 * two steps counts as before or after. Devices that agree in what is read of them share one
 * cel_device. A node's question has only the pools that concern the node. Whatever the ledger does
 * not know exactly makes a node not judged, with the cause. Slices of drivers that the policy does
 * not name, "others", are read only if a claim may depend on them, and do not disturb other claims.
 *
 * No I/O, clock or lock. One thread at a time.
 */
#ifndef DRA_DEVICE_COPY_H
#define DRA_DEVICE_COPY_H

#include "base/arena.h"
#include "cel/cel.h"
#include "dra/allocate.h"
#include "types/device_facts.h"
#include "types/selector.h"

struct device_copy;
struct devices;

/* With more of drivers that the policy names, nothing is judged; with more of others, no claim that
 * depends on these. */
#define DEVICE_COPY_DEVICES_MAX ((size_t)400000)

/* The attributes of devices that selectors read and constraints compare. Begin with zeros. */
struct claims_reads {
    struct cel_read *items;
    size_t n, room;
};
#define CLAIMS_READS_MAX ((size_t)500) /* with as many, all is read */
/* Borrow the programs; the list is in the arena. */
void claims_reads_add(struct claims_reads *reads, const struct allocate_selectors *selectors,
                      struct arena *arena);
void claims_reads_add_claim(struct claims_reads *reads, const struct allocate_claim *claim,
                            struct arena *arena);

/* A capacity that has a policy, or whose name is written with the driver's domain. */
struct device_policy {
    const char *name;                     /* as the device has it */
    const struct allocate_policy *policy; /* NULL: none */
};

struct device_details {
    const struct allocate_taint *taints; /* NoSchedule and NoExecute */
    size_t n_taints;
    const struct node_selector *nodes; /* NULL: none */
    const struct device_policy *policies;
    size_t n_policies;
    const char *binding_conditions; /* "ready, attached"; NULL: none */
    const char *not_judged;         /* why it cannot be judged; NULL: it can */
    bool binds_to_node;
};
/* Reads the texts of details, which only objects/ knows: objects/device_details.h. */
struct device_details_reader {
    struct device_details (*read)(const char *text, struct arena *arena);
    void (*add_consumed)(const char *text, struct allocate_capacity *capacities, size_t n);
};

/* reads and reader are borrowed. The copy is in the arena, and device_copy_free() frees its tables.
 * reader NULL: no device or slice has details. */
struct device_copy *device_copy_new(const struct cel_read *reads, size_t n_reads,
                                    const struct device_details_reader *reader,
                                    struct arena *arena);
void device_copy_free(struct device_copy *copy);

/* Before the first step. Borrows all. */
void device_copy_give(struct device_copy *copy, const struct given_devices *given);

/* Before the first step: which drivers others are, and whether to read their slices. Otherwise no
 * driver is another, and the ledger's slices of drivers that its policy does not name are not read.
 * Borrows the policy. */
void device_copy_name_drivers(struct device_copy *copy, const struct policy *policy,
                              bool has_others);

/* Nodes of which the slices are read; "": those of devices that several nodes may reach. */
struct device_copy_nodes {
    const char *const *names;
    size_t n, n_read;
    size_t work; /* devices and attributes that may be read, as struct slices_walk counts */
};

/* Copies some slices: about a millisecond. The caller holds the ledger's lock for reading. After
 * each call, call device_copy_end_step(). Of another ledger's devices than before, the copy begins
 * anew. knows_claims: whether the claims in the cluster are known. */
void device_copy_read_some(struct device_copy *copy, const struct devices *devices,
                           bool knows_claims);
/* The same for the slices of these nodes alone, and for all of others, if these are read. Returns
 * false, in the last step, if it is too much: then some are missing. */
bool device_copy_read_nodes(struct device_copy *copy, const struct devices *devices,
                            bool knows_claims, struct device_copy_nodes *nodes);
/* Takes in what was read. Call it without the lock. Returns true after the last slice. */
bool device_copy_end_step(struct device_copy *copy);

struct device_copy_slices {
    const struct allocate_slice *slices; /* for struct allocate_question */
    size_t n;                            /* without those of others, which come last */
    const char *not_judged;              /* why the node cannot be judged; NULL: it can */
    size_t n_with_others;
    const char *others_not_judged; /* the same, of claims that may depend on others */
};
/* The slices that concern the node; its labels are sorted by key. The array is in the arena;
 * devices are the copy's own, so they change with device_copy_take(). */
struct device_copy_slices device_copy_on_node(const struct device_copy *copy,
                                              const struct label_view *node, struct arena *arena);

/* Devices that agree in what is read of them, in their taints, and in whether a claim uses them. */
struct device_copy_kind {
    const struct cel_device *facts;
    /* Those that nothing reads, without values. */
    const struct cel_fact *unread;
    size_t n_unread;
    const char *not_judged; /* why selectors cannot be judged on them; NULL: they can */
    const struct allocate_taint *taints;
    size_t n_taints;
    bool is_free; /* no claim uses any of it */
    size_t n;
};
struct device_copy_kinds {
    const struct device_copy_kind *items; /* NULL: there are none */
    size_t n;                             /* without those of others, which come last */
    size_t n_with_others;
    const char *not_judged;        /* why there are none; NULL: all are read */
    const char *others_not_judged; /* why some of theirs are not read; NULL: all are */
};
/* All devices of the newest generations, as placed replicas have left them. Takes a visit to each
 * device. In the arena. */
struct device_copy_kinds device_copy_kinds(const struct device_copy *copy, struct arena *arena);

/* A device that the allocator gave, by device_copy_on_node(). */
struct device_copy_gpu {
    const char *resource; /* that stands for devices of its driver; NULL: it is no GPU */
    int64_t memory_bytes; /* 0: unknown */
    /* The GPU that it is a part of, or is. */
    const void *pool;
    const char *gpu;
    bool is_whole_now; /* no part of that GPU is in use */
};
struct device_copy_gpu device_copy_gpu_of(const struct device_copy *copy,
                                          const struct allocate_result *result);

/* The nodes from which a claim reaches the devices that it got on a node, by
 * device_copy_on_node(). */
struct claims_place;
/* In the copy's arena. */
const struct claims_place *device_copy_place(const struct device_copy *copy,
                                             const struct allocate_results *results,
                                             const char *node_name);
bool device_copy_reaches(const struct device_copy *copy, const struct claims_place *place,
                         const struct label_view *node);

/* A placed replica uses the devices that one of its claims got, by device_copy_on_node(). Those of
 * admin access stay as they are. */
void device_copy_take(struct device_copy *copy, const struct allocate_claim *claim,
                      const struct allocate_results *results);
/* Undoes the last calls of device_copy_take(), until n devices are taken. */
void device_copy_give_back(struct device_copy *copy, size_t n);
size_t device_copy_n_taken(const struct device_copy *copy);
/* Whether the devices taken since the first n may change the verdict of the node. */
bool device_copy_touches(const struct device_copy *copy, size_t n, const char *node_name);

#endif
