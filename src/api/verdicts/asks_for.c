/* asks_for: see asks_for.h. */
#include "api/verdicts/asks_for.h"
#include "api/verdicts/model_words.h"
#include "api/verdicts/verdict.h"
#include "types/accelerator.h"

#include <string.h>

static void set(json_t *object, const char *key, json_t *value)
{
    (void)json_object_set_new(object, key, value);
}

json_t *asks_for_amounts(const struct policy *policy, const struct shape_facts *facts)
{
    json_t *amounts = json_object();
    json_t *others = json_object();
    for (size_t i = 0; i < facts->n_demand; i++) {
        const struct amount *amount = &facts->demand[i];
        const bool is_gpu = policy_is_gpu_resource(policy, amount->resource);
        if (is_gpu || strcmp(amount->resource, "pods") != 0)
            set(is_gpu ? amounts : others, amount->resource, json_integer(amount->amount));
    }
    (void)json_object_update_new(amounts, others);
    return amounts;
}

json_t *asks_for_models(const struct model_wants *wants, struct arena *arena)
{
    json_t *models = json_object();
    if (wants->n_accept > 0)
        set(models, "accept", model_words_names(wants->accept, wants->n_accept, arena));
    if (wants->n_exclude > 0)
        set(models, "exclude", model_words_names(wants->exclude, wants->n_exclude, arena));
    if (wants->min_memory_bytes > 0)
        set(models, "minMemory", json_integer(wants->min_memory_bytes));
    return models;
}

static bool asks_for_gpus(const struct policy *policy, const struct shape_facts *facts)
{
    for (size_t i = 0; i < facts->n_demand; i++) {
        if (policy_is_gpu_resource(policy, facts->demand[i].resource))
            return true;
    }
    return false;
}

static bool asks_for_accelerators(const struct policy *policy, const struct shape_facts *facts)
{
    for (size_t i = 0; i < facts->n_demand; i++) {
        if (accelerator_is_unlisted(policy, facts->demand[i].resource))
            return true;
    }
    return false;
}

static const char *instead_of_gpus(const char *claims)
{
    return claims && claims[0] ? "the devices of its resource claims" : "no GPU";
}

const char *asks_for_text(const struct policy *policy, const struct shape_facts *facts,
                          const char *claims, struct arena *arena)
{
    json_auto_t *amounts = asks_for_amounts(policy, facts);
    json_auto_t *wants = model_words_json(&facts->wants, arena);
    const char *amounts_text = verdict_amounts_text(amounts, arena);
    const char *models = model_words_in_order(wants, arena);
    if (!asks_for_gpus(policy, facts) && !asks_for_accelerators(policy, facts))
        amounts_text = arena_printf(arena, "%s%s%s", instead_of_gpus(claims),
                                    amounts_text[0] ? ", " : "", amounts_text);
    return arena_printf(arena, "asks for %s%s%s", amounts_text, models[0] ? "; " : "", models);
}
