/*
 * allocate_match: whether a device suits what a request asks for: selectors of its class and its
 * own, the node, taints, and attributes that must match or differ.
 */
#include "allocate_priv.h"
#include "base/mem.h"

#include <string.h>

/* To read a fact of the device before each evaluation. */
#define STEPS_OF_FACT 4

enum match { MATCH_UNKNOWN, MATCH_YES, MATCH_NO };

/* A class or else a claim has these selectors. */
struct selector_owner {
    const struct allocate_class *class;
    const struct allocate_claim *claim;
};

/* "class X" or "claim NAMESPACE/NAME". */
static const char *text_of(struct run *run, struct selector_owner owner)
{
    return owner.class ? arena_printf(run->arena, "class %s", owner.class->name)
                       : arena_printf(run->arena, "claim %s",
                                      allocate_claim_name(run, owner.claim));
}

/* YES: evaluated; NO: it does not compile; STOPPED. */
static enum attempt evaluate(struct run *run, const struct cel_program *program,
                             const struct cel_device *device, struct cel_answer *ret)
{
    *ret = (struct cel_answer){.verdict = cel_verdict(program), .message = cel_message(program)};
    if (ret->verdict != CEL_VALID)
        return allocate_spend(run, 1) ? NO : STOPPED;
    struct arena *scratch CLEANUP(arena_free_ptr) = arena_new();
    *ret = cel_evaluate(program, device, scratch);
    ret->message = arena_strdup(run->arena, ret->message);
    const uint64_t steps = 1 + STEPS_OF_FACT * (uint64_t)device->n_facts + ret->cost;
    return allocate_spend(run, steps) ? YES : STOPPED;
}

static enum attempt match_selector(struct run *run, const struct allocate_selectors *selectors,
                                   size_t i, const struct cel_device *device,
                                   struct selector_owner source)
{
    struct cel_answer answer;
    if (!selectors->programs[i])
        return allocate_do_not_judge(run, "%s: selector #%zu: its type is not known",
                                     text_of(run, source), i);
    enum attempt outcome = evaluate(run, selectors->programs[i], device, &answer);
    if (outcome == STOPPED)
        return STOPPED;
    if (answer.verdict == CEL_NOT_JUDGED)
        return allocate_do_not_judge(run, "%s: selector #%zu: %s", text_of(run, source), i,
                                     answer.message);
    if (answer.verdict == CEL_INVALID)
        return allocate_fail(run, "%s: selector #%zu: CEL %s error: %s", text_of(run, source), i,
                             outcome == NO ? "compile" : "runtime", answer.message);
    return answer.value ? YES : NO;
}

static enum attempt match_selectors(struct run *run, const struct allocate_selectors *selectors,
                                    const struct allocate_device *device,
                                    struct selector_owner source)
{
    if (selectors->n && device->not_judged)
        return allocate_do_not_judge(run, "device %s: %s", device->name, device->not_judged);
    for (size_t i = 0; i < selectors->n; i++) {
        enum attempt outcome = match_selector(run, selectors, i, device->facts, source);
        if (outcome != YES)
            return outcome;
    }
    return YES;
}

static enum attempt match_now(struct run *run, const struct want_state *want,
                              const struct offer *offer)
{
    const struct allocate_class *class = want->want->device_class;
    struct selector_owner of_class = {.class = class};
    enum attempt outcome = match_selectors(run, &class->selectors, offer->device, of_class);
    if (outcome != YES)
        return outcome;
    struct selector_owner of_claim = {.claim = run->claims[want->claim].claim};
    outcome = match_selectors(run, &want->want->selectors, offer->device, of_claim);
    if (outcome != YES)
        return outcome;
    return offer->reaches_node ? YES : NO;
}

enum attempt match_device(struct run *run, struct want_state *want, const struct offer *offer)
{
    if (!want->matches) {
        if (!allocate_spend(run, run->n_offers / 16))
            return STOPPED;
        want->matches = ARENA_ARRAY(run->arena, unsigned char, run->n_offers + 1);
    }
    unsigned char *known = &want->matches[offer->index];
    if (*known != MATCH_UNKNOWN)
        return *known == MATCH_YES ? YES : NO;
    const struct offer *last = want->last_matched;
    if (last && last->device->facts == offer->device->facts &&
        last->device->not_judged == offer->device->not_judged &&
        last->reaches_node == offer->reaches_node) {
        *known = want->matches[last->index];
        return *known == MATCH_YES ? YES : NO;
    }
    enum attempt outcome = match_now(run, want, offer);
    if (outcome == STOPPED)
        return STOPPED;
    *known = outcome == YES ? MATCH_YES : MATCH_NO;
    want->last_matched = offer;
    return outcome;
}

