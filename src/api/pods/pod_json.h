/*
 * pod_json: a pod of the ledger as JSON (PodStatus in docs/openapi.yaml). Private to api.
 */
#ifndef API_PODS_POD_JSON_H
#define API_PODS_POD_JSON_H

#include "api/api.h"
#include "api/pod_gpus.h"
#include "api/pods/pod_copy.h"
#include "api/verdicts/verdicts.h"
#include "base/arena.h"
#include "inventory/claim_lookup.h"
#include "inventory/inventory.h"
#include "record/groups.h"
#include "types/facts.h"
#include "types/policy.h"

#include <jansson.h>

/* Context shared by all pods of an answer. */
struct pod_report {
    const struct cluster *fork;
    struct arena *arena;
    int64_t now_s;               /* seconds since 1970 */
    int64_t now_ms;              /* clock_ms() */
    struct claim_lookup *claims; /* that the pods name */
};

/* Looks up the claims of those that are pending. Release with claim_lookup_free(). */
struct claim_lookup *pod_json_claims(struct inventory *inventory, const struct policy *policy,
                                     const struct pod_copies *copies, struct arena *arena);
bool pod_json_is_pending(const struct pod *pod);
/* The question where a pending pod fits. */
struct pod_query pod_json_query(const struct pod_report *report, const struct pod_copy *copy);
/* "5 nvidia.com/gpu"; "": it asks for none. */
const char *pod_json_gpus(const struct pod_report *report, const struct shape_facts *facts);
/* {"kind": "Job", "name": "train"} of "Job/train"; null for NULL. */
json_t *pod_json_controller(const char *controller);
/* What a search for remedies needs besides. */
struct pod_remedies {
    struct inventory *inventory;
    struct cluster *fork;                /* of the report */
    struct candidates *candidates;       /* of the fork; judged again */
    size_t trials_left;                  /* of TRIAL_VERDICTS_OF_ANSWER */
    const char *only;                    /* names no pods of other namespaces; NULL: all */
    const struct pod_copy *const *first; /* as in struct remedy_question */
    size_t n_first;
    int64_t n_placed; /* of the pods, that have a place as they are */
    /* Pods that have no place, and that kube-scheduler takes first: by pod_copy_before(). */
    const struct pod_copy *const *before;
    size_t n_before;
};
/* Replaces the members of remedies in the JSON of the pod by what would help n pods like it.
 * copy->headline: the verdict on it. */
void pod_json_add_remedies(const struct pod_report *report, struct pod_remedies *remedies,
                           const struct pod_copy *copy, int64_t n, json_t *json);
/* verdicts NULL: the pod was not judged. Without remedies. */
json_t *pod_json(const struct pod_report *report, const struct pod_copy *copy,
                 const struct verdicts *verdicts);

/* ---- one pod, and every node's verdict while it is pending ---- */

struct explain_question {
    const char *namespace_, *name;
    struct groups *groups; /* NULL: none are planned */
    const char *only;      /* names no pods of other namespaces; NULL: all */
};
/* The answer of GET /v1/explain; NULL: there is no such pod. */
json_t *explain_answer(struct inventory *inventory, const struct explain_question *question,
                       struct arena *arena);

/* ---- pending pods and their verdicts ---- */

/* The answer of GET /v1/pending for these pods, by priority and age, but each judged by itself.
 * helps: with remedies for those that a quota keeps waiting. Ends the copies. */
json_t *pending_answer(const struct api *api, struct pod_copies *copies, bool helps,
                       struct arena *arena);

/* ---- what it costs to judge a pod, estimated in advance, for the limits of an answer ---- */

/* On one node; 1 for an ordinary pod. Tenants may write hundreds of thousands of values into an
 * affinity, and each is compared with each node. */
size_t pod_price(const struct shape_facts *facts);

/* Other pods that are counted in the time of a verdict. */
#define PEERS_OF_A_VERDICT 8

/* ---- the owners of pending pods ---- */

/* Adds the members `remedies` and `remediesTried` to an owner of which n pods find no place, the
 * first of them at this index. */
struct pod_owners_help {
    void (*add_remedies)(void *context, size_t pod, json_int_t n, json_t *owner);
    void *context;
};

/* PendingOwners of these PodStatus, in the order of their first pods. A pod without a controller is
 * its own owner. Pods without a place get the remedies of their owner. */
json_t *pod_owners_json(const json_t *pods, const struct policy *policy,
                        const struct pod_owners_help *help, struct arena *arena);
/* The GPUs that a PodStatus asks for. */
json_int_t pod_owners_count_gpus(const json_t *pod, const struct policy *policy);
/* The GPUs that all of them wait for. */
json_int_t pod_owners_gpus(const json_t *owners);

/* ---- pod devices ---- */
/* The GPUs that claims give a pod, by driver. Under the inventory's lock. */

/* Its claims are allocated to it, and have a GPU without admin access. */
bool pod_devices_has_any(const struct cluster *cluster, const struct pod *pod);
struct pod_gpus pod_devices_copy(const struct cluster *cluster, const struct pod *pod,
                                 struct arena *arena);

#endif
