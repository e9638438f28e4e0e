/* verdict: see verdict.h. First one node, then the table. */
#include "api/verdicts/verdict.h"
#include "api/table.h"
#include "api/text.h"
#include "api/verdicts/headline.h"
#include "base/mem.h"
#include "base/table.h"
#include "decide/claim_rules.h"
#include "formats/json_values.h"
#include "objects/node.h"
#include "objects/pod.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

/* Adds for each requested GPU resource: key = its name, operator Exists, effect NoSchedule. */
static const struct pod_shape *tolerant_shape(const struct pod_shape *shape, struct arena *arena)
{
    struct pod_shape *tolerant = ARENA_NEW(arena, struct pod_shape);
    size_t n = shape->facts.n_tolerations;
    struct toleration *tolerations = ARENA_ARRAY(arena, struct toleration, n + shape->n_gpu_needs);
    for (size_t i = 0; i < n; i++)
        tolerations[i] = shape->facts.tolerations[i];
    for (size_t i = 0; i < shape->n_gpu_needs; i++)
        tolerations[n++] = (struct toleration){.key = shape->needs[i].resource->name,
                                               .value = "",
                                               .op = TOLERATION_EXISTS,
                                               .effect = TAINT_NO_SCHEDULE};
    *tolerant = *shape;
    tolerant->facts.tolerations = tolerations;
    tolerant->facts.n_tolerations = n;
    return tolerant;
}

void verdict_query_admission(struct pod_query *query)
{
    query->tolerant = query->question;
    query->tolerant.shape = tolerant_shape(query->question.shape, query->arena);
}

bool verdict_admission_would_help(const struct pod_query *query, const struct node *node)
{
    return query->tolerant.shape && fit_judge(node, &query->tolerant) == REASON_FITS;
}

const char *verdict_taint_text(const struct taint *taint, struct arena *arena)
{
    static const char *const EFFECTS[] = {[TAINT_NO_SCHEDULE] = "NoSchedule",
                                          [TAINT_PREFER_NO_SCHEDULE] = "PreferNoSchedule",
                                          [TAINT_NO_EXECUTE] = "NoExecute"};
    return arena_printf(arena, "%s%s%s:%s", taint->key, taint->value[0] ? "=" : "", taint->value,
                        EFFECTS[taint->effect]);
}

static const char *taint_message(const struct pod_query *query, const struct node *node)
{
    const struct shape_facts *facts = &query->question.shape->facts;
    const struct node_traits *traits = node_traits(node);
    const struct taint *taint = taints_first_untolerated(traits->taints, traits->n_taints,
                                                         facts->tolerations, facts->n_tolerations);
    const char *hint = "";
    if (verdict_admission_would_help(query, node))
        hint = "; only this toleration is missing, and clusters that run the admission plugin "
               "ExtendedResourceToleration add it (policy admission.extendedResourceToleration)";
    return arena_printf(query->arena, "%s: %s%s", reason_text(REASON_TAINT),
                        verdict_taint_text(taint, query->arena), hint);
}

static int64_t total_of(const struct node *node, const struct need *need)
{
    const struct node_resource *there = node_find_resource(node, need->resource);
    return there ? there->allocatable : 0;
}

/* "...: 8 nvidia.com/gpu": the node's total of the first resource whose total is too small. */
static const char *total_message(const struct pod_query *query, const struct node *node)
{
    const struct pod_shape *shape = query->question.shape;
    for (size_t i = 0; i < shape->n_gpu_needs; i++) {
        const struct need *need = &shape->needs[i];
        const int64_t total = total_of(node, need);
        if (total < need->amount)
            return arena_printf(query->arena, "%s: %" PRId64 " %s", reason_text(REASON_GPU_TOTAL),
                                total, need->resource->name);
    }
    return reason_text(REASON_GPU_TOTAL);
}

/* "...: nvidia.com/gpu": the first resource that the node lacks. */
static const char *resource_message(const struct pod_query *query, const struct node *node,
                                    enum reason reason)
{
    const struct pod_shape *shape = query->question.shape;
    const bool is_gpu = reason != REASON_RESOURCE;
    for (size_t i = 0; i < shape->n_needs; i++) {
        const struct need *need = &shape->needs[i];
        if (need->resource->is_gpu != is_gpu || fit_lack(node, &query->question, need) == 0)
            continue;
        const char *name = need->resource->name;
        if (is_gpu ||
            (strcmp(name, "cpu") != 0 && strcmp(name, "memory") != 0 && strcmp(name, "pods") != 0))
            return arena_printf(query->arena, "%s: %s", reason_text(reason), name);
    }
    return reason_text(reason);
}

