/*
 * topology: sums of the domains of a level (ledger/pod_groups.h), and the choice of domains for a
 * group of equal pods.
 */
#ifndef DECIDE_TOPOLOGY_H
#define DECIDE_TOPOLOGY_H

#include "base/arena.h"
#include "ledger/pod_groups.h"

struct topology_sums {
    size_t n_domains;
    size_t n_whole;       /* with GPUs, which are all free */
    size_t n_nodes;       /* in a domain of the level */
    int64_t free_gpus;    /* of these, unless not ready, cordoned or in quarantine */
    size_t n_repeated;    /* names that are domains within several outer ones */
    const char *repeated; /* one of these; NULL: none */
};

struct topology_sums topology_sums(const struct cluster *cluster, size_t level);

/* Whether the domain has GPUs on ready, uncordoned nodes, and these are all free. */
bool topology_is_whole(const struct node_domain *domain);

/* The same of some of its nodes. */
struct topology_row {
    size_t n_nodes, n_gpu_nodes, n_whole;
    int64_t free_gpus;
};
/* 0: it is not ready, cordoned, or in quarantine. */
int64_t topology_open_gpus(const struct node *node);
/* Counts the node in its domain of each level. rows: cluster_end_of_domains() items, by id. */
void topology_count(struct topology_row *rows, const struct node *node);

/* Room of a domain for a group. */
struct topology_room {
    domain_id id;
    const char *name;  /* decides between equals */
    int64_t n_members; /* that have room at the same time */
    int64_t free_gpus; /* before: the best fit leaves the fewest */
    int64_t n_taken;   /* the choice: members that go there */
};

/* The domain with room for n members that has the fewest GPUs free; NULL: none. */
struct topology_room *topology_best(struct topology_room *rooms, size_t n_rooms, int64_t n);
/* "require": all n > 0 members to the one domain with room for them that has the fewest GPUs free.
 * False: none has room for all, and nothing is taken. */
bool topology_require(struct topology_room *rooms, size_t n_rooms, int64_t n);
/* "prefer": to the fewest domains: those with the most room, and for the rest the domain with room
 * for it that has the fewest GPUs free. Returns their number; 0: all have too little together. */
size_t topology_prefer(struct topology_room *rooms, size_t n_rooms, int64_t n);

/* Pods that found no domain with room for all. */
struct topology_lack {
    const char *level;
    int64_t n;
    int64_t gpus; /* of each; 0: they need none, or different numbers */
    bool is_rest; /* others of them are bound, and fix the domain */
};
/* "no rack has room for 4 pods of 8 GPUs; r2, with 28 free, fits 3". In the arena. */
const char *topology_why_none(const struct topology_room *rooms, size_t n_rooms,
                              const struct topology_lack *lack, struct arena *arena);

#endif
