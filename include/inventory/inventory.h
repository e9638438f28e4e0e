/*
 * inventory: owns the ledger and its lock, and feeds it.
 *
 * From a file (what kubectl get -A -o yaml, or json, writes of the kinds of inventory/kinds.h; only
 * nodes are a must), or live from an API server (live.h).
 *
 * Under the lock: ledger and decisions only; no I/O, no JSON, no logging.
 */
#ifndef INVENTORY_INVENTORY_H
#define INVENTORY_INVENTORY_H

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "decide/reserve.h"
#include "ledger/claims.h"
#include "ledger/cluster.h"
#include "ledger/peer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct inventory;

struct inventory_limits {
    size_t max_file_bytes;
    size_t max_object_bytes;
    size_t max_object_values; /* 0: no limit */
    size_t max_nodes;
    size_t max_pods;
    int64_t max_lag_ms; /* of a usable live inventory; 0: any lag */
    bool needs_nodes;   /* a cluster file without nodes, and without problems, is rejected */
};

/* An object that was left out, and the reason. */
struct inventory_problem {
    const char *kind;
    const char *name; /* "namespace/name" or "name" */
    const char *what;
};

/* Takes a reference to policy, which is in force until another one replaces it. The inventory
 * starts empty and not ready. */
struct inventory *inventory_new(const struct policy *policy, const struct inventory_limits *limits);
void inventory_free(struct inventory *inventory);

/* Returns the policy in force with a reference: policy_drop() it. From any thread. */
const struct policy *inventory_hold_policy(struct inventory *inventory);

/* Reads a complete cluster file into a second ledger and swaps it in: all or nothing. On failure
 * returns a negative errno and keeps the old ledger; the message has the file, line and column of
 * the first fault. Objects left out are logged and listed as problems. One thread at a time. */
int inventory_load_file(struct inventory *inventory, const char *path, struct err *err);
/* The same under another policy, which is in force with the new ledger. */
int inventory_load_file_under(struct inventory *inventory, const struct policy *policy,
                              const char *path, struct err *err);

/* NULL if there is data to answer from, else what it waits for. */
const char *inventory_waiting_for(struct inventory *inventory);
/* Whether decisions may be made; if not, why: "not ready: waiting for the first list of pods", "the
 * pods are stale: ...". Users still get answers from stale data, with its age. */
bool inventory_usable(struct inventory *inventory, struct err *ret_why);
/* Data that may be read with the ledger, under the lock. */
struct inventory_view {
    struct inventory *inventory; /* locked for reading */
    const struct cluster *cluster;
    const struct inventory_problem *problems;
    size_t n_problems;     /* in the list, which has a maximum */
    size_t n_all_problems; /* all that occurred */
    int64_t as_of_s;       /* when the data were last known to be complete, seconds since 1970 */
    const char *source;    /* "file:PATH", or the API server */
    bool live;             /* follows an API server */
    const char
        *claims_uncounted;   /* of a file: see inventory_counts_claims(); "": they are counted */
    const char *claims_note; /* of a file: why its claims count as none; "": they do not. Static */
};

/* Adds lines that identify the present answers of the inventory: the ledger, its policy, problems,
 * and how fresh the data are. While they stay equal, answers differ only in ages and in the time up
 * to which complete data are known. Cheap. */
void inventory_edition(struct inventory *inventory, struct buf *out);

/* Locks for reading until inventory_done(), which CLEANUP() calls:
 *     const struct inventory_view view CLEANUP(inventory_done) = inventory_read(inventory);
 * Until then the thread must call nothing else of this header. */
struct inventory_view inventory_read(struct inventory *inventory);
/* The same, with a settled cluster, for ranking nodes (ledger/gpu_demand.h). */
struct inventory_view inventory_read_settled(struct inventory *inventory);
void inventory_done(const struct inventory_view *view);
/* Whether claims of dynamic resource allocation are counted; if not, why: "claims are not counted:
 * the resourceclaims are not listed: ...". Decisions go on: kube-scheduler judges claims itself.
 * Devices count as last known; while claims are unknown (cluster_knows()), none is free. */
bool inventory_counts_claims(const struct inventory_view *view, struct err *ret_why);

/* The API server has the kind, and only in the oldest version that is read. False of a file. */
bool inventory_serves_oldest(const struct inventory_view *view, enum cluster_kind kind);

/* A copy for simulations, with the peers that are wanted (ledger/peer.h), usable without the lock;
 * free it with inventory_fork_free() only. Both take the write lock. */
struct cluster *inventory_fork(struct inventory *inventory, enum peers_wanted wanted);
void inventory_fork_free(struct inventory *inventory, struct cluster *fork);

