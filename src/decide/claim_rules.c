/* claim_rules: see include/decide/claim_rules.h. First the allocator's question, then its answer as
 * a reason, then placing. */
#include "decide/claim_rules.h"
#include "arena_table.h"
#include "base/mem.h"

#include <string.h>

/* The last verdict of a node. */
struct claim_verdict {
    struct arena_item item;
    const struct node *node;
    enum reason reason;
    const char *cause;
    size_t n_taken;   /* devices that were taken then */
    size_t n_pinned;  /* claims that were allocated to a node then */
    bool is_outdated; /* a pod was placed there since */
    /* If it fits: the want that each request of each claim gets. NULL: not kept. */
    const size_t *wants;
    const char *const *waits;        /* of each claim. NULL: none waits */
    const struct claim_takes *takes; /* if it fits */
};
#define TOO_MUCH "too many combinations for one answer"
/* Of all claims together; the wants of more are not kept. */
#define REQUESTS_KEPT 32

struct claim_rules {
    struct device_copy *copy;
    struct pod_claim **claims;
    size_t n;
    uint64_t *steps_left;
    uint64_t own_steps_left; /* of these */
    struct arena *arena;
    struct arena_table verdicts;
    size_t n_pinned;
    const char *error; /* the pod is given up; NULL: it is not */
    const char *uid;   /* of the pod; "": it is new */
    int minor;         /* cluster_minor() */
    bool only_takes;
    bool is_cut;
    /* Of a trial. */
    struct claim_rules *origin;
    bool asks_less; /* than its origin, whose verdicts do not hold */
    uint64_t trial_steps, trial_steps_left;
    size_t n_taken_before; /* of all: when they were made */
};

#define TRIAL_SHARE 4
/* The part of the steps left that stays for other pods of the answer. */
#define OTHERS_SHARE 4
/* Measured: a step takes five nanoseconds. */
#define STEPS_OF_QUESTION UINT64_C(400)
#define STEPS_OF_DEVICE UINT64_C(50)

#define POINTER_BYTES sizeof(const void *)

struct claim_rules *claim_rules_of(const struct claims_of_pod *pod, struct device_copy *copy,
                                   uint64_t *steps_left, struct arena *arena)
{
    if (pod->n == 0)
        return NULL;
    struct claim_rules *rules = ARENA_NEW(arena, struct claim_rules);
    *rules = (struct claim_rules){
        .copy = copy,
        .claims = arena_copy(arena, pod->claims, pod->n, sizeof(struct pod_claim *)),
        .n = pod->n,
        .uid = pod->uid,
        .minor = pod->minor,
        .only_takes = pod->only_takes,
        .steps_left = steps_left,
        .own_steps_left = *steps_left - *steps_left / OTHERS_SHARE,
        .is_cut = *steps_left == 0,
        .n_taken_before = copy ? device_copy_n_taken(copy) : 0,
        .arena = arena,
    };
    return rules;
}

/* ---- the allocator's question ---- */

struct claims_on_node {
    struct allocate_question asked;
    const char *not_judged;
    bool needs_devices; /* a claim is not allocated */
    bool needs_others;  /* one of these says so */
    bool is_elsewhere;  /* an allocated one does not reach the node */
};

static bool reaches(const struct claim_rules *rules, const struct pod_claim *claim,
                    const struct node *node)
{
    return node_selector_holds(&claim->nodes, &node_traits(node)->view) &&
           (!claim->place ||
            device_copy_reaches(rules->copy, claim->place, &node_traits(node)->view));
}

