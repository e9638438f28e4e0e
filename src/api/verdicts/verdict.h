/*
 * verdict: the result of one question on one node, as text, JSON and table. Private to api.
 */
#ifndef API_VERDICTS_VERDICT_H
#define API_VERDICTS_VERDICT_H

#include "api/verdicts/candidates.h"
#include "base/arena.h"
#include "base/buf.h"
#include "inventory/claim_lookup.h"
#include "types/policy.h"

#include <jansson.h>
#include <stdbool.h>

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

/* "2 GPUs, 1.5 CPU, 3Gi of memory", shortened with the number of the rest. */
const char *verdict_amounts_text(const json_t *amounts, struct arena *arena);
/* Of pods of a workload of which some have been placed since the nodes were judged. */
struct why_not {
    const char *role;     /* of the pods that do not fit; "": all are of one */
    const json_t *placed; /* by node, the first of the workload's pods there: "Master 0" */
    bool takes_no_more;   /* what fitted before is full now, or ruled out by these pods */
};
/* Writes the nodes that do not fit, a row for each reason, after an empty line; before them, if
 * wide, those that fit. of NULL: none of its pods has been placed. */
void verdict_write_table(const json_t *nodes, const struct why_not *of, bool wide,
                         struct arena *arena, struct buf *out);

/* ---- claim answers ---- */
/* What each request of a pod's resource claims may get in the cluster, which terms of selectors
 * rule out devices, and which of its alternatives kube-scheduler would take. */

/* A ClaimAnswer (docs/openapi.yaml) for each claim of the pod, as the candidates are judged now. */
json_t *claim_answers_json(struct claim_lookup *lookup, struct claim_rules *rules,
                           const struct candidates *candidates, struct arena *arena);
/* A line for each claim and request, indented by so many spaces. */
void claim_answers_write(const json_t *answers, size_t indent, struct arena *arena,
                         struct buf *out);

/* "its claim two-h100 finds too few gpu.nvidia.com devices": in a few words, of the reason. */
const char *claim_answers_refusal(const struct claim_rules *rules, enum reason reason,
                                  struct arena *arena);
/* Of the claim whose fault is told; REASON_FITS: none has one. */
enum reason claim_answers_fault_reason(const struct claim_rules *rules);
/* What keeps them off all nodes, as a sentence: "The saved cluster has no DeviceClasses; two-h100
 * names gpu.nvidia.com." */
const char *claim_answers_fault(const struct claim_rules *rules, bool is_missing,
                                struct arena *arena);

/* ---- what one pod asks for, as JSON and as a sentence ---- */

/* Amounts by resource, in the resource's unit (struct amount): first the GPUs. Omits "pods",
 * because every pod needs one. */
json_t *asks_for_amounts(const struct policy *policy, const struct shape_facts *facts);
/* {accept, exclude, minMemory}, each only if the pod says so. */
json_t *asks_for_models(const struct model_wants *wants, struct arena *arena);
/* "8 V100 or another, 32 CPU, 128Gi": for a cell. models: their names. Long lists are shortened. */
const char *asks_for_each(const json_t *requests, const json_t *models, struct arena *arena);
/* "4 H100-80GB or else A100, 8 CPU, 64Gi; not K80": all that is asked. wants: model_words_json() */
const char *asks_for_all(const json_t *requests, const json_t *wants, struct arena *arena);
/* "asks for 8 V100, 32 CPU, 128Gi", "asks for no GPU, 1 CPU". claims: as in pod_facts. */
const char *asks_for_text(const struct policy *policy, const struct shape_facts *facts,
                          const char *claims, struct arena *arena);
/* "2 GPUs, 8 CPU and 20Gi of memory", or "2 GPUs, +2": what the node lacks for one more pod, in so
 * many words, but at least the first; sets how many they are. NULL: nothing. */
const char *asks_for_lacks(const struct fit_question *question, const struct node *node,
                           size_t *words, struct arena *arena);
/* "Quota a leaves 4 H100 and 7 GPUs in all", "Quota a leaves 4 H100, b 7 GPUs, +2": what is left of
 * as many limits as so many words have room for, at least of the first. Sets how many they take,
 * names apart, and the most that a limit is asked for. NULL: no quota lacks anything. */
const char *asks_for_quotas(const struct fit_question *question, const struct node *node,
                            size_t *words, int64_t *ret_most, struct arena *arena);
/* All of them, as Verdict.quotas; NULL: none. */
json_t *asks_for_quotas_json(const struct fit_question *question, const struct node *node);
/* "a lacks 180m CPU.", "a and 2 more: the node is cordoned.": why the node rejects the pod. */
const char *asks_for_refusal(const struct pod_query *query, const struct node *node,
                             enum reason reason, size_t n_more);

/* ---- what verdicts leave out of affinity between pods and topology spread ---- */

struct cluster;
struct peer_rules;

/* Adds to the lines under notEvaluated. rules NULL: none. lacks_own: as lacks_peers of the asking
 * pod. */
void peer_notes_add(const struct cluster *fork, const struct peer_rules *rules, bool lacks_own,
                    struct arena *arena, json_t *notes);

#endif
