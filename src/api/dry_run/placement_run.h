/*
 * placement_run: judges all nodes for one workload of a dry run, places its replicas and writes the
 * result as JSON. Private to api.
 */
#ifndef API_DRY_RUN_PLACEMENT_RUN_H
#define API_DRY_RUN_PLACEMENT_RUN_H

#include "api/api.h"
#include "api/dry_run/domain_run.h"
#include "api/provenance.h"
#include "api/verdicts/candidates.h"
#include "api/verdicts/headline.h"
#include "base/buf.h"
#include "decide/fit.h"
#include "decide/fragmentation.h"
#include "inventory/claim_lookup.h"
#include "inventory/inventory.h"
#include "objects/workload.h"

#include <jansson.h>

/* Resource claims of a namespace whose pods are placed. */
struct placed_claims {
    const char *namespace_;
    const char *lines; /* as in pod_facts.claims, with those of the namespace before it */
    const struct placed_claims *next;
};
/* More are not remembered: a pod that names one of them is judged as if it were another claim. */
#define PLACED_CLAIMS_MAX ((size_t)100)
#define PLACED_CLAIMS_BYTES_MAX ((size_t)4096)

struct dry_run {
    const struct api *api;
    const struct provenance *provenance;
    struct cluster *fork; /* earlier workloads are placed on it */
    struct arena *arena;
    size_t n_replicas_left;           /* limit on replicas placed one by one */
    const struct workload_list *list; /* the manifest */
    struct claim_lookup *claims;
    const struct placed_claims *placed_claims; /* the last first */
    size_t n_placed_claims;
    struct manifest_gang *gangs; /* of the workloads so far; none unless gangs.mode is plan */
    const char *only;        /* the namespace of all workloads, and no other is named; NULL: any */
    bool explain;            /* include the ranking of nodes */
    bool hides_devices;      /* as in dry_run_question */
    bool counts_only;        /* no evictions and remedies are searched */
    size_t n_evictions_left; /* limit on workloads with a search for victims */
    size_t trials_left;      /* of TRIAL_VERDICTS_OF_ANSWER */
    struct models_here models;
    struct candidates candidates; /* for one workload after the other */
    json_t *name_warnings;        /* array: placement_run.h */
    size_t n_roles;               /* templates of the object that is judged */
    bool has_several_objects;
    size_t n_placed_whole; /* workloads with every replica placed */
    size_t n_unsaved;      /* workloads that are not judged, as the saved cluster lacks a kind */
};

/* Appends to name_warnings, unless there are WORKLOAD_WARNINGS_MAX. Copies the texts. */
void dry_run_warn(const struct dry_run *dry_run, const char *path, const char *message);
/* What became of one workload. All but the JSON is in the arena of the dry run. */
struct placed_workload {
    const struct workload *workload;
    json_t *json; /* a member of DryRunResult.workloads */
    struct headline headline;
    struct fit_question question; /* of the fork before its first pod was placed */
    int64_t n_pods, n_placed;
    const char *lacks;   /* "namespace ml": without it the API server rejects the pods; or NULL */
    bool lacks_several;  /* and more than that */
    const char *unsaved; /* "deviceclasses", which the saved cluster lacks: not judged; or NULL */
    struct domain_run domains;
    struct manifest_gang *gang;      /* NULL: none */
    const struct node *const *nodes; /* of the first pods, in order; not of a DaemonSet */
    size_t n_nodes;
};

/* Places the replicas on the fork. */
struct placed_workload placement_run(struct dry_run *dry_run, const struct workload *workload);
/* A pod of the workload, for the fork as it is. */
struct fit_question placement_run_ask(struct dry_run *dry_run, const struct workload *workload);
/* The question as it is for the fork now. */
struct fit_question placement_run_ask_again(const struct dry_run *dry_run,
                                            const struct placed_workload *placed);

/* ---- the victims of a workload whose priority allows preemption ---- */

/* A Preemption: pods that kube-scheduler would evict for one more pod, which fits nowhere on the
 * fork. only: names no pods of other namespaces than this one; NULL: all. */
json_t *eviction_json(struct inventory *inventory, const struct cluster *fork,
                      const struct fit_question *question, const char *only, struct arena *arena);
/* A Preemption for a pod that never preempts. */
json_t *eviction_json_of_never(const struct fit_question *question);
/* Adds `running` to the jobs of an answer that have pods on nodes already: their number, and their
 * GPUs. */
void eviction_add_running(struct inventory *inventory, const json_t *jobs, struct arena *arena);
/* Writes it as text if it helps. */
void eviction_write(const json_t *preemption, struct arena *arena, struct buf *out);

/* ---- names ---- */
/* Names in a workload that nothing in the cluster has, each with the nearest that exists. A name
 * without a near one gives no warning: the verdicts of the nodes say what is missing, and an
 * autoscaler may still bring it. Nothing is said about kinds that were never listed. */

/* Appends warnings to dry_run->name_warnings: labels of nodeSelector and node affinity,
 * resources, models, the namespace, the priority class and the runtime class. The candidates must
 * be judged. */
void names_warn(struct dry_run *dry_run, const struct workload *workload,
                const struct pod_shape *shape, const struct candidates *candidates);
/* The same: the node or the toleration's key that the verdict says is misspelt. */
void names_warn_of_verdict(struct dry_run *dry_run, const struct workload *workload,
                           const struct missing_name *missing);

/* The existing object that was probably meant by the name of a missing one: the kind is
 * MISSING_NAMESPACE, MISSING_PRIORITY_CLASS or MISSING_RUNTIME_CLASS. NULL: none is near. */
const char *names_near_object(const struct dry_run *dry_run, enum missing_kind kind,
                              const char *asked);

/* ---- unit hints ---- */
/* Warnings of a dry run about what one unit of the requested resources is: counts that no label
 * explains, and shares under another name. */

/* Appends warnings to dry_run->name_warnings. candidates: judged. */
void unit_hints_warn(struct dry_run *dry_run, const struct workload *workload,
                     const struct pod_shape *shape, const struct candidates *candidates);

/* ---- ranking ---- */
/* The member explain of a dry run: how the nodes that fit were ranked, and what the placements
 * changed. */

/* Before any placement. */
struct ranking {
    json_t *nodes; /* array; ranking_json() takes it over */
    size_t n_fitting;
    struct fragmentations fragmentations;
};

/* Fragmentations are in the arena. */
struct ranking ranking_of(const struct cluster *fork, const struct fit_question *question,
                          const struct candidates *candidates, struct arena *arena);
/* With the changes by the placements since. The caller owns it. */
json_t *ranking_json(const struct ranking *before, const struct cluster *fork, struct arena *arena);

/* ---- selectors ---- */
/* The CEL selectors of a manifest's claims and classes, judged over the devices of the cluster. */

/* Appends warnings: selectors that do not compile, that err on devices, or that cannot be meant so.
 * Returns the member deviceRequests: of each request, how many devices it matches. */
json_t *selectors_judge(struct dry_run *dry_run, const struct device_request_list *requests);

#endif