static struct claims_on_node question_of(const struct claim_rules *rules, const struct node *node,
                                         struct arena *arena)
{
    struct claims_on_node question = {0};
    struct allocate_claim *claims = ARENA_ARRAY(arena, struct allocate_claim, rules->n);
    for (size_t i = 0; i < rules->n; i++) {
        claims[i] = rules->claims[i]->asked;
        claims[i].is_allocated = rules->claims[i]->is_allocated;
        claims[i].reaches_node = claims[i].is_allocated && reaches(rules, rules->claims[i], node);
        question.needs_devices |= !claims[i].is_allocated;
        question.needs_others |= !claims[i].is_allocated && rules->claims[i]->needs_others;
        question.is_elsewhere |= claims[i].is_allocated && !claims[i].reaches_node;
    }
    question.asked = (struct allocate_question){
        .claims = claims, .n_claims = rules->n, .max_steps = ALLOCATE_STEPS_MAX};
    if (!question.needs_devices)
        return question;
    const struct device_copy_slices slices =
        device_copy_on_node(rules->copy, &node_traits(node)->view, arena);
    question.not_judged = slices.not_judged;
    if (question.needs_others && !question.not_judged)
        question.not_judged = slices.others_not_judged;
    question.asked.slices = slices.slices;
    question.asked.n_slices = question.needs_others ? slices.n_with_others : slices.n;
    return question;
}

static void lower(uint64_t *left, uint64_t steps)
{
    *left -= steps < *left ? steps : *left;
}

static uint64_t steps_left(const struct claim_rules *rules)
{
    return *rules->steps_left < rules->own_steps_left ? *rules->steps_left : rules->own_steps_left;
}

static void spend(struct claim_rules *rules, uint64_t steps)
{
    lower(rules->steps_left, steps);
    lower(&rules->own_steps_left, steps);
    rules->is_cut |= steps_left(rules) == 0;
}

/* What the allocator does not count: gathering the devices, and sorting them. */
static uint64_t price_of(const struct allocate_question *asked)
{
    uint64_t price = STEPS_OF_QUESTION;
    for (size_t i = 0; i < asked->n_slices; i++)
        price += STEPS_OF_DEVICE * asked->slices[i].n_devices;
    return price;
}

static struct allocate_answer ask(struct claim_rules *rules, const struct allocate_question *asked,
                                  struct arena *arena)
{
    struct allocate_question question = *asked;
    spend(rules, price_of(asked));
    if (steps_left(rules) < question.max_steps)
        question.max_steps = steps_left(rules);
    const struct allocate_answer answer = allocate_on_node(&question, arena);
    spend(rules, answer.steps);
    return answer;
}

/* ---- why there are not enough devices ---- */

struct wish {
    bool all_free, no_taints;
};

static struct allocate_device device_by(const struct allocate_device *device, struct wish wish,
                                        struct arena *arena)
{
    struct allocate_device wished = *device;
    if (wish.no_taints)
        wished.n_taints = 0;
    if (!wish.all_free)
        return wished;
    struct allocate_capacity *capacities =
        arena_copy(arena, device->capacities, device->n_capacities, sizeof *capacities);
    for (size_t i = 0; i < device->n_capacities; i++)
        capacities[i].consumed = 0;
    wished.capacities = capacities;
    wished.is_allocated = wished.is_shared = wished.has_consumed_capacity = false;
    return wished;
}

/* Whether the claims would fit if the node's devices were so. */
static bool would_fit(struct claim_rules *rules, const struct allocate_question *asked,
                      struct wish wish, struct arena *arena)
{
    struct allocate_question question = *asked;
    struct allocate_slice *slices =
        arena_copy(arena, asked->slices, asked->n_slices, sizeof *slices);
    for (size_t i = 0; i < asked->n_slices; i++) {
        struct allocate_device *devices =
            ARENA_ARRAY(arena, struct allocate_device, slices[i].n_devices);
        for (size_t j = 0; j < slices[i].n_devices; j++)
            devices[j] = device_by(&slices[i].devices[j], wish, arena);
        slices[i].devices = devices;
    }
    question.slices = slices;
    return ask(rules, &question, arena).verdict == ALLOCATE_FITS;
}

/* Each wish that would change some device of the node. */
static struct wish wishes_of(const struct allocate_question *asked)
{
    struct wish wish = {false, false};
    for (size_t i = 0; i < asked->n_slices; i++) {
        for (size_t j = 0; j < asked->slices[i].n_devices; j++) {
            const struct allocate_device *device = &asked->slices[i].devices[j];
            wish.all_free |= device->is_allocated || device->is_shared;
            wish.no_taints |= device->n_taints > 0;
        }
    }
    return wish;
}

