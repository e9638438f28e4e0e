/* headline: see headline.h. First the words, then a sentence for each cause. */
#include "api/verdicts/headline.h"
#include "api/text.h"
#include "base/mem.h"
#include "decide/claim_rules.h"
#include "decide/peer_rules.h"
#include "decide/quota.h"
#include "ledger/admit.h"
#include "objects/pod.h"
#include "types/quantity.h"

#include <inttypes.h>
#include <string.h>

/* ---- words ---- */

static const char *models_text(const struct model_wants *wants, struct arena *arena)
{
    if (wants->n_accept == 1)
        return gpu_model_name(&wants->accept[0], arena);
    if (wants->n_accept == 2)
        return arena_printf(arena, "%s or %s", gpu_model_name(&wants->accept[0], arena),
                            gpu_model_name(&wants->accept[1], arena));
    return arena_printf(arena, "%s or %zu others", gpu_model_name(&wants->accept[0], arena),
                        wants->n_accept - 1);
}

bool headline_is_whole_gpu(const char *resource)
{
    const size_t len = strlen(resource);
    return len > 4 && strcmp(resource + len - 4, "/gpu") == 0;
}

const char *headline_gpus(const struct shape_facts *facts, const char *resource, int64_t n,
                          struct arena *arena)
{
    if (!headline_is_whole_gpu(resource))
        return arena_printf(arena, "%" PRId64 " %s", n, resource);
    if (facts->wants.n_accept > 0)
        return arena_printf(arena, "%" PRId64 " %s", n, models_text(&facts->wants, arena));
    return arena_printf(arena, "%" PRId64 " GPU%s", n, n == 1 ? "" : "s");
}

/* Amounts of misspelt names such as mem. Counts are hardly multiples of this. */
#define LEAST_OF_BYTES ((int64_t)1 << 20)

static bool is_in_bytes(const char *resource, int64_t n)
{
    return strcmp(resource, "memory") == 0 || strcmp(resource, "ephemeral-storage") == 0 ||
           strncmp(resource, "hugepages-", strlen("hugepages-")) == 0 ||
           (n > 0 && n % LEAST_OF_BYTES == 0);
}

/* Of a large amount, the unit in which people read it; else 1. */
static int64_t unit_of(const char *resource, int64_t n)
{
    if (strcmp(resource, "cpu") == 0)
        return n > 10000 ? 1000 : 1;
    if (!is_in_bytes(resource, n))
        return 1;
    return n > INT64_C(10) << 30 ? INT64_C(1) << 30 : n > INT64_C(1) << 20 ? INT64_C(1) << 20 : 1;
}

int64_t headline_round_down(const char *resource, int64_t n)
{
    return n - n % unit_of(resource, n);
}

int64_t headline_round_up(const char *resource, int64_t n)
{
    const int64_t unit = unit_of(resource, n);
    return n % unit == 0 || n > INT64_MAX - unit ? n : n - n % unit + unit;
}

const char *headline_bytes(int64_t n, struct arena *arena)
{
    char text[32];
    const int64_t unit = INT64_C(1) << 30;
    if (n > unit && n % unit != 0 && n % (unit / 8) == 0)
        return arena_printf(arena, "%.12gGi", (double)n / (double)unit);
    return arena_strdup(arena, quantity_bytes_text(n, text));
}

size_t headline_count_words(const char *text)
{
    size_t n = text[0] != '\0';
    for (; *text; text++)
        n += *text == ' ';
    return n;
}

const char *headline_amount(const char *resource, int64_t n, struct arena *arena)
{
    if (strcmp(resource, "cpu") == 0 && n > -1000 && n < 1000 && n != 0)
        return arena_printf(arena, "%" PRId64 "m CPU", n);
    if (strcmp(resource, "cpu") == 0)
        return arena_printf(arena, "%.12g CPU", (double)n / 1000);
    if (is_in_bytes(resource, n))
        return arena_printf(arena, "%s of %s", headline_bytes(n, arena),
                            strcmp(resource, "ephemeral-storage") == 0 ? "storage" : resource);
    if (strcmp(resource, "pods") == 0)
        return "a pod slot";
    return arena_printf(arena, "%" PRId64 " %s%s", n,
                        headline_is_whole_gpu(resource) ? "GPU" : resource,
                        headline_is_whole_gpu(resource) && n > 1 ? "s" : "");
}

