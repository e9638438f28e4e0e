/* remedies: see remedies.h. A function for each kind; each adds at most one. */
#include "api/verdicts/remedies.h"
#include "api/text.h"
#include "api/verdicts/room.h"
#include "base/mem.h"
#include "decide/near_miss.h"
#include "ledger/admit.h"
#include "types/gpu_worth.h"
#include "types/quantity.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Alternatives of one kind that are tried, and that are named. */
#define MODELS_SEEN ((size_t)32)
#define MODELS_TRIED ((size_t)6)
#define MODELS_NAMED ((size_t)3)
#define TAINTS_TRIED ((size_t)3)
#define NODES_TRIED ((size_t)3)

struct search {
    const struct remedy_question *question;
    struct trials trials;
    const struct fit_question *failing;
    const struct pod_shape *shape; /* of the failing role */
    struct near_miss *near_miss;
    json_t *found;
    struct arena *arena;
};

/* ---- the answer ---- */

static json_t *names_json(const struct node *const *nodes, size_t n)
{
    json_t *names = json_array();
    for (size_t i = 0; i < n && i < TRIAL_NODES; i++)
        (void)json_array_append_new(names, json_string(node_name(nodes[i])));
    return names;
}

static void add_over(struct search *search, const char *kind, const char *text,
                     const struct trial_end *end, json_t *change)
{
    (void)json_array_append_new(search->found,
                                json_pack("{s:s, s:s, s:o, s:I, s:I, s:o}", "kind", kind, "text",
                                          text, "nodes", names_json(end->nodes, end->n_nodes),
                                          "nodeCount", (json_int_t)end->n_nodes, "fits",
                                          (json_int_t)trials_n_pods(&search->trials), "change",
                                          change ? change : json_null()));
}

static struct shape_facts *copy_facts(const struct search *search)
{
    const struct trials *trials = &search->trials;
    struct shape_facts *facts = ARENA_ARRAY(search->arena, struct shape_facts, trials->n_roles);
    for (size_t i = 0; i < trials->n_roles; i++)
        facts[i] = trials->roles[i].question->shape->facts;
    return facts;
}

static bool try_facts(struct search *search, const struct shape_facts *facts,
                      struct trial_end *ret_end)
{
    return trial_run(&search->trials, &(struct trial){.facts = facts}, ret_end);
}

/* A node that the failing pod would fit but for this cause; NULL: no more. */
static const struct node *next_near(const struct search *search, enum verdict_cause cause,
                                    size_t *at)
{
    const struct candidates *candidates = search->question->candidates;
    while (*at < candidates->n) {
        const struct node *node = candidates->items[(*at)++].node;
        const enum reason reason = fit_judge(node, search->failing);
        if (reason != REASON_FITS &&
            cause_of_reason(reason, node, &search->shape->facts) == cause &&
            near_miss_is(search->near_miss, node, reason))
            return node;
    }
    return NULL;
}

/* ---- correct a name ---- */

static struct requirement *corrected(const struct search *search, const struct selector_term *term,
                                     const struct missing_name *missing)
{
    struct requirement *requirements =
        ARENA_ARRAY(search->arena, struct requirement, term->n_requirements);
    for (size_t i = 0; i < term->n_requirements; i++) {
        requirements[i] = term->requirements[i];
        if (strcmp(requirements[i].key, missing->name) != 0)
            continue;
        if (missing->kind == MISSING_LABEL)
            requirements[i].key = missing->meant;
        else
            requirements[i].values = arena_copy(search->arena, &missing->meant, 1, sizeof(char *));
        requirements[i].n_values = missing->kind == MISSING_LABEL ? requirements[i].n_values : 1;
    }
    return requirements;
}

static void correct_labels(const struct search *search, struct shape_facts *facts)
{
    const struct missing_name *missing = &search->question->headline->missing;
    struct selector_term *terms =
        ARENA_ARRAY(search->arena, struct selector_term, facts->affinity.n_terms);
    for (size_t i = 0; i < facts->affinity.n_terms; i++) {
        terms[i] = facts->affinity.terms[i];
        terms[i].requirements = corrected(search, &facts->affinity.terms[i], missing);
    }
    if (missing->is_in_affinity)
        facts->affinity.terms = terms;
    else
        facts->node_selector.requirements = corrected(search, &facts->node_selector, missing);
}

