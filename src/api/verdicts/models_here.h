/*
 * models_here: the different GPU models of the nodes, for "did you mean ...?". Private to api.
 */
#ifndef API_VERDICTS_MODELS_HERE_H
#define API_VERDICTS_MODELS_HERE_H

#include "api/text.h"
#include "ledger/model_list.h"

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

#endif
