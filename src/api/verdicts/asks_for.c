/* asks_for: see verdict.h. */
#include "api/text.h"
#include "api/verdicts/candidates.h"
#include "api/verdicts/headline.h"
#include "api/verdicts/verdict.h"
#include "types/policy.h"

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

/* The only resource of whole GPUs, for which the models stand; NULL: none is. */
static const char *whole_gpus(const json_t *requests)
{
    const char *found = NULL;
    const char *resource = NULL;
    json_t *amount = NULL;
    json_object_foreach ((json_t *)(uintptr_t)requests, resource, amount) {
        if (found && headline_is_whole_gpu(resource))
            return NULL;
        if (headline_is_whole_gpu(resource))
            found = resource;
    }
    return found;
}

/* "8 V100", "16 nvidia.com/gpu", "32 CPU", "128Gi". models "": it is not of the models. */
static const char *asked_text(const char *resource, json_int_t n, const char *models,
                              struct arena *arena)
{
    if (models[0])
        return arena_printf(arena, "%lld %s", (long long)n, models);
    if (strcmp(resource, "memory") == 0)
        return headline_bytes(n, arena);
    return headline_is_whole_gpu(resource) ? arena_printf(arena, "%lld %s", (long long)n, resource)
                                           : headline_amount(resource, n, arena);
}

static const char *amounts_text(const json_t *requests, const char *models, struct arena *arena)
{
    const char *whole = whole_gpus(requests);
    struct name_list shown = {.text = ""};
    const char *resource = NULL;
    json_t *amount = NULL;
    json_object_foreach ((json_t *)(uintptr_t)requests, resource, amount)
        text_names_add(&shown,
                       text_names_are_full(&shown)
                           ? NULL
                           : asked_text(resource, json_integer_value(amount),
                                        resource == whole ? models : "", arena),
                       arena);
    return text_names(&shown, arena);
}

const char *asks_for_each(const json_t *requests, const json_t *models, struct arena *arena)
{
    const char *model = json_string_value(json_array_get(models, 0));
    const char *others = json_array_size(models) > 1 ? " or another" : "";
    return amounts_text(requests, model ? arena_printf(arena, "%s%s", model, others) : "", arena);
}

const char *asks_for_all(const json_t *requests, const json_t *wants, struct arena *arena)
{
    const char *models = model_words_in_order(wants, arena);
    const char *limits = model_words_limits(wants, arena);
    const char *on = models[0] && !whole_gpus(requests) ? "; on " : "";
    return arena_printf(arena, "%s%s%s%s%s", amounts_text(requests, models, arena), on,
                        on[0] ? models : "", limits[0] ? "; " : "", limits);
}

const char *asks_for_text(const struct policy *policy, const struct shape_facts *facts,
                          const char *claims, struct arena *arena)
{
    json_auto_t *amounts = asks_for_amounts(policy, facts);
    json_auto_t *wants = model_words_json(&facts->wants, arena);
    const char *instead = "";
    if (!asks_for_gpus(policy, facts) && !asks_for_accelerators(policy, facts))
        instead = arena_printf(arena, "%s%s", instead_of_gpus(claims),
                               json_object_size(amounts) > 0 ? ", " : "");
    return arena_printf(arena, "asks for %s%s", instead, asks_for_all(amounts, wants, arena));
}

const char *asks_for_lacks(const struct fit_question *question, const struct node *node,
                           struct arena *arena)
{
    const struct pod_shape *shape = question->shape;
    const char *text = "";
    const char *last = NULL;
    for (size_t i = 0; i < shape->n_needs; i++) {
        const struct need *need = &shape->needs[i];
        const int64_t lack = fit_lack(node, question, need);
        if (lack == 0)
            continue;
        if (last)
            text = arena_printf(arena, "%s%s%s", text, text[0] ? ", " : "", last);
        last = headline_amount(need->resource->name, headline_round_up(need->resource->name, lack),
                               arena);
    }
    if (!last)
        return NULL;
    return text[0] ? arena_printf(arena, "%s and %s", text, last) : last;
}

const char *asks_for_refusal(const struct pod_query *query, const struct node *node,
                             enum reason reason, size_t n_more)
{
    const enum verdict_cause cause = cause_of_reason(reason, node, &query->question.shape->facts);
    const bool is_amount = cause == CAUSE_RESOURCES || cause == CAUSE_FREE_GPUS;
    const char *lacks =
        is_amount && n_more == 0 ? asks_for_lacks(&query->question, node, query->arena) : NULL;
    const char *others = n_more > 0 ? arena_printf(query->arena, " and %zu more", n_more) : "";
    if (lacks)
        return arena_printf(query->arena, "%s lacks %s.", node_name(node), lacks);
    return arena_printf(query->arena, "%s%s: %s.", node_name(node), others,
                        verdict_message(query, node, reason));
}
