/* asks_for: see verdict.h. */
#include "api/text.h"
#include "api/verdicts/candidates.h"
#include "api/verdicts/headline.h"
#include "api/verdicts/verdict.h"
#include "base/mem.h"
#include "decide/quota.h"
#include "types/policy.h"

#include <stdlib.h>
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

/* Of a sentence of 14 words: "x lacks ..." */
#define WORDS_OF_LACKS ((size_t)13)
/* The same: "x and 2 more: ..." */
#define WORDS_OF_REASON ((size_t)11)

static size_t lacks_of(const struct fit_question *question, const struct node *node,
                       struct arena *arena, const char ***ret_texts)
{
    const struct pod_shape *shape = question->shape;
    const char **texts = ARENA_ARRAY(arena, const char *, shape->n_needs);
    size_t n = 0;
    for (size_t i = 0; i < shape->n_needs; i++) {
        const char *name = shape->needs[i].resource->name;
        const int64_t lack = fit_lack(node, question, &shape->needs[i]);
        if (lack > 0)
            texts[n++] = headline_amount(name, headline_round_up(name, lack), arena);
    }
    *ret_texts = texts;
    return n;
}

const char *asks_for_lacks(const struct fit_question *question, const struct node *node,
                           size_t *words, struct arena *arena)
{
    const char **texts = NULL;
    const size_t n = lacks_of(question, node, arena, &texts);
    const char *text = NULL;
    size_t used = 0;
    for (size_t i = 0; i < n; i++) {
        const bool is_last = i + 1 == n; /* else there is "+1" behind it */
        const size_t cost = headline_count_words(texts[i]);
        if (text && used + cost + 1 > *words) {
            text = arena_printf(arena, "%s, +%zu", text, n - i);
            used++;
            break;
        }
        used += cost + (text && is_last);
        text =
            text ? arena_printf(arena, is_last ? "%s and %s" : "%s, %s", text, texts[i]) : texts[i];
    }
    *words = used;
    return text;
}

const char *asks_for_refusal(const struct pod_query *query, const struct node *node,
                             enum reason reason, size_t n_more)
{
    const enum verdict_cause cause = cause_of_reason(reason, node, &query->question.shape->facts);
    const bool is_amount = cause == CAUSE_RESOURCES || cause == CAUSE_FREE_GPUS;
    size_t words = WORDS_OF_LACKS;
    const char *lacks = is_amount && n_more == 0
                            ? asks_for_lacks(&query->question, node, &words, query->arena)
                            : NULL;
    const char *others = n_more > 0 ? arena_printf(query->arena, " and %zu more", n_more) : "";
    if (lacks)
        return arena_printf(query->arena, "%s lacks %s.", node_name(node), lacks);
    const char *message = verdict_message(query, node, reason);
    if (headline_count_words(message) > WORDS_OF_REASON)
        message = headline_reason(&query->question, reason, query->arena);
    return arena_printf(query->arena, "%s%s: %s.", node_name(node), others, message);
}

/* ---- what quotas leave ---- */

static int compare_shorts(const void *a, const void *b)
{
    const struct quota_short *x = a;
    const struct quota_short *y = b;
    const int64_t left[] = {x->left > 0 ? x->left : 0, y->left > 0 ? y->left : 0};
    if (left[0] != left[1])
        return left[0] < left[1] ? -1 : 1;
    if (!x->limit->model != !y->limit->model)
        return x->limit->model ? -1 : 1;
    return (x->next > y->next) - (x->next < y->next);
}

/* All limits that one more pod breaks on the node. Those that leave least come first. */
static size_t shorts_of(const struct fit_question *asked, const struct node *node,
                        struct arena *arena, struct quota_short **ret_shorts)
{
    struct quota_short lack = {0};
    size_t n = 0;
    while (quota_next_short(asked->quota, node, &lack))
        n++;
    struct quota_short *shorts = ARENA_ARRAY(arena, struct quota_short, n);
    lack = (struct quota_short){0};
    for (size_t i = 0; i < n && quota_next_short(asked->quota, node, &lack); i++)
        shorts[i] = lack;
    if (n > 1)
        qsort(shorts, n, sizeof *shorts, compare_shorts);
    *ret_shorts = shorts;
    return n;
}

/* Those of one quota follow each other; the first decides. */
static void group_by_quota(struct quota_short *shorts, size_t n)
{
    for (size_t n_done = 0; n_done < n;) {
        const struct quota *quota = shorts[n_done++].quota;
        for (size_t i = n_done; i < n; i++) {
            const struct quota_short lack = shorts[i];
            if (lack.quota != quota)
                continue;
            memmove(&shorts[n_done + 1], &shorts[n_done], (i - n_done) * sizeof *shorts);
            shorts[n_done++] = lack;
        }
    }
}

const char *asks_for_quotas(const struct fit_question *question, const struct node *node,
                            size_t *words, int64_t *ret_most, struct arena *arena)
{
    struct quota_short *shorts = NULL;
    const size_t n = shorts_of(question, node, arena, &shorts);
    const char *text = NULL;
    size_t used = 0;
    group_by_quota(shorts, n);
    for (size_t i = 0; i < n; i++)
        *ret_most = shorts[i].need > *ret_most ? shorts[i].need : *ret_most;
    for (size_t i = 0; i < n; i++) {
        const struct quota_short *lack = &shorts[i];
        const bool is_new = i == 0 || lack->quota != shorts[i - 1].quota;
        const bool is_brief = shorts[0].quota != shorts[n - 1].quota;
        const char *left = headline_limit(lack->limit, lack->borrows, is_brief,
                                          lack->left > 0 ? lack->left : 0, arena);
        const size_t cost = headline_count_words(left) + !is_new -
                            (lack->limit->model ? headline_count_words(lack->limit->model) : 0);
        if (text && used + cost + (i + 1 < n) > *words) {
            text = arena_printf(arena, "%s, +%zu", text, n - i);
            used++;
            break;
        }
        used += cost;
        text = !text    ? arena_printf(arena, "Quota %s leaves %s", lack->quota->name, left)
               : is_new ? arena_printf(arena, "%s, %s %s", text, lack->quota->name, left)
                        : arena_printf(arena, "%s and %s", text, left);
    }
    *words = used;
    return text;
}

json_t *asks_for_quotas_json(const struct fit_question *question, const struct node *node)
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    struct quota_short *shorts = NULL;
    const size_t n = shorts_of(question, node, arena, &shorts);
    json_t *list = n > 0 ? json_array() : NULL;
    for (size_t i = 0; i < n; i++) {
        const struct quota_short *lack = &shorts[i];
        (void)json_array_append_new(
            list, json_pack("{s:s, s:s, s:s, s:b, s:I, s:I}", "quota", lack->quota->name,
                            "resource", lack->limit->resource ? lack->limit->resource : "", "model",
                            lack->limit->model ? lack->limit->model : "", "borrows", lack->borrows,
                            "left", (json_int_t)(lack->left > 0 ? lack->left : 0), "asks",
                            (json_int_t)lack->need));
    }
    return list;
}
