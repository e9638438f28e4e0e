/* remedies: see remedies.h. The search; remedies_priv.h has the kinds. */
#include "api/table.h"
#include "api/text.h"
#include "api/verdicts/remedies_priv.h"
#include "base/mem.h"
#include "decide/fit.h"
#include "ledger/admit.h"

#include <string.h>

/* ---- the answer ---- */

static json_t *names_json(const struct node *const *nodes, size_t n)
{
    json_t *names = json_array();
    for (size_t i = 0; i < n && i < TRIAL_NODES; i++)
        (void)json_array_append_new(names, json_string(node_name(nodes[i])));
    return names;
}

void remedies_offer(struct remedy_search *search, const char *kind, const char *text,
                    const struct trial_end *end, json_t *change)
{
    (void)json_array_append_new(
        search->found,
        json_pack("{s:s, s:s, s:o, s:I, s:I, s:I, s:o}", "kind", kind, "text", text, "nodes",
                  names_json(end->nodes, end->n_nodes), "nodeCount", (json_int_t)end->n_nodes,
                  "choices", (json_int_t)end->n_choices, "fits", (json_int_t)end->n_pods, "change",
                  change ? change : json_null()));
}

bool remedies_has_node_name(const struct fit_question *question)
{
    return question->node_name && question->node_name[0];
}

struct shape_facts *remedies_copy_facts(const struct remedy_search *search)
{
    const struct trials *trials = &search->trials;
    struct shape_facts *facts = ARENA_ARRAY(search->arena, struct shape_facts, trials->n_roles);
    for (size_t i = 0; i < trials->n_roles; i++)
        facts[i] = trials->roles[i].question->shape->facts;
    return facts;
}

bool remedies_try(struct remedy_search *search, const struct shape_facts *facts,
                  struct trial_end *ret_end)
{
    return trial_run(&search->trials, &(struct trial){.facts = facts}, ret_end);
}

/* A node that the failing pod would fit but for this cause; NULL: no more. */
const struct node *remedies_next_near(const struct remedy_search *search, enum verdict_cause cause,
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

const char *remedies_join(const char *text, const char *name, bool is_last, const char *joint,
                          struct arena *arena)
{
    if (!text[0])
        return name;
    return is_last ? arena_printf(arena, "%s %s %s", text, joint, name)
                   : arena_printf(arena, "%s, %s", text, name);
}

void remedies_tolerate(const struct remedy_search *search, struct shape_facts *facts,
                       const char *key, const struct taint *taint)
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

bool remedies_are_alike(const struct remedy_search *search)
{
    for (size_t i = 0; i < search->trials.n_roles; i++) {
        const struct pod_shape *shape = search->trials.roles[i].question->shape;
        if (shape->n_needs != search->shape->n_needs)
            return false;
        for (size_t j = 0; j < shape->n_needs; j++) {
            if (shape_need(search->shape, shape->needs[j].resource) != shape->needs[j].amount)
                return false;
        }
    }
    return true;
}

void remedies_add_end(struct trial_end *all, const struct trial_end *end)
{
    all->n_pods = end->n_pods;
    all->nodes[all->n_nodes++] =
        end->nodes[end->n_nodes > 0 && end->n_nodes < TRIAL_NODES ? end->n_nodes - 1 : 0];
}

/* ---- the nodes of a DaemonSet ---- */

static const char *label_of(const struct node *node, const char *key)
{
    const struct label_view *view = &node_traits(node)->view;
    return labels_find(view->labels, view->n_labels, key);
}

/* Whether the nodes with room have that value, and no others. */
static bool tells_apart(const struct remedy_search *search, const struct label *label)
{
    const struct candidates *candidates = search->question->candidates;
    for (size_t i = 0; i < candidates->n; i++) {
        const struct node *node = candidates->items[i].node;
        const char *value = label_of(node, label->key);
        const bool has_it = value && strcmp(value, label->value) == 0;
        if (admit_node(node, search->shape) &&
            has_it != (fit_judge(node, search->failing) == REASON_FITS))
            return false;
    }
    return true;
}

static const struct node *first_fitting(const struct remedy_search *search)
{
    const struct candidates *candidates = search->question->candidates;
    for (size_t i = 0; i < candidates->n; i++) {
        const struct node *node = candidates->items[i].node;
        if (admit_node(node, search->shape) && fit_judge(node, search->failing) == REASON_FITS)
            return node;
    }
    return NULL;
}

static struct shape_facts *with_label(const struct remedy_search *search, const struct label *label)
{
    struct shape_facts *facts = remedies_copy_facts(search);
    struct selector_term *term = &facts->node_selector;
    struct requirement *requirements =
        ARENA_ARRAY(search->arena, struct requirement, term->n_requirements + 1);
    for (size_t i = 0; i < term->n_requirements; i++)
        requirements[i] = term->requirements[i];
    requirements[term->n_requirements++] =
        (struct requirement){.key = label->key,
                             .op = SELECTOR_IN,
                             .values = arena_copy(search->arena, &label->value, 1, sizeof(char *)),
                             .n_values = 1};
    term->requirements = requirements;
    return facts;
}

/* Labels of a node that are compared with those of all nodes. */
#define LABELS_TRIED ((size_t)24)

bool remedies_choose_nodes(struct remedy_search *search)
{
    const struct node *node = first_fitting(search);
    const struct label_view *view = node ? &node_traits(node)->view : NULL;
    struct trial_end end;
    if (!search->trials.roles[0].per_node || !view)
        return false;
    for (size_t i = 0; i < view->n_labels && i < LABELS_TRIED; i++) {
        const struct label *label = &view->labels[i];
        if (strcmp(label->key, "kubernetes.io/hostname") == 0 || !tells_apart(search, label) ||
            !remedies_try(search, with_label(search, label), &end))
            continue;
        remedies_offer(
            search, "askLess",
            arena_printf(search->arena, "add the nodeSelector %s=%s", label->key, label->value),
            &end, NULL);
        return true;
    }
    return false;
}

/* ---- all ---- */

static void search_all(struct remedy_search *search)
{
    static void (*const KINDS[])(struct remedy_search *) = {
        remedies_correct, remedies_accept, remedies_ask_less, remedies_wait, remedies_administer};
    const bool is_of_nodes = search->question->headline->cause != CAUSE_MISSING;
    const size_t n = is_of_nodes ? sizeof KINDS / sizeof *KINDS : 1;
    for (size_t i = 0; i < n && json_array_size(search->found) < REMEDIES_MAX; i++)
        KINDS[i](search);
    if (is_of_nodes && json_array_size(search->found) == 0)
        remedies_replace(search);
}

bool remedies_may_help(const struct headline *headline)
{
    const enum verdict_cause cause = headline->cause;
    return (headline->result == RESULT_DOES_NOT_FIT || headline->result == RESULT_PARTLY_FITS) &&
           (cause == CAUSE_NAME || (cause == CAUSE_MISSING && headline->missing.meant) ||
            (cause >= CAUSE_QUOTA && cause <= CAUSE_CLAIMS));
}

void remedies_add(const struct remedy_question *question, json_t *json)
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    struct remedy_search search = {
        .question = question,
        .trials = {.fork = question->fork,
                   .roles = question->roles,
                   .n_roles = question->n_roles,
                   .before = question->before,
                   .n_before = question->n_before,
                   .wish = question->wish,
                   .n_listed = question->n_listed,
                   .answer_left = question->answer_left,
                   .left = TRIAL_VERDICTS_MAX},
        .failing = question->roles[question->i_failing].question,
        .shape = question->roles[question->i_failing].question->shape,
        .missing = question->headline->missing,
        .found = json_array(),
        .arena = arena,
    };
    search.near_miss = near_miss_of(search.failing, arena);
    search_all(&search);
    /* Other selectors, constraints and tolerations of the claims are not tried, nor the end of pods
     * whose anti-affinity rules out nodes. */
    search.is_partial |=
        question->headline->cause == CAUSE_CLAIMS || question->headline->cause == CAUSE_PODS;
    search.is_partial &=
        json_array_size(search.found) == 0 && question->headline->cause != CAUSE_NAME;
    search.is_partial |= search.trials.is_cut || question->headline->cause == CAUSE_CLAIMS;
    (void)json_object_set_new(json, "remedies", search.found);
    (void)json_object_set_new(json, "remediesTried",
                              json_string(!search.is_partial         ? "all"
                                          : search.trials.n_run == 0 ? "none"
                                                                     : "some"));
}

