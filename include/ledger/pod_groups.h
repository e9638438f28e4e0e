/*
 * pod_groups: groups of pods that kube-scheduler places together (spec.schedulingGroup, KEP-4671).
 *
 * A member is a pod that names the group and has neither ended nor is being deleted. It is bound
 * once it is on a node or has a reservation. Members of a group whose PodGroup is not known are
 * counted, too: it may come later than they.
 */
#ifndef LEDGER_POD_GROUPS_H
#define LEDGER_POD_GROUPS_H

#include "base/arena.h"
#include "ledger/claims.h"
#include "ledger/nominate.h"

struct pod_group {
    bool is_known;     /* its PodGroup exists */
    int64_t min_count; /* as in pod_group_facts */
    size_t n_members, n_bound;
};

/* name NULL: no group. In a fork no group is known. */
struct pod_group pod_groups_find(const struct cluster *cluster, const char *namespace_,
                                 const char *name);
/* Iterates over the groups that have members, by their keys, "namespace/name": NULL to NULL. */
const char *pod_groups_next(const struct cluster *cluster, const char *key,
                            struct pod_group *ret_group);
size_t pod_groups_count(const struct cluster *cluster);
/* Pods whose group has no PodGroup here. */
size_t pod_groups_n_unknown(const struct cluster *cluster);

/* A member that must be bound with the one that asks, or its group stays below its minimum. */
struct group_other {
    const struct pod *pod;
    const struct claim *claim;           /* NULL: none that still counts */
    const struct nomination *nomination; /* NULL: none */
    bool is_alike;                       /* it has the shape of the one that asks */
};
struct group_others {
    struct group_other *items;
    size_t n;
};
struct group_question {
    const char *namespace_;
    const char *group; /* NULL: none */
    const char *uid;   /* of the member that asks */
    int64_t now_ms;    /* as in struct claim_question */
};
/* Of the members that can be scheduled now, as many as the minimum lacks beside the bound ones and
 * the one that asks: those that hold a claim first, then the cheapest. At most GROUP_OTHERS_MAX are
 * looked at, those that could be scheduled first. None without a PodGroup, and of policy basic. */
struct group_others pod_groups_others(const struct cluster *cluster,
                                      const struct group_question *question, struct arena *arena);
#define GROUP_OTHERS_MAX ((size_t)1024)

/* So long, and not longer, members of a group that are not bound may claim a quota; then for as
 * long they may not, so that other pods get their turn. */
#define GROUP_CLAIMS_MS INT64_C(30000)

#endif
