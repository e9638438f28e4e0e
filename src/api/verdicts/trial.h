/*
 * trial: would a whole workload fit if it asked for something else, or if the cluster were
 * different? Places all of its pods on the fork, and takes them back. Private to api.
 */
#ifndef API_VERDICTS_TRIAL_H
#define API_VERDICTS_TRIAL_H

#include "api/verdicts/verdict.h"
#include "decide/fit.h"
#include "ledger/cluster.h"

/* Bounds the trials of one workload, and of one answer, in verdicts on a node: about 50 ms and 1 s.
 * A count, and no clock, so that an answer does not depend on the machine. */
#define TRIALS_MAX ((size_t)24)
#define TRIAL_VERDICTS_MAX ((size_t)100000)
#define TRIAL_VERDICTS_OF_ANSWER ((size_t)2000000)

/* The alike pods of a workload. */
struct trial_role {
    const char *namespace_;
    const struct fit_question *question; /* of the fork; `peer` is set if it has peers */
    int64_t n;
    int64_t n_placed;                 /* that fit as they are */
    bool is_new;                      /* they do not wait yet */
    const struct shape_facts *chosen; /* by what nothing reads while they ask for no GPU; NULL */
    bool per_node; /* of a DaemonSet: one on each node that admits it, whatever n is */
};

struct trials {
    struct cluster *fork; /* marked, as it is before the workload */
    const struct trial_role *roles;
    size_t n_roles;
    /* Pods that kube-scheduler takes first; they need not fit. */
    const struct trial_role *before;
    size_t n_before;
    struct domain_wish wish; /* of all roles together, which have no claims then */
    size_t n_listed;         /* pods of a role that a dry run places one by one */
    size_t *answer_left;     /* of TRIAL_VERDICTS_OF_ANSWER; lowered */
    size_t left;             /* of TRIAL_VERDICTS_MAX, to begin with */
    size_t n_run;            /* at most TRIALS_MAX */
    bool is_cut;             /* a limit prevented a trial */
};

struct trial {
    /* What the pods ask for instead, one for each role; NULL: as they do. */
    const struct shape_facts *facts;
    const char *namespace_;     /* the same; NULL: theirs */
    const char *priority_class; /* the same */
    enum reason lifted_rule;    /* REASON_TOPOLOGY_SPREAD, REASON_POD_AFFINITY or
                                   REASON_POD_ANTI_AFFINITY: they have no such rule; 0: they have */
    bool lifts_quota;
    const char *node_name; /* instead of a node that there is not; "": any node; NULL: theirs */
    bool lifts_domain;     /* and to any domain */
    int64_t most_devices;  /* of a request of their claims; 0: as they ask */
    int64_t n_pods;        /* so many pods, the first; 0: all */
    /* Pods that have left a node. NULL: none have. */
    const struct node *vacated;
    const struct need *needs;
    size_t n_needs;
};

#define TRIAL_NODES ((size_t)3)
#define TRIAL_LIMITS ((size_t)16)

/* Where the pods went. */
struct trial_end {
    const struct node *nodes[TRIAL_NODES]; /* the first different ones */
    size_t n_nodes;                        /* all different ones of the first pods */
    int64_t n_pods;
    size_t n_choices; /* nodes on which a single pod would fit; 0: there are several pods */
    /* If quotas were lifted: the limits that are exceeded, and what they must be. */
    struct raised_limit {
        const struct quota *quota;
        const struct quota_limit *limit;
        bool borrows; /* its `borrow` */
        int64_t gpus;
    } raised[TRIAL_LIMITS];
    size_t n_raised;
    bool raises_more; /* than fit here */
};

/* Whether every pod finds a place. False if a limit prevents the trial, too. */
bool trial_run(struct trials *trials, const struct trial *trial, struct trial_end *ret_end);
/* All pods of the roles. */
int64_t trials_n_pods(const struct trials *trials);

/* ---- single changes that would let nodes fit ---- */

/* A NearMiss for each such change, smallest first, up to a limit. Judges the nodes again, whatever
 * verdicts the candidates hold. */
json_t *near_misses_json(const struct pod_query *query, const struct candidates *candidates);

#endif
