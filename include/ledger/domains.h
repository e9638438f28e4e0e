/*
 * domains: the nodes by the policy's topology.levels: blocks, racks and the like.
 *
 * A domain is a value of a level's label within its domain of the level outside: equal values in
 * two outer domains are two domains. A node without the label is in no domain of that level.
 */
#ifndef LEDGER_DOMAINS_H
#define LEDGER_DOMAINS_H

#include "ledger/cluster.h"

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