int64_t headline_gpus_there(const struct candidates *candidates,
                            const struct fit_question *question, int64_t *ret_most)
{
    *ret_most = 0;
    struct pod_shape nothing;
    struct fit_question roomless = cause_without_room(question, &nothing);
    int64_t sum = 0;
    roomless.peers = NULL; /* which earlier pods of the workload may have changed */
    for (size_t i = 0; i < candidates->n; i++) {
        const struct node *node = candidates->items[i].node;
        const struct node_resource *there =
            node_find_resource(node, question->shape->needs[0].resource);
        if (!there || fit_judge(node, &roomless) != REASON_FITS)
            continue;
        if (there->allocatable > *ret_most)
            *ret_most = there->allocatable;
        sum = amount_add(sum, there->allocatable);
    }
    return sum;
}

static const struct {
    const char *name, *words;
} RESULTS[] = {
    [RESULT_FITS] = {"fits", "FITS"},
    [RESULT_PARTLY_FITS] = {"partlyFits", "PARTLY FITS"},
    [RESULT_DOES_NOT_FIT] = {"doesNotFit", "DOES NOT FIT"},
    [RESULT_NOT_JUDGED] = {"notJudged", "NOT JUDGED"},
    [RESULT_MISTAKE] = {"mistake", "MISTAKE"},
    [RESULT_WAITS] = {"waits", "WAITS"},
    [RESULT_RUNNING] = {"running", "RUNNING"},
};

const char *headline_result(enum result result)
{
    return RESULTS[result].name;
}

const char *headline_words(const json_t *verdict)
{
    const char *result = text_member(verdict, "result");
    for (size_t i = 0; i < sizeof RESULTS / sizeof *RESULTS; i++) {
        if (strcmp(RESULTS[i].name, result) == 0)
            return RESULTS[i].words;
    }
    return "";
}

/* ---- a sentence for each cause ---- */

struct teller {
    const struct headline_question *question;
    const struct fit_question *asked;
    const struct pod_shape *shape;
    struct decisive_cause found;
    struct arena *arena;
};

static bool has_reason(const struct candidates *candidates, enum reason reason)
{
    for (size_t i = 0; i < candidates->n; i++) {
        if (candidates->items[i].verdict == reason)
            return true;
    }
    return false;
}

static const char *name_sentence(const struct name_view *names, const struct missing_name *missing)
{
    static const char *const KINDS[] = {[MISSING_RESOURCE] = "the resource ",
                                        [MISSING_MODEL] = "the model ",
                                        [MISSING_LABEL] = "the label ",
                                        [MISSING_VALUE] = ""};
    struct arena *arena = names->arena;
    if (missing->kind == MISSING_TOGETHER)
        return arena_printf(arena, "No node has both %s and %s.", missing->name, missing->value);
    const char *text =
        arena_printf(arena, "No node has %s%s%s%s", KINDS[missing->kind], missing->name,
                     missing->value ? "=" : "", missing->value ? missing->value : "");
    const char *there = missing->meant ? "" : node_names_there(names, missing);
    if (missing->meant)
        return arena_printf(arena, "%s. Did you mean %s?", text, missing->meant);
    return there[0] ? arena_printf(arena, "%s; %s.", text, there)
                    : arena_printf(arena, "%s.", text);
}

/* The first GPU need that the node lacks; NULL: none. */
static const struct need *lacking_need(const struct teller *teller)
{
    for (size_t i = 0; i < teller->shape->n_gpu_needs; i++) {
        const struct need *need = &teller->shape->needs[i];
        const struct node_resource *there = node_find_resource(teller->found.node, need->resource);
        if (fit_lack(teller->found.node, teller->asked, need) > 0 ||
            (there ? there->allocatable : 0) < need->amount)
            return need;
    }
    return NULL;
}

static bool names_its_node(const struct fit_question *question)
{
    return question->node_name && question->node_name[0];
}

bool headline_chooses_labels(const struct shape_facts *facts)
{
    return facts->node_selector.n_requirements > 0 || facts->affinity.present ||
           facts->legacy_affinity.present;
}

