/*
 * snapshot: kinds of our own in a cluster file, beside Kubernetes' objects, so that it reads back
 * to the same ledger. No API server serves them.
 *
 * A KeptPod is a Pod with facts that a Pod cannot express. A KeptSlice is the last known state of a
 * ResourceSlice that cannot be read any more. A Reservation is room held for a pod. A
 * file has one Snapshot about the file: its source, the policy, the problems, and the ledger's
 * sums, for comparison by the reader.
 */
#ifndef OBJECTS_SNAPSHOT_H
#define OBJECTS_SNAPSHOT_H

#include "base/arena.h"
#include "base/err.h"
#include "ledger/cluster.h"
#include "types/facts.h"
#include "types/policy.h"

#include <jansson.h>

#define SNAPSHOT_API_VERSION "gpu-extender.io/v1alpha1"
#define SNAPSHOT_KIND "Snapshot"

/* A Pod if that expresses all, else a KeptPod. The caller's, as in to_json.h. */
json_t *kept_pod_to_json(const struct pod_facts *facts, const struct policy *policy);
/* Reads a KeptPod, like pod_from_json(). */
int kept_pod_from_json(const json_t *object, const struct policy *policy, struct arena *arena,
                       struct pod_facts *ret_facts, struct err *err);

/* A ResourceSlice, or a KeptSlice if it is unreadable now. Both read as ResourceSlices. */
json_t *kept_slice_to_json(const struct slice_facts *facts, const struct policy *policy);

/* Room held for a pod without a node. */
struct reservation_facts {
    struct pod_facts pod; /* created_s: when room was held; else only identity and shape count */
    const char *node_name;
};
json_t *reservation_to_json(const struct reservation_facts *facts, const struct policy *policy);
int reservation_from_json(const json_t *object, const struct policy *policy, struct arena *arena,
                          struct reservation_facts *ret_facts, struct err *err);

struct snapshot_problem {
    const char *kind, *name, *what;
};

struct snapshot {
    int64_t made_s; /* both since 1970 */
    int64_t as_of_s;
    const char *source;
    const struct snapshot_problem *problems;
    size_t n_problems;
    size_t n_all_problems;
    bool claims_known;    /* cluster_knows() of claims */
    bool templates_known; /* of templates */
    bool budgets_known;   /* of budgets */
    const char
        *claims_uncounted; /* inventory_counts_claims(); "": counted; NULL: it does not say */
    json_t *reckoned;      /* snapshot_lines_json(); owned by the Snapshot's JSON */
    json_t *policy;        /* snapshot_policy(); owned likewise */
};
/* Takes over reckoned and policy. */
json_t *snapshot_to_json(const struct snapshot *snapshot);
/* Strings are in the arena; the caller owns references to the two JSON values (json_decref()). */
int snapshot_from_json(const json_t *object, struct arena *arena, struct snapshot *ret_snapshot,
                       struct err *err);

struct snapshot_line {
    const char *what; /* "nvidia.com/gpu of A100, free" */
    int64_t n;
};
struct snapshot_lines {
    struct snapshot_line *items;
    size_t n;
};
/* The ledger's contents and sums: the number of each kind, free GPUs by model, and the demand for
 * them. All in the arena. The cluster must be settled. */
struct snapshot_lines snapshot_compute(const struct cluster *cluster, struct arena *arena);
json_t *snapshot_lines_json(const struct snapshot_lines *lines);
/* The parts of the policy that decide how objects are read and ranked. */
json_t *snapshot_policy(const struct policy *policy);
/* The first line that differs: "nvidia.com/gpu of A100, free: the file says 3, the ledger reckons
 * 4"; NULL: none. In the arena. */
const char *snapshot_difference(const json_t *says, const json_t *reckoned, struct arena *arena);

#endif
