/*
 * snapshot: what a cluster file of ours has beside Kubernetes' objects, so that it is read back to
 * the same ledger: kinds of our own, which no API server serves.
 *
 * KeptPod is a Pod with what a Pod cannot say. Reservation is room that is held for one. Snapshot,
 * one a file, is about the file as a whole: what it was made from and by which policy, the problems
 * that there were, and what the ledger reckoned, so that whoever reads it can compare.
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

/* A Pod where that says all, else a KeptPod. The caller's, as in to_json.h. */
json_t *kept_pod_to_json(const struct pod_facts *facts, const struct policy *policy);
/* Of a KeptPod. As pod_from_json(). */
int kept_pod_from_json(const json_t *object, const struct policy *policy, struct arena *arena,
                       struct pod_facts *ret_facts, struct err *err);

/* Room that is held for a pod that has no node. */
struct reservation_facts {
    struct pod_facts pod; /* created_s is when room was held; but for that, the pod's identity and
                             its shape are all that counts */
    const char *node_name;
};
json_t *reservation_to_json(const struct reservation_facts *facts, const struct policy *policy);
int reservation_from_json(const json_t *object, const struct policy *policy, struct arena *arena,
                          struct reservation_facts *ret_facts, struct err *err);

struct snapshot_problem {
    const char *kind, *name, *what;
};

struct snapshot {
    int64_t made_s; /* these two since 1970 */
    int64_t as_of_s;
    const char *source;
    const struct snapshot_problem *problems;
    size_t n_problems;
    size_t n_all_problems;
    json_t *reckoned; /* snapshot_lines_json(); owned by the Snapshot's JSON */
    json_t *policy;   /* the same: snapshot_policy() */
};
/* Takes over reckoned and policy. */
json_t *snapshot_to_json(const struct snapshot *snapshot);
/* Texts live in the arena; the two JSON values are references of the caller's (json_decref()). */
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
/* What the ledger has and reckons: how many there are of each kind, and of GPUs what is free, by
 * model, and who wants them. All in the arena. The cluster must be settled. */
struct snapshot_lines snapshot_reckon(const struct cluster *cluster, struct arena *arena);
json_t *snapshot_lines_json(const struct snapshot_lines *lines);
/* What of the policy decides how objects are read and ranked. */
json_t *snapshot_policy(const struct policy *policy);
/* The first line that differs: "nvidia.com/gpu of A100, free: the file says 3, the ledger reckons
 * 4"; NULL: none. In the arena. */
const char *snapshot_difference(const json_t *says, const json_t *reckoned, struct arena *arena);

#endif