/* Pods keep nodes closed that have room. */
static bool are_closed_by_pods(const struct candidates *candidates)
{
    for (size_t i = 0; i < candidates->n; i++) {
        if (reason_is_of_peers(candidates->items[i].verdict))
            return true;
    }
    return false;
}

static const char *no_node(const struct teller *teller)
{
    if (are_closed_by_pods(teller->question->candidates))
        return "No node open to it";
    return headline_chooses_labels(&teller->shape->facts) || names_its_node(teller->asked)
               ? "No node that it selects"
               : "No node";
}

static const char *free_sentence(const struct teller *teller)
{
    const struct need *need = lacking_need(teller);
    if (!need)
        return NULL;
    const char *gpus =
        headline_gpus(&teller->shape->facts, need->resource->name, need->amount, teller->arena);
    return arena_printf(teller->arena, "%s has %s %s; %s lacks %" PRId64 ".", no_node(teller), gpus,
                        teller->question->is_next ? "left" : "free", node_name(teller->found.node),
                        fit_lack(teller->found.node, teller->asked, need));
}

static const char *total_sentence(const struct teller *teller)
{
    const struct need *need = lacking_need(teller);
    const struct node_resource *there =
        need ? node_find_resource(teller->found.node, need->resource) : NULL;
    if (!there)
        return NULL;
    return arena_printf(
        teller->arena, "%s has %s; the largest, %s, has %" PRId64 ".", no_node(teller),
        headline_gpus(&teller->shape->facts, need->resource->name, need->amount, teller->arena),
        node_name(teller->found.node), there->allocatable);
}

const char *headline_limit(const struct quota_limit *limit, bool borrows, bool is_brief, int64_t n,
                           struct arena *arena)
{
    const char *end = borrows ? " to borrow" : "";
    const char *all = is_brief ? "" : " in all";
    if (limit->model)
        return arena_printf(arena, "%" PRId64 " %s%s", n, limit->model, end);
    if (limit->resource && !headline_is_whole_gpu(limit->resource))
        return arena_printf(arena, "%" PRId64 " %s%s%s", n, limit->resource, all, end);
    return arena_printf(arena, "%" PRId64 " GPU%s%s%s", n, n == 1 ? "" : "s", all, end);
}

/* The words of a sentence, names apart, and what is left for amounts beside the others. */
#define WORDS 14
#define WORDS_OF_QUOTA (WORDS - 6)
#define WORDS_OF_BOTH (WORDS - 3)

static const char *quota_sentence(const struct teller *teller)
{
    size_t words = WORDS_OF_QUOTA;
    int64_t most = 0;
    const char *text =
        asks_for_quotas(teller->asked, teller->found.node, &words, &most, teller->arena);
    return text ? arena_printf(teller->arena, "%s; it asks for %" PRId64 ".", text, most) : NULL;
}

/* What quotas and the node lack. */
static const char *both_sentence(const struct teller *teller)
{
    const char *node = node_name(teller->found.node);
    size_t of_quota = WORDS_OF_QUOTA;
    size_t of_node = WORDS;
    int64_t most = 0;
    const char *quota =
        asks_for_quotas(teller->asked, teller->found.node, &of_quota, &most, teller->arena);
    const char *lacks = asks_for_lacks(teller->asked, teller->found.node, &of_node, teller->arena);
    if (of_quota + of_node + 2 <= WORDS_OF_QUOTA)
        return arena_printf(teller->arena, "%s; it asks for %" PRId64 ". %s lacks %s, too.", quota,
                            most, node, lacks);
    of_quota = WORDS_OF_BOTH / 2 + 1;
    quota = asks_for_quotas(teller->asked, teller->found.node, &of_quota, &most, teller->arena);
    of_node = WORDS_OF_BOTH - of_quota;
    lacks = asks_for_lacks(teller->asked, teller->found.node, &of_node, teller->arena);
    return arena_printf(teller->arena, "%s; %s lacks %s.", quota, node, lacks);
}

/* All that the nearest node lacks, and what quotas lack there. */
static const char *amounts_sentence(const struct teller *teller)
{
    const bool is_next = teller->question->is_next;
    size_t words = is_next ? WORDS - 6 : WORDS - 4;
    const char *lacks = asks_for_lacks(teller->asked, teller->found.node, &words, teller->arena);
    const char *quota = quota_sentence(teller);
    if (!lacks || (quota && is_next))
        return quota;
    if (quota)
        return both_sentence(teller);
    return arena_printf(teller->arena, "The nearest %s, %s, lacks %s.",
                        is_next ? "for the next" : "node", node_name(teller->found.node), lacks);
}