static int compare_amounts(const void *a, const void *b)
{
    return strcmp(((const struct amount *)a)->resource, ((const struct amount *)b)->resource);
}

static void correct_resource(const struct search *search, struct shape_facts *facts)
{
    const struct missing_name *missing = &search->question->headline->missing;
    struct amount *demand =
        arena_copy(search->arena, facts->demand, facts->n_demand, sizeof *facts->demand);
    if (shape_demand(facts, missing->meant) > 0)
        return;
    for (size_t i = 0; i < facts->n_demand; i++) {
        if (strcmp(demand[i].resource, missing->name) == 0)
            demand[i].resource = missing->meant;
    }
    if (facts->n_demand > 0)
        qsort(demand, facts->n_demand, sizeof *demand, compare_amounts);
    facts->demand = demand;
}

static void correct_model(const struct search *search, struct shape_facts *facts)
{
    const struct missing_name *missing = &search->question->headline->missing;
    struct model_wants *wants = &facts->wants;
    struct gpu_model *accept =
        arena_copy(search->arena, wants->accept, wants->n_accept, sizeof *wants->accept);
    for (size_t i = 0; i < wants->n_accept; i++) {
        if (strcmp(gpu_model_name(&accept[i], search->arena), missing->name) == 0)
            accept[i] = missing->meant_model;
    }
    wants->accept = accept;
}

static void correct(struct search *search)
{
    const struct missing_name *missing = &search->question->headline->missing;
    struct shape_facts *facts = copy_facts(search);
    const char *where = missing->is_in_affinity ? "the node affinity" : "spec.nodeSelector";
    struct trial_end end;
    if (!missing->meant)
        return;
    for (size_t i = 0; i < search->trials.n_roles; i++) {
        if (missing->kind == MISSING_RESOURCE)
            correct_resource(search, &facts[i]);
        else if (missing->kind == MISSING_MODEL)
            correct_model(search, &facts[i]);
        else
            correct_labels(search, &facts[i]);
    }
    if (missing->kind == MISSING_RESOURCE)
        where = "resources.limits";
    else if (missing->kind == MISSING_MODEL)
        where = "gpu-extender.io/models";
    if (try_facts(search, facts, &end))
        add_over(search, "correct",
                 arena_printf(search->arena, "write %s in %s", missing->meant, where), &end, NULL);
}

/* ---- accept more ---- */

struct near_model {
    struct gpu_model model;
    const char *name;
    size_t worth; /* gpu_worth() */
};

static int compare_models(const void *a, const void *b)
{
    const size_t left = ((const struct near_model *)a)->worth;
    const size_t right = ((const struct near_model *)b)->worth;
    return (left > right) - (left < right);
}

static bool has_model(const struct near_model *models, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++) {
        if (strcmp(models[i].name, name) == 0)
            return true;
    }
    return false;
}

/* Models of nodes that only lack the right one, the most wanted first. */
static size_t near_models(const struct search *search, struct near_model models[MODELS_SEEN])
{
    const struct node *node = NULL;
    size_t at = 0;
    size_t n = 0;
    while (n < MODELS_SEEN && (node = next_near(search, CAUSE_MODEL, &at))) {
        const struct gpu_kind *kind = admit_next_kind(node_traits(node), search->shape, NULL);
        const char *name = gpu_model_name(&kind->model, search->arena);
        if (fit_judge(node, search->failing) == REASON_MODEL_NOT_WANTED &&
            !has_model(models, n, name))
            models[n++] = (struct near_model){kind->model, name, gpu_worth(name)};
    }
    if (n > 0)
        qsort(models, n, sizeof *models, compare_models);
    return n < MODELS_TRIED ? n : MODELS_TRIED;
}

static const char *join(const char *text, const char *name, bool is_last, const char *joint,
                        struct arena *arena)
{
    if (!text[0])
        return name;
    return is_last ? arena_printf(arena, "%s %s %s", text, joint, name)
                   : arena_printf(arena, "%s, %s", text, name);
}

