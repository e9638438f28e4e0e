/*
 * decisions: the last answers to kube-scheduler, kept so that people can ask for them.
 *
 * A ring of fixed size behind a mutex that is held for a few copies. Adding allocates nothing, and
 * nothing that a request holds can make it grow: texts are cut at the length that Kubernetes allows
 * a name, or at DECISION_ERROR_BYTES. It has no clock: who answers says when that was.
 */
#ifndef RECORD_DECISIONS_H
#define RECORD_DECISIONS_H

#include "base/arena.h"
#include "types/reason.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A new one is its row in decisions.c, too. */
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

/* A node that was scored. */
struct decision_choice {
    const char *node;
    int score;
    double cost; /* by the placement policy */
};

struct decision {
    uint64_t number; /* 1, 2, ...: given when it is added */
    enum decision_verb verb;
    int64_t at_ms; /* when it was answered, since 1970 */
    int64_t took_us;
    /* Texts: NULL is taken for "". */
    const char *namespace_, *name, *uid;
    const char *node;  /* bind: where to; else "" */
    const char *error; /* what was answered in its place, or why the pod can run nowhere; else "" */
    uint64_t ledger_version; /* cluster_version() of what was read */
    size_t n_asked;          /* nodes */
    size_t n_handed_on;      /* of them; bind: whether it is bound */
    size_t verdicts[N_REASONS];
    struct decision_choice best[DECISION_BEST_MAX]; /* prioritize: best first */
    size_t n_best;
};

struct decisions;

/* keep: how many, DECISIONS_KEEP_MAX at the most. NULL for 0, which every function here takes for
 * a record that keeps nothing. */
struct decisions *decisions_new(size_t keep);
void decisions_free(struct decisions *decisions);
size_t decisions_keep(const struct decisions *decisions);

/* Copies it, in place of the oldest. Its number is not looked at. */
void decisions_add(struct decisions *decisions, const struct decision *decision);

struct decision_query {
    const char *namespace_;  /* NULL: any */
    const char *name;        /* NULL: any */
    enum decision_verb verb; /* N_DECISION_VERBS: any */
    size_t limit;
};
/* Newest first; how many. All in the arena. What is overwritten meanwhile may be missing. */
size_t decisions_find(struct decisions *decisions, const struct decision_query *query,
                      struct arena *arena, struct decision **ret_found);

/* "filter" */
const char *decision_verb_name(enum decision_verb verb);
/* N_DECISION_VERBS: there is none of that name. */
enum decision_verb decision_verb_of(const char *name);

#endif
