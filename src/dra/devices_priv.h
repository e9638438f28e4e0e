/*
 * devices_priv: what the files behind include/dra/devices.h share.
 *
 * objects (slices, claims, rules) ─▶ pools and pools on nodes: which slices are current ─▶ current
 * devices in counter sets and GPUs ─▶ states ─▶ rows of places (nodes) ─▶ published numbers. A
 * change marks what it touches as dirty; devices_settle() works through these lists in the order of
 * the flow. A dirty object has a reference until then.
 */
#ifndef DRA_DEVICES_PRIV_H
#define DRA_DEVICES_PRIV_H

#include "base/table.h"
#include "dra/devices.h"
#include "pool_slices.h"
#include "types/string_table.h"

#include <utlist.h>

/* A key of two pointers to interned or unique things. Without padding. */
struct pair {
    const void *first, *second;
};

/* First member of slices, claims and rules. Their key is in hh. */
struct object {
    UT_hash_handle hh;
    uint64_t seen;   /* the relist of its kind that named it last */
    uint64_t serial; /* grows in the order of the table */
};

/* A model as devices publish it, parsed once. Key: text, profile, memory. */
struct device_kind {
    struct kind_key {
        const char *text, *profile; /* interned */
        int64_t memory_bytes;
    } key;
    size_t refs;
    UT_hash_handle hh;
    struct device_kind
        *whole; /* of a partition: the kind of its GPU, without memory; with a reference */
    struct gpu_model model;
    char name[];
};

/* In the order of preference for a GPU with several whole devices. */
enum device_state {
    DEVICE_ALLOCATED,
    DEVICE_FREE,
    DEVICE_TAINTED,
    DEVICE_BLOCKED,
    DEVICE_INCOMPLETE,
    DEVICE_INVALID,
    DEVICE_PARTITIONED,
    N_DEVICE_STATES
};

/* The GPUs of one kind of one driver on one node, or the partitions. */
struct device_row {
    struct device_place *place;
    const struct device_driver *driver;
    struct device_kind *kind; /* with a reference */
    bool is_partition;
    int64_t n[N_DEVICE_STATES];
    int64_t n_all;
    struct device_row *next;
};

/* The row and the state that something counts in. */
struct counted {
    struct device_row *row; /* NULL: nowhere */
    enum device_state state;
};

struct published {
    struct device_group *groups;
    size_t n_groups;
    struct device_model *models; /* of all groups; with references to their kinds */
    size_t n_models;
};

/* A node; "": the devices that several nodes may reach. */
struct device_place {
    size_t refs;
    UT_hash_handle hh;
    struct node_pool *node_pools; /* list: prev_here, next_here */
    struct device_row *rows;      /* sorted: driver, GPUs before partitions, name, memory */
    struct published published;
    uint64_t alike; /* devices_alike(), as of the last publishing */
    bool is_queued;
    struct device_place *next_queued;
    char name[];
};

/* A driver's pool, or one that only a claim names. */
struct pool {
    struct pair key;                    /* driver and name, both interned */
    const struct device_driver *driver; /* NULL: no GPUs */
    size_t refs;
    UT_hash_handle hh;
    struct kept_slice *slices;    /* list: prev, next */
    struct node_pool *node_pools; /* list: prev, next */
    size_t n_faults;              /* of its current counter sets */
    size_t n_overdrawn;           /* sets with more in use than there is */
    struct pool_view {
        struct pool_slices all;
        struct pool_slices with_sets; /* slices with counter sets concern all nodes */
        bool is_unreadable, is_faulty, is_overdrawn;
    } view; /* of when it was settled last */
    bool is_dirty;
    struct pool *next_dirty;
};

enum node_pool_state { NODE_POOL_USABLE, NODE_POOL_INCOMPLETE, NODE_POOL_INVALID };

/* A pool on a node. */
struct node_pool {
    struct pair key; /* pool and place */
    struct pool *pool;
    struct device_place *place;
    size_t refs;
    UT_hash_handle hh;
    struct node_pool *prev, *next;           /* of the pool */
    struct node_pool *prev_here, *next_here; /* of the place */
    struct node_slice *node_slices;
    struct node_slice *fresh; /* of these: added since the last settling */
    bool has_generation;      /* else none of its devices is current */
    int64_t generation;
    bool is_complete;
    bool sees_sets;     /* the pool's counter sets are of its generation */
    size_t n_repeated;  /* current devices with the name of another */
    size_t n_consumers; /* current devices that consume counters */
    enum node_pool_state state;
    bool is_dirty;
    struct node_pool *next_dirty;
};