/* A private inventory for one thread, to change its ledger and ask what would be. The ledger has
 * the same objects and reservations, under the given policy (NULL: the same), to which it takes a
 * reference. Free it with inventory_free(). */
struct inventory *inventory_copy(struct inventory *inventory, const struct policy *policy);
/* The ledger of such a copy. Change it only while it has no forks. */
struct cluster *inventory_own_ledger(struct inventory *copy);

/* Calls decide/reserve.h with the write lock. The result's strings are in the arena. */
enum reserve_verdict inventory_reserve(struct inventory *inventory,
                                       const struct reserve_question *question, struct arena *arena,
                                       struct reserve_result *ret_result);
void inventory_release(struct inventory *inventory, const char *uid, uint64_t serial);

/* Calls change() with the write lock. */
void inventory_write(struct inventory *inventory,
                     void (*change)(struct cluster *cluster, void *context), void *context);

/* Calls decide/quota.h and ledger/claims.h with the write lock. */
bool inventory_claim(struct inventory *inventory, const struct claim_question *question);
void inventory_end_claim(struct inventory *inventory, const char *uid);

/* Freshness of one kind. */
struct inventory_freshness {
    const char *kind; /* "pods" */
    int64_t age_ms;   /* since the data were last known to be complete; -1: never */
    /* The class of why: "refused", "unreachable", "failed"; or "". Never quotes a server. */
    const char *trouble;
    /* The effect if its data are missing: "claims are not counted"; "": no decisions. */
    const char *without;
    bool awaited;   /* not listed yet, and no decision is made before */
    bool essential; /* no decision is made without current data; of the others, claims are not
                     * counted, unless they are optional */
    bool optional;  /* claim templates and disruption budgets, of which nothing else depends */
    bool synced;    /* a complete list was read */
    bool stale;     /* the API server cannot be followed */
    bool too_many;  /* more objects than the limits allow */
    bool behind;    /* its lag exceeds the limit */
    int64_t lag_ms; /* reflector_lag_ms(): how long events may have waited unread */
    struct err why; /* why it is stale, not synced or recovering; or "" */
};
/* Returns the number of kinds; 0 if the inventory is not live. */
size_t inventory_freshness(struct inventory *inventory,
                           struct inventory_freshness ret_kinds[N_CLUSTER_KINDS]);

/* Calls warn() with a warning for each of policy_names_missing() (inventory/inventory.h). Never
 * with the lock. */
void inventory_warn_of_quotas(struct inventory *inventory, void (*warn)(const char *text));

/* Writes gauges per node and model: Prometheus text. */
void inventory_metrics(struct inventory *inventory, struct buf *out);

/* ---- node notes ---- */
/* Doubts that the labels and resources of nodes leave: more GPUs than labels count, impossible
 * sizes of memory, and accelerators that the policy does not count as GPUs. And why a node is in
 * quarantine. */

/* Notes of one cluster; further ones are left out. */
#define NODE_NOTES_MAX ((size_t)256)

/* Starts empty. kind and name are those of an object ("Node", "a1"), or "Resource" and its name.
 * Texts are in the arena. */
struct node_notes {
    struct inventory_problem items[NODE_NOTES_MAX];
    size_t n;
};

/* "count unverified: label 4, offered 8 (nvidia.com/gpu.count, nvidia.com/gpu)" */
const char *node_notes_of_count(const struct gpu_unit *unit, struct arena *arena);

/* Why a sick node is avoided, or should be; NULL: it is not sick. In the arena. */
const char *node_notes_of_mark(const struct node *node, struct arena *arena);

/* The notes of the node's units. */
void node_notes_add(const struct node *node, struct arena *arena, struct node_notes *notes);
/* Accelerators that nodes have or pods wait for, with the line to add to the policy. */
void node_notes_add_resources(const struct cluster *cluster, struct arena *arena,
                              struct node_notes *notes);

/* ---- policy names ---- */
/* Names in the policy's quotas, aliases and topology.levels that the cluster does not have, with
 * the nearest that it has. The name may be misspelt, or the nodes do not exist yet. Also GPUs
 * that quotas with `borrow` guarantee and the nodes do not have. */

struct policy_name {
    const char *seen;   /* "quota ml: no node has the model H1OO: its limit has no effect" */
    const char *advice; /* "did you mean H100?" */
    const char *quota;  /* the quota whose limit has the name; NULL: no limit has it */
};

/* Models and resources of quotas; their namespaces, and the models of aliases, only if one is near,
 * as policies are shared among clusters. In the arena. Returns their number. Compares at most
 * POLICY_NAMES_COMPARED pairs of models, so it may be called with the lock. */
#define POLICY_NAMES_COMPARED ((size_t)2000)
size_t policy_names_missing(const struct cluster *cluster, struct arena *arena,
                            struct policy_name **ret_names);

#endif
