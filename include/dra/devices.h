/*
 * devices: the GPUs that drivers publish for dynamic resource allocation (DRA), and the claims that
 * use them.
 *
 * Only devices of drivers in policy->device_drivers count. Slices of other drivers are kept to
 * judge claims (device_copy.h), up to DEVICES_OTHER_BYTES_MAX. As in kube-scheduler 1.36
 * (structured/internal/incubating/pools_incubating.go), a pool is judged for each node: of the
 * slices that concern the node, only those of the highest generation count. A pool that lacks
 * slices or contradicts itself has nothing free. A device is in use if a claim's status.allocation
 * names it, whether or not a pod uses the claim; admin access does not use it. A use may come
 * before its device is published, and counts when the device appears.
 *
 * GPUs are counted: the devices of a pool on a node with one physical key (device_facts.h) are one
 * GPU, else those that consume the same counter set, else each device. A GPU is in use if one of
 * its devices is. It is free if a claim could take all of it. Partitions have rows of their own.
 *
 * Pure: no I/O, clock or lock. The owner is the ledger.
 */
#ifndef DRA_DEVICES_H
#define DRA_DEVICES_H

#include "base/arena.h"
#include "base/err.h"
#include "types/device_facts.h"
#include "types/gpu_model.h"
#include "types/policy.h"

struct devices;

/* Limits the slices of drivers that the policy does not name, all together, as
 * devices_slice_bytes() counts. Further ones keep only their names, driver and pool, and are marked
 * as unreadable. The policy limits those of the drivers that it names in the same way. */
#define DEVICES_OTHER_BYTES_MAX ((size_t)64 << 20)

/* Borrows policy until devices_free(). */
struct devices *devices_new(const struct policy *policy);
void devices_free(struct devices *devices);

/* About what a slice takes here, with its pool on its node; equal texts count each time. */
size_t devices_slice_bytes(const struct slice_facts *facts);
/* Slices without room that are remembered of a node; of those without a node, of a driver. Others
 * are as if they were not published. */
#define SLICES_LEFT_OUT_MAX 256
/* The policy key of the limit for which the devices of a slice of a named driver, put last, are
 * left out; NULL: they are kept. */
const char *devices_slice_bound(const struct devices *devices, const char *name);
/* Insert or replace; facts are copied. Order does not matter: claims may come before slices. */
void devices_upsert_slice(struct devices *devices, const struct slice_facts *facts);
void devices_upsert_claim(struct devices *devices, const struct claim_facts *facts);
void devices_upsert_taint(struct devices *devices, const struct device_taint_facts *facts);
/* Without such an object nothing happens. */
void devices_delete_slice(struct devices *devices, const char *name);
void devices_delete_claim(struct devices *devices, const char *namespace_, const char *name);
void devices_delete_taint(struct devices *devices, const char *name);
/* Marks an object as present that could not be read: its last known state counts. The pool of such
 * a slice has nothing free until the slice can be read again. */
void devices_keep_slice(struct devices *devices, const char *name);
void devices_keep_claim(struct devices *devices, const char *namespace_, const char *name);
void devices_keep_taint(struct devices *devices, const char *name);

/* Replaces all objects of a kind, as cluster_relist_begin(), _end() and _sweep(). A sweep
 * stops after `work` visits, of which a deletion counts
 * DEVICES_SWEEP_DELETION, and as many again for each device that it changes; true: done. */
enum devices_kind { DEVICES_SLICES, DEVICES_CLAIMS, DEVICES_TAINTS, N_DEVICES_KINDS };
#define DEVICES_SWEEP_DELETION 20
void devices_relist_begin(struct devices *devices, enum devices_kind kind);
void devices_relist_end(struct devices *devices, enum devices_kind kind);
bool devices_relist_sweep(struct devices *devices, enum devices_kind kind, size_t work);
size_t devices_count(const struct devices *devices, enum devices_kind kind);
/* Whether there is a slice of a driver that the policy names. */
bool devices_have_gpus(const struct devices *devices);

/* Publishes the numbers of the changed nodes one after another. Returns the name of the next node
 * whose numbers differ from those published before, valid until the next call; NULL: all nodes are
 * published. */
const char *devices_take_changed(struct devices *devices);

/* GPUs of one model of one driver on one node, or partitions of such GPUs. */
struct device_model {
    const char *name; /* canonical; partitions: "A100-SXM4-80GB-MIG-1g.10gb"; "": unknown */
    const struct gpu_model *model;
    int64_t memory_bytes; /* of one, the least; 0: unknown */
    bool is_partition;    /* overlaps with the GPUs: not in the driver's numbers */
    int64_t total, allocated, free;
};

/* The GPUs of one driver on one node. Each is in exactly one of the numbers below total. */
struct device_group {
    const char *driver;
    int64_t total;
    int64_t allocated; /* a claim uses it or a part of it */
    int64_t free;      /* a claim could take all of it */
    int64_t tainted; /* a taint keeps claims off: NoSchedule or NoExecute, of the slice or a rule */
    int64_t blocked; /* counters that it consumes are used up by other GPUs */
    int64_t incomplete; /* slices of its pool are missing */
    int64_t invalid;    /* its pool contradicts itself or is unreadable, or it has unknown fields */
    int64_t partitioned;               /* only partitions of it are published */
    const struct device_model *models; /* GPUs, then partitions, each by name; names once in each */
    size_t n_models;
};