static enum reason reason_of_no(struct claim_rules *rules, const struct allocate_question *asked,
                                struct arena *arena)
{
    const struct wish both = wishes_of(asked);
    if (both.no_taints && would_fit(rules, asked, (struct wish){.no_taints = true}, arena))
        return REASON_CLAIM_TAINTED;
    if (both.all_free && would_fit(rules, asked, both, arena))
        return REASON_CLAIM_FREE;
    return REASON_CLAIM_TOTAL;
}

/* ---- the verdict ---- */

/* "ready of device gpu-0": the first device with binding conditions. NULL: none. */
static const char *waits_text(const struct allocate_results *results, struct arena *arena)
{
    for (size_t i = 0; i < results->n; i++) {
        const struct allocate_device *device = results->devices[i].device;
        if (device->binding_conditions)
            return arena_printf(arena, "%s of device %s", device->binding_conditions, device->name);
    }
    return NULL;
}

static const char *const *waits_of(const struct claim_rules *rules,
                                   const struct claims_on_node *question,
                                   const struct allocate_answer *answer)
{
    const char **waits = NULL;
    for (size_t i = 0; question->needs_devices && i < rules->n; i++) {
        const char *text = waits_text(&answer->results[i], rules->arena);
        if (text && !waits)
            waits = ARENA_ARRAY(rules->arena, const char *, rules->n);
        if (text)
            waits[i] = text;
    }
    return waits;
}

/* "2 of the 8 devices there are free" */
static const char *devices_text(const struct allocate_question *asked, enum reason reason,
                                struct arena *arena)
{
    size_t n = 0, n_free = 0;
    for (size_t i = 0; i < asked->n_slices; i++) {
        const struct allocate_slice *slice = &asked->slices[i];
        for (size_t j = 0; j < slice->n_devices; j++) {
            const bool is_there =
                slice->devices_reach ? slice->devices_reach[j] : slice->reaches_node;
            n += is_there;
            n_free += is_there && !slice->devices[j].is_allocated && !slice->devices[j].is_shared;
        }
    }
    if (n == 0)
        return "it has none";
    if (reason == REASON_CLAIM_TOTAL)
        return arena_printf(arena, "its %zu device%s would not suffice if all were free", n,
                            n == 1 ? "" : "s");
    return arena_printf(arena, "%zu of the %zu devices there are free", n_free, n);
}

static void set(struct claim_verdict *verdict, enum reason reason, const char *cause)
{
    verdict->reason = reason;
    verdict->cause = cause;
}

static void set_no(struct claim_rules *rules, const struct allocate_question *asked,
                   bool has_invalid_pool, struct arena *arena, struct claim_verdict *verdict)
{
    const char *pools = has_invalid_pool ? "; a pool of the node is invalid" : "";
    const enum reason reason = reason_of_no(rules, asked, arena);
    set(verdict, reason,
        arena_printf(rules->arena, "%s%s", devices_text(asked, reason, arena), pools));
}

/* The place of the claim's first request among the requests of all claims. */
static size_t first_request(const struct claim_rules *rules, size_t claim)
{
    size_t n = 0;
    for (size_t i = 0; i < claim; i++)
        n += rules->claims[i]->asked.n_requests;
    return n;
}

static const size_t *wants_of(const struct claim_rules *rules, const struct allocate_answer *answer)
{
    const size_t n = first_request(rules, rules->n);
    if (n > REQUESTS_KEPT)
        return NULL;
    size_t *wants = ARENA_ARRAY(rules->arena, size_t, n);
    for (size_t i = 0; i < n; i++)
        wants[i] = SIZE_MAX;
    for (size_t i = 0; i < rules->n; i++) {
        const struct allocate_results *results = &answer->results[i];
        for (size_t j = 0; j < results->n; j++)
            wants[first_request(rules, i) + results->devices[j].request] = results->devices[j].want;
    }
    return wants;
}