static const struct taint *untolerated(const struct node *node, const struct shape_facts *facts)
{
    const struct node_traits *traits = node_traits(node);
    return taints_first_untolerated(traits->taints, traits->n_taints, facts->tolerations,
                                    facts->n_tolerations);
}

static struct missing_name missing_toleration(const struct teller *teller)
{
    const struct shape_facts *facts = &teller->shape->facts;
    const struct name_view names = {teller->question->candidates, teller->arena};
    const struct taint *taint = untolerated(teller->found.node, facts);
    return taint ? node_names_find_toleration(&names, facts, taint)
                 : (struct missing_name){.kind = MISSING_NOTHING};
}

/* But another value or effect than the taint's. */
static bool tolerates_key(const struct shape_facts *facts, const char *key)
{
    for (size_t i = 0; i < facts->n_tolerations; i++) {
        const char *tolerated = facts->tolerations[i].key;
        if (tolerated && strcmp(tolerated, key) == 0)
            return true;
    }
    return false;
}

static const char *taint_sentence(const struct teller *teller)
{
    const struct taint *taint = untolerated(teller->found.node, &teller->shape->facts);
    const struct missing_name missing = missing_toleration(teller);
    if (!taint)
        return NULL;
    const char *text = verdict_taint_text(taint, teller->arena);
    if (missing.kind)
        return arena_printf(teller->arena, "It tolerates %s, not %s's taint %s. Did you mean %s?",
                            missing.name, node_name(teller->found.node), text, missing.meant);
    return arena_printf(teller->arena,
                        tolerates_key(&teller->shape->facts, taint->key)
                            ? "Its toleration does not match %s's taint %s."
                            : "It does not tolerate %s's taint %s.",
                        node_name(teller->found.node), text);
}

static const char *closed_sentence(const struct teller *teller)
{
    const struct node *node = teller->found.node;
    return arena_printf(teller->arena, "%s%s is %s.", node_name(node),
                        teller->found.is_alone ? " would fit, but" : "",
                        teller->found.reason == REASON_UNSCHEDULABLE ||
                                node_traits(node)->unschedulable
                            ? "cordoned"
                            : "not ready");
}

static int64_t memory_of(const struct teller *teller, const struct node *node)
{
    return admit_memory_bytes(node_traits(node), teller->shape);
}

/* Of the nodes whose GPUs have too little memory, the nearest unless another has more. */
static const struct node *most_memory(const struct teller *teller)
{
    const struct candidates *candidates = teller->question->candidates;
    const struct node *most = teller->found.node;
    for (size_t i = 0; i < candidates->n; i++) {
        const struct node_verdict *candidate = &candidates->items[i];
        if (candidate->verdict == REASON_GPU_MEMORY &&
            memory_of(teller, candidate->node) > memory_of(teller, most))
            most = candidate->node;
    }
    return most;
}

/* Of a node that has the models, and that something else closes to the pod. */
static bool is_memory_elsewhere(const struct teller *teller)
{
    const struct candidates *candidates = teller->question->candidates;
    const struct model_wants *wants = &teller->shape->facts.wants;
    for (size_t i = 0; i < candidates->n; i++) {
        const enum reason reason = candidates->items[i].verdict;
        if (reason != REASON_GPU_ABSENT && reason != REASON_MODEL_NOT_WANTED &&
            reason != REASON_MODEL_EXCLUDED &&
            gpu_memory_is_enough(memory_of(teller, candidates->items[i].node),
                                 wants->min_memory_bytes))
            return true;
    }
    return false;
}

/* NULL: the sizes of parts of GPUs are unknown. */
static const char *memory_sentence(const struct teller *teller)
{
    const struct model_wants *wants = &teller->shape->facts.wants;
    const struct node *most = most_memory(teller);
    char has[32];
    char wanted[32];
    if (memory_of(teller, most) == 0)
        return NULL;
    return arena_printf(teller->arena, "No %s %s %s of memory; the largest, on %s, have %s.",
                        wants->n_accept > 0 ? models_text(wants, teller->arena) : "GPU",
                        is_memory_elsewhere(teller) ? "open to it has"
                        : has_reason(teller->question->candidates, REASON_GPU_MEMORY_UNKNOWN)
                            ? "is known to have"
                            : "has",
                        quantity_bytes_text(wants->min_memory_bytes, wanted), node_name(most),
                        quantity_bytes_text(memory_of(teller, most), has));
}

