/*
 * verdict: what one node says to one question, in words and as JSON. Private to api.
 */
#ifndef API_VERDICT_H
#define API_VERDICT_H

#include "candidates.h"

#include <jansson.h>

/* What is asked of the nodes. */
struct asking {
    struct fit_question question;
    /* With the tolerations that the admission plugin ExtendedResourceToleration would add; its
     * shape is NULL where that is not asked. */
    struct fit_question tolerant;
    struct arena *arena; /* of the words */
};

/* For pods that admission has not seen yet: also asks whether its tolerations would help. */
void asking_with_admission(struct asking *asking);
bool asking_admission_would_help(const struct asking *asking, const struct node *node);

/* The reason on one node, for people. */
const char *verdict_message(const struct asking *asking, const struct node *node,
                            enum reason reason);
/* "dedicated=ml:NoSchedule" */
const char *verdict_taint_text(const struct taint *taint, struct arena *arena);
/* Of all GPU resources together; at most INT64_MAX. */
int64_t verdict_lacking_gpus(const struct fit_question *question, const struct node *node);
/* What the node lacks, resource by resource, in the resources' units. */
json_t *verdict_lacks(const struct fit_question *question, const struct node *node);
/* A NodeVerdict for each candidate, in their order. */
json_t *verdict_list(const struct asking *asking, const struct candidates *candidates);
/* "3 of 15 nodes fit (12 × the node has too few free GPUs now)": counts of each reason. */
const char *verdict_counts_text(const size_t counts[N_REASONS], size_t n_nodes,
                                struct arena *arena);

#endif
