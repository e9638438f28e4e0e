/*
 * match: whether a device suits what a request asks for: selectors of its class and its own, the
 * node, and taints.
 */
#include "allocate_priv.h"
#include "base/mem.h"

#include <string.h>

/* To read a fact of the device before each evaluation. */
#define STEPS_OF_FACT 4

enum match { MATCH_UNKNOWN, MATCH_YES, MATCH_NO };

/* "class X" or "claim NAMESPACE/NAME" have these selectors. */
struct selector_owner {
    const char *kind, *name;
};

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
        return allocate_do_not_judge(run, "%s %s: selector #%zu: its type is not known",
                                     source.kind, source.name, i);
    enum attempt outcome = evaluate(run, selectors->programs[i], device, &answer);
    if (outcome == STOPPED)
        return STOPPED;
    if (answer.verdict == CEL_NOT_JUDGED)
        return allocate_do_not_judge(run, "%s %s: selector #%zu: %s", source.kind, source.name, i,
                                     answer.message);
    if (answer.verdict == CEL_INVALID)
        return allocate_fail(run, "%s %s: selector #%zu: CEL %s error: %s", source.kind,
                             source.name, i, outcome == NO ? "compile" : "runtime", answer.message);
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
    struct selector_owner of_class = {"class", class->name};
    enum attempt outcome = match_selectors(run, &class->selectors, offer->device, of_class);
    if (outcome != YES)
        return outcome;
    const struct allocate_claim *claim = run->claims[want->claim].claim;
    struct selector_owner of_claim = {"claim", allocate_claim_name(run, claim)};
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
    enum attempt outcome = match_now(run, want, offer);
    if (outcome != STOPPED)
        *known = outcome == YES ? MATCH_YES : MATCH_NO;
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