/* As published last: see devices_take_changed(). Sorted by driver. NULL: none. node_name "":
 * devices that several nodes may reach. Valid until the next devices_take_changed(). */
const struct device_group *devices_on_node(const struct devices *devices, const char *node_name,
                                           size_t *ret_n);

/* Nodes with the same number are alike to the allocator: claims get devices of the same kinds
 * there, and as many, unless they read an attribute of devices_is_place_within_node(). 0: like no
 * other. Only drivers that the policy names count; of devices that several nodes may reach,
 * nothing. A node that devices_take_changed() has still to look at is like no other. */
uint64_t devices_alike(const struct devices *devices, const char *node_name);
struct claims_reads; /* dra/device_copy.h */
/* Sets for each of the nodes the first one that is alike to claims with these reads, which read no
 * attribute of devices_is_place_within_node(): itself, or one before it. */
void devices_find_alike(const struct devices *devices, const char *const *names, size_t n,
                        const struct claims_reads *reads, size_t *ret_first);
/* An attribute that tells devices of one node apart, such as "gpu.nvidia.com/uuid". */
bool devices_is_place_within_node(const char *attribute);

/* A claim. Pointers to it are valid until the next change of a claim. */
struct device_claim {
    const char *namespace_, *name, *uid;
    int64_t n_devices; /* of the spec: see device_facts.h */
    bool wants_all, has_alternatives, is_allocated, terminating, is_unready;
    const struct claim_want *wants;
    size_t n_wants;
    const char *extended_for_uid, *owner_uid;
    size_t n_holders, n_all_holders; /* known by UID; all */
    size_t n_results;
    const char *spec, *nodes, *labels; /* as in claim_facts */
};
const struct device_claim *devices_find_claim(const struct devices *devices, const char *namespace_,
                                              const char *name);
/* Iterates over all claims: NULL to NULL. */
const struct device_claim *devices_next_claim(const struct devices *devices,
                                              const struct device_claim *claim);
/* A walk over all claims in steps, between which claims may change: one that is replaced comes
 * again, last. The first one after the place of a claim; serial 0: the first of all. NULL: none. */
struct claim_place {
    const char *namespace_, *name;
    uint64_t serial; /* devices_claim_serial() */
};
const struct device_claim *devices_claim_after(const struct devices *devices,
                                               const struct claim_place *place);
uint64_t devices_claim_serial(const struct device_claim *claim);
/* Returns a claim that was inserted, replaced or deleted, or of which a device appeared or
 * disappeared, since it was returned last; NULL: none. Valid until the next call. Of a deleted
 * claim, which devices_find_claim() does not find, only the names count. */
const struct device_claim *devices_take_changed_claim(struct devices *devices);
/* A pod that uses a claim. The texts are valid until the claim changes. */
struct device_holder {
    const char *uid;
    const char *name; /* "": not kept */
    size_t n_before;
};
/* Iterates over them: begins with {0}; false: there is no other. */
bool devices_next_holder(const struct device_claim *claim, struct device_holder *holder);

/* Only claims that use devices of drivers that the policy names are in the first two. Admin access
 * uses none. */
enum claim_state {
    CLAIM_USED,        /* allocated, and pods use it */
    CLAIM_UNUSED,      /* allocated, but status.reservedFor is empty */
    CLAIM_UNALLOCATED, /* of any driver */
    CLAIM_WITHOUT_GPUS,
    N_CLAIM_STATES
};
enum claim_state devices_claim_state(const struct device_claim *claim);
size_t devices_count_claims(const struct devices *devices, enum claim_state state);

/* A device that a claim's allocation names. */
struct claimed_device {
    const char *driver, *pool, *device;
    bool is_admin, is_shared;
    const char *consumed; /* as claim_result has it */
    bool is_gpu;          /* of a driver that the policy names */
    /* The node of the published device. "": several nodes. NULL: not published. */
    const char *node_name;
    const char *model_name; /* as device_model.name; NULL: not published */
    const struct gpu_model *model;
    int64_t memory_bytes;
    bool is_partition;
};
/* i < n_results of the claim. Valid until the next change. */
struct claimed_device devices_of_claim(const struct device_claim *claim, size_t i);

/* The objects as facts again, for a snapshot. All in the arena. Results of a claim that is not
 * allocated may be left out. */
struct claim_facts devices_claim_facts(const struct device_claim *claim, struct arena *arena);
/* Iterate from name NULL on: return the name of the next one; NULL: none. */
const char *devices_next_slice(const struct devices *devices, const char *name, struct arena *arena,
                               struct slice_facts *ret_facts);
const char *devices_next_taint(const struct devices *devices, const char *name, struct arena *arena,
                               struct device_taint_facts *ret_facts);

