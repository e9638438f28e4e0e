/*
 * verdict: the result of one question on one node, as text, JSON and table. Private to api.
 */
#ifndef API_VERDICTS_VERDICT_H
#define API_VERDICTS_VERDICT_H

#include "api/verdicts/candidates.h"
#include "base/arena.h"
#include "base/buf.h"

#include <jansson.h>

/* The question, with its context. */
struct pod_query {
    struct fit_question question;
    /* With the tolerations that the admission plugin ExtendedResourceToleration would add; shape
     * NULL: not tried. */
    struct fit_question tolerant;
    struct claim_lookup *claims; /* of question.devices; NULL: there are none */
    struct arena *arena;         /* for texts */
};

/* For pods before admission: also tries its tolerations. */
void verdict_query_admission(struct pod_query *query);
bool verdict_admission_would_help(const struct pod_query *query, const struct node *node);

/* The reason on one node, as text. */
const char *verdict_message(const struct pod_query *query, const struct node *node,
                            enum reason reason);
/* "dedicated=ml:NoSchedule" */
const char *verdict_taint_text(const struct taint *taint, struct arena *arena);
/* Over all GPU resources; at most INT64_MAX. */
int64_t verdict_lacking_gpus(const struct fit_question *question, const struct node *node);
/* The missing amount per resource, in the resource's unit. */
json_t *verdict_lacks(const struct fit_question *question, const struct node *node);
/* A NodeVerdict for each candidate, in the same order. */
json_t *verdict_list(const struct pod_query *query, const struct candidates *candidates);
/* "3 of 15 nodes fit (12 × the node has too few free GPUs now)"; counts: nodes by reason. */
const char *verdict_counts_text(const size_t counts[N_REASONS], size_t n_nodes,
                                struct arena *arena);

/* "2 nvidia.com/gpu, 1500m cpu, 3Gi memory", shortened with the number of the rest. */
const char *verdict_amounts_text(const json_t *amounts, struct arena *arena);
/* Writes the nodes that do not fit, a row for each reason, after an empty line; before them, if
 * wide, those that fit. */
void verdict_write_table(const json_t *nodes, bool wide, struct arena *arena, struct buf *out);

#endif