/* As the resource that the pod asks for, whatever else keeps the pod from there. */
static bool has_model(const struct teller *teller, const struct node *node)
{
    const struct model_wants *wants = &teller->shape->facts.wants;
    for (size_t i = 0; i < wants->n_accept; i++) {
        if (node_find_resource(node, teller->shape->needs[0].resource) &&
            admit_gives_model(node_traits(node), teller->shape, &wants->accept[i]))
            return true;
    }
    return false;
}

static bool is_model_there(const struct teller *teller)
{
    const struct candidates *candidates = teller->question->candidates;
    for (size_t i = 0; i < candidates->n; i++) {
        if (has_model(teller, candidates->items[i].node))
            return true;
    }
    return false;
}

static const char *model_sentence(const struct teller *teller)
{
    const struct node *node = teller->found.node;
    const struct gpu_kind *kind = admit_next_kind(node_traits(node), teller->shape, NULL);
    const char *model = kind->model.chip[0] ? gpu_model_name(&kind->model, teller->arena) : NULL;
    if (teller->found.reason == REASON_GPU_MEMORY)
        return memory_sentence(teller);
    if (!model || teller->found.reason == REASON_MODEL_UNKNOWN)
        return arena_printf(teller->arena, "The GPU model of %s is unknown.", node_name(node));
    if (teller->found.reason == REASON_MODEL_EXCLUDED)
        return arena_printf(teller->arena, "It excludes %s, which %s has.", model, node_name(node));
    if (teller->shape->facts.wants.n_accept == 0)
        return NULL;
    if (teller->shape->n_gpu_needs == 1 && !is_model_there(teller))
        return arena_printf(teller->arena, "No node has %s as %s; %s has %s.",
                            models_text(&teller->shape->facts.wants, teller->arena),
                            teller->shape->needs[0].resource->name, node_name(node), model);
    if (headline_chooses_labels(&teller->shape->facts))
        return arena_printf(teller->arena, "No node that it selects has %s; %s has %s.",
                            models_text(&teller->shape->facts.wants, teller->arena),
                            node_name(node), model);
    return arena_printf(teller->arena, "No %s is free for it; %s has %s.",
                        models_text(&teller->shape->facts.wants, teller->arena), node_name(node),
                        model);
}

static const char *label_sentence(const struct teller *teller)
{
    const char *node = node_name(teller->found.node);
    if (teller->found.reason == REASON_NODE_NAME)
        return arena_printf(teller->arena, "Its spec.nodeName is %s, which does not fit.",
                            teller->asked->node_name);
    return arena_printf(teller->arena, "%s does not have the labels that it selects.", node);
}

/* The key of its topology spread or affinity that no node has; NULL: there is none. */
static const char *missing_topology(const struct teller *teller, const struct name_view *names)
{
    const struct peer_facts *terms = teller->asked->peer ? teller->asked->peer->terms : NULL;
    const bool is_spread = teller->found.reason == REASON_TOPOLOGY_SPREAD;
    const bool is_affinity = teller->found.reason == REASON_POD_AFFINITY;
    for (size_t i = 0; terms && is_spread && i < terms->n_spread; i++) {
        if (!node_names_has_label(names, terms->spread[i].topology_key))
            return terms->spread[i].topology_key;
    }
    for (size_t i = 0; terms && is_affinity && i < terms->n_affinity; i++) {
        if (!node_names_has_label(names, terms->affinity[i].topology_key))
            return terms->affinity[i].topology_key;
    }
    return NULL;
}

static const char *topology_sentence(const struct teller *teller)
{
    const struct name_view names = {teller->question->candidates, teller->arena};
    const char *key = missing_topology(teller, &names);
    if (!key)
        return NULL;
    const char *near = node_names_near_label(&names, &(struct requirement){.key = key});
    return arena_printf(teller->arena, "No node has the label %s, its topologyKey.%s%s%s", key,
                        near ? " Did you mean " : "", near ? near : "", near ? "?" : "");
}