static void accept_model(const struct search *search, struct shape_facts *facts,
                         const struct gpu_model *model)
{
    for (size_t i = 0; i < search->trials.n_roles; i++) {
        struct model_wants *wants = &facts[i].wants;
        struct gpu_model *accept =
            ARENA_ARRAY(search->arena, struct gpu_model, wants->n_accept + 1);
        if (wants->n_accept == 0)
            continue;
        memcpy(accept, wants->accept, wants->n_accept * sizeof *accept);
        accept[wants->n_accept++] = *model;
        wants->accept = accept;
    }
}

static bool accept_models(struct search *search)
{
    struct near_model models[MODELS_SEEN];
    const size_t n = near_models(search, models);
    struct trial_end all = {0};
    struct trial_end end;
    const char *names[MODELS_NAMED];
    const char *text = "";
    for (size_t i = 0; i < n && all.n_nodes < MODELS_NAMED; i++) {
        struct shape_facts *facts = copy_facts(search);
        accept_model(search, facts, &models[i].model);
        if (!try_facts(search, facts, &end))
            continue;
        names[all.n_nodes] = models[i].name;
        all.nodes[all.n_nodes++] = end.nodes[end.n_nodes < TRIAL_NODES ? end.n_nodes - 1 : 0];
    }
    for (size_t i = 0; i < all.n_nodes; i++)
        text = join(text, names[i], i + 1 == all.n_nodes, "or", search->arena);
    if (all.n_nodes > 0)
        add_over(search, "accept", arena_printf(search->arena, "accept %s too", text), &all, NULL);
    return all.n_nodes > 0;
}

static void tolerate(const struct search *search, struct shape_facts *facts, const char *key,
                     const struct taint *taint)
{
    for (size_t i = 0; i < search->trials.n_roles; i++) {
        struct toleration *tolerations =
            ARENA_ARRAY(search->arena, struct toleration, facts[i].n_tolerations + 1);
        for (size_t j = 0; j < facts[i].n_tolerations; j++)
            tolerations[j] = facts[i].tolerations[j];
        tolerations[facts[i].n_tolerations++] =
            (struct toleration){.key = key,
                                .value = "",
                                .op = TOLERATION_EXISTS,
                                .any_effect = taint == NULL,
                                .effect = taint ? taint->effect : TAINT_NO_SCHEDULE};
        facts[i].tolerations = tolerations;
    }
}

/* All taints of one node that keep the pod off. */
static bool accept_taints_of(struct search *search, const struct node *node)
{
    const struct node_traits *traits = node_traits(node);
    const struct shape_facts *asked = &search->shape->facts;
    struct shape_facts *facts = copy_facts(search);
    struct trial_end end;
    const char *keys = "";
    for (size_t i = 0; i < traits->n_taints; i++) {
        const struct taint *taint = &traits->taints[i];
        if (!taints_first_untolerated(taint, 1, asked->tolerations, asked->n_tolerations))
            continue;
        tolerate(search, facts, taint->key, taint);
        keys = join(keys, taint->key, true, "and", search->arena);
    }
    if (!try_facts(search, facts, &end))
        return false;
    add_over(search, "accept", arena_printf(search->arena, "add a toleration for %s", keys), &end,
             NULL);
    return true;
}

static bool accept_taints(struct search *search)
{
    const struct node *node = NULL;
    size_t at = 0;
    for (size_t i = 0; i < TAINTS_TRIED && (node = next_near(search, CAUSE_TAINT, &at)); i++) {
        if (accept_taints_of(search, node))
            return true;
    }
    return false;
}

static const struct requirement *without(const struct search *search,
                                         const struct selector_term *term, size_t i_left_out)
{
    struct requirement *rest = ARENA_ARRAY(search->arena, struct requirement, term->n_requirements);
    size_t n = 0;
    for (size_t i = 0; i < term->n_requirements; i++) {
        if (i != i_left_out)
            rest[n++] = term->requirements[i];
    }
    return rest;
}

static const struct requirement *find_key(const struct selector_term *term, const char *key)
{
    for (size_t i = 0; i < term->n_requirements; i++) {
        if (strcmp(term->requirements[i].key, key) == 0)
            return &term->requirements[i];
    }
    return NULL;
}

