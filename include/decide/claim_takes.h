/*
 * claim_takes: what the claims of a pod take on a node, for ranking: the alternatives of
 * firstAvailable, and the GPUs that the allocator would give them there.
 */
#ifndef DECIDE_CLAIM_TAKES_H
#define DECIDE_CLAIM_TAKES_H

#include "dra/device_copy.h"

/* GPUs of which no part was in use before: parts of a GPU that is broken up count as all of it. */
struct claim_take {
    const char *resource; /* that stands for them by the policy */
    int64_t gpus;         /* > 0 */
};
#define CLAIM_TAKES_MAX 4

struct claim_takes {
    /* The indices of the alternatives, summed: kube-scheduler prefers less. Source: computeScore()
     * in framework/plugins/dynamicresources/dynamicresources.go, 1.36. */
    size_t order;
    int64_t memory_bytes; /* of all devices, as far as known */
    struct claim_take items[CLAIM_TAKES_MAX];
    size_t n;
};

/* answer fits, and is about these claims. In the arena. */
const struct claim_takes *claim_takes_of(const struct device_copy *copy,
                                         const struct allocate_question *asked,
                                         const struct allocate_answer *answer, struct arena *arena);
/* Whether they take the same GPUs. */
bool claim_takes_are_alike(const struct claim_takes *a, const struct claim_takes *b);

#endif
