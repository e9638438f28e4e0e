/*
 * domain_run: the domains of a workload that asks for some (annotation gpu-extender.io/domain), and
 * the groups of pods (gpu-extender.io/gang) that a manifest makes.
 * Private to api.
 */
#ifndef API_DRY_RUN_DOMAIN_RUN_H
#define API_DRY_RUN_DOMAIN_RUN_H

#include "base/arena.h"
#include "decide/topology.h"
#include "decide/what_if.h"
#include "objects/workload.h"

#include <jansson.h>

struct domain_run {
    const bool *chosen; /* by id: the pods go to these; NULL: anywhere */
    size_t n_chosen;
    const char *where;   /* "rack r3", "2 racks"; "" without a choice */
    const char *why_not; /* "no rack has room for 9 pods of 8 GPUs; ..."; NULL: there is one */
};

/* Chooses for n pods of the question; quotas do not count. In the arena. */
struct domain_run domain_run_choose(const struct cluster *fork, const struct fit_question *question,
                                    const struct domain_wish *wish, int64_t n, struct arena *arena);
/* The GPUs of a pod. */
int64_t domain_run_gpus(const struct pod_shape *shape);

/* The pods of a manifest that are bound together. */
struct manifest_gang {
    const struct workload *first, *largest; /* by their GPUs */
    int64_t n_pods;
    size_t n_templates;     /* in the manifest */
    int64_t n_like_largest; /* so many of the largest need as many GPUs as all */
    bool differs;           /* not all need the same GPUs */
    bool is_chosen;
    struct domain_run domains; /* if is_chosen */
    const json_t *remedies;    /* the first of its objects in DryRunResult.jobs that has some */
    struct manifest_gang *next;
};
/* Finds the group in the list, or adds it with the pods of the manifest. In the arena. */
struct manifest_gang *manifest_gang_of(struct manifest_gang **gangs,
                                       const struct workload_list *list,
                                       const struct policy *policy, const struct workload *workload,
                                       struct arena *arena);
/* "Group ring goes to rack b. "; "": neither a group, NULL, nor a domain. In the arena. */
const char *domain_run_text(const struct domain_run *run, const struct manifest_gang *gang,
                            struct arena *arena);
/* Whether the pods of the workload are in the group. */
bool domain_run_is_of(const struct manifest_gang *gang, const struct workload *workload);
/* How many of the listed pods are in which domain, as an array. */
json_t *domain_run_json(const struct cluster *fork, const struct domain_wish *wish,
                        const struct node *const *nodes, size_t n_nodes, struct arena *arena);

struct dry_run;
/* Pods that fit, of a group that is not complete or does not fit whole, wait for the others:
 * changes the verdicts of the jobs and of their workloads (DryRunResult). */
void domain_run_judge_groups(const struct dry_run *dry_run, const json_t *jobs,
                             const json_t *workloads);

#endif