static const char *pods_sentence(const struct teller *teller)
{
    static const char *const RULES[N_REASONS] = {
        [REASON_TOPOLOGY_SPREAD] = "Its topology spread constraints rule out",
        [REASON_POD_AFFINITY] = "Its pod affinity selects no pod near",
        [REASON_POD_ANTI_AFFINITY] = "Its pod anti-affinity rules out",
        [REASON_POD_REPELLED] = "The anti-affinity of other pods rules out",
    };
    const char *missing = topology_sentence(teller);
    if (!reason_is_of_peers(teller->found.reason) || missing)
        return missing;
    return arena_printf(teller->arena, "%s %s.", RULES[teller->found.reason],
                        node_name(teller->found.node));
}

/* Of the nodes with its model, whose GPUs are not shared, if all are too small; else NULL. */
static const struct node *largest_of(const struct teller *teller, const struct candidates *wanted)
{
    const struct need *need = &teller->shape->needs[0];
    const struct node *largest = NULL;
    int64_t most = 0;
    for (size_t i = 0; i < wanted->n; i++) {
        const struct node *node = wanted->items[i].node;
        const int64_t there = node_find_resource(node, need->resource)->allocatable;
        const enum verdict_cause cause =
            cause_of_reason(wanted->items[i].verdict, node, &teller->shape->facts);
        if (cause != CAUSE_SHARED && there > most) {
            largest = node;
            most = there;
        }
    }
    return most < need->amount ? largest : NULL;
}

static struct candidates nodes_with_model(const struct teller *teller)
{
    const struct candidates *candidates = teller->question->candidates;
    struct candidates wanted = *candidates;
    wanted.n = 0;
    wanted.items = ARENA_ARRAY(teller->arena, struct node_verdict, candidates->n);
    for (size_t i = 0; i < candidates->n; i++) {
        if (has_model(teller, candidates->items[i].node))
            wanted.items[wanted.n++] = candidates->items[i];
    }
    return wanted;
}

/* Of the nodes that have its model: what they lack decides, or a taint that is on each. */
static void let_wanted_decide(struct teller *teller)
{
    if (teller->found.reason != REASON_MODEL_NOT_WANTED || teller->shape->n_gpu_needs == 0)
        return;
    const struct candidates wanted = nodes_with_model(teller);
    if (wanted.n == 0)
        return;
    const struct node *largest = largest_of(teller, &wanted);
    struct decisive_cause nearest = cause_find(&wanted, teller->asked);
    nearest.is_alone |= nearest.cause == CAUSE_TAINT && nearest.n == nearest.n_of;
    if (largest && !headline_chooses_labels(&teller->shape->facts))
        teller->found =
            (struct decisive_cause){CAUSE_TOTAL, REASON_GPU_TOTAL, largest, .is_alone = true};
    else if (nearest.lacks_amounts || (nearest.is_alone && nearest.cause < CAUSE_MODEL))
        teller->found = nearest;
}

const char *headline_reason(const struct fit_question *question, enum reason reason,
                            struct arena *arena)
{
    static const char *const SHORT[N_REASONS] = {
        [REASON_TAINT] = "a taint is not tolerated",
        [REASON_NODE_AFFINITY] = "the node affinity rules it out",
        [REASON_GANG_PLACE] = "its group has another place for it",
        [REASON_SHAPE_TRAP] = "such pods were just rejected",
        [REASON_MODEL_NOT_WANTED] = "the GPU model is another",
        [REASON_GPU_MEMORY] = "the GPUs have too little memory",
        [REASON_QUOTA] = "a quota leaves too few GPUs",
        [REASON_GPU_NOMINATED] = "free GPUs are kept for another pod",
        [REASON_QUOTA_CLAIMED] = "pods being bound claim the quota",
        [REASON_TOPOLOGY_SPREAD] = "topology spread constraints rule it out",
        [REASON_POD_AFFINITY] = "its pod affinity selects no pod near",
        [REASON_POD_ANTI_AFFINITY] = "its pod anti-affinity rules it out",
        [REASON_POD_REPELLED] = "the anti-affinity of other pods rules it out",
    };
    if (reason >= REASON_CLAIM_ELSEWHERE && reason <= REASON_CLAIM_FREE)
        return claim_answers_refusal(question->devices, reason, arena);
    return SHORT[reason] ? SHORT[reason] : reason_text(reason);
}