static bool drop_requirement(struct search *search, const struct requirement *dropped)
{
    struct shape_facts *facts = copy_facts(search);
    struct trial_end end;
    for (size_t i = 0; i < search->trials.n_roles; i++) {
        struct selector_term *term = &facts[i].node_selector;
        const struct requirement *same = find_key(term, dropped->key);
        if (!same)
            continue;
        term->requirements = without(search, term, (size_t)(same - term->requirements));
        term->n_requirements--;
    }
    if (!try_facts(search, facts, &end))
        return false;
    add_over(search, "accept",
             arena_printf(search->arena, "drop the nodeSelector %s=%s", dropped->key,
                          dropped->n_values > 0 ? dropped->values[0] : ""),
             &end, NULL);
    return true;
}

static bool drop_affinity(struct search *search)
{
    struct shape_facts *facts = copy_facts(search);
    struct trial_end end;
    for (size_t i = 0; i < search->trials.n_roles; i++)
        facts[i].affinity = (struct node_selector){0};
    if (!try_facts(search, facts, &end))
        return false;
    add_over(search, "accept", "drop the required node affinity", &end, NULL);
    return true;
}

static bool accept_labels(struct search *search)
{
    const struct selector_term *selector = &search->shape->facts.node_selector;
    for (size_t i = 0; i < selector->n_requirements && i < NODES_TRIED; i++) {
        if (drop_requirement(search, &selector->requirements[i]))
            return true;
    }
    return search->shape->facts.affinity.present && drop_affinity(search);
}

static bool accept_shares(struct search *search)
{
    struct shape_facts *facts = copy_facts(search);
    struct trial_end end;
    size_t at = 0;
    for (size_t i = 0; i < search->trials.n_roles; i++)
        facts[i].allow_shared = ALLOW_SHARED_YES;
    if (!next_near(search, CAUSE_SHARED, &at) || !try_facts(search, facts, &end))
        return false;
    add_over(search, "accept", "allow parts of GPUs (gpu-extender.io/allow-shared)", &end, NULL);
    return true;
}

/* What decides comes first. */
static void accept(struct search *search)
{
    const enum verdict_cause cause = search->question->headline->cause;
    const bool is_label = cause == CAUSE_LABEL ||
                          (cause == CAUSE_NAME && search->question->headline->missing.requirement);
    if ((cause == CAUSE_TAINT && accept_taints(search)) ||
        (cause == CAUSE_SHARED && accept_shares(search)) || (is_label && accept_labels(search)) ||
        accept_models(search) || (cause != CAUSE_TAINT && accept_taints(search)) ||
        (!is_label && accept_labels(search)))
        return;
    if (cause != CAUSE_SHARED)
        (void)accept_shares(search);
}

/* ---- ask for less ---- */

static void set_demand(const struct search *search, struct shape_facts *facts, const char *resource,
                       int64_t amount)
{
    struct amount *demand =
        arena_copy(search->arena, facts->demand, facts->n_demand, sizeof *facts->demand);
    for (size_t i = 0; i < facts->n_demand; i++) {
        if (strcmp(demand[i].resource, resource) == 0 && demand[i].amount > amount)
            demand[i].amount = amount;
    }
    facts->demand = demand;
}

static struct shape_facts *with_gpus(const struct search *search, const char *resource, int64_t n)
{
    struct shape_facts *facts = copy_facts(search);
    for (size_t i = 0; i < search->trials.n_roles; i++)
        set_demand(search, &facts[i], resource, n);
    return facts;
}

static const char *a_pod(const struct search *search)
{
    return trials_n_pods(&search->trials) > 1 ? " a pod" : "";
}

/* The most GPUs that fit. */
static bool ask_less_gpus(struct search *search, const struct need *need)
{
    struct trial_end best = {0};
    int64_t low = 0; /* fits, or 0 */
    int64_t high = need->amount;
    while (high - low > 1 && !search->trials.is_cut) {
        const int64_t n = low + (high - low) / 2;
        struct trial_end end;
        if (try_facts(search, with_gpus(search, need->resource->name, n), &end)) {
            low = n;
            best = end;
        } else {
            high = n;
        }
    }
    if (low == 0)
        return false;
    add_over(search, "askLess",
             arena_printf(search->arena, "ask for %s%s",
                          headline_amount(need->resource->name, low, search->arena), a_pod(search)),
             &best, NULL);
    return true;
}