static const char *fits_message(const struct pod_query *query, const struct node *node)
{
    const struct need *need = fit_by_claim(node, query->question.shape);
    if (!need)
        return reason_text(REASON_FITS);
    return arena_printf(query->arena, "%s; " CLAIMS_JUDGED ": %s would come through a device class",
                        reason_text(REASON_FITS), need->resource->name);
}

/* "...: ResourceClaim ml/train" */
static const char *claim_message(const struct pod_query *query, const struct node *node,
                                 enum reason reason)
{
    const char *cause = claim_rules_cause(query->question.devices, node);
    if (!cause[0])
        return reason_text(reason);
    return arena_printf(query->arena, "%s: %s", reason_text(reason), cause);
}

const char *verdict_message(const struct pod_query *query, const struct node *node,
                            enum reason reason)
{
    if (reason == REASON_FITS)
        return fits_message(query, node);
    if (reason == REASON_POD_INVALID)
        return query->question.refusal;
    if (reason == REASON_TAINT)
        return taint_message(query, node);
    if (reason == REASON_GPU_TOTAL)
        return total_message(query, node);
    if (reason_is_of_claims(reason))
        return claim_message(query, node, reason);
    if (reason == REASON_GPU_ABSENT || reason == REASON_GPU_FREE ||
        reason == REASON_GPU_NOMINATED || reason == REASON_GPU_KEPT || reason == REASON_RESOURCE)
        return resource_message(query, node, reason);
    return fit_text(node, &query->question, reason);
}

int64_t verdict_lacking_gpus(const struct fit_question *question, const struct node *node)
{
    const struct pod_shape *shape = question->shape;
    int64_t sum = 0;
    for (size_t i = 0; i < shape->n_gpu_needs; i++) {
        int64_t lack = fit_lack(node, question, &shape->needs[i]);
        if (__builtin_add_overflow(sum, lack, &sum))
            return INT64_MAX;
    }
    return sum;
}

json_t *verdict_lacks(const struct fit_question *question, const struct node *node)
{
    const struct pod_shape *shape = question->shape;
    json_t *lacks = json_object();
    for (size_t i = 0; i < shape->n_needs; i++) {
        int64_t lack = fit_lack(node, question, &shape->needs[i]);
        if (lack > 0)
            (void)json_object_set_new(lacks, shape->needs[i].resource->name, json_integer(lack));
    }
    return lacks;
}

static json_t *candidate_json(const struct pod_query *query, const struct node_verdict *candidate)
{
    const enum reason reason = candidate->verdict;
    const struct node *node = candidate->node;
    const struct gpu_kind *gpus = node_traits_next_kind(node_traits(node), NULL);
    char model[2 * GPU_MODEL_TEXT_MAX];
    return json_pack("{s:s, s:s, s:b, s:o, s:s, s:s, s:s, s:o, s:o*}", "node", node_name(node),
                     "model", gpus ? gpu_model_text(&gpus->model, model) : "", "fits",
                     reason == REASON_FITS, "score",
                     reason == REASON_FITS ? json_integer(candidate->score) : json_null(), "reason",
                     reason_name(reason), "message", verdict_message(query, node, reason), "help",
                     reason_help(reason), "lacks", verdict_lacks(&query->question, node),
                     "conditions", node_conditions_list(node_traits(node)->conditions));
}

json_t *verdict_list(const struct pod_query *query, const struct candidates *candidates)
{
    struct arena *texts CLEANUP(arena_free_ptr) = arena_new();
    struct pod_query own = *query;
    json_t *list = json_array();
    own.arena = texts;
    for (size_t i = 0; i < candidates->n; i++)
        (void)json_array_append_new(list, candidate_json(&own, &candidates->items[i]));
    return list;
}

const char *verdict_counts_text(const size_t counts[N_REASONS], size_t n_nodes, struct arena *arena)
{
    const char *text = "";
    for (enum reason reason = REASON_FITS + 1; reason < N_REASONS; reason++) {
        if (counts[reason] > 0)
            text = arena_printf(arena, "%s%s%zu × %s", text, text[0] ? "; " : "", counts[reason],
                                reason_text(reason));
    }
    return arena_printf(arena, "%zu of %zu nodes fit (%s)", counts[REASON_FITS], n_nodes, text);
}

const char *verdict_amounts_text(const json_t *amounts, struct arena *arena)
{
    struct name_list shown = {.text = ""};
    const char *resource = NULL;
    json_t *amount = NULL;
    json_object_foreach ((json_t *)(uintptr_t)amounts, resource, amount)
        text_names_add(&shown,
                       text_names_are_full(&shown)
                           ? NULL
                           : headline_amount(resource, json_integer_value(amount), arena),
                       arena);
    return text_names(&shown, arena);
}