/* resourceclaim.ToleratesTaint(). */
static bool tolerates(const struct allocate_toleration *toleration,
                      const struct allocate_taint *taint)
{
    if (toleration->effect[0] && strcmp(toleration->effect, taint->effect) != 0)
        return false;
    if (toleration->key[0] && strcmp(toleration->key, taint->key) != 0)
        return false;
    if (!toleration->op[0] || strcmp(toleration->op, "Equal") == 0)
        return strcmp(toleration->value, taint->value) == 0;
    return strcmp(toleration->op, "Exists") == 0;
}

static bool is_tolerated(const struct allocate_want *want, const struct allocate_taint *taint)
{
    for (size_t i = 0; i < want->n_tolerations; i++) {
        if (tolerates(&want->tolerations[i], taint))
            return true;
    }
    return false;
}

bool allocate_keeps_off(const struct allocate_want *want, const struct allocate_taint *taints,
                        size_t n_taints)
{
    for (size_t i = 0; i < n_taints; i++) {
        const bool may_keep_off = strcmp(taints[i].effect, "NoSchedule") == 0 ||
                                  strcmp(taints[i].effect, "NoExecute") == 0;
        if (may_keep_off && !is_tolerated(want, &taints[i]))
            return true;
    }
    return false;
}

enum attempt match_taints(struct run *run, const struct want_state *want,
                          const struct allocate_device *device)
{
    if (!allocate_spend(run, device->n_taints * (1 + want->want->n_tolerations)))
        return STOPPED;
    return allocate_keeps_off(want->want, device->taints, device->n_taints) ? NO : YES;
}

/* Attributes that must be the same, or differ, on the devices of a claim
 * (matchAttributeConstraint and distinctAttributeConstraint upstream). */

/* To add a device, and to remove it later. */
#define STEPS_OF_CONSTRAINT 4

/* Whether the name is "request" or, for an alternative, "request/alternative". */
static bool names_want(const char *name, const struct want_state *want)
{
    size_t n = strlen(want->request_name);
    if (strncmp(name, want->request_name, n) != 0)
        return false;
    return !name[n] ||
           (want->is_alternative && name[n] == '/' && strcmp(name + n + 1, want->want->name) == 0);
}

static bool applies_to(const struct allocate_constraint *constraint, const struct want_state *want)
{
    for (size_t i = 0; i < constraint->n_requests; i++) {
        if (names_want(constraint->requests[i], want))
            return true;
    }
    return constraint->n_requests == 0;
}

static const bool *find_applicable(const struct run *run, const struct claim_search *claim,
                                   const struct allocate_constraint *constraint, size_t n_wants)
{
    bool *applies = ARENA_ARRAY(run->arena, bool, n_wants + 1);
    for (size_t i = 0; i < claim->claim->n_requests; i++) {
        for (size_t j = 0; j < claim->claim->requests[i].n_wants; j++) {
            const struct want_state *want = &claim->requests[i][j];
            applies[want->index] = applies_to(constraint, want);
        }
    }
    return applies;
}

enum attempt constraints_prepare(struct run *run, struct claim_search *claim)
{
    const struct allocate_claim *asked = claim->claim;
    size_t n_wants = 0;
    for (size_t i = 0; i < asked->n_requests; i++)
        n_wants += asked->requests[i].n_wants;
    claim->constraints = ARENA_ARRAY(run->arena, struct constraint_state, asked->n_constraints + 1);
    for (size_t i = 0; i < asked->n_constraints; i++) {
        const struct allocate_constraint *constraint = &asked->constraints[i];
        if (constraint->kind == ALLOCATE_NO_CONSTRAINT)
            return allocate_fail(run,
                                 "claim %s, constraint #%zu: empty constraint (unsupported "
                                 "constraint type?)",
                                 allocate_claim_name(run, asked), i);
        if (!allocate_spend(run, n_wants * (1 + constraint->n_requests)))
            return STOPPED;
        claim->constraints[i] = (struct constraint_state){
            .constraint = constraint,
            .slash = strchr(constraint->attribute, '/'),
            .applies = find_applicable(run, claim, constraint, n_wants),
            .facts = ARENA_ARRAY(run->arena, const struct cel_fact *, asked->n_requests + 1)};
    }
    return YES;
}

