/*
 * models_here: the different GPU models of the nodes, for "did you mean ...?". Private to api.
 */
#ifndef API_VERDICTS_MODELS_HERE_H
#define API_VERDICTS_MODELS_HERE_H

#include "api/text.h"
#include "types/gpu_model.h"

struct candidates;

/* Model names that one answer compares. A comparison of two hostile names takes up to 10 us. */
#define MODELS_HERE_COMPARISONS ((size_t)20000)

/* Of one answer. Start with {.n_left = MODELS_HERE_COMPARISONS}. */
struct models_here {
    size_t n_left; /* comparisons */
    bool is_known; /* the rest is found at the first question */
    struct gpu_model_there *items;
    size_t n;
    struct name_list shown; /* their names, in the order of the nodes' names */
};

/* Reads the nodes at the first call; in the arena. */
void models_here_find(struct models_here *here, const struct candidates *candidates,
                      struct arena *arena);
/* Whether a node has the model. The models must have been found; so for the next function. */
bool models_here_have(const struct models_here *here, const struct gpu_model *want);
/* gpu_model_nearest(); also false if the comparisons of the answer are used up. */
bool models_here_nearest(struct models_here *here, const struct gpu_model *want,
                         struct gpu_model *ret_model);
/* "A100-SXM4-80GB", "T4-SHARED" */
const char *models_here_name(const struct gpu_model *model, struct arena *arena);

#endif
