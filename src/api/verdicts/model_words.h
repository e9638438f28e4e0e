/* model_words: texts about requested and present GPU models. Private to api. */
#ifndef API_VERDICTS_MODEL_WORDS_H
#define API_VERDICTS_MODEL_WORDS_H

#include "api/verdicts/candidates.h"

#include <jansson.h>

/* The names of the models, an array of strings. */
json_t *model_words_names(const struct gpu_model *models, size_t n, struct arena *arena);
/* {models, excludeModels, minMemoryBytes}; null if any GPU is accepted. */
json_t *model_words_json(const struct model_wants *wants, struct arena *arena);
/* That JSON as text: "T4 or A100, not K80, at least 16Gi of memory"; "" for null. */
const char *model_words_text(const json_t *wants, struct arena *arena);
/* The same with the order of preference: "models T4, then A100, not K80". */
const char *model_words_in_order(const json_t *wants, struct arena *arena);
/* Whether the pod excludes the model. */
bool model_words_exclude(const struct model_wants *wants, const struct gpu_model *model);
/* "; it asks for H10O, the GPUs here are A100-SXM4-80GB, H100; "H10O": no node has it; did you mean
 * H100?" if models keep the pod from nodes, else "". counts: nodes by reason. */
const char *model_words_hint(const size_t counts[N_REASONS], const struct model_wants *wants,
                             const struct candidates *candidates, struct arena *arena);

#endif