static const char *sentence_of(const struct teller *teller)
{
    static const char *(*const SENTENCES[N_CAUSES])(const struct teller *) = {
        [CAUSE_QUOTA] = quota_sentence,       [CAUSE_FREE_GPUS] = free_sentence,
        [CAUSE_RESOURCES] = amounts_sentence, [CAUSE_TOTAL] = total_sentence,
        [CAUSE_CLOSED] = closed_sentence,     [CAUSE_TAINT] = taint_sentence,
        [CAUSE_PODS] = pods_sentence,         [CAUSE_MODEL] = model_sentence,
        [CAUSE_LABEL] = label_sentence,
    };
    const struct decisive_cause *found = &teller->found;
    const char *text = NULL;
    const char *(*tell)(const struct teller *) = SENTENCES[found->cause];
    if (found->lacks_amounts)
        text = amounts_sentence(teller);
    else if (tell &&
             (found->is_alone || found->cause == CAUSE_FREE_GPUS || found->cause == CAUSE_QUOTA ||
              (found->cause == CAUSE_MODEL && found->n == found->n_of)))
        text = tell(teller);
    if (text)
        return text;
    if (found->is_alone)
        return arena_printf(teller->arena, "%s: %s.", node_name(found->node),
                            headline_reason(teller->asked, found->reason, teller->arena));
    return arena_printf(teller->arena, "On %zu of %zu nodes, %s.", found->n, found->n_of,
                        headline_reason(teller->asked, found->reason, teller->arena));
}

/* The claims themselves are at fault, on whichever node. */
static bool tell_claims(const struct headline_question *question, struct headline *headline)
{
    const struct candidates *candidates = question->candidates;
    const char *fault = claim_rules_fault(question->query->question.devices);
    const enum reason of_claim = claim_answers_fault_reason(question->query->question.devices);
    const bool is_missing = of_claim == REASON_CLAIM_MISSING || of_claim == REASON_CLAIM_CLASS ||
                            has_reason(candidates, REASON_CLAIM_MISSING) ||
                            has_reason(candidates, REASON_CLAIM_CLASS);
    const bool is_unjudged =
        of_claim == REASON_CLAIM_NOT_JUDGED || has_reason(candidates, REASON_CLAIM_NOT_JUDGED);
    if (!is_missing && !is_unjudged && !fault[0])
        return false;
    headline->result = is_unjudged && !is_missing ? RESULT_NOT_JUDGED : RESULT_DOES_NOT_FIT;
    headline->cause = is_missing ? CAUSE_MISSING : CAUSE_CLAIMS;
    headline->text =
        claim_answers_fault(question->query->question.devices, is_missing, question->query->arena);
    return true;
}

struct headline headline_new(enum result result, enum verdict_cause cause, const char *text)
{
    return (struct headline){.result = result, .cause = cause, .text = text};
}

static struct headline headline_of_no_node(const struct name_view *names, const char *node)
{
    struct headline headline = headline_new(RESULT_DOES_NOT_FIT, CAUSE_NAME, "");
    const char *meant = node_names_near_node(names, node);
    headline.missing = (struct missing_name){.kind = MISSING_NODE, .name = node, .meant = meant};
    headline.text =
        arena_printf(names->arena, "There is no node %s, its spec.nodeName.%s%s%s", node,
                     meant ? " Did you mean " : "", meant ? meant : "", meant ? "?" : "");
    return headline;
}

struct headline headline_of(const struct headline_question *question)
{
    candidates_judge_claims(question->candidates, &question->query->question);
    return headline_of_judged(question);
}

