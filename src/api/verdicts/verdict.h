/*
 * verdict: what one node says to one question, in words, as JSON and as a table. Private to api.
 */
#ifndef API_VERDICTS_VERDICT_H
#define API_VERDICTS_VERDICT_H

#include "api/verdicts/candidates.h"
#include "base/arena.h"
#include "base/buf.h"

#include <jansson.h>

/* What is asked of the nodes. */
struct pod_query {
    struct fit_question question;
    /* With the tolerations that the admission plugin ExtendedResourceToleration would add; its
     * shape is NULL where that is not asked. */
    struct fit_question tolerant;
    struct arena *arena; /* of the words */
};

/* For pods that admission has not seen yet: also asks whether its tolerations would help. */
void verdict_query_admission(struct pod_query *query);
bool verdict_admission_would_help(const struct pod_query *query, const struct node *node);

/* The reason on one node, for people. */
const char *verdict_message(const struct pod_query *query, const struct node *node,
                            enum reason reason);
/* "dedicated=ml:NoSchedule" */
const char *verdict_taint_text(const struct taint *taint, struct arena *arena);
/* Of all GPU resources together; at most INT64_MAX. */
int64_t verdict_lacking_gpus(const struct fit_question *question, const struct node *node);
/* What the node lacks, resource by resource, in the resources' units. */
json_t *verdict_lacks(const struct fit_question *question, const struct node *node);
/* A NodeVerdict for each candidate, in their order. */
json_t *verdict_list(const struct pod_query *query, const struct candidates *candidates);
/* "3 of 15 nodes fit (12 × the node has too few free GPUs now)": counts of each reason. */
const char *verdict_counts_text(const size_t counts[N_REASONS], size_t n_nodes,
                                struct arena *arena);

/* "2 nvidia.com/gpu, 1500m cpu, 3Gi memory": the first of them, and how many more. */
const char *verdict_amounts_text(const json_t *amounts, struct arena *arena);
/* Where it fits, and of all others which reason keeps them; an empty line before each part. */
void verdict_write_table(const json_t *nodes, struct arena *arena, struct buf *out);

#endif