/* For a copy of all objects: the lists of the copy continue those of the original. Call the first
 * before any object is copied, and the others after each: it was seen when the original was.
 * Returns the name as the original has it. */
void devices_continue_relists(struct devices *copy, const struct devices *original);
const char *devices_continue_seen(struct devices *copy, const struct devices *original,
                                  enum devices_kind kind, const char *name);
void devices_continue_seen_claim(struct devices *copy, const struct devices *original,
                                 const char *namespace_, const char *name);

/* The effects of claims and taints on a device. */
struct device_status {
    bool is_allocated; /* a claim uses all of it, without admin access */
    bool is_shared;    /* a claim uses a part of it */
    bool is_tainted;   /* by the slice or a rule */
    bool is_cut;       /* more claims use it than a walk looks at: all else may be wrong */
    const char *const *consumed; /* what those parts take, as claim_result has it */
    size_t n_consumed;
};
/* Of a device that slices or claims may name. In the arena. *room: bytes left for consumed
 * capacities. */
struct device_status devices_status(const struct devices *devices, const char *driver,
                                    const char *pool, const char *device, struct arena *arena,
                                    size_t *room);
/* Bytes for one device; longer texts are cut. */
#define DEVICE_STATUS_USES_MAX 256
/* Of the texts of consumed capacities of one slice; devices with more are cut. */
#define SLICE_CONSUMED_BYTES_MAX ((size_t)256 << 10)
/* A device that claims share (shareID), in the arena. */
struct shared_device {
    const char *driver;
    const char *model_name; /* as device_model.name */
    bool is_partition;
    const struct device_attribute *capacities; /* values are quantities: "40Gi" */
    size_t n_capacities;
    struct device_status status; /* is_cut: also if capacities are left out */
};
struct shared_devices {
    struct shared_device *items;
    size_t n;
};
/* Those on a node, as devices_on_node(). room: bytes of texts of consumed capacities that may still
 * be copied; devices with more are cut. */
struct shared_devices devices_shared_on(const struct devices *devices, const char *node_name,
                                        struct arena *arena, size_t *room);

/* A taint on devices of one node: of a rule, or of the devices with equal details. */
struct device_taint {
    const char *driver;
    const char *device; /* the first by name */
    size_t n_devices;
    const char *rule;                 /* NULL: the slices say it, in `details` */
    const char *key, *value, *effect; /* of a rule; NULL: not set */
    const char *details;              /* as in device_facts */
};
#define DEVICE_TAINTS_MAX ((size_t)32)
/* At most DEVICE_TAINTS_MAX of them, in the arena. After DEVICE_RULES_VISITED comparisons of rules
 * and devices, taints by rules are missing. */
size_t devices_taints_on(const struct devices *devices, const char *node_name, struct arena *arena,
                         struct device_taint **ret_taints);
#define DEVICE_RULES_VISITED 16384

/* A walk over the slices of drivers that the policy names, or over all. Begin with zeros. Objects
 * may change between two steps: a slice that is replaced comes again, last. Facts and the statuses
 * of their devices are in the arena. */
struct slices_walk {
    uint64_t at;     /* the last slice that was visited */
    size_t work;     /* a step ends at the end of a slice after so many devices and attributes */
    bool has_others; /* of drivers that the policy does not name */
    bool has_only_others;
    struct arena *arena;
    void (*visit)(void *context, const struct slice_facts *facts,
                  const struct device_status *statuses);
    void *context;
};
/* Returns true after the last slice. */
bool devices_each_slice_some(const struct devices *devices, struct slices_walk *walk);

/* The same for the slices of the node's pools, and of pools that several nodes may reach, until
 * walk->work is less than what was visited. Returns what is left of it; 0: some were not visited.
 */
size_t devices_each_slice_on(const struct devices *devices, const char *node_name,
                             const struct slices_walk *walk);

/* Copies at most `room` rules after *at, and moves it; begin with 0. Returns how many; fewer than
 * `room`: these are the last. Rules may change between two calls: one that is replaced comes
 * again, last. */
size_t devices_some_taints(const struct devices *devices, uint64_t *at, struct arena *arena,
                           struct device_taint_facts *ret_facts, size_t room);

/* A pool of a GPU driver of which nothing is free on a node. Valid until the next change. */
struct device_pool {
    const char *driver, *pool, *node_name;
    int64_t generation; /* on that node */
    size_t n_there;     /* slices of the pool in its highest generation */
    int64_t n_slices;   /* so many there should be, as some of them say */
    const char *why;    /* a constant text: "slices are missing" */
    const struct node_pool *node_pool;
};
/* Iterates: begin with zeros; false past the last. */
bool devices_next_unusable(const struct devices *devices, struct device_pool *pool);

/* Computes the numbers of some nodes again from the devices, and continues there with the next
 * call. Stops after `work` devices. Returns true after the last node. Adds the differences to
 * *ret_n_differences, and describes the first in err. All changed nodes must have been taken. */
bool devices_check_some(struct devices *devices, size_t work, size_t *ret_n_differences,
                        struct err *err);

#endif
