/*
 * model_list: the different GPU models of nodes, for "did you mean ...?".
 *
 * Two nodes of a model may differ in memory, so a list may have a model twice: one without a memory
 * label hides no other.
 */
#ifndef LEDGER_MODEL_LIST_H
#define LEDGER_MODEL_LIST_H

#include "ledger/cluster.h"

/* Start with {.n_left = N}. The items are in the arena. */
struct model_list {
    struct gpu_model_there *items;
    size_t n;
    size_t n_left; /* comparisons of a name with a model; of two hostile names one takes 10 us */
    struct seen_model *seen;
};

/* Appends the node's known models, unless a node with the same is in the list. Borrows the node's
 * strings until model_list_seal(). */
void model_list_add(struct model_list *list, const struct node_traits *traits, struct arena *arena);
/* After the last node: frees what found the models again. */
void model_list_seal(struct model_list *list);
bool model_list_has(const struct model_list *list, const struct gpu_model *want);
/* gpu_model_nearest() over the first MODEL_LIST_COMPARED; also false if the comparisons are used
 * up. */
#define MODEL_LIST_COMPARED ((size_t)100)
bool model_list_nearest(struct model_list *list, const struct gpu_model *want,
                        struct gpu_model *ret_model);

#endif
