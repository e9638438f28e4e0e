/*
 * topology: sums of the domains of a level (ledger/domains.h), for people.
 */
#ifndef DECIDE_TOPOLOGY_H
#define DECIDE_TOPOLOGY_H

#include "ledger/domains.h"

struct topology_sums {
    size_t n_domains;
    size_t n_whole;       /* with GPUs, which are all free */
    size_t n_nodes;       /* in a domain of the level */
    size_t n_repeated;    /* names that are domains within several outer ones */
    const char *repeated; /* one of these; NULL: none */
};

struct topology_sums topology_sums(const struct cluster *cluster, size_t level);

/* Whether the domain has GPUs on ready, uncordoned nodes, and these are all free. */
bool topology_is_whole(const struct node_domain *domain);

#endif
