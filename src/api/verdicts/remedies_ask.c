/* remedies_ask: what the pods could ask for instead. See remedies_priv.h. */
#include "api/dry_run/domain_run.h"
#include "api/verdicts/remedies_priv.h"
#include "decide/claim_rules.h"
#include "decide/peer_rules.h"
#include "ledger/admit.h"
#include "types/gpu_model.h"
#include "types/quantity.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Alternatives that are compared, tried and named. */
#define MODELS_SEEN ((size_t)32)
#define MODELS_TRIED ((size_t)6)
#define MODELS_NAMED ((size_t)3)
#define TAINTS_TRIED ((size_t)3)

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
static size_t near_models(const struct remedy_search *search, struct near_model models[MODELS_SEEN])
{
    const struct node *node = NULL;
    size_t at = 0;
    size_t n = 0;
    while (n < MODELS_SEEN && (node = remedies_next_near(search, CAUSE_MODEL, &at))) {
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

static void accept_model(const struct remedy_search *search, struct shape_facts *facts,
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

/* Whether the pods may be told to write this name instead of one that is missing. */
static bool is_corrected(const struct remedy_search *search, enum missing_kind kind,
                         const char *name)
{
    const struct missing_name *missing = &search->missing;
    return missing->kind == kind && missing->meant && strcmp(missing->meant, name) == 0 &&
           json_array_size(search->found) > 0;
}

/* Where no one more is enough. */
static bool accept_all_models(struct remedy_search *search)
{
    struct shape_facts *facts = remedies_copy_facts(search);
    struct trial_end end;
    bool are_chosen = false;
    for (size_t i = 0; i < search->trials.n_roles; i++) {
        are_chosen = are_chosen || facts[i].wants.n_accept > 0;
        facts[i].wants.n_accept = 0;
    }
    if (!are_chosen || !remedies_try(search, facts, &end))
        return false;
    remedies_offer(search, "accept", "drop gpu-extender.io/models", &end, NULL);
    return true;
}

static bool accept_models(struct remedy_search *search)
{
    struct near_model models[MODELS_SEEN];
    const size_t n = near_models(search, models);
    struct trial_end all = {0};
    struct trial_end end;
    const char *names[MODELS_NAMED] = {NULL};
    const char *text = "";
    for (size_t i = 0; i < n && all.n_nodes < MODELS_NAMED; i++) {
        struct shape_facts *facts = remedies_copy_facts(search);
        accept_model(search, facts, &models[i].model);
        if (is_corrected(search, MISSING_MODEL, models[i].name) ||
            !remedies_try(search, facts, &end))
            continue;
        names[all.n_nodes] = models[i].name;
        remedies_add_end(&all, &end);
    }
    for (size_t i = 0; i < all.n_nodes; i++)
        text = remedies_join(text, names[i], i + 1 == all.n_nodes, "or", search->arena);
    if (all.n_nodes == 0)
        return accept_all_models(search);
    if (trials_n_pods(&search->trials) > 1)
        all.n_nodes = 0; /* no single node is that of all pods */
    remedies_offer(search, "accept", arena_printf(search->arena, "accept %s too", text), &all,
                   NULL);
    return true;
}

static bool accept_excluded(struct remedy_search *search)
{
    struct shape_facts *facts = remedies_copy_facts(search);
    struct trial_end end;
    for (size_t i = 0; i < search->trials.n_roles; i++)
        facts[i].wants.n_exclude = 0;
    if (search->shape->facts.wants.n_exclude == 0 || !remedies_try(search, facts, &end))
        return false;
    remedies_offer(search, "accept", "drop gpu-extender.io/exclude-models", &end, NULL);
    return true;
}

/* As ExtendedResourceToleration does: of the name of a resource that the pods ask for. */
static bool admission_adds(const struct pod_shape *shape, const struct taint *taint)
{
    for (size_t i = 0; i < shape->n_gpu_needs; i++) {
        if (strcmp(shape->needs[i].resource->name, taint->key) == 0)
            return taint->effect == TAINT_NO_SCHEDULE;
    }
    return false;
}

/* All taints of one node that keep the pod off. */
static bool accept_taints_of(struct remedy_search *search, const struct node *node)
{
    const struct node_traits *traits = node_traits(node);
    const struct shape_facts *asked = &search->shape->facts;
    struct shape_facts *facts = remedies_copy_facts(search);
    struct trial_end end;
    const char *keys = "";
    bool are_added = true;
    for (size_t i = 0; i < traits->n_taints; i++) {
        const struct taint *taint = &traits->taints[i];
        if (!taints_first_untolerated(taint, 1, asked->tolerations, asked->n_tolerations))
            continue;
        remedies_tolerate(search, facts, taint->key, taint);
        keys = remedies_join(keys, taint->key, true, "and", search->arena);
        are_added &= admission_adds(search->shape, taint);
    }
    if (is_corrected(search, MISSING_TOLERATION, keys) || !remedies_try(search, facts, &end))
        return false;
    remedies_offer(search, "accept", arena_printf(search->arena, "add a toleration for %s", keys),
                   &end, NULL);
    if (are_added)
        (void)json_object_set_new(
            json_array_get(search->found, json_array_size(search->found) - 1), "note",
            json_string("the admission plugin ExtendedResourceToleration adds it, where it runs"));
    return true;
}

static bool accept_taints(struct remedy_search *search)
{
    const struct node *node = NULL;
    size_t at = 0;
    for (size_t i = 0; i < TAINTS_TRIED && (node = remedies_next_near(search, CAUSE_TAINT, &at));
         i++) {
        if (accept_taints_of(search, node))
            return true;
    }
    return false;
}

static const struct requirement *without(const struct remedy_search *search,
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

static const struct requirement *find_same(const struct selector_term *term,
                                           const struct requirement *wanted)
{
    for (size_t i = 0; i < term->n_requirements; i++) {
        const struct requirement *found = &term->requirements[i];
        if (strcmp(found->key, wanted->key) == 0 && found->n_values == wanted->n_values &&
            (found->n_values == 0 || strcmp(found->values[0], wanted->values[0]) == 0))
            return found;
    }
    return NULL;
}

static bool drop_requirement(struct remedy_search *search, const struct requirement *dropped)
{
    struct shape_facts *facts = remedies_copy_facts(search);
    struct trial_end end;
    for (size_t i = 0; i < search->trials.n_roles; i++) {
        struct selector_term *term = &facts[i].node_selector;
        const struct requirement *same = find_same(term, dropped);
        if (!same)
            continue;
        term->requirements = without(search, term, (size_t)(same - term->requirements));
        term->n_requirements--;
    }
    if (!remedies_try(search, facts, &end))
        return false;
    remedies_offer(search, "accept",
                   arena_printf(search->arena, "drop the nodeSelector %s=%s", dropped->key,
                                dropped->n_values > 0 ? dropped->values[0] : ""),
                   &end, NULL);
    return true;
}

static bool drop_affinity(struct remedy_search *search)
{
    struct shape_facts *facts = remedies_copy_facts(search);
    struct trial_end end;
    for (size_t i = 0; i < search->trials.n_roles; i++)
        facts[i].affinity = (struct node_selector){0};
    if (!remedies_try(search, facts, &end))
        return false;
    remedies_offer(search, "accept", "drop the required node affinity", &end, NULL);
    return true;
}

static bool accept_labels(struct remedy_search *search)
{
    const struct selector_term *selector = &search->shape->facts.node_selector;
    for (size_t i = 0; i < selector->n_requirements && i < NODES_TRIED; i++) {
        if (drop_requirement(search, &selector->requirements[i]))
            return true;
    }
    return search->shape->facts.affinity.present && drop_affinity(search);
}

static bool accept_shares(struct remedy_search *search)
{
    struct shape_facts *facts = remedies_copy_facts(search);
    struct trial_end end;
    size_t at = 0;
    for (size_t i = 0; i < search->trials.n_roles; i++)
        facts[i].allow_shared = ALLOW_SHARED_YES;
    if (!remedies_next_near(search, CAUSE_SHARED, &at) || !remedies_try(search, facts, &end))
        return false;
    remedies_offer(search, "accept", "allow parts of GPUs (gpu-extender.io/allow-shared)", &end,
                   NULL);
    return true;
}

static bool accept_any_node(struct remedy_search *search)
{
    struct trial_end end;
    if (!remedies_has_node_name(search->failing) ||
        !trial_run(&search->trials, &(struct trial){.node_name = ""}, &end))
        return false;
    remedies_offer(search, "accept", "drop spec.nodeName", &end, NULL);
    return true;
}

static bool accept_any_domain(struct remedy_search *search)
{
    struct trial_end end;
    if (search->trials.wish.rule != DOMAIN_REQUIRE ||
        !trial_run(&search->trials, &(struct trial){.lifts_domain = true}, &end))
        return false;
    remedies_offer(search, "accept",
                   arena_printf(search->arena, "write \"prefer %s\" in gpu-extender.io/domain",
                                policy_level_name(cluster_policy(search->trials.fork),
                                                  search->trials.wish.level)),
                   &end, NULL);
    return true;
}

/* One of its own rules about other pods. */
static bool accept_pods(struct remedy_search *search)
{
    const struct peer_pod *peer = search->failing->peer;
    const struct peer_facts *terms = peer ? peer->terms : NULL;
    const struct {
        enum reason rule;
        size_t n;
        const char *text;
    } rules[] = {
        {REASON_TOPOLOGY_SPREAD, terms ? terms->n_spread : 0,
         "drop the topology spread constraints"},
        {REASON_POD_AFFINITY, terms ? terms->n_affinity : 0, "drop the required pod affinity"},
        {REASON_POD_ANTI_AFFINITY, terms ? terms->n_anti_affinity : 0,
         "drop the required pod anti-affinity"},
    };
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        const struct trial trial = {.lifted_rule = rules[i].rule};
        struct trial_end end;
        if (rules[i].n == 0 || !trial_run(&search->trials, &trial, &end))
            continue;
        remedies_offer(search, "accept", rules[i].text, &end, NULL);
        return true;
    }
    return false;
}

static bool chooses_labels(const struct headline *headline)
{
    return headline->cause == CAUSE_LABEL ||
           (headline->cause == CAUSE_NAME && headline->missing.requirement);
}

static bool accept_what_decides(struct remedy_search *search)
{
    const struct headline *headline = search->question->headline;
    return accept_any_node(search) || accept_any_domain(search) ||
           (headline->cause == CAUSE_TAINT && accept_taints(search)) ||
           (headline->cause == CAUSE_SHARED && accept_shares(search)) ||
           (headline->cause == CAUSE_PODS && accept_pods(search)) ||
           (chooses_labels(headline) && accept_labels(search));
}

/* What decides comes first. */
void remedies_accept(struct remedy_search *search)
{
    const struct headline *headline = search->question->headline;
    if (accept_what_decides(search) || accept_models(search) ||
        (headline->cause != CAUSE_TAINT && accept_taints(search)) ||
        (!chooses_labels(headline) && accept_labels(search)) ||
        (headline->cause != CAUSE_PODS && accept_pods(search)) || accept_excluded(search))
        return;
    if (headline->cause != CAUSE_SHARED)
        (void)accept_shares(search);
}

/* ---- ask for less ---- */

static void set_demand(const struct remedy_search *search, struct shape_facts *facts,
                       const char *resource, int64_t amount)
{
    struct amount *demand =
        arena_copy(search->arena, facts->demand, facts->n_demand, sizeof *facts->demand);
    for (size_t i = 0; i < facts->n_demand; i++) {
        if (strcmp(demand[i].resource, resource) == 0 && demand[i].amount > amount)
            demand[i].amount = amount;
    }
    facts->demand = demand;
}

static const char *a_pod(const struct remedy_search *search)
{
    return trials_n_pods(&search->trials) > 1 || search->trials.roles[0].per_node ? " a pod" : "";
}

/* That the pods ask for n of something. */
typedef struct trial trial_of(const struct remedy_search *search, int64_t n);

/* The most, less than they ask for, with which they fit; 0: none. */
static int64_t find_most(struct remedy_search *search, trial_of *of, int64_t asked,
                         struct trial_end *ret_end)
{
    int64_t low = 0; /* fits, or 0 */
    int64_t high = asked;
    while (high - low > 1 && !search->trials.is_cut) {
        const int64_t n = low + (high - low) / 2;
        const struct trial trial = of(search, n);
        if (trial_run(&search->trials, &trial, ret_end))
            low = n;
        else
            high = n;
    }
    return low;
}

static struct trial with_gpus(const struct remedy_search *search, int64_t n)
{
    struct shape_facts *facts = remedies_copy_facts(search);
    for (size_t i = 0; i < search->trials.n_roles; i++)
        set_demand(search, &facts[i], search->shape->needs[0].resource->name, n);
    return (struct trial){.facts = facts};
}

static struct trial with_pods(const struct remedy_search *search, int64_t n)
{
    (void)search;
    return (struct trial){.n_pods = n};
}

static struct trial with_devices(const struct remedy_search *search, int64_t n)
{
    (void)search;
    return (struct trial){.most_devices = n};
}

static bool ask_less_gpus(struct remedy_search *search, const struct need *need)
{
    struct trial_end end;
    const int64_t n = find_most(search, with_gpus, need->amount, &end);
    if (n > 0)
        remedies_offer(search, "askLess",
                       arena_printf(search->arena, "ask for %s%s",
                                    headline_amount(need->resource->name, n, search->arena),
                                    a_pod(search)),
                       &end, NULL);
    return n > 0;
}

/* The most that one domain has room for, if that decides; of pods that differ it depends which. */
static bool ask_fewer_pods(struct remedy_search *search)
{
    const struct trials *trials = &search->trials;
    struct trial_end end;
    if (trials->wish.rule != DOMAIN_REQUIRE || search->question->headline->node)
        return false;
    for (size_t i = 0; i < trials->n_roles; i++) {
        if (domain_run_gpus(trials->roles[i].question->shape) != domain_run_gpus(search->shape))
            return false;
    }
    const int64_t n = find_most(search, with_pods, trials_n_pods(trials), &end);
    if (n > 0)
        remedies_offer(
            search, "askLess",
            arena_printf(search->arena, "ask for %" PRId64 " pod%s", n, n == 1 ? "" : "s"), &end,
            NULL);
    return n > 0;
}

static void ask_fewer_devices(struct remedy_search *search)
{
    struct arena *arena = search->arena;
    struct trial_end end;
    const char *request = NULL;
    const int64_t asked = claim_rules_most_devices(search->failing->devices, &request);
    const int64_t n = find_most(search, with_devices, asked, &end);
    const char *text = arena_printf(arena, "%" PRId64 " device%s", n, n == 1 ? "" : "s");
    if (n > 0)
        remedies_offer(search, "askLess",
                       request ? arena_printf(arena, "ask for %s in request %s", text, request)
                               : arena_printf(arena, "ask for at most %s in each request", text),
                       &end, NULL);
}

static void drop_demand(const struct remedy_search *search, struct shape_facts *facts,
                        const char *resource)
{
    struct amount *demand = ARENA_ARRAY(search->arena, struct amount, facts->n_demand);
    size_t n = 0;
    for (size_t i = 0; i < facts->n_demand; i++) {
        if (strcmp(facts->demand[i].resource, resource) != 0)
            demand[n++] = facts->demand[i];
    }
    facts->demand = demand;
    facts->n_demand = n;
}

/* A container cannot start without it. */
static bool is_needed(const char *resource)
{
    return strcmp(resource, "pods") == 0 || strcmp(resource, "cpu") == 0 ||
           strcmp(resource, "memory") == 0 || strcmp(resource, "ephemeral-storage") == 0;
}

/* So much of it, or none. Returns it as text. */
static const char *ask_less_of(struct remedy_search *search, struct shape_facts *facts,
                               const char *resource, int64_t left)
{
    const int64_t less = headline_round_down(resource, left);
    for (size_t i = 0; i < search->trials.n_roles; i++) {
        if (left > 0)
            set_demand(search, &facts[i], resource, less);
        else
            drop_demand(search, &facts[i], resource);
    }
    return left > 0 ? headline_amount(resource, less, search->arena)
                    : arena_printf(search->arena, "no %s", resource);
}

/* What the nearest node has left of CPU, memory and so on. */
static bool ask_less_of_others(struct remedy_search *search)
{
    const struct node *node = search->question->headline->node;
    struct shape_facts *facts = remedies_copy_facts(search);
    const char *text = "";
    struct trial_end end;
    for (size_t i = search->shape->n_gpu_needs; node && i < search->shape->n_needs; i++) {
        const struct need *need = &search->shape->needs[i];
        const int64_t left = need->amount - fit_lack(node, search->failing, need);
        if (left == need->amount)
            continue;
        if (left <= 0 && is_needed(need->resource->name))
            return false;
        text = remedies_join(text, ask_less_of(search, facts, need->resource->name, left), true,
                             "and", search->arena);
    }
    if (!text[0] || !remedies_try(search, facts, &end))
        return false;
    remedies_offer(search, "askLess",
                   arena_printf(search->arena, "ask for %s%s", text, a_pod(search)), &end, NULL);
    return true;
}

/* Parts that are tried, of what the nearest node has: the finer ones only if no other is enough. */
#define COARSE_PARTS 16
#define FINER_PARTS (COARSE_PARTS * COARSE_PARTS)

static bool is_divided(const struct remedy_search *search, size_t i)
{
    return i >= search->shape->n_gpu_needs && search->shape->needs[i].amount > 1 &&
           (!search->divided || search->divided == &search->shape->needs[i]);
}

static int64_t part_of(const struct remedy_search *search, const struct need *need, int64_t n)
{
    const struct node *node = search->question->headline->node;
    const int64_t left = need->amount - (node ? fit_lack(node, search->failing, need) : 0);
    const int64_t whole = left > 0 ? left : need->amount;
    const int64_t part =
        whole / search->divisor * n + whole % search->divisor * n / search->divisor;
    const int64_t rounded = headline_round_down(need->resource->name, part);
    return rounded > 0 ? rounded : part > 0 ? part : 1;
}

static struct trial with_parts(const struct remedy_search *search, int64_t n)
{
    struct shape_facts *facts = remedies_copy_facts(search);
    for (size_t i = 0; i < search->shape->n_needs; i++) {
        const struct need *need = &search->shape->needs[i];
        for (size_t j = 0; is_divided(search, i) && j < search->trials.n_roles; j++)
            set_demand(search, &facts[j], need->resource->name, part_of(search, need, n));
    }
    return (struct trial){.facts = facts};
}

/* The most parts that are enough; 0: none are. */
static int64_t most_parts(struct remedy_search *search, struct trial_end *ret_end)
{
    search->divisor = FINER_PARTS;
    const struct trial least = with_parts(search, 1);
    if (!trial_run(&search->trials, &least, ret_end))
        return 0;
    search->divisor = COARSE_PARTS;
    const int64_t n = find_most(search, with_parts, COARSE_PARTS + 1, ret_end);
    if (n > 0)
        return n;
    search->divisor = FINER_PARTS;
    return find_most(search, with_parts, COARSE_PARTS, ret_end);
}

/* Of one resource that is not GPUs, or of all of them. */
static bool ask_parts_of(struct remedy_search *search, const struct need *divided)
{
    struct trial_end end;
    const char *text = "";
    search->divided = divided;
    const int64_t n = most_parts(search, &end);
    for (size_t i = 0; n > 0 && i < search->shape->n_needs; i++) {
        const struct need *need = &search->shape->needs[i];
        if (is_divided(search, i))
            text = remedies_join(
                text,
                headline_amount(need->resource->name, part_of(search, need, n), search->arena),
                true, "and", search->arena);
    }
    if (text[0])
        remedies_offer(search, "askLess",
                       arena_printf(search->arena, "ask for %s%s", text, a_pod(search)), &end,
                       NULL);
    return text[0];
}

/* Of several pods, of which the nearest node takes the first. */
static bool ask_parts(struct remedy_search *search)
{
    size_t n = 0;
    search->divided = NULL;
    for (size_t i = 0; i < search->shape->n_needs; i++)
        n += is_divided(search, i);
    for (size_t i = 0; n > 1 && i < search->shape->n_needs; i++) {
        search->divided = NULL;
        if (is_divided(search, i) && ask_parts_of(search, &search->shape->needs[i]))
            return true;
    }
    return n > 0 && ask_parts_of(search, NULL);
}

/* At most so much of each resource that the failing pods ask for, in every pod. */
static const char *divide(const struct remedy_search *search, struct shape_facts *facts, int64_t by)
{
    const char *text = "";
    for (size_t i = 0; i < search->shape->n_needs; i++) {
        const struct need *need = &search->shape->needs[i];
        const char *resource = need->resource->name;
        const int64_t part =
            need->amount >= by ? headline_round_down(resource, need->amount / by) : 1;
        if (strcmp(resource, "pods") == 0)
            continue;
        for (size_t j = 0; j < search->trials.n_roles; j++)
            set_demand(search, &facts[j], resource, part);
        text = remedies_join(text, headline_amount(resource, part, search->arena), false, "",
                             search->arena);
    }
    return text;
}

/* Of so many GPUs a pod that parts are tried. */
#define PARTED_MAX 16

/* Half of everything, a third and so on: every pod gets whole GPUs. */
static bool ask_part(struct remedy_search *search, const struct need *need)
{
    static const char *const PARTS[] = {"",        "",        "half",      "a third",  "a quarter",
                                        "a fifth", "a sixth", "a seventh", "an eighth"};
    for (int64_t by = 2; by <= need->amount && by <= PARTED_MAX; by++) {
        struct shape_facts *facts = remedies_copy_facts(search);
        struct trial_end end;
        if (need->amount % by != 0)
            continue;
        const char *text = divide(search, facts, by);
        if (!remedies_try(search, facts, &end))
            continue;
        const char *part = (size_t)by < sizeof PARTS / sizeof *PARTS
                               ? PARTS[by]
                               : arena_printf(search->arena, "1/%" PRId64, by);
        remedies_offer(
            search, "askLess",
            remedies_are_alike(search)
                ? arena_printf(search->arena, "ask for %s, %s%s", part, text, a_pod(search))
                : arena_printf(search->arena, "ask for at most %s a pod", text),
            &end, NULL);
        return true;
    }
    search->is_partial |=
        !remedies_are_alike(search); /* each role could ask for a part of its own */
    return false;
}

static bool ask_less_memory(struct remedy_search *search)
{
    const struct node *node = NULL;
    struct shape_facts *facts = remedies_copy_facts(search);
    struct trial_end end;
    int64_t most = 0;
    char text[32];
    for (size_t at = 0; (node = remedies_next_near(search, CAUSE_MODEL, &at));) {
        const int64_t there = admit_memory_bytes(node_traits(node), search->shape);
        if (fit_judge(node, search->failing) == REASON_GPU_MEMORY && there > most)
            most = there;
    }
    for (size_t i = 0; i < search->trials.n_roles; i++) {
        int64_t *least = &facts[i].wants.min_memory_bytes;
        *least = *least > most ? most : *least;
    }
    if (search->shape->facts.wants.min_memory_bytes == 0 || !remedies_try(search, facts, &end))
        return false;
    remedies_offer(search, "askLess",
                   most == 0 ? "drop gpu-extender.io/min-gpu-memory"
                             : arena_printf(search->arena, "ask for at most %s of GPU memory",
                                            quantity_bytes_text(most, text)),
                   &end, NULL);
    return true;
}

/* Besides CPU, memory and the like, which have no domain. */
static bool asks_for_another(const struct remedy_search *search, const char *resource)
{
    for (size_t i = 0; i < search->shape->n_needs; i++) {
        const char *name = search->shape->needs[i].resource->name;
        if (strchr(name, '/') && strcmp(name, resource) != 0)
            return true;
    }
    return false;
}

/* Without a resource that no node has, or one of two that no node has together. Returns whether
 * that is the fault. */
static bool leave_out(struct remedy_search *search)
{
    const struct missing_name *missing = &search->missing;
    if (missing->kind != MISSING_TOGETHER && missing->kind != MISSING_RESOURCE)
        return false;
    const char *const resources[] = {missing->name, missing->value};
    const size_t n = missing->kind == MISSING_TOGETHER ? 2 : 1;
    const char *text = "";
    struct trial_end either = {0};
    for (size_t i = 0; i < n; i++) {
        struct shape_facts *facts = remedies_copy_facts(search);
        struct trial_end end;
        if (!asks_for_another(search, resources[i]))
            continue;
        for (size_t j = 0; j < search->trials.n_roles; j++)
            drop_demand(search, &facts[j], resources[i]);
        if (!remedies_try(search, facts, &end))
            continue;
        text = remedies_join(text, arena_printf(search->arena, "no %s", resources[i]), true, "or",
                             search->arena);
        if (n == 1)
            either = end;
        else
            remedies_add_end(&either, &end);
    }
    if (n > 1 && trials_n_pods(&search->trials) > 1)
        either.n_nodes = 0;
    if (text[0])
        remedies_offer(search, "askLess",
                       arena_printf(search->arena, "ask for %s%s", text, a_pod(search)), &either,
                       NULL);
    return true;
}

static bool ask_less_beside_gpus(struct remedy_search *search)
{
    return search->question->headline->cause == CAUSE_RESOURCES &&
           (ask_less_of_others(search) || ask_parts(search));
}

void remedies_ask_less(struct remedy_search *search)
{
    const enum verdict_cause cause = search->question->headline->cause;
    const struct need *need = search->shape->n_gpu_needs > 0 ? &search->shape->needs[0] : NULL;
    if (remedies_choose_nodes(search) || (cause == CAUSE_MODEL && ask_less_memory(search)) ||
        leave_out(search))
        return;
    if (cause == CAUSE_CLAIMS)
        ask_fewer_devices(search);
    if (cause < CAUSE_QUOTA || cause > CAUSE_TOTAL)
        return;
    if (ask_fewer_pods(search) || ask_less_beside_gpus(search))
        return;
    if (need && need->amount > 1 && !ask_less_gpus(search, need))
        (void)ask_part(search, need);
}