static bool have_alternatives(const struct claim_rules *rules)
{
    for (size_t i = 0; i < rules->n; i++) {
        const struct allocate_claim *asked = &rules->claims[i]->asked;
        for (size_t j = 0; !rules->claims[i]->is_allocated && j < asked->n_requests; j++) {
            if (asked->requests[j].has_alternatives)
                return true;
        }
    }
    return false;
}

/* The first minor version where All beside an incomplete pool rejects that node alone. */
#define MINOR_POOL_REJECTS_NODE 38

static enum reason reason_of_error(const struct claim_rules *rules,
                                   const struct allocate_answer *answer)
{
    return answer->is_of_node && rules->minor >= MINOR_POOL_REJECTS_NODE ? REASON_CLAIM_TOTAL
                                                                         : REASON_CLAIM_ERROR;
}

static void judge(struct claim_rules *rules, const struct claims_on_node *question,
                  struct arena *arena, struct claim_verdict *verdict)
{
    if (question->is_elsewhere && (question->not_judged || !question->needs_devices)) {
        set(verdict, REASON_CLAIM_ELSEWHERE, "");
        return;
    }
    if (question->not_judged) {
        set(verdict, REASON_CLAIM_NOT_JUDGED, question->not_judged);
        return;
    }
    const struct allocate_answer answer = ask(rules, &question->asked, arena);
    if (rules->is_cut) {
        set(verdict, REASON_CLAIM_NOT_JUDGED, TOO_MUCH);
        return;
    }
    switch (answer.verdict) {
    case ALLOCATE_FITS:
        set(verdict, REASON_FITS, "");
        verdict->waits = waits_of(rules, question, &answer);
        verdict->wants = have_alternatives(rules) ? wants_of(rules, &answer) : NULL;
        verdict->takes = claim_takes_of(rules->copy, &question->asked, &answer, rules->arena);
        break;
    case ALLOCATE_NO:
    case ALLOCATE_INVALID_POOLS:
        if (rules->only_takes)
            set(verdict, REASON_CLAIM_TOTAL, "");
        else
            set_no(rules, &question->asked, answer.verdict == ALLOCATE_INVALID_POOLS, arena,
                   verdict);
        break;
    case ALLOCATE_ELSEWHERE:
        set(verdict, REASON_CLAIM_ELSEWHERE, "");
        break;
    case ALLOCATE_ERROR:
        set(verdict, reason_of_error(rules, &answer), arena_strdup(rules->arena, answer.message));
        break;
    case ALLOCATE_NOT_JUDGED:
        set(verdict, REASON_CLAIM_NOT_JUDGED, arena_strdup(rules->arena, answer.message));
        break;
    }
}

static void search(struct claim_rules *rules, const struct node *node,
                   struct claim_verdict *verdict)
{
    if (rules->is_cut) {
        set(verdict, REASON_CLAIM_NOT_JUDGED, TOO_MUCH);
        return;
    }
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    const struct claims_on_node question = question_of(rules, node, arena);
    judge(rules, &question, arena, verdict);
}

/* The first fault in the order of the reasons. */
static const struct pod_claim *faulty(const struct claim_rules *rules)
{
    const struct pod_claim *first = NULL;
    for (size_t i = 0; i < rules->n; i++) {
        const struct pod_claim *claim = rules->claims[i];
        if (claim->fault != REASON_FITS && (!first || claim->fault < first->fault))
            first = claim;
    }
    return first;
}

static bool is_holder(const struct claim_rules *rules, const struct pod_claim *claim)
{
    for (size_t i = 0; i < claim->n_known_holders; i++) {
        if (strcmp(claim->known_holders[i], rules->uid) == 0)
            return true;
    }
    return false;
}

/* A new pod is no holder. */
static bool may_hold(const struct claim_rules *rules, const struct pod_claim *claim)
{
    return rules->uid[0] && claim->n_known_holders < claim->n_holders;
}

/* The first claim that as many other pods use as may, or may use. */
static const struct pod_claim *full(const struct claim_rules *rules)
{
    for (size_t i = 0; i < rules->n; i++) {
        const struct pod_claim *claim = rules->claims[i];
        if (claim->n_holders >= CLAIM_RULES_HOLDERS_MAX && !is_holder(rules, claim))
            return claim;
    }
    return NULL;
}