static bool fits(const json_t *node)
{
    return json_is_true(json_object_get(node, "fits"));
}

static void write_fitting_nodes(const json_t *nodes, struct arena *arena, struct buf *out)
{
    static const char *const HEADINGS[] = {"FITS ON", "SCORE", NULL};
    struct table *table = table_new(arena, true, HEADINGS);
    size_t i = 0;
    json_t *node = NULL;
    json_array_foreach (nodes, i, node) {
        if (fits(node))
            table_add(table, (const char *[]){text_member(node, "node"),
                                              text_number(node, "score", arena)});
    }
    if (table_is_empty(table))
        return;
    buf_add_text(out, "\n");
    table_write(table, out);
}

/* ---- why not ---- */

/* Nodes that reject the pod for one reason. */
struct why_row {
    const char *why;
    struct name_list nodes;
    const char *after; /* the pods on the first of them */
    int64_t lack;      /* of GPUs; INT64_MAX: it is no amount */
    UT_hash_handle hh;
};

/* GPUs come first; a node that a quota rules out may lack others only. */
static int64_t lacking_gpus(const json_t *node)
{
    const bool is_quota = strcmp(text_member(node, "reason"), "quota") == 0;
    const char *resource = NULL;
    json_t *amount = NULL;
    json_object_foreach (json_object_get(node, "lacks"), resource, amount) {
        if (strchr(resource, '/') &&
            (!is_quota || strstr(resource, "gpu") || strstr(resource, "/mig-")))
            return json_integer_value(amount);
    }
    return 0;
}

/* What follows the colon of the message: the resource. */
static const char *detail_of(const json_t *node)
{
    const char *colon = strstr(text_member(node, "message"), ": ");
    return colon ? colon + 2 : "";
}

/* A few words instead of the message. */
static const char *why_text(const json_t *node, struct arena *arena)
{
    static const struct {
        const char *reason, *why;
    } WORDS[] = {{"unschedulable", "not ready or cordoned"},
                 {"node_selector", "other labels"},
                 {"node_affinity", "other labels"},
                 {"legacy_affinity", "other labels"},
                 {"gpu_shared", "shares its GPUs"},
                 {"gpu_mig", "slices of GPUs"},
                 {"model_unknown", "model unknown"},
                 {"model_excluded", "an excluded model"},
                 {"model_not_wanted", "another model"},
                 {"gpu_memory", "too little GPU memory"},
                 {"gpu_memory_unknown", "GPU memory unknown"},
                 {"gpu_nominated", "GPUs kept for another pod"},
                 {"cpu", "too little CPU"},
                 {"memory", "too little memory"},
                 {"pods", "no pod slot"}};
    const char *reason = text_member(node, "reason");
    const bool is_quota = strcmp(reason, "quota") == 0;
    const bool is_amount =
        is_quota || strcmp(reason, "gpu_free") == 0 || strcmp(reason, "gpu_total") == 0;
    for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++) {
        if (strcmp(WORDS[i].reason, reason) == 0)
            return WORDS[i].why;
    }
    if (is_amount && lacking_gpus(node) > 0)
        return arena_printf(arena, "%lld GPU%s lacking", (long long)lacking_gpus(node),
                            lacking_gpus(node) == 1 ? "" : "s");
    if (is_quota) /* the verdict has its limits */
        return "a quota leaves too few GPUs";
    if (strcmp(reason, "gpu_absent") == 0)
        return arena_printf(arena, "no %s", detail_of(node));
    if (strcmp(reason, "resource") == 0)
        return arena_printf(arena, "too little %s", detail_of(node));
    if (strcmp(reason, "taint") != 0)
        return text_member(node, "message");
    return strncmp(detail_of(node), "node.kubernetes.io/", 19) == 0 ? "not ready or cordoned"
                                                                    : "taint not tolerated";
}

static struct why_row *find_refusal(struct why_row **refusals, const char *why, struct arena *arena)
{
    struct why_row *refusal = NULL;
    HASH_FIND_STR(*refusals, why, refusal);
    if (!refusal) {
        refusal = ARENA_NEW(arena, struct why_row);
        refusal->why = why;
        refusal->nodes.text = "";
        refusal->lack = INT64_MAX;
        HASH_ADD_KEYPTR(hh, *refusals, refusal->why, strlen(refusal->why), refusal);
    }
    return refusal;
}

