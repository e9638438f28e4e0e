/*
 * headline: the verdict on one workload, the decisive cause and the amount first. Private to api.
 */
#ifndef API_VERDICTS_HEADLINE_H
#define API_VERDICTS_HEADLINE_H

#include "api/verdicts/cause.h"
#include "api/verdicts/node_names.h"
#include "api/verdicts/verdict.h"

#include <jansson.h>

enum result {
    RESULT_FITS,
    RESULT_PARTLY_FITS,
    RESULT_DOES_NOT_FIT,
    RESULT_NOT_JUDGED,
    RESULT_MISTAKE,
    RESULT_WAITS, /* it fits, but for what is not judged, its gates, its group or pods before it */
    RESULT_RUNNING
};

struct headline {
    enum result result;
    enum verdict_cause cause;
    const char *text;        /* one sentence, or a short second one; at most 14 words but names */
    const struct node *node; /* the nearest; NULL: none is */
    bool lacks_amounts;      /* the node lacks resources */
    struct missing_name missing;
};

/* What is judged: one more pod of a kind. */
struct headline_question {
    const struct pod_query *query;
    struct candidates *candidates;
    bool is_next; /* others of the workload have found a place */
};

/* Why one more pod fits nowhere, or RESULT_FITS. The texts are in the query's arena. */
struct headline headline_of(const struct headline_question *question);
/* The same without judging the candidates again. */
struct headline headline_of_judged(const struct headline_question *question);
/* In at most nine words what rejects the pod on a node, or on several. */
const char *headline_reason(const struct fit_question *question, enum reason reason,
                            struct arena *arena);
/* Of a workload without pods, of which one would not fit: a name that is misspelt is a mistake, and
 * all else fits. */
struct headline headline_of_none(const struct headline_question *question);
/* A fixed one, as for a pod that runs already. */
struct headline headline_new(enum result result, enum verdict_cause cause, const char *text);
/* For the workload of several pods, of which some may fit. */
void headline_count(struct headline *headline, int64_t n_placed, int64_t n_pods);

/* The member `verdict`. n_missing: pods without a place. */
json_t *headline_json(const struct headline *headline, const struct fit_question *question,
                      int64_t n_missing);
/* "doesNotFit" */
const char *headline_result(enum result result);
/* "DOES NOT FIT", of the member; "" for an unknown one. */
const char *headline_words(const json_t *verdict);

/* "8 H100", "1 GPU", "2 nvidia.com/mig-1g.5gb": the need of GPUs, in the words of the pod. */
const char *headline_gpus(const struct shape_facts *facts, const char *resource, int64_t n,
                          struct arena *arena);
/* Whether it goes only to nodes with certain labels. */
bool headline_chooses_labels(const struct shape_facts *facts);
/* GPUs of the first resource that the pod asks for on nodes that allow it, in use or not; and the
 * most of them on one node. */
int64_t headline_gpus_there(const struct candidates *candidates,
                            const struct fit_question *question, int64_t *ret_most);
/* "4 H100", "7 GPUs in all", "4 H100 to borrow": so many under the limit; brief: without "in all".
 */
const char *headline_limit(const struct quota_limit *limit, bool borrows, bool is_brief, int64_t n,
                           struct arena *arena);
/* Whether its units are GPUs, and not slices or shares. */
bool headline_is_whole_gpu(const char *resource);
/* In the unit in which people read such an amount: whole CPUs above 10, whole Gi above 10Gi. */
int64_t headline_round_down(const char *resource, int64_t n);
int64_t headline_round_up(const char *resource, int64_t n);
/* "64Gi", "62.5Gi" */
const char *headline_bytes(int64_t n, struct arena *arena);
size_t headline_count_words(const char *text);
/* "8 CPU", "8.5 CPU", "500m CPU", "64Gi of memory" */
const char *headline_amount(const char *resource, int64_t n, struct arena *arena);

#endif
