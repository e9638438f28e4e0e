/*
 * inventory: owns the ledger and its lock, and feeds it.
 *
 * From a file (kubectl get nodes,pods,namespaces,priorityclasses,deviceclasses -A -o yaml, or
 * json), or live from an API server (live.h). Under the lock: ledger and decisions only;
 * no I/O, no JSON, no logging.
 */
#ifndef INVENTORY_INVENTORY_H
#define INVENTORY_INVENTORY_H

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "decide/reserve.h"
#include "ledger/claims.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct inventory;

struct inventory_limits {
    size_t max_file_bytes;
    size_t max_object_bytes;
    size_t max_nodes;
    size_t max_pods;
    int64_t max_lag_ms; /* of a live inventory that may be decided on; 0: any */
};

/* An object that was left out, and why. */
struct inventory_problem {
    const char *kind;
    const char *name; /* "namespace/name" or "name" */
    const char *what;
};

/* policy is borrowed. The inventory is empty and not ready. */
struct inventory *inventory_new(const struct policy *policy, const struct inventory_limits *limits);
void inventory_free(struct inventory *inventory);

/* Reads a whole cluster file into a second ledger and swaps it in: all or nothing. 0, or a negative
 * errno (the old ledger stays): the message names the file, line and column of the first fault.
 * Objects left out are logged and kept as problems. Not to be called by two threads at once. */
int inventory_load_file(struct inventory *inventory, const char *path, struct err *err);

/* NULL where there is something to answer from, else what is waited for. */
const char *inventory_waiting_for(struct inventory *inventory);
/* Whether decisions may be made on it; if not, why: "not ready: waiting for the first list of
 * pods", "the pods are stale: ...". People are answered from stale data too, and told how old it
 * is. */
bool inventory_usable(struct inventory *inventory, struct err *ret_why);

/* What may be read together with the ledger, under the lock. */
struct inventory_view {
    struct inventory *inventory; /* locked for reading */
    const struct cluster *cluster;
    const struct inventory_problem *problems;
    size_t n_problems;     /* of the list, which has an end */
    size_t n_all_problems; /* all there were */
    int64_t as_of_s;       /* when the data was last known to be complete, seconds since 1970 */
    const char *source;    /* "file:PATH", or the API server */
    bool live;             /* it follows an API server */
};

/* Locks for reading until inventory_done(), which CLEANUP() calls:
 *     const struct inventory_view view CLEANUP(inventory_done) = inventory_read(inventory);
 * Until then the thread must call nothing else of this header. */
struct inventory_view inventory_read(struct inventory *inventory);
/* The same, for those who rank nodes: the cluster is settled (ledger/gpu_demand.h). */
struct inventory_view inventory_read_settled(struct inventory *inventory);
void inventory_done(const struct inventory_view *view);

/* A copy to think on, without the lock; freed with inventory_fork_free() only. */
struct cluster *inventory_fork(struct inventory *inventory);
void inventory_fork_free(struct inventory *inventory, struct cluster *fork);

/* decide/reserve.h, under the lock. The result's strings are in the arena. */
enum reserve_verdict inventory_reserve(struct inventory *inventory,
                                       const struct reserve_question *question, struct arena *arena,
                                       struct reserve_result *ret_result);
void inventory_release(struct inventory *inventory, const char *uid, uint64_t serial);

/* ledger/claims.h, under the lock. */
bool inventory_claim(struct inventory *inventory, const struct claim_question *question);
void inventory_end_claim(struct inventory *inventory, const char *uid);

/* How fresh what is known of one kind is. */
struct inventory_freshness {
    const char *kind; /* "pods" */
    int64_t age_ms;   /* since it was last known to be complete; -1: it never was */
    /* Of what sort why is: "refused", "unreachable", "failed"; or "". It quotes nobody. */
    const char *trouble;
    bool synced;    /* all of them were listed once */
    bool stale;     /* the API server cannot be followed */
    bool too_many;  /* more than the limits allow */
    bool behind;    /* its lag is over the limit */
    int64_t lag_ms; /* reflector_lag_ms(): how long events may have waited unread */
    struct err why; /* of stale or of not being synced, or what is being recovered from; or "" */
};
/* One a kind, and how many: none where the inventory is not live. */
size_t inventory_freshness(struct inventory *inventory,
                           struct inventory_freshness ret_kinds[N_CLUSTER_KINDS]);

/* Calls tell with a warning for each model that quotas limit and no node has: the name may be
 * misspelled, or the nodes do not exist yet. */
void inventory_warn_of_quotas(struct inventory *inventory, void (*tell)(const char *text));

/* Gauges per node and model: Prometheus text. */
void inventory_metrics(struct inventory *inventory, struct buf *out);

#endif
