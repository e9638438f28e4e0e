/*
 * placing: places waiting pods on a fork, as kube-scheduler would take them one after another.
 * Private to api.
 *
 * The order: by priority; pods that a drain displaced after those that wait already; by age. Alike
 * pods are placed together.
 */
#ifndef API_WHAT_IF_PLACING_H
#define API_WHAT_IF_PLACING_H

#include "api/pods/pod_copy.h"
#include "api/what_if/changes.h"

/* The end of one pod's search. */
struct placed_pod {
    const struct pod_copy *copy;
    const struct displaced *displaced; /* NULL: it waits already */
    const char *node;                  /* its place; NULL: none */
    const char *reason; /* why it has none; NULL: it has one, or it waited already and fits nowhere
                         */
    bool is_judged;
};

struct placing {
    struct pod_copies copies; /* pod_copy_fini() */
    struct placed_pod *items; /* in the order of the search */
    size_t n, n_placed, n_not_judged;
};

/* Places the pending pods of the copy, and those that were displaced (a table, or NULL), on a new
 * fork of it, which is the caller's. All else is in the arena. */
struct placing placing_of(struct inventory *copy, const struct displaced *displaced,
                          struct arena *arena, struct cluster **ret_fork);

#endif