void remedies_add_none(json_t *json)
{
    (void)json_object_set_new(json, "remedies", json_array());
    (void)json_object_set_new(json, "remediesTried", json_string("none"));
}

void remedies_add_one(json_t *json, const char *text, const struct node *node, int64_t n)
{
    const size_t n_nodes = node && n == 1 ? 1 : 0;
    json_t *remedy =
        json_pack("{s:s, s:s, s:o, s:i, s:i, s:I, s:n}", "kind", node ? "administrator" : "correct",
                  "text", text, "nodes", names_json(&node, n_nodes), "nodeCount", (int)n_nodes,
                  "choices", 0, "fits", (json_int_t)n, "change");
    if (!json_object_get(json, "remedies"))
        (void)json_object_set_new(json, "remedies", json_array());
    (void)json_array_append_new(json_object_get(json, "remedies"), remedy);
    (void)json_object_set_new(json, "remediesTried", json_string("all"));
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
    if (n_pods == 0 || strcmp(text_member(remedy, "kind"), "wait") == 0)
        return "";
    json_array_foreach (nodes, i, node)
        text = remedies_join(text, json_string_value(node), i + 1 == json_array_size(nodes), joint,
                             arena);
    const char *who = n_pods > 1 ? arena_printf(arena, "all %lld fit", (long long)n_pods) : "fits";
    if (n_nodes == 0 && n_pods == 1)
        return ": fits there";
    if (n_nodes == 0 || n_nodes > (json_int_t)json_array_size(nodes))
        return arena_printf(arena, ": %s", who);
    const json_int_t n_choices = json_integer_value(json_object_get(remedy, "choices"));
    if (n_choices > (json_int_t)TRIAL_NODES)
        return arena_printf(arena, ": fits on %lld nodes, best on %s", (long long)n_choices, text);
    return arena_printf(arena, ": %s on %s", who, text);
}

const char *remedies_short(const json_t *remedy, struct arena *arena)
{
    const bool is_admin = strcmp(text_member(remedy, "kind"), "administrator") == 0;
    const char *node = json_string_value(json_array_get(json_object_get(remedy, "nodes"), 0));
    const char *text =
        arena_printf(arena, "%s%s", is_admin ? "administrator: " : "", text_member(remedy, "text"));
    if (!node || strstr(text, node) ||
        json_integer_value(json_object_get(remedy, "nodeCount")) != 1)
        return text;
    return arena_printf(arena, "%s (%s)", text, node);
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
        table_write_line(arena_printf(arena, "%s%s%s", is_admin ? "administrator: " : "",
                                      text_member(remedy, "text"), places_text(remedy, arena)),
                         strlen("  "), TABLE_MORE, out);
        if (json_object_get(remedy, "note"))
            table_write_line(arena_printf(arena, "(%s)", text_member(remedy, "note")), strlen("  "),
                             TABLE_MORE, out);
    }
    if (json_array_size(remedies) == 0 && is_tried)
        buf_add_text(out, "\nNo single change that was tried is enough.\n");
}