/* A slice concerns the pool on the node. */
struct node_slice {
    struct kept_slice *slice;
    struct node_pool *node_pool;
    struct node_slice *prev, *next;
    bool is_fresh;
    struct node_slice *next_fresh;
};

struct counter_part {
    const char *name; /* interned */
    int64_t amount;   /* >= 0 */
};

/* A slice's counter set. */
struct publication {
    struct set *set;
    bool is_current;
    struct counter_part *counters; /* sorted by the pointer of the name */
    int64_t *left;                 /* of each, by counters_recount() */
    size_t n;
    struct publication *next;
};

/* A counter set of a pool, by name; not necessarily published. */
struct set {
    struct pair key; /* pool and interned name */
    struct pool *pool;
    size_t refs;
    UT_hash_handle hh;
    struct publication *publications; /* current ones; more than one is a fault */
    struct consumption *consumers;    /* of current devices */
    size_t n_faults;
    bool is_overdrawn;
    bool is_gpu; /* its consumers are one GPU, or parts of it */
    bool is_dirty;
    struct set *next_dirty;
};

struct consumption {
    struct device *device;
    struct set *set;
    bool is_current;
    bool is_faulty; /* the set, or one of its counters, is not published */
    struct counter_part *counters;
    size_t n;
    struct consumption *prev, *next;
};

/* A name in a pool, used by claims or published by slices. */
struct device_name {
    struct pair key; /* pool and interned name */
    struct pool *pool;
    size_t refs;
    UT_hash_handle hh;
    size_t n_uses;           /* results of claims without admin access */
    struct device_use *uses; /* the same, as a list */
    struct device *devices;  /* current ones; several: on several nodes, or a fault */
};

struct device {
    struct device_name *named;
    struct node_pool *node_pool;
    struct kept_slice *slice;
    struct device_kind *kind;
    const char *physical;                /* interned */
    struct device_attribute *attributes; /* interned texts */
    uint32_t n_attributes;
    struct gpu *gpu;     /* of a current device */
    const char *details; /* interned; NULL: none */
    struct consumption *consumptions;
    uint32_t n_consumptions;
    uint32_t n_rules; /* that taint it; of a current device */
    bool is_tainted, not_judged, allows_multiple, lacks_attributes;
    bool is_fraction; /* a part that is known by its counters; its kind is that of a partition */
    bool is_current;
    enum device_state state;
    struct counted counted;               /* partitions */
    struct device *prev_same, *next_same; /* of the name */
    struct device *next_of_gpu;
};

struct gpu {
    struct pair key; /* the node pool, and what identifies the GPU there: an interned text, a set or
                        a name */
    struct node_pool *node_pool;
    UT_hash_handle hh;
    struct device *devices; /* current ones */
    struct counted counted;
    bool is_dirty;
    struct gpu *next_dirty;
};

/* Slices that are bounded together: of a node, of a driver, or all. */
struct slice_share {
    struct pair key; /* the policy key of the bound, and an interned name */
    size_t bytes, refs, n_left_out;
    UT_hash_handle hh;
};

#define SLICE_SHARES_MAX 3
/* What a slice takes of its shares. */
struct slice_room {
    struct slice_share *shares[SLICE_SHARES_MAX];
    size_t n_shares, bytes;
    const char *full;  /* the policy key of the bound that left no room; NULL: there was room */
    bool is_forgotten; /* too many others have none, too */
};

struct kept_slice {
    struct object object;
    struct pool *pool;
    int64_t generation, n_slices;
    bool per_device;
    bool is_unreadable;
    const char *node_name; /* interned */
    const char *details;   /* as of a device */
    struct device *devices;
    size_t n_devices;
    struct consumption *consumptions; /* of all devices */
    struct publication *publications;
    size_t n_publications;
    struct counter_part *counters; /* of all consumptions and publications */
    size_t n_counters;
    int64_t *left;
    struct node_slice *node_slices;
    size_t n_node_slices;
    struct kept_slice *prev, *next;
    struct slice_room room;
    char name[];
};