static bool is_attribute(const struct cel_fact *fact, const char *attribute, const char *slash)
{
    size_t n = (size_t)(slash - attribute);
    return fact->kind != CEL_QUANTITY && strncmp(fact->domain, attribute, n) == 0 &&
           !fact->domain[n] && strcmp(fact->name, slash + 1) == 0;
}

/* Whether the attribute of the device can be judged. YES: it can. */
static enum attempt check_facts(struct run *run, const struct constraint_state *state,
                                const struct allocate_device *device)
{
    if (!state->slash)
        return allocate_do_not_judge(run, "a constraint on %s, which has no domain",
                                     state->constraint->attribute);
    if (device->not_judged)
        return allocate_do_not_judge(run, "device %s: %s", device->name, device->not_judged);
    if (device->facts->unsupported)
        return allocate_do_not_judge(run, "device %s: list-typed attribute %s", device->name,
                                     device->facts->unsupported);
    return allocate_spend(run, STEPS_OF_CONSTRAINT + device->facts->n_facts) ? YES : STOPPED;
}

/* lookupAttribute(). NULL: the device lacks it. */
static const struct cel_fact *find_fact(const struct cel_device *device,
                                        const struct constraint_state *state)
{
    for (size_t i = 0; i < device->n_facts; i++) {
        if (is_attribute(&device->facts[i], state->constraint->attribute, state->slash))
            return &device->facts[i];
    }
    return NULL;
}

static bool is_equal(const struct cel_fact *a, const struct cel_fact *b)
{
    if (a->kind != b->kind)
        return false;
    if (a->kind == CEL_BOOL)
        return a->boolean == b->boolean;
    if (a->kind == CEL_INT)
        return a->integer == b->integer;
    return strcmp(a->text, b->text) == 0;
}

/* Compares one value for each request, as the map upstream has no more. */
static bool differs_from_all(const struct constraint_state *state, const struct cel_fact *fact,
                             size_t n_requests)
{
    for (size_t i = 0; i < n_requests; i++) {
        if (state->facts[i] && is_equal(state->facts[i], fact))
            return false;
    }
    return true;
}

static enum attempt add(struct run *run, const struct claim_search *claim,
                        struct constraint_state *state, const struct want_state *want,
                        const struct allocate_device *device)
{
    if (check_facts(run, state, device) == STOPPED)
        return STOPPED;
    const struct cel_fact *fact = find_fact(device->facts, state);
    if (!fact)
        return NO;
    if (state->constraint->kind == ALLOCATE_MATCH) {
        if (state->n_devices && !is_equal(state->fact, fact))
            return NO;
        if (!state->n_devices)
            state->fact = fact;
    } else {
        size_t n_requests = claim->claim->n_requests;
        if (!allocate_spend(run, n_requests))
            return STOPPED;
        if (state->n_devices && !differs_from_all(state, fact, n_requests))
            return NO;
        state->facts[want->first_request] = fact;
    }
    state->n_devices++;
    return YES;
}

static void remove_first(struct claim_search *claim, size_t n, const struct want_state *want)
{
    for (size_t i = 0; i < n; i++) {
        struct constraint_state *state = &claim->constraints[i];
        if (!state->applies[want->index])
            continue;
        state->facts[want->first_request] = NULL;
        state->n_devices--;
    }
}

enum attempt constraints_add(struct run *run, struct claim_search *claim,
                             const struct want_state *want, const struct allocate_device *device)
{
    for (size_t i = 0; i < claim->claim->n_constraints; i++) {
        struct constraint_state *state = &claim->constraints[i];
        if (!state->applies[want->index])
            continue;
        enum attempt outcome = add(run, claim, state, want, device);
        if (outcome != YES) {
            remove_first(claim, i, want);
            return outcome;
        }
    }
    return YES;
}

void constraints_remove(struct claim_search *claim, const struct want_state *want)
{
    remove_first(claim, claim->claim->n_constraints, want);
}