struct headline headline_of_judged(const struct headline_question *question)
{
    const struct pod_query *query = question->query;
    const struct fit_question *asked = &query->question;
    struct candidates *candidates = question->candidates;
    const struct name_view names = {candidates, query->arena};
    struct headline headline = {.result = RESULT_DOES_NOT_FIT, .text = ""};
    if (asked->refusal)
        return headline_new(RESULT_MISTAKE, CAUSE_REQUEST, asked->refusal);
    if (candidates->n == 0)
        return headline_new(RESULT_DOES_NOT_FIT, CAUSE_TOTAL, "There are no nodes.");
    if (candidates->n_fitting > 0)
        return headline_new(RESULT_FITS, CAUSE_NONE, "");
    if (tell_claims(question, &headline))
        return headline;
    if (names_its_node(asked) && !candidates_find(candidates, asked->node_name))
        return headline_of_no_node(&names, asked->node_name);
    if (!question->is_next)
        headline.missing = node_names_find_missing(&names, asked->shape);
    if (headline.missing.kind) {
        headline.cause = headline.missing.kind == MISSING_TOGETHER ? CAUSE_TOTAL : CAUSE_NAME;
        headline.text = name_sentence(&names, &headline.missing);
        return headline;
    }
    struct teller teller = {question, asked, asked->shape, cause_find(candidates, asked),
                            query->arena};
    let_wanted_decide(&teller);
    headline.cause = teller.found.cause;
    headline.node = teller.found.node;
    headline.lacks_amounts = headline.cause >= CAUSE_QUOTA && headline.cause <= CAUSE_TOTAL;
    headline.text = sentence_of(&teller);
    if (headline.cause == CAUSE_TAINT && teller.found.is_alone)
        headline.missing = missing_toleration(&teller);
    return headline;
}

struct headline headline_of_none(const struct headline_question *question)
{
    const struct headline headline = headline_of(question);
    if (headline.result != RESULT_DOES_NOT_FIT)
        return headline;
    if (headline.cause == CAUSE_NAME && headline.missing.meant)
        return headline_new(RESULT_MISTAKE, CAUSE_NAME, headline.text);
    return headline_new(
        RESULT_FITS, CAUSE_NONE,
        arena_printf(question->query->arena, "Scaled up, none would fit. %s", headline.text));
}

void headline_count(struct headline *headline, int64_t n_placed, int64_t n_pods)
{
    if (headline->result == RESULT_DOES_NOT_FIT && n_placed > 0 && n_placed < n_pods)
        headline->result = RESULT_PARTLY_FITS;
}

/* ---- JSON ---- */

static int64_t gpus_of(const struct pod_shape *shape, int64_t n)
{
    int64_t sum = 0;
    for (size_t i = 0; i < shape->n_gpu_needs; i++) {
        int64_t gpus = 0;
        if (__builtin_mul_overflow(shape->needs[i].amount, n, &gpus) ||
            __builtin_add_overflow(sum, gpus, &sum))
            return INT64_MAX;
    }
    return sum;
}

/* Of a mistake, which "MISTAKE Pod x: 1 pod" stands before; two are names, and quoted ones are no
 * words. */
#define WORDS_OF_MISTAKE ((size_t)18)

/* The length without the last clauses of a long one: what they add is in the summary, too. */
static size_t brief_len(const char *text)
{
    const size_t len = strlen(text);
    size_t n_words = 1;
    size_t brief = len;
    bool is_quoted = false;
    for (size_t i = 0; i < len; i++) {
        is_quoted ^= text[i] == '"';
        n_words += !is_quoted && text[i] == ' ' && text[i + 1] != '"';
        if (n_words > WORDS_OF_MISTAKE)
            return brief;
        if (!is_quoted && strchr(",;:", text[i]) && text[i + 1] == ' ')
            brief = i;
    }
    return len;
}

json_t *headline_json(const struct headline *headline, const struct fit_question *question,
                      int64_t n_missing)
{
    json_t *lacks = headline->node && headline->lacks_amounts
                        ? verdict_lacks(question, headline->node)
                        : json_object();
    const size_t len =
        headline->result == RESULT_MISTAKE ? brief_len(headline->text) : strlen(headline->text);
    return json_pack("{s:s, s:s, s:s%, s:s, s:o, s:{s:I, s:I}, s:o*}", "result",
                     RESULTS[headline->result].name, "cause", cause_name(headline->cause), "text",
                     headline->text, len, "node", headline->node ? node_name(headline->node) : "",
                     "lacks", lacks, "missing", "pods", (json_int_t)n_missing, "gpus",
                     (json_int_t)gpus_of(question->shape, n_missing), "quotas",
                     headline->cause == CAUSE_QUOTA && headline->node
                         ? asks_for_quotas_json(question, headline->node)
                         : NULL);
}
