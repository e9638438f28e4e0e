/*
 * candidates: all nodes of a ledger, and their verdicts on one question at a time. Private to api.
 */
#ifndef API_VERDICTS_CANDIDATES_H
#define API_VERDICTS_CANDIDATES_H

#include "api/text.h"
#include "base/table.h"
#include "decide/fit.h"
#include "decide/rank.h"
#include "ledger/model_list.h"

#include <jansson.h>

/* ---- the different GPU models of the nodes, for "did you mean ...?" ---- */

struct candidates;

/* Model names that one answer compares. */
#define MODELS_HERE_COMPARISONS ((size_t)20000)

/* Visits to nodes and their labels, and comparisons, that one answer spends on names that no node
 * has (node_names.h). */
#define MODELS_HERE_NAMES ((size_t)200000)

/* Of one answer. */
#define MODELS_HERE_START                                                                          \
    {                                                                                              \
        .list = {.n_left = MODELS_HERE_COMPARISONS}, .names_left = MODELS_HERE_NAMES               \
    }
struct models_here {
    struct model_list list; /* after the first question */
    bool is_known;
    size_t names_left;      /* of MODELS_HERE_NAMES */
    struct name_list shown; /* their names, in the order of the nodes' names */
};

/* Reads the nodes at the first call; in the arena. */
void models_here_find(struct models_here *here, const struct candidates *candidates,
                      struct arena *arena);

/* A set of names, which it borrows: NULL to begin with, and HASH_CLEAR() at the end. */
struct seen_name {
    const char *name;
    UT_hash_handle hh;
};
/* Whether the name is new in the set. */
bool models_here_see(struct seen_name **seen, const char *name, struct arena *arena);

/* ---- candidates ---- */

struct node_verdict {
    const struct node *node;
    enum reason verdict;
    int score; /* if it fits */
};

struct candidates {
    const struct cluster *cluster;
    struct node_verdict *items; /* sorted by name */
    size_t n;
    struct ranked_node *fitting; /* best first */
    size_t n_fitting;
    struct models_here *models; /* borrowed: of the answer */
};

/* All in the arena; borrows the cluster and the models. Judges nothing yet. */
struct candidates candidates_of(const struct cluster *cluster, struct models_here *models,
                                struct arena *arena);
/* Replaces the results of the previous question. */
void candidates_judge(struct candidates *candidates, const struct fit_question *question);
/* The same. If kube-scheduler gives up the pod for an error with its claims on one node, no node
 * fits. */
void candidates_judge_claims(struct candidates *candidates, const struct fit_question *question);
/* NULL: no such node. */
const struct node_verdict *candidates_find(const struct candidates *candidates, const char *name);

/* ---- texts about requested and present GPU models ---- */

/* The names of the models, an array of strings. */
json_t *model_words_names(const struct gpu_model *models, size_t n, struct arena *arena);
/* {models, excludeModels, minMemoryBytes}; null if any GPU is accepted. */
json_t *model_words_json(const struct model_wants *wants, struct arena *arena);
/* That JSON as text: "T4 or A100, not K80, at least 16Gi of GPU memory"; "" for null. */
const char *model_words_text(const json_t *wants, struct arena *arena);
/* Of the same the models, in the order of preference: "T4 or else A100". */
const char *model_words_in_order(const json_t *wants, struct arena *arena);
/* And the rest: "not K80, at least 16Gi of GPU memory". */
const char *model_words_limits(const json_t *wants, struct arena *arena);
/* Whether the pod excludes the model. */
bool model_words_exclude(const struct model_wants *wants, const struct gpu_model *model);
/* "; it asks for H10O, the GPUs here are A100-SXM4-80GB, H100; "H10O": no node has it; did you mean
 * H100?" if models keep the pod from nodes, else "". counts: nodes by reason. */
const char *model_words_hint(const size_t counts[N_REASONS], const struct model_wants *wants,
                             const struct candidates *candidates, struct arena *arena);

#endif