struct device_use {
    struct device_name *named;
    struct kept_claim *claim;
    const char *consumed; /* interned; NULL: not said */
    bool is_admin, is_shared;
    struct device_use *prev, *next; /* of the name */
};

struct kept_claim {
    struct object object;
    struct device_claim shown;
    size_t n_gpu_uses;   /* results that use a device that may be a GPU */
    const char *holders; /* UIDs, one after another, each with its terminator; then their names */
    struct device_use *uses;
    struct claim_want *wants; /* their names are among the texts */
    bool is_changed;          /* for devices_take_changed_claim() */
    bool is_gone;             /* only its names are left, until it is taken */
    struct kept_claim *prev_changed, *next_changed;
    char texts[];
};

struct taint_rule {
    struct object object;
    const char *driver, *pool, *device; /* interned; NULL: any */
    const char *key, *value, *effect;   /* interned; NULL: not set */
    char name[];
};

struct devices {
    const struct policy *policy;
    struct string_table strings;
    struct object *objects[N_DEVICES_KINDS];
    size_t n_claims[N_CLAIM_STATES];
    size_t n_shared_uses;
    struct slice_share *shares;
    const char *forgotten; /* `full` of the slice put last; NULL: it is remembered */
    /* At most CLAIM_TEXTS_BYTES_MAX and CLAIM_LABELS_BYTES_MAX; equal ones count each time. */
    size_t claim_text_bytes, claim_label_bytes;
    uint64_t relists[N_DEVICES_KINDS];
    struct object *swept_to[N_DEVICES_KINDS]; /* next of a sweep; NULL: the first */
    struct device_kind *kinds;
    struct device_place *places;
    struct pool *pools;
    struct node_pool *node_pools;
    struct set *sets;
    struct device_name *names;
    struct gpu *gpus;
    struct pool *dirty_pools;
    struct node_pool *dirty_node_pools;
    struct set *dirty_sets;
    struct gpu *dirty_gpus;
    struct device_place *queue, *queue_end; /* places to publish */
    struct device_place *taken;             /* of the last devices_take_changed() */
    struct kept_claim *changed_claims;      /* list: prev_changed, next_changed */
    struct kept_claim *taken_claim;         /* of the last devices_take_changed_claim(), if gone */
    uint64_t n_serials;
    struct device_place *checked_to; /* next of devices_check_some(); NULL: the first */
};

/* devices.c. Applies everything that is marked as dirty. */
void devices_settle(struct devices *devices);

/* gpus.c */
struct device_kind *models_ref(struct devices *devices, const char *text, const char *profile,
                               int64_t memory_bytes);
void models_unref(struct devices *devices, struct device_kind *kind);
/* The kind of a published model. */
struct device_kind *models_of(const struct device_model *model);

/* slices.c */
struct slice_room slice_room_take(struct devices *devices, const struct slice_facts *facts);
/* Again, too. */
void slice_room_release(struct devices *devices, struct slice_room *room);

/* A new slice is not attached, and takes over the room. Without it it has no devices, and
 * is unreadable. */
struct kept_slice *slices_new(struct devices *devices, const struct slice_facts *facts,
                              const struct slice_room *room);
/* Not of a driver that the policy does not name. */
void slices_attach(struct devices *devices, struct kept_slice *slice);
void slices_detach(struct devices *devices, struct kept_slice *slice);
void slices_free(struct devices *devices, struct kept_slice *slice); /* must be detached */

/* pools.c */
struct pool *pools_ref(struct devices *devices, const char *driver, const char *name);
void pools_unref(struct devices *devices, struct pool *pool);
struct device_name *pools_ref_name(struct devices *devices, struct pool *pool, const char *name);
void pools_unref_name(struct devices *devices, struct device_name *named);
void pools_add(struct devices *devices, struct kept_slice *slice);
void pools_remove(struct devices *devices, struct kept_slice *slice);
void pools_mark(struct devices *devices, struct pool *pool);
/* Marks the pools on nodes, of dirty pools, that must look again. */
void pools_settle(struct devices *devices);

