/*
 * placing: places waiting pods on a fork, as kube-scheduler would take them one after another.
 * Private to api.
 *
 * The order: by priority; pods that a drain displaced after those that wait already; by age. Alike
 * pods are placed together. A group (ledger/gangs.h) is placed whole or not at all, when its first
 * pod is.
 */
#ifndef API_WHAT_IF_PLACING_H
#define API_WHAT_IF_PLACING_H

#include "api/pods/pod_copy.h"
#include "api/pods/pod_json.h"
#include "api/verdicts/cause.h"
#include "api/what_if/changes.h"
#include "inventory/claim_lookup.h"
#include "ledger/peer.h"

/* The end of one pod's search. */
struct placed_pod {
    const struct pod_copy *copy;
    const struct displaced *displaced; /* NULL: it waits already */
    const struct waiting_gang *gang;   /* NULL: it is placed by itself */
    const char *node;                  /* its place, which lives as long as the fork; NULL: none */
    const char *reason; /* why it has none; NULL: it has one, or it waited already and fits nowhere
                         */
    enum verdict_cause cause; /* of placing_in_turn(): that of the reason, if it is told */
    const json_t *help;       /* the same: its remedies; NULL: none were searched */
    bool is_judged;
    bool is_tried; /* it is judged, and only a lack of room may keep it from a place */
};

struct placing {
    struct pod_copies copies; /* pod_copy_fini() */
    struct placed_pod *items; /* in the order of the search */
    size_t n, n_placed, n_not_judged;
    json_t *helps; /* of placing_in_turn(), which the caller drops */
};

/* Places the pending pods of the copy, and those that were displaced (a table, or NULL), on a new
 * fork of it, which is the caller's and has at least the wanted peers. All else is in the arena. */
struct placing placing_of(struct inventory *copy, const struct displaced *displaced,
                          enum peers_wanted wanted, struct arena *arena, struct cluster **ret_fork);

struct turns_question {
    struct cluster *fork; /* with the peers of the copies; it changes */
    const struct pod_copies *copies;
    struct claim_lookup *claims;   /* of the copies */
    struct candidates *candidates; /* of the fork; judged again */
    size_t n_verdicts;             /* at most */
    struct pod_remedies *remedies; /* of pods that fit by themselves; NULL: none are searched */
};
/* The same of the pending pods of copies, on a fork that is there. A reason is only told of pods
 * that fit by themselves (pod_copy.alone), as a sentence. Groups are not placed: while they wait
 * they hold nothing. */
struct placing placing_in_turn(const struct turns_question *question, struct arena *arena);

struct more_node_question {
    struct inventory *copy; /* its pods that have a place in `before` must have their nodes */
    const char *node;
    size_t n_first;
};
/* How many of the pods without a place find one on that node, in their order; ret_first gets the
 * UIDs of the first n_first of them, and is otherwise unchanged. Pods with resource claims are not
 * counted. Spends of *n_left verdicts; false: they do not suffice. */
bool placing_count_on(const struct placing *before, const struct more_node_question *question,
                      size_t *n_left, size_t *ret_n, const char **ret_first);

#endif
