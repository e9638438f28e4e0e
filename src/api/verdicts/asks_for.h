/* asks_for: what one pod asks for, as JSON and as a sentence. Private to api. */
#ifndef API_VERDICTS_ASKS_FOR_H
#define API_VERDICTS_ASKS_FOR_H

#include "base/arena.h"
#include "types/policy.h"

#include <jansson.h>

/* Amounts by resource, in the resource's unit (struct amount): first the GPUs. Omits "pods",
 * because every pod needs one. */
json_t *asks_for_amounts(const struct policy *policy, const struct shape_facts *facts);
/* {accept, exclude, minMemory}, each only if the pod says so. */
json_t *asks_for_models(const struct model_wants *wants, struct arena *arena);
/* "8 V100, 32 CPU, 128Gi": the amounts, with the names of the models. */
const char *asks_for_each(const json_t *requests, const json_t *models, struct arena *arena);
/* "asks for 4 nvidia.com/gpu, 8 cpu, 64Gi memory; models H100-80GB, then A100". Long lists are
 * shortened. claims: as in pod_facts. */
const char *asks_for_text(const struct policy *policy, const struct shape_facts *facts,
                          const char *claims, struct arena *arena);

#endif