static enum reason reason_of_full(const struct claim_rules *rules, const struct pod_claim *claim)
{
    return may_hold(rules, claim) ? REASON_CLAIM_NOT_JUDGED : REASON_CLAIM_HOLDERS;
}

static struct claim_verdict *find(const struct claim_rules *rules, const struct node *node)
{
    return (struct claim_verdict *)arena_table_find(&rules->verdicts, &node, POINTER_BYTES);
}

/* Taken devices turn no refusal into another verdict; an error ends with the device that caused it.
 */
static bool holds(const struct claim_rules *rules, struct claim_verdict *verdict)
{
    if (!verdict || verdict->is_outdated || verdict->n_pinned != rules->n_pinned)
        return false;
    const bool may_change = verdict->reason == REASON_FITS || verdict->reason == REASON_CLAIM_ERROR;
    if (!may_change || !rules->copy)
        return true;
    if (device_copy_touches(rules->copy, verdict->n_taken, node_name(verdict->node)))
        return false;
    verdict->n_taken = device_copy_n_taken(rules->copy);
    return true;
}

static struct claim_verdict *find_or_add(struct claim_rules *rules, const struct node *node)
{
    struct claim_verdict *verdict = find(rules, node);
    if (verdict)
        return verdict;
    verdict = ARENA_NEW(rules->arena, struct claim_verdict);
    verdict->node = node;
    verdict->is_outdated = true;
    arena_table_add(&rules->verdicts, &verdict->item, &verdict->node, POINTER_BYTES, rules->arena);
    return verdict;
}

static enum reason judge_by_search(struct claim_rules *rules, const struct node *node)
{
    const struct claim_verdict *before =
        rules->origin && !rules->asks_less && !find(rules, node) ? find(rules->origin, node) : NULL;
    struct claim_verdict *verdict = find_or_add(rules, node);
    if (before) {
        const struct arena_item item = verdict->item;
        *verdict = *before;
        verdict->item = item;
        /* Devices that were given back: it fits all the more. */
        if (verdict->n_taken > rules->n_taken_before)
            verdict->n_taken = rules->n_taken_before;
    }
    if (holds(rules, verdict))
        return verdict->reason;
    search(rules, node, verdict);
    verdict->n_taken = rules->copy ? device_copy_n_taken(rules->copy) : 0;
    verdict->n_pinned = rules->n_pinned;
    verdict->is_outdated = false;
    return verdict->reason;
}

enum reason claim_rules_judge(struct claim_rules *rules, const struct node *node)
{
    const struct pod_claim *fault = NULL;
    if (!rules)
        return REASON_FITS;
    if ((fault = faulty(rules)) != NULL)
        return fault->fault;
    if (rules->error)
        return REASON_CLAIM_ERROR;
    if ((fault = full(rules)) != NULL)
        return reason_of_full(rules, fault);
    return judge_by_search(rules, node);
}

void claim_rules_judge_all(struct claim_rules *rules, const struct cluster *cluster)
{
    for (const struct node *node = cluster_next_node(cluster, NULL); rules && node;
         node = cluster_next_node(cluster, node))
        (void)claim_rules_judge(rules, node);
}

const char *claim_rules_fault(const struct claim_rules *rules)
{
    const struct pod_claim *claim = NULL;
    if (!rules)
        return "";
    if ((claim = faulty(rules)) != NULL)
        return claim->cause;
    if (rules->error)
        return rules->error;
    if ((claim = full(rules)) == NULL)
        return "";
    if (reason_of_full(rules, claim) == REASON_CLAIM_HOLDERS)
        return claim->asked.name;
    return arena_printf(rules->arena, "%zu pods use the claim %s, and this one may be among them",
                        claim->n_holders, claim->asked.name);
}

/* A claim that is allocated, and that no pod uses. */
static bool has_unused(const struct claim_rules *rules)
{
    for (size_t i = 0; i < rules->n; i++) {
        if (rules->claims[i]->is_allocated && rules->claims[i]->n_holders == 0)
            return true;
    }
    return false;
}