/* Of the nearest node: what it has left of CPU, memory and so on. */
static bool ask_less_of_others(struct search *search)
{
    const struct node *node = search->question->headline->node;
    struct shape_facts *facts = copy_facts(search);
    const char *text = "";
    struct trial_end end;
    for (size_t i = search->shape->n_gpu_needs; node && i < search->shape->n_needs; i++) {
        const struct need *need = &search->shape->needs[i];
        const int64_t lack = fit_lack(node, search->failing, need);
        if (lack == 0)
            continue;
        if (lack >= need->amount || strcmp(need->resource->name, "pods") == 0)
            return false;
        for (size_t j = 0; j < search->trials.n_roles; j++)
            set_demand(search, &facts[j], need->resource->name, need->amount - lack);
        text = join(text, headline_amount(need->resource->name, need->amount - lack, search->arena),
                    true, "and", search->arena);
    }
    if (!text[0] || !try_facts(search, facts, &end))
        return false;
    add_over(search, "askLess", arena_printf(search->arena, "ask for %s%s", text, a_pod(search)),
             &end, NULL);
    return true;
}

static void divide(const struct search *search, struct shape_facts *facts, int64_t by)
{
    struct amount *demand =
        arena_copy(search->arena, facts->demand, facts->n_demand, sizeof *facts->demand);
    for (size_t i = 0; i < facts->n_demand; i++) {
        if (strcmp(demand[i].resource, "pods") != 0)
            demand[i].amount = demand[i].amount >= by ? demand[i].amount / by : 1;
    }
    facts->demand = demand;
}

static const char *part_text(const struct search *search, const struct shape_facts *facts)
{
    const char *text = "";
    for (size_t i = 0; i < search->shape->n_needs; i++) {
        const char *resource = search->shape->needs[i].resource->name;
        if (strcmp(resource, "pods") != 0)
            text =
                join(text, headline_amount(resource, shape_demand(facts, resource), search->arena),
                     false, "", search->arena);
    }
    return text;
}

/* Half of everything, a quarter or an eighth. */
static bool ask_part(struct search *search, const struct need *need)
{
    static const char *const PARTS[] = {"half", "a quarter", "an eighth"};
    for (size_t i = 0; i < sizeof PARTS / sizeof *PARTS; i++) {
        const int64_t by = INT64_C(2) << i;
        struct shape_facts *facts = copy_facts(search);
        struct trial_end end;
        if (need->amount % by != 0)
            return false;
        for (size_t j = 0; j < search->trials.n_roles; j++)
            divide(search, &facts[j], by);
        if (!try_facts(search, facts, &end))
            continue;
        add_over(search, "askLess",
                 arena_printf(search->arena, "ask for %s, %s%s", PARTS[i],
                              part_text(search, &facts[search->question->i_failing]),
                              a_pod(search)),
                 &end, NULL);
        return true;
    }
    return false;
}

static bool ask_less_memory(struct search *search)
{
    const struct node *node = NULL;
    struct shape_facts *facts = copy_facts(search);
    struct trial_end end;
    int64_t most = 0;
    char text[32];
    for (size_t at = 0; (node = next_near(search, CAUSE_MODEL, &at));) {
        const int64_t there = admit_memory_bytes(node_traits(node), search->shape);
        if (fit_judge(node, search->failing) == REASON_GPU_MEMORY && there > most)
            most = there;
    }
    for (size_t i = 0; i < search->trials.n_roles; i++) {
        int64_t *least = &facts[i].wants.min_memory_bytes;
        *least = *least > most ? most : *least;
    }
    if (most == 0 || !try_facts(search, facts, &end))
        return false;
    add_over(search, "askLess",
             arena_printf(search->arena, "ask for at most %s of GPU memory",
                          quantity_bytes_text(most, text)),
             &end, NULL);
    return true;
}

static void ask_less(struct search *search)
{
    const enum verdict_cause cause = search->question->headline->cause;
    const struct need *need = search->shape->n_gpu_needs > 0 ? &search->shape->needs[0] : NULL;
    if (cause == CAUSE_MODEL && ask_less_memory(search))
        return;
    if (cause < CAUSE_QUOTA || cause > CAUSE_TOTAL)
        return;
    if (cause == CAUSE_RESOURCES && ask_less_of_others(search))
        return;
    if (need && need->amount > 1 && (ask_less_gpus(search, need) || ask_part(search, need)))
        return;
}

