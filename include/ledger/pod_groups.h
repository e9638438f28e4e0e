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
#include "ledger/cluster.h"
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

/* ---- domains ---- */
/* The nodes by the policy's topology.levels: blocks, racks and the like.  A domain is a value of
 * a level's label within its domain of the level outside: equal values in two outer domains are
 * two domains. A node without the label is in no domain of that level. */

/* No longer value is a domain, as the API server accepts none. */
#define DOMAIN_NAME_MAX 63

/* A domain's number in its ledger, equal in forks; 0: none. Others get it once it has no nodes. */
typedef uint32_t domain_id;

struct node_domain {
    const char *name;     /* the label's value; interned */
    domain_id outer;      /* 0: it is in none */
    uint32_t level;       /* index in policy.topology_levels */
    uint32_t n_nodes;     /* 0: unused */
    uint32_t n_gpu_nodes; /* of these, ready, not cordoned, and with GPUs */
    uint32_t n_whole;     /* of these, with all GPUs free */
};

/* Ids are less. */
domain_id cluster_end_of_domains(const struct cluster *cluster);
/* By id, which must be less than the end and not 0; borrowed until the ledger changes. */
const struct node_domain *cluster_domain(const struct cluster *cluster, domain_id id);
/* The node's domain of the level; 0: none. */
domain_id node_domain(const struct node *node, size_t level);

#endif