struct node_pool *node_pools_ref(struct devices *devices, struct pool *pool, const char *node_name);
void node_pools_unref(struct devices *devices, struct node_pool *node_pool);
void node_pools_add(struct devices *devices, struct node_slice *node_slice);
void node_pools_remove(struct devices *devices, struct node_slice *node_slice);
/* Makes the devices of the right generation current. */
void node_pools_relink(struct devices *devices);
/* States of dirty pools on nodes, and of the devices there. */
void node_pools_judge(struct devices *devices);

/* counters.c */
struct set *counters_ref(struct devices *devices, struct pool *pool, const char *name);
void counters_unref(struct devices *devices, struct set *set);
void counters_mark(struct devices *devices, struct set *set);
void counters_publish(struct devices *devices, struct publication *publication, bool is_current);
void counters_consume(struct devices *devices, struct consumption *consumption, bool is_current);
/* Computes the rest of dirty sets, then the states of the devices that consume them. */
void counters_recount(struct devices *devices);
void counters_settle(struct devices *devices);
/* Whether the device could take its counters now. */
bool counters_suffice(const struct device *device);
/* The set that is the device's GPU; NULL: not known to be. */
const struct set *counters_gpu_of(const struct device *device);
/* Whether that set has more memory than the device. */
bool counters_is_fraction(const struct device *device);

void gpus_link(struct devices *devices, struct device *device);
void gpus_unlink(struct devices *devices, struct device *device);
/* The state of a current device changed, perhaps. */
/* By what its counter sets say now. Of a current device. */
void gpus_regroup(struct devices *devices, struct device *device);
void gpus_refresh(struct devices *devices, struct device *device);
void gpus_settle(struct devices *devices);
bool gpus_is_partition(const struct device *device);
/* Computed, not as kept. */
enum device_state gpus_state_of_device(const struct device *device);
enum device_state gpus_state(const struct gpu *gpu);
struct device_kind *gpus_kind(const struct gpu *gpu);

/* places.c */
struct device_place *places_ref(struct devices *devices, const char *name);
void places_unref(struct devices *devices, struct device_place *place);
/* Publishes it, later. */
void places_queue(struct devices *devices, struct device_place *place);
/* places_alike.c: of a settled place; see devices_alike(). */
#define PLACES_ALIKE_EMPTY 1 /* no devices that count */
uint64_t places_alike(const struct device_place *place);
/* kind NULL: nowhere. */
void places_count(struct devices *devices, struct counted *counted,
                  const struct node_pool *node_pool, struct device_kind *kind,
                  enum device_state state);
/* Returns whether the numbers differ. */
bool places_publish(struct devices *devices, struct device_place *place);
/* Whether the published numbers are those of the rows, or are about to be. */
bool places_is_published(struct devices *devices, const struct device_place *place);
bool places_equal(const struct published *a, const struct published *b);

/* device_claims.c */
struct kept_claim *device_claims_new(struct devices *devices, const struct claim_facts *facts);
void device_claims_use(struct devices *devices, struct kept_claim *claim, bool is_used);
/* The claim must use nothing any more. */
void device_claims_remove(struct devices *devices, struct kept_claim *claim);
/* The claim changed. */
void device_claims_mark(struct devices *devices, struct kept_claim *claim);
/* A device of that name appears or disappears, so its claims change. */
void device_claims_mark_users(struct devices *devices, const struct device_name *named);
/* The key of a claim, which the caller frees. */
char *device_claims_key(const char *namespace_, const char *name, size_t *ret_len);

/* taint_rules.c */
struct taint_rule *taint_rules_new(struct devices *devices, const struct device_taint_facts *facts);
/* Counts the rule, or no more, for each current device that it taints. Returns how many devices it
 * visited, those that it taints DEVICES_SWEEP_DELETION times. */
size_t taint_rules_apply(struct devices *devices, const struct taint_rule *rule, bool is_added);
bool taint_rules_equal(const struct taint_rule *rule, const struct device_taint_facts *facts);
void taint_rules_free(struct devices *devices, struct taint_rule *rule);
uint32_t taint_rules_n_of(const struct devices *devices, const struct device *device);

#endif