/* ---- wait ---- */

/* The nodes that lack the least first. */
static size_t nearest_nodes(const struct search *search, const struct node *ret_nodes[NODES_TRIED])
{
    static const enum verdict_cause CAUSES[] = {CAUSE_FREE_GPUS, CAUSE_RESOURCES};
    int64_t lacks[NODES_TRIED];
    size_t n = 0;
    for (size_t i = 0; i < sizeof CAUSES / sizeof *CAUSES; i++) {
        const struct node *node = NULL;
        for (size_t at = 0; (node = next_near(search, CAUSES[i], &at));) {
            const int64_t lack = verdict_lacking_gpus(search->failing, node);
            size_t j = n < NODES_TRIED ? n++ : n;
            for (; j > 0 && lacks[j - 1] > lack; j--) {
                if (j < NODES_TRIED) {
                    ret_nodes[j] = ret_nodes[j - 1];
                    lacks[j] = lacks[j - 1];
                }
            }
            if (j < NODES_TRIED) {
                ret_nodes[j] = node;
                lacks[j] = lack;
            }
        }
    }
    return n;
}

static struct room_question room_on(const struct search *search, const struct node *node)
{
    const struct remedy_question *question = search->question;
    return (struct room_question){question->inventory, question->fork, node, question->only,
                                  search->arena};
}

static void wait_for(struct search *search)
{
    const enum verdict_cause cause = search->question->headline->cause;
    const struct node *nodes[NODES_TRIED];
    if (cause != CAUSE_FREE_GPUS && cause != CAUSE_RESOURCES)
        return;
    const size_t n = nearest_nodes(search, nodes);
    for (size_t i = 0; i < n; i++) {
        const struct room_question room = room_on(search, nodes[i]);
        const struct room_pods pods = room_pods_to_end(&room, search->failing);
        const struct trial trial = {
            .vacated = nodes[i], .needs = pods.needs, .n_needs = pods.n_needs};
        struct trial_end end;
        if (!pods.text || !trial_run(&search->trials, &trial, &end))
            continue;
        json_t *names = json_array();
        for (size_t j = 0; j < pods.n; j++)
            (void)json_array_append_new(names, json_string(pods.names[j]));
        end.nodes[0] = nodes[i];
        end.n_nodes = 1;
        add_over(search, "wait", pods.text, &end, json_pack("{s:o}", "removePods", names));
        return;
    }
}

/* ---- an administrator ---- */

/* The item of the resource, as in a policy: each has all limits of its resource. */
static json_t *find_limits(json_t *list, const char *resource)
{
    size_t i = 0;
    json_t *item = NULL;
    json_array_foreach (list, i, item) {
        if (strcmp(text_member(item, "resource"), resource ? resource : "") == 0)
            return item;
    }
    item = resource ? json_pack("{s:s}", "resource", resource) : json_object();
    (void)json_array_append_new(list, item);
    return item;
}

static json_t *limits_json(const struct quota *quota, const struct trial_end *end)
{
    json_t *list = json_array();
    for (size_t i = 0; i < quota->n_limits; i++) {
        const struct quota_limit *limit = &quota->limits[i];
        json_t *item = find_limits(list, limit->resource);
        int64_t gpus = limit->gpus;
        for (size_t j = 0; j < end->n_raised; j++)
            gpus = end->raised[j].limit == limit ? end->raised[j].gpus : gpus;
        if (!limit->model) {
            (void)json_object_set_new(item, "total", json_integer(gpus));
            continue;
        }
        if (!json_object_get(item, "models"))
            (void)json_object_set_new(item, "models", json_object());
        (void)json_object_set_new(json_object_get(item, "models"), limit->model,
                                  json_integer(gpus));
    }
    return list;
}

static bool raise_quota(struct search *search)
{
    struct arena *arena = search->arena;
    struct trial_end end;
    const char *text = "";
    const struct quota *quota = NULL;
    bool is_one = true;
    if (!search->failing->quota ||
        !trial_run(&search->trials, &(struct trial){.lifts_quota = true}, &end) ||
        end.n_raised == 0)
        return false;
    for (size_t i = 0; i < end.n_raised; i++) {
        const struct raised_limit *raised = &end.raised[i];
        const char *limit = headline_limit(raised->limit, raised->gpus, arena);
        is_one = is_one && (!quota || quota == raised->quota);
        if (quota != raised->quota)
            limit = arena_printf(arena, "raise %s to %s", raised->quota->name, limit);
        quota = raised->quota;
        text = join(text, limit, true, "and", arena);
    }
    json_t *change = is_one ? json_pack("{s:{s:s, s:o}}", "quota", "name", quota->name, "limits",
                                        limits_json(quota, &end))
                            : NULL;
    add_over(search, "administrator", text, &end, change);
    return true;
}