const char *claim_rules_cause(const struct claim_rules *rules, const struct node *node)
{
    const char *fault = claim_rules_fault(rules);
    const struct claim_verdict *verdict = rules && !fault[0] ? find(rules, node) : NULL;
    if (verdict && verdict->reason == REASON_CLAIM_ELSEWHERE && has_unused(rules))
        return "no pod uses the claim: if the pod fits nowhere, kube-scheduler takes the devices "
               "back and tries again";
    return verdict && verdict->cause ? verdict->cause : fault;
}

/* ---- what the pod gets ---- */

size_t claim_rules_n(const struct claim_rules *rules)
{
    return rules ? rules->n : 0;
}

const struct pod_claim *claim_rules_claim(const struct claim_rules *rules, size_t i)
{
    return rules->claims[i];
}

size_t claim_rules_alternative(const struct claim_rules *rules, const struct node *node,
                               size_t claim, size_t request)
{
    const struct claim_verdict *verdict = find(rules, node);
    if (!verdict || verdict->reason != REASON_FITS || !verdict->wants)
        return SIZE_MAX;
    return verdict->wants[first_request(rules, claim) + request];
}

const struct claim_takes *claim_rules_takes(const struct claim_rules *rules,
                                            const struct node *node)
{
    const struct claim_verdict *verdict = find(rules, node);
    return verdict && verdict->reason == REASON_FITS ? verdict->takes : NULL;
}

const char *claim_rules_waits(const struct claim_rules *rules, const struct node *node,
                              size_t claim)
{
    const struct claim_verdict *verdict = find(rules, node);
    if (!verdict || verdict->reason != REASON_FITS)
        return NULL;
    if (rules->claims[claim]->is_allocated)
        return rules->claims[claim]->waits;
    return verdict->waits ? verdict->waits[claim] : NULL;
}

enum reason claim_rules_judge_alternative(struct claim_rules *rules, const struct node *node,
                                          const struct claim_alternative *alternative,
                                          const char **ret_cause)
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    struct claims_on_node question = question_of(rules, node, arena);
    struct allocate_claim *claims =
        arena_copy(arena, question.asked.claims, rules->n, sizeof *claims);
    struct allocate_claim *claim = &claims[alternative->claim];
    struct allocate_request *requests =
        arena_copy(arena, claim->requests, claim->n_requests, sizeof *requests);
    struct claim_verdict verdict = {0};
    requests[alternative->request].wants += alternative->want;
    requests[alternative->request].n_wants = 1;
    claim->requests = requests;
    question.asked.claims = claims;
    judge(rules, &question, arena, &verdict);
    *ret_cause = verdict.cause;
    return verdict.reason;
}

bool claim_rules_are_reusable(const struct claim_rules *rules)
{
    for (size_t i = 0; i < rules->n; i++) {
        if (rules->claims[i]->n_holders >= CLAIM_RULES_HOLDERS_MAX)
            return false;
    }
    return !rules->error;
}

bool claim_rules_are_cut(const struct claim_rules *rules)
{
    return rules && rules->is_cut;
}

/* ---- placing ---- */

static void allocate(struct claim_rules *rules, struct pod_claim *claim,
                     const struct allocate_claim *asked, const struct allocate_results *results,
                     const struct node *node)
{
    device_copy_take(rules->copy, asked, results);
    if (claim->is_template)
        return;
    claim->is_allocated = true;
    claim->place = device_copy_place(rules->copy, results, node_name(node));
    claim->waits = waits_text(results, rules->arena);
    rules->n_pinned++;
}

void claim_rules_place(struct claim_rules *rules, const struct node *node)
{
    if (claim_rules_judge(rules, node) != REASON_FITS || !rules)
        return;
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    const struct claims_on_node question = question_of(rules, node, arena);
    const struct allocate_answer answer = ask(rules, &question.asked, arena);
    for (size_t i = 0; i < rules->n; i++) {
        struct pod_claim *claim = rules->claims[i];
        if (answer.verdict == ALLOCATE_FITS && !claim->is_allocated)
            allocate(rules, claim, &question.asked.claims[i], &answer.results[i], node);
        claim->n_holders += !claim->is_template;
    }
    find_or_add(rules, node)->is_outdated = true;
}

