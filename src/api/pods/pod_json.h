/*
 * pod_json: a pod of the ledger as JSON (PodStatus in docs/openapi.yaml). Private to api.
 */
#ifndef API_PODS_POD_JSON_H
#define API_PODS_POD_JSON_H

#include "api/pods/pod_copy.h"
#include "api/verdicts/verdicts.h"
#include "inventory/claim_lookup.h"

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
    struct cluster *fork;          /* of the report */
    struct candidates *candidates; /* of the fork; judged again */
    size_t trials_left;            /* of TRIAL_VERDICTS_OF_ANSWER */
    const char *only;              /* names no pods of other namespaces; NULL: all */
};
/* Replaces the members of remedies in the JSON of the pod by what would help n pods like it.
 * copy->headline: the verdict on it. */
void pod_json_add_remedies(const struct pod_report *report, struct pod_remedies *remedies,
                           const struct pod_copy *copy, int64_t n, json_t *json);
/* verdicts NULL: the pod was not judged. Without remedies. */
json_t *pod_json(const struct pod_report *report, const struct pod_copy *copy,
                 const struct verdicts *verdicts);

#endif
