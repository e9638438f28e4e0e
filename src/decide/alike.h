/*
 * alike: nodes that a question ranks alike but for their names. Private to decide.
 *
 * In a large cluster many nodes are alike, empty ones above all. So what is known of them is
 * cached by the hot part.
 */
#ifndef DECIDE_ALIKE_H
#define DECIDE_ALIKE_H

#include "decide/rank.h"
#include "ledger/node_hot.h"

struct alike {
    struct node_hot hot;             /* gpus NULL: the entry is empty */
    const struct claim_takes *takes; /* NULL: the entry is empty, if it is one of `taken` */
    /* The caller's, NULL or false in a new entry. */
    void *kind;
    bool is_judged;
    enum reason verdict;
};

#define N_ALIKE ((size_t)1 << NODE_HOT_KIND_BITS)
/* Kinds of one hash that do not replace each other. */
#define N_ALIKE_WAYS ((size_t)4)

struct alikes {
    struct alike *entries;         /* by kind of the hot part; NULL: the cost needs more than it */
    const struct resource *wanted; /* the pod's only GPU resource */
    struct alike *taken;           /* by hash of the hot part and the takes; NULL: no claims */
};

struct alikes alikes_begin(const struct score *score, struct arena *arena);
/* The entry for nodes like this one, which may replace another; NULL: the node is not cached. Runs
 * for every node, so it is inline. */
static inline struct alike *alikes_find(const struct alikes *alikes, const struct node *node)
{
    const struct node_hot *hot = node_hot(node);
    if (!alikes->entries || hot->gpus != alikes->wanted || hot->has_soft_taints || hot->has_devices)
        return NULL;
    struct alike *alike = NULL;
    for (size_t way = 0; way < N_ALIKE_WAYS; way++) {
        alike = &alikes->entries[hot->kind ^ way];
        if (!alike->hot.gpus)
            break;
        if (node_hot_is_alike(&alike->hot, hot))
            return alike;
    }
    *alike = (struct alike){.hot = *hot};
    return alike;
}
/* The same for a pod with claims whose takes on that node are known. */
struct alike *alikes_find_taken(const struct alikes *alikes, const struct node *node,
                                const struct claim_takes *takes);

#endif