void claim_rules_abort(struct claim_rules *rules, const struct node *node)
{
    if (!rules->error)
        rules->error = arena_printf(rules->arena, "on node %s: %s", node_name(node),
                                    claim_rules_cause(rules, node));
}

struct claim_rules *claim_rules_try(struct claim_rules *rules, struct arena *arena)
{
    if (!rules)
        return NULL;
    struct claim_rules *trial = ARENA_NEW(arena, struct claim_rules);
    *trial = *rules;
    trial->arena = arena;
    trial->origin = rules;
    trial->verdicts = (struct arena_table){0};
    trial->claims = ARENA_ARRAY(arena, struct pod_claim *, rules->n);
    for (size_t i = 0; i < rules->n; i++)
        trial->claims[i] = arena_copy(arena, rules->claims[i], 1, sizeof(struct pod_claim));
    trial->trial_steps = trial->trial_steps_left = steps_left(rules) / TRIAL_SHARE;
    trial->steps_left = &trial->trial_steps_left;
    trial->n_taken_before = rules->copy ? device_copy_n_taken(rules->copy) : 0;
    return trial;
}

void claim_rules_end_trial(struct claim_rules *trial)
{
    if (!trial)
        return;
    lower(trial->origin->steps_left, trial->trial_steps - trial->trial_steps_left);
    lower(&trial->origin->own_steps_left, trial->trial_steps - trial->trial_steps_left);
    if (trial->copy)
        device_copy_give_back(trial->copy, trial->n_taken_before);
}

bool claim_rules_are_own(const struct claim_rules *rules)
{
    for (size_t i = 0; rules && i < rules->n; i++) {
        if (!rules->claims[i]->is_template)
            return false;
    }
    return true;
}

void claim_rules_give_back(struct claim_rules *rules)
{
    if (rules && rules->copy)
        device_copy_give_back(rules->copy, rules->n_taken_before);
}

static int64_t most_wanted(const struct allocate_request *request)
{
    int64_t most = 0;
    for (size_t i = 0; i < request->n_wants; i++) {
        const struct allocate_want *want = &request->wants[i];
        most = !want->wants_all && want->n_devices > most ? want->n_devices : most;
    }
    return most;
}

static void limit_wants(struct allocate_request *request, int64_t most, struct arena *arena)
{
    struct allocate_want *wants =
        arena_copy(arena, request->wants, request->n_wants, sizeof *wants);
    for (size_t i = 0; i < request->n_wants; i++) {
        if (!wants[i].wants_all && wants[i].n_devices > most)
            wants[i].n_devices = most;
    }
    request->wants = wants;
}

int64_t claim_rules_most_devices(const struct claim_rules *rules, const char **ret_request)
{
    int64_t most = 0;
    size_t n_several = 0;
    *ret_request = NULL;
    for (size_t i = 0; rules && i < rules->n; i++) {
        const struct allocate_claim *asked = &rules->claims[i]->asked;
        for (size_t j = 0; !rules->claims[i]->is_allocated && j < asked->n_requests; j++) {
            const int64_t n = most_wanted(&asked->requests[j]);
            n_several += n > 1;
            *ret_request = n > 1 && n_several == 1 ? asked->requests[j].name : *ret_request;
            most = n > most ? n : most;
        }
    }
    *ret_request = n_several == 1 ? *ret_request : NULL;
    return most;
}

void claim_rules_limit_devices(struct claim_rules *trial, int64_t most)
{
    trial->asks_less = true;
    for (size_t i = 0; i < trial->n; i++) {
        struct allocate_claim *asked = &trial->claims[i]->asked;
        struct allocate_request *requests =
            arena_copy(trial->arena, asked->requests, asked->n_requests, sizeof *requests);
        for (size_t j = 0; !trial->claims[i]->is_allocated && j < asked->n_requests; j++)
            limit_wants(&requests[j], most, trial->arena);
        asked->requests = requests;
    }
}
