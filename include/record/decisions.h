/*
 * decisions: the last answers to kube-scheduler, for users' queries.
 *
 * A list of fixed size; decisions.lock is held for a few copies. Adding allocates no memory but
 * that of a table of at most as many entries, and no request can make it grow: strings are cut at
 * the length that Kubernetes allows for a name, or at DECISION_ERROR_BYTES. Callers pass the time.
 *
 * Of a pod in a group (spec.schedulingGroup) only the last answer of each verb is kept, with the
 * number of earlier ones: kube-scheduler may ask again for a group a thousand times a second, which
 * must not evict the answers about all other pods.
 */
#ifndef RECORD_DECISIONS_H
#define RECORD_DECISIONS_H

#include "base/arena.h"
#include "types/reason.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A new value needs a row in decisions.c. */
enum decision_verb {
    DECISION_FILTER,
    DECISION_PRIORITIZE,
    DECISION_PREEMPT,
    DECISION_BIND,
    N_DECISION_VERBS
};

#define DECISIONS_KEEP_MAX ((size_t)10000)
#define DECISION_BEST_MAX ((size_t)3)
#define DECISION_ERROR_BYTES 255

/* A scored node. */
struct decision_choice {
    const char *node;
    int score;
    double cost; /* by the placement policy */
};

struct decision {
    uint64_t number; /* 1, 2, ...: assigned when added */
    enum decision_verb verb;
    int64_t at_ms; /* when it was answered, milliseconds since 1970 */
    int64_t took_us;
    /* NULL counts as "". */
    const char *namespace_, *name, *uid;
    const char *group;  /* of the pod; else "" */
    uint64_t n_repeats; /* earlier answers that this one replaced: counted when added */
    const char *node;   /* bind: the target; else "" */
    const char *error;  /* the Error that was answered, or why the pod can run nowhere; else "" */
    uint64_t ledger_version; /* cluster_version() of the ledger it read */
    size_t n_asked;          /* nodes in the request */
    size_t n_handed_on;      /* nodes returned; bind: 1 if bound */
    size_t verdicts[N_REASONS];
    struct decision_choice best[DECISION_BEST_MAX]; /* prioritize: best first */
    size_t n_best;
    const char *claims; /* prioritize: whether its resource claims ranked the nodes, static; NULL:
                           it has none, or kube-scheduler ranks by its soft preferences */
    bool is_observed;  /* mode: observe. n_handed_on is what was answered; the rest is the judgement
                        */
    bool would_differ; /* under mode: enforce the answer would have been another */
};

struct decisions;

/* keep: capacity, at most DECISIONS_KEEP_MAX. NULL for 0; all functions accept NULL as a record
 * that keeps nothing. */
struct decisions *decisions_new(size_t keep);
void decisions_free(struct decisions *decisions);
size_t decisions_keep(const struct decisions *decisions);

/* Copies it in place of the oldest, or of the one that it replaces; ignores its number. From any
 * thread. */
void decisions_add(struct decisions *decisions, const struct decision *decision);

struct decision_query {
    const char *namespace_;  /* NULL: any */
    const char *name;        /* NULL: any */
    const char *node;        /* of the binding, or among the best; NULL: any */
    enum decision_verb verb; /* N_DECISION_VERBS: any */
    bool would_differ;       /* only such; false: any */
    size_t limit;
};
/* Returns the number found, newest first. All in the arena. Decisions overwritten meanwhile may be
 * missing. From any thread. */
size_t decisions_find(struct decisions *decisions, const struct decision_query *query,
                      struct arena *arena, struct decision **ret_found);

/* "filter" */
const char *decision_verb_name(enum decision_verb verb);
/* N_DECISION_VERBS: no such verb. */
enum decision_verb decision_verb_of(const char *name);

#endif
