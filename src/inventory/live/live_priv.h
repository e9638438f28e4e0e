/*
 * live_priv: data of an inventory that follows an API server. Private to inventory.
 */
#ifndef INVENTORY_LIVE_LIVE_PRIV_H
#define INVENTORY_LIVE_LIVE_PRIV_H

#include "base/arena.h"
#include "base/metrics.h"
#include "inventory/inventory.h"
#include "inventory/inventory_priv.h"
#include "inventory/kinds.h"
#include "inventory/live.h"
#include "inventory/live/live_status.h"
#include "kube/request.h"
#include "types/facts.h"

#include <stdbool.h>
#include <stdint.h>

/* ---- recomputes the ledger's sums at run time; differences must stay 0 ---- */

/* Limit of pods plus their needs that are checked in one hold of the lock: a few milliseconds. */
#define SELF_CHECK_WORK ((size_t)20000)

struct self_check {
    struct counter checks; /* rounds over the whole ledger */
    struct counter differences;
    int64_t next_ms; /* of the next check; only its own thread uses it */
};

/* Checks the whole ledger under one hold of the lock: only before decisions start. */
void self_check_all(struct inventory *inventory);
/* Checks all nodes in steps, with the lock free in between. */
void self_check_nodes(struct inventory *inventory);

/* ---- live problems ---- */
/* Objects of the API server that are unreadable at present. The list is bounded like problems.h.
 * Beyond that only keys are kept, so that counts are exact. */

struct live_problems;

struct live_problems *live_problems_new(void);
void live_problems_free(struct live_problems *problems);

/* Adds an unreadable object; copies the strings. Returns whether to log it: the object or its
 * reason is new, and the list has room. */
bool live_problems_add(struct live_problems *problems, enum cluster_kind kind,
                       const struct kind_key *key, const char *what);
/* The object became readable or was deleted. */
void live_problems_resolve(struct live_problems *problems, enum cluster_kind kind, const char *id);
/* Like cluster_relist_begin() and cluster_relist_end(): the end removes the problems of objects
 * that were not added since the begin. */
void live_problems_relist_begin(struct live_problems *problems, enum cluster_kind kind);
void live_problems_relist_end(struct live_problems *problems, enum cluster_kind kind);

size_t live_problems_count(const struct live_problems *problems, enum cluster_kind kind);
size_t live_problems_count_all(const struct live_problems *problems);
/* Grows with every change of the list and the count. */
uint64_t live_problems_version(const struct live_problems *problems);
/* At most PROBLEMS_MAX, unordered. */
const struct inventory_problem *live_problems_list(const struct live_problems *problems,
                                                   size_t *ret_n);

/* ---- failed pods ---- */
/* Pods in phase Failed, which tell which nodes are sick. The pods of the ledger are watched
 * without finished ones, so a rejected pod is seen there as deleted, without the kubelet's
 * reason. A watch of its own has the reasons. Nothing of the pods is kept but what sick_nodes
 * counts. */

struct inventory;

/* Most pods in a batch. */
#define FAILED_PODS_BATCH 64

struct failed_pods {
    struct inventory *inventory;
    struct arena *arena; /* of the batch */
    struct failed_pod_facts items[FAILED_PODS_BATCH];
    size_t n;
    int64_t due_ms;    /* of the next change by time alone */
    uint64_t n_lifted; /* as last seen */
};

void failed_pods_init(struct failed_pods *failed, struct inventory *inventory);
void failed_pods_fini(struct failed_pods *failed);

/* Under the write lock, after changes: lets time pass. Returns whether a node is not avoided any
 * more; then call the second function without the lock. */
bool failed_pods_settle(struct inventory *inventory);
void failed_pods_report_lift(struct inventory *inventory);

/* ---- server version ---- */
/* Asks the API server for its version, as rules of the dry run depend on it. Again now and then:
 * a cluster is upgraded while this program runs. */

struct server_version {
    struct kube_sender sender;
    bool is_asked;   /* the answer is not here yet */
    int64_t next_ms; /* when to ask next */
};

/* ---- live feed ---- */
/* Turns a reflector's objects into changes of the ledger. Objects are decoded on arrival,
 * outside the lock, into a bounded batch. The batch is applied under the lock when full and at
 * every flush. */

/* Most objects in a batch. */
#define LIVE_BATCH 64
/* A batch of larger objects ends after so many bytes of facts, as one hold of the lock takes it. */
#define LIVE_BATCH_BYTES ((size_t)256 * 1024)

enum change_type {
    CHANGE_LIST_BEGIN,
    CHANGE_UPSERT,
    CHANGE_UNREADABLE,
    CHANGE_REMOVE,
    CHANGE_LIST_END,
};

struct change {
    enum change_type type;
    struct kind_key key;
    const char *why; /* CHANGE_UNREADABLE, or a CHANGE_UPSERT of the counted part */
    bool is_news;    /* set on applying a change with a reason: log it */
    void *facts;     /* CHANGE_UPSERT: see kinds_read() */
};

struct live_feed {
    struct inventory *inventory;
    enum cluster_kind kind;
    struct arena *arena; /* of the batch */
    struct change changes[LIVE_BATCH];
    size_t n_changes;
    bool listing;  /* between the begin and the end of a list */
    bool left_out; /* an object was dropped for the limit since the last list began */
    bool too_many;
    bool has_changed;          /* an object of the batch that was there before */
    bool list_ended;           /* since the last flush */
    struct counter unreadable; /* times that an object was unreadable */
};

void live_feed_init(struct live_feed *feed, struct inventory *inventory, enum cluster_kind kind);
void live_feed_fini(struct live_feed *feed);
struct reflector_store live_feed_store(struct live_feed *feed);

/* ---- live priv ---- */

struct live {
    struct live_problems *problems; /* guarded by the inventory's lock */
    struct live_status status;
    struct live_feed feeds[N_CLUSTER_KINDS];
    struct failed_pods failed_pods;
    struct self_check check;
    struct server_version version;
    atomic_bool was_complete;      /* every kind was listed at least once */
    void (*turned)(void *context); /* called when usability changes; NULL: none */
    void *turned_context;
    void (*pod_seen)(void *context, const char *uid, const char *node); /* NULL: none */
    void *pod_seen_context;
    void (*helped)(void *context, enum cluster_kind kind); /* NULL: none */
    void *helped_context;
};

void live_free(struct live *live);

/* Sets the time of a live ledger, too. It is read under the lock, so none that a reader has read
 * before is later: what the reader saw of counters by time (ledger/gpu_time.h) stays. */
void live_lock_to_write(struct inventory *inventory);

#endif
