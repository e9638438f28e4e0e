/* model_words: GPU models, those asked for and those that are there, for people. Private to api. */
#ifndef API_VERDICTS_MODEL_WORDS_H
#define API_VERDICTS_MODEL_WORDS_H

#include "api/verdicts/candidates.h"

#include <jansson.h>

/* How a GPU is shared, by its model's name: "SHARED", "MIG-1g.5gb"; "" where it is whole. */
const char *model_words_sharing(const struct gpu_model *model, struct arena *arena);
/* {models, excludeModels, minMemoryBytes}, or null where any GPU will do. */
json_t *model_words_json(const struct model_wants *wants, struct arena *arena);
/* The same, read again: "T4 or A100, not K80, at least 16Gi of memory"; "" for null. */
const char *model_words_text(const json_t *wants, struct arena *arena);
/* Where models keep the pod from nodes: "; it asks for T4, the GPUs here are A100-SXM4-80GB, H100";
 * else "". counts: how many nodes have which reason. */
const char *model_words_hint(const size_t counts[N_REASONS], const struct model_wants *wants,
                             const struct candidates *candidates, struct arena *arena);

#endif