static bool is_closed_to(const struct search *search, const struct node *node)
{
    const enum reason reason = fit_judge(node, search->failing);
    return cause_of_reason(reason, node, &search->shape->facts) == CAUSE_CLOSED;
}

/* Tolerates what closes the nodes, as if they were open. */
static bool reopen(struct search *search)
{
    struct shape_facts *facts = copy_facts(search);
    const struct node *node = NULL;
    struct trial_end end;
    const char *text = "";
    for (size_t at = 0; (node = next_near(search, CAUSE_CLOSED, &at));) {
        const struct node_traits *traits = node_traits(node);
        for (size_t i = 0; i < traits->n_taints; i++) {
            const struct taint *taint = &traits->taints[i];
            if (strncmp(taint->key, "node.kubernetes.io/", 19) == 0 &&
                taints_first_untolerated(taint, 1, facts->tolerations, facts->n_tolerations))
                tolerate(search, facts, taint->key, NULL);
        }
        if (traits->unschedulable && !text[0])
            tolerate(search, facts, "node.kubernetes.io/unschedulable", NULL);
        text = "?";
    }
    if (!text[0] || !try_facts(search, facts, &end) || end.n_nodes > TRIAL_NODES)
        return false;
    text = "";
    for (size_t i = 0; i < end.n_nodes; i++) {
        if (is_closed_to(search, end.nodes[i]))
            text = join(text,
                        arena_printf(search->arena,
                                     node_traits(end.nodes[i])->unschedulable ? "uncordon %s"
                                                                              : "make %s ready",
                                     node_name(end.nodes[i])),
                        true, "and", search->arena);
    }
    add_over(search, "administrator", text, &end, NULL);
    return true;
}

/* How many nodes like this one the pods without a place need; 0: no number is enough. */
static int64_t nodes_needed(const struct search *search, const struct node *like)
{
    const struct need *freed = NULL;
    const struct room_question question = room_on(search, like);
    const size_t n_freed = room_of_empty(&question, &freed);
    int64_t n = 0;
    for (size_t i = 0; i < search->trials.n_roles; i++) {
        const struct trial_role *role = &search->trials.roles[i];
        struct fit_question empty = *role->question;
        const int64_t n_missing = role->n - role->n_placed;
        empty.freed = freed;
        empty.n_freed = n_freed;
        const int64_t each = n_missing > 0 ? fit_count(like, &empty) : 1;
        empty.quota = NULL;
        const int64_t room = n_missing > 0 ? fit_count(like, &empty) : 1;
        if (room == 0 || (each < room && each < n_missing) || role->question->peers)
            return 0;
        n += (n_missing + room - 1) / room;
    }
    return n;
}

/* The most that is worth saying, and what /v1/what-if takes. */
#define NODES_ADDED_MAX 5000
#define MODEL_NODES_COMPARED ((size_t)8)

static void add_nodes(struct search *search)
{
    const struct candidates *candidates = search->question->candidates;
    const struct node *like = search->question->headline->node;
    int64_t n = like ? nodes_needed(search, like) : 0;
    size_t n_compared = 0;
    for (size_t i = 0; i < candidates->n && n_compared < MODEL_NODES_COMPARED; i++) {
        const struct node *node = candidates->items[i].node;
        const enum reason reason = fit_judge(node, search->failing);
        if (reason != REASON_FITS && (reason < REASON_GPU_FREE || reason > REASON_RESOURCE))
            continue;
        const int64_t more = nodes_needed(search, node);
        n_compared++;
        if (more > 0 && (n == 0 || more < n)) {
            n = more;
            like = node;
        }
    }
    if (n == 0 || n > NODES_ADDED_MAX)
        return;
    const struct trial_end end = {.nodes = {like}, .n_nodes = 0};
    add_over(
        search, "administrator",
        arena_printf(search->arena, "%" PRId64 " more node%s like %s", n, n == 1 ? "" : "s",
                     node_name(like)),
        &end,
        json_pack("{s:{s:s, s:I}}", "addNodes", "like", node_name(like), "count", (json_int_t)n));
}

