/*
 * room: the pods on a node whose end would make room there. Private to api.
 */
#ifndef API_VERDICTS_ROOM_H
#define API_VERDICTS_ROOM_H

#include "decide/fit.h"
#include "inventory/inventory.h"

/* All is in the arena. */
struct room_pods {
    const char *text;         /* "wait for ml/a on n1, which has 3 GPUs"; NULL: none would do */
    const char *const *names; /* NAMESPACE/NAME */
    size_t n;
    const struct need *needs; /* what they use there */
    size_t n_needs;
};

/* Of so many pods, beginning with those that use most of what is lacking. */
#define ROOM_PODS_MAX ((size_t)3)

struct room_question {
    struct inventory *inventory; /* its lock is taken; not held by the caller */
    const struct cluster *fork;
    const struct node *node;
    const char *only; /* a namespace; NULL: pods of all namespaces */
    struct arena *arena;
};

/* The fewest pods whose end gives one more pod the room that it lacks. Pods that a drain leaves
 * (edit_stays()) do not count. */
struct room_pods room_pods_to_end(const struct room_question *question,
                                  const struct fit_question *asked);
/* What would be free on a node like this one without its pods, besides what is. The amounts are
 * resolved against the fork. */
size_t room_of_empty(const struct room_question *question, const struct need **ret_freed);

#endif