/* The nodes that lack the fewest GPUs first, then the most frequent reasons. */
static int compare_refusals(const struct why_row *a, const struct why_row *b)
{
    if (a->lack != b->lack)
        return a->lack < b->lack ? -1 : 1;
    if (a->nodes.n != b->nodes.n)
        return a->nodes.n > b->nodes.n ? -1 : 1;
    return strcmp(a->why, b->why);
}

#define WHICH_SHOWN ((size_t)3)

/* A node that the pod does not fit. */
struct refused_node {
    const json_t *json;
    size_t worth, i;
};

/* The most wanted models first, then by name, which is the order of the list. */
static int compare_worth(const void *a, const void *b)
{
    const struct refused_node *left = a;
    const struct refused_node *right = b;
    if (left->worth != right->worth)
        return left->worth < right->worth ? -1 : 1;
    return left->i < right->i ? -1 : 1;
}

static size_t refused_by_worth(const json_t *nodes, const struct why_not *of, struct arena *arena,
                               struct refused_node **ret_items)
{
    struct refused_node *items = ARENA_ARRAY(arena, struct refused_node, json_array_size(nodes));
    size_t n = 0;
    size_t i = 0;
    json_t *node = NULL;
    json_array_foreach (nodes, i, node) {
        if (!fits(node) || of->takes_no_more) {
            items[n] = (struct refused_node){node, gpu_worth(text_member(node, "model")), n};
            n++;
        }
    }
    qsort(items, n, sizeof *items, compare_worth);
    *ret_items = items;
    return n;
}

static void add_node(struct why_row *refusal, const char *name, const char *after, bool wide,
                     struct arena *arena)
{
    struct name_list *nodes = &refusal->nodes;
    if (nodes->n == 0)
        refusal->after = after;
    if (nodes->n < WHICH_SHOWN || wide)
        nodes->text = arena_printf(arena, "%s%s%s", nodes->text, nodes->n > 0 ? ", " : "", name);
    nodes->n++;
}

static struct why_row *collect_refusals(const json_t *nodes, const struct why_not *of, bool wide,
                                        struct arena *arena)
{
    struct why_row *refusals = NULL;
    struct refused_node *refused = NULL;
    const size_t n = refused_by_worth(nodes, of, arena, &refused);
    for (size_t i = 0; i < n; i++) {
        const json_t *node = refused[i].json;
        const char *why =
            fits(node) ? "takes no more" : text_one_line(why_text(node, arena), arena);
        struct why_row *refusal = find_refusal(&refusals, why, arena);
        const char *name = text_member(node, "node");
        if (strstr(why, " lacking") || strstr(why, "quota leaves") || fits(node))
            refusal->lack = lacking_gpus(node);
        add_node(refusal, name, text_member(of->placed, name), wide, arena);
    }
    HASH_SORT(refusals, compare_refusals);
    return refusals;
}

/* "WHY NOT ELSEWHERE (WORKER)" */
static const char *why_heading(const char *role, struct arena *arena)
{
    char *text = arena_strdup(arena, role);
    for (char *at = text; *at; at++)
        *at = (char)toupper((unsigned char)*at);
    return text[0] ? arena_printf(arena, "WHY NOT ELSEWHERE (%s)", text) : "WHY NOT ELSEWHERE";
}

static void write_refusals(const json_t *nodes, const struct why_not *of, bool wide,
                           struct arena *arena, struct buf *out)
{
    const char *const headings[] = {"NODES", why_heading(of->role, arena), "WHICH", NULL};
    struct why_row *refusals = collect_refusals(nodes, of, wide, arena);
    struct table *table = table_new(arena, wide, headings);
    if (!refusals)
        return;
    for (const struct why_row *refusal = refusals; refusal; refusal = refusal->hh.next) {
        const char *which = refusal->nodes.text;
        if (refusal->nodes.n == 1 && refusal->after[0])
            which = arena_printf(arena, "%s, after %s", which, refusal->after);
        if (refusal->nodes.n > WHICH_SHOWN && !wide)
            which = arena_printf(arena, "%s, +%zu", which, refusal->nodes.n - WHICH_SHOWN);
        table_add(table, (const char *[]){arena_printf(arena, "%zu", refusal->nodes.n),
                                          refusal->why, which});
    }
    buf_add_text(out, "\n");
    table_write(table, out);
    HASH_CLEAR(hh, refusals);
}

void verdict_write_table(const json_t *nodes, const struct why_not *of, bool wide,
                         struct arena *arena, struct buf *out)
{
    static const struct why_not NOTHING = {.role = ""};
    json_auto_t *list = json_unpacked(nodes);
    if (wide)
        write_fitting_nodes(list, arena, out);
    write_refusals(list, of ? of : &NOTHING, wide, arena, out);
}