static void administer(struct search *search)
{
    const enum verdict_cause cause = search->question->headline->cause;
    if (raise_quota(search) || reopen(search) || cause < CAUSE_FREE_GPUS || cause > CAUSE_TOTAL)
        return;
    add_nodes(search);
}

/* ---- all ---- */

static void search_all(struct search *search)
{
    static void (*const KINDS[])(struct search *) = {correct, accept, ask_less, wait_for,
                                                     administer};
    for (size_t i = 0;
         i < sizeof KINDS / sizeof *KINDS && json_array_size(search->found) < REMEDIES_MAX; i++)
        KINDS[i](search);
}

bool remedies_may_help(const struct headline *headline)
{
    const enum verdict_cause cause = headline->cause;
    return (headline->result == RESULT_DOES_NOT_FIT || headline->result == RESULT_PARTLY_FITS) &&
           (cause == CAUSE_NAME || (cause >= CAUSE_QUOTA && cause <= CAUSE_SHARED));
}

void remedies_add(const struct remedy_question *question, json_t *json)
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    struct search search = {
        .question = question,
        .trials = trials_of(question->fork, question->roles, question->n_roles,
                            question->answer_left, arena),
        .failing = question->roles[question->i_failing].question,
        .shape = question->roles[question->i_failing].question->shape,
        .found = json_array(),
        .arena = arena,
    };
    search.near_miss = near_miss_of(search.failing, arena);
    search_all(&search);
    (void)json_object_set_new(json, "remedies", search.found);
    (void)json_object_set_new(json, "remediesTried",
                              json_string(!search.trials.is_cut      ? "all"
                                          : search.trials.n_run == 0 ? "none"
                                                                     : "some"));
}

void remedies_add_none(json_t *json)
{
    (void)json_object_set_new(json, "remedies", json_array());
    (void)json_object_set_new(json, "remediesTried", json_string("none"));
}

/* ---- text ---- */

/* ": fits on 8 nodes, best on v100-2" */
static const char *places_text(const json_t *remedy, struct arena *arena)
{
    const json_t *nodes = json_object_get(remedy, "nodes");
    const json_int_t n_nodes = json_integer_value(json_object_get(remedy, "nodeCount"));
    const json_int_t n_pods = json_integer_value(json_object_get(remedy, "fits"));
    const char *text = "";
    const char *joint = strstr(text_member(remedy, "text"), " or ") ? "or" : "and";
    size_t i = 0;
    json_t *node = NULL;
    if (strcmp(text_member(remedy, "kind"), "wait") == 0)
        return "";
    json_array_foreach (nodes, i, node)
        text = join(text, json_string_value(node), i + 1 == json_array_size(nodes), joint, arena);
    const char *who = n_pods > 1 ? arena_printf(arena, "all %lld fit", (long long)n_pods) : "fits";
    if (n_nodes == 0 && n_pods == 1)
        return ": fits there";
    if (n_nodes == 0 || n_nodes > (json_int_t)json_array_size(nodes))
        return arena_printf(arena, ": %s", who);
    return arena_printf(arena, ": %s on %s", who, text);
}

void remedies_write(const json_t *json, struct arena *arena, struct buf *out)
{
    const json_t *remedies = json_object_get(json, "remedies");
    const bool is_tried = strcmp(text_member(json, "remediesTried"), "all") == 0;
    size_t i = 0;
    json_t *remedy = NULL;
    if (json_array_size(remedies) > 0)
        buf_add_text(out, "\nWhat would help, each one alone:\n");
    json_array_foreach (remedies, i, remedy) {
        const bool is_admin = strcmp(text_member(remedy, "kind"), "administrator") == 0;
        buf_printf(out, "  %s%s%s\n", is_admin ? "administrator: " : "",
                   text_member(remedy, "text"), places_text(remedy, arena));
    }
    if (json_array_size(remedies) == 0 && is_tried)
        buf_add_text(out, "\nNo single change is enough.\n");
}
