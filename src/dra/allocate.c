/* allocate: the steps of one question. See include/dra/allocate.h. */
#include "dra/allocate.h"
#include "allocate_priv.h"
#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* What the claims ask for, checked before the search: classes, counts, all devices of a request
 * that wants all (validateDeviceRequest() and the first half of Allocate() upstream). */

static const char *name_of(struct run *run, const struct want_state *want)
{
    const char *claim = allocate_claim_name(run, run->claims[want->claim].claim);
    return arena_printf(run->arena, "claim %s, request %s", claim,
                        want->is_alternative ? want->want->name : want->request_name);
}

/* Selects from one pool. YES or STOPPED. */
static enum attempt collect_from(struct run *run, struct want_state *want,
                                 const struct source_pool *pool)
{
    if (pool->state == POOL_UNORDERED)
        return allocate_do_not_judge(run, "slices of pool %s/%s disagree about resourceSliceCount",
                                     pool->driver, pool->name);
    run->answer.is_of_node = pool->state != POOL_USABLE;
    if (pool->state != POOL_USABLE)
        return allocate_fail(run,
                             "%s: asks for all devices, but resource pool %s/%s is currently %s",
                             name_of(run, want), pool->driver, pool->name,
                             pool->state == POOL_INCOMPLETE ? "being updated" : "invalid");
    for (size_t i = 0; i < pool->n_offers; i++) {
        struct offer *offer = &pool->offers[i];
        enum attempt outcome = match_device(run, want, offer);
        if (outcome == YES)
            outcome = capacity_suffices(run, want, offer);
        if (outcome == STOPPED)
            return STOPPED;
        if (outcome == YES)
            want->all[want->n_devices++] = offer;
    }
    return YES;
}

static enum attempt collect_all(struct run *run, struct want_state *want)
{
    if (!allocate_spend(run, 1 + run->n_offers))
        return STOPPED;
    want->all = ARENA_ARRAY(run->arena, struct offer *, run->n_offers + 1);
    for (size_t i = 0; i < run->n_pools; i++) {
        if (collect_from(run, want, &run->pools[i]) == STOPPED)
            return STOPPED;
    }
    return YES;
}

/* YES: upstream accepts the want, whatever the cluster has. */
static enum attempt check_want(struct run *run, const struct want_state *want)
{
    const struct allocate_want *asked = want->want;
    for (size_t i = 0; i < asked->selectors.n; i++) {
        if (!asked->selectors.programs[i])
            return allocate_fail(
                run, "%s, selector #%zu: CEL expression empty (unsupported selector type?)",
                name_of(run, want), i);
    }
    if (!asked->class_name[0])
        return allocate_fail(run, "%s: missing device class name (unsupported request type?)",
                             name_of(run, want));
    if (!asked->device_class)
        return allocate_fail(run, "%s: could not retrieve device class %s", name_of(run, want),
                             asked->class_name);
    if (asked->unknown_mode)
        return allocate_fail(run, "%s: unsupported count mode %s", name_of(run, want),
                             asked->unknown_mode);
    return YES;
}

static enum attempt prepare_want(struct run *run, struct want_state *want)
{
    const struct allocate_want *asked = want->want;
    if (check_want(run, want) == STOPPED)
        return STOPPED;
    if (asked->wants_all)
        return collect_all(run, want);
    if (asked->n_devices < 0 || asked->n_devices > ALLOCATE_COUNT_MAX)
        return allocate_do_not_judge(run, "%s: a count of %lld", name_of(run, want),
                                     (long long)asked->n_devices);
    want->n_devices = (size_t)asked->n_devices;
    return YES;
}

static size_t find_first_request(const struct allocate_claim *claim, size_t request)
{
    size_t i = 0;
    while (strcmp(claim->requests[i].name, claim->requests[request].name) != 0)
        i++;
    return i;
}

/* Adds the least number of devices to *n. */
static enum attempt prepare_request(struct run *run, struct claim_search *claim, size_t request,
                                    size_t *n_wants, size_t *n)
{
    const struct allocate_request *asked = &claim->claim->requests[request];
    struct want_state *wants = ARENA_ARRAY(run->arena, struct want_state, asked->n_wants + 1);
    claim->requests[request] = wants;
    size_t least = SIZE_MAX;
    for (size_t i = 0; i < asked->n_wants; i++) {
        wants[i].want = &asked->wants[i];
        wants[i].claim = (size_t)(claim - run->claims);
        wants[i].request = request;
        wants[i].request_name = asked->name;
        wants[i].first_request = find_first_request(claim->claim, request);
        wants[i].is_alternative = asked->has_alternatives;
        wants[i].index = (*n_wants)++;
        if (prepare_want(run, &wants[i]) == STOPPED)
            return STOPPED;
        if (wants[i].n_devices < least)
            least = wants[i].n_devices;
    }
    if (least == SIZE_MAX)
        return allocate_do_not_judge(run, "request %s: its type is not known", asked->name);
    *n += least;
    return YES;
}

static enum attempt prepare_claim(struct run *run, struct claim_search *claim)
{
    size_t n_requests = claim->claim->n_requests, n_wants = 0, n_devices = 0;
    if (!allocate_spend(run, n_requests * (1 + n_requests / 2)))
        return STOPPED;
    claim->requests = ARENA_ARRAY(run->arena, struct want_state *, n_requests + 1);
    for (size_t i = 0; i < n_requests; i++) {
        if (prepare_request(run, claim, i, &n_wants, &n_devices) == STOPPED)
            return STOPPED;
    }
    if (n_devices > ALLOCATE_RESULTS_MAX)
        return allocate_fail(run,
                             "claim %s: number of requested devices %zu exceeds the claim limit of "
                             "%d",
                             allocate_claim_name(run, claim->claim), n_devices,
                             ALLOCATE_RESULTS_MAX);
    return constraints_prepare(run, claim);
}

/* An upper bound of the nested calls of the search for the claim. */
static size_t depth_of(const struct allocate_claim *claim)
{
    return 1 + ALLOCATE_RESULTS_MAX + 2 * claim->n_requests;
}

enum attempt requests_prepare(struct run *run)
{
    const struct allocate_question *question = run->question;
    if (question->n_claims > ALLOCATE_CLAIMS_MAX)
        return allocate_do_not_judge(run, "too many claims");
    run->claims = ARENA_ARRAY(run->arena, struct claim_search, question->n_claims + 1);
    size_t depth = 1;
    for (size_t i = 0; i < question->n_claims; i++) {
        if (question->claims[i].is_allocated)
            continue;
        run->claims[run->n_claims].claim = &question->claims[i];
        run->claims[run->n_claims++].question_index = i;
        depth += depth_of(&question->claims[i]);
    }
    if (depth > ALLOCATE_DEPTH_MAX)
        return allocate_do_not_judge(run, "too many claims and requests");
    for (size_t i = 0; i < run->n_claims; i++) {
        if (prepare_claim(run, &run->claims[i]) == STOPPED)
            return STOPPED;
    }
    return YES;
}

#define MESSAGE_MAX 1000

/* One line: names may come from files that no API server has checked. */
static void stop(struct run *run, enum allocate_verdict verdict, const char *format, va_list args)
    __attribute__((format(printf, 3, 0)));
static void stop(struct run *run, enum allocate_verdict verdict, const char *format, va_list args)
{
    char text[MESSAGE_MAX];
    (void)vsnprintf(text, sizeof text, format, args);
    struct buf line;
    buf_init(&line, (size_t)3 * MESSAGE_MAX);
    buf_add_one_line(&line, text);
    run->answer.verdict = verdict;
    run->answer.message = arena_strdup(run->arena, buf_text(&line));
    buf_fini(&line);
}

enum attempt allocate_fail(struct run *run, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    stop(run, ALLOCATE_ERROR, format, args);
    va_end(args);
    return STOPPED;
}

enum attempt allocate_do_not_judge(struct run *run, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    stop(run, ALLOCATE_NOT_JUDGED, format, args);
    va_end(args);
    return STOPPED;
}

bool allocate_spend(struct run *run, uint64_t steps)
{
    uint64_t max = run->question->max_steps;
    uint64_t left = max - run->answer.steps;
    run->answer.steps = steps < left ? run->answer.steps + steps : max;
    if (steps <= left)
        return true;
    (void)allocate_do_not_judge(run, "too many combinations");
    return false;
}

const char *allocate_claim_name(struct run *run, const struct allocate_claim *claim)
{
    return claim->namespace_[0] ? arena_printf(run->arena, "%s/%s", claim->namespace_, claim->name)
                                : claim->name;
}

static void set_results(struct run *run)
{
    struct allocate_results *results =
        ARENA_ARRAY(run->arena, struct allocate_results, run->question->n_claims + 1);
    for (size_t i = 0; i < run->n_claims; i++)
        results[run->claims[i].question_index] = run->claims[i].results;
    run->answer.results = results;
}

static bool has_pool(const struct run *run, enum pool_state state)
{
    for (size_t i = 0; i < run->n_pools; i++) {
        if (run->pools[i].state == state)
            return true;
    }
    return false;
}

static void set_verdict(struct run *run, enum allocate_verdict verdict, const char *message)
{
    run->answer.verdict = verdict;
    run->answer.message = message;
}

/* The search ended without devices. */
static void set_no(struct run *run)
{
    if (has_pool(run, POOL_UNORDERED))
        (void)allocate_do_not_judge(run, "slices of a pool disagree about resourceSliceCount");
    else if (has_pool(run, POOL_INVALID))
        set_verdict(run, ALLOCATE_INVALID_POOLS, "invalid resource pools were encountered");
    else
        set_verdict(run, ALLOCATE_NO, "cannot allocate all claims");
}

static bool is_elsewhere(const struct allocate_question *question)
{
    for (size_t i = 0; i < question->n_claims; i++) {
        if (question->claims[i].is_allocated && !question->claims[i].reaches_node)
            return true;
    }
    return false;
}

/* Upstream makes an allocator only if there is a claim to allocate. */
static enum attempt find_devices(struct run *run)
{
    bool is_needed = false;
    for (size_t i = 0; i < run->question->n_claims; i++)
        is_needed |= !run->question->claims[i].is_allocated;
    if (!is_needed)
        return YES;
    if (allocate_pools_gather(run) == STOPPED || requests_prepare(run) == STOPPED)
        return STOPPED;
    return search_all(run);
}

struct allocate_answer allocate_on_node(const struct allocate_question *question,
                                        struct arena *arena)
{
    struct run run = {
        .question = question,
        .arena = arena,
        .answer = {.verdict = ALLOCATE_FITS, .message = ""},
    };
    enum attempt outcome = find_devices(&run);
    if (outcome == NO)
        set_no(&run);
    else if (outcome == YES && is_elsewhere(question))
        set_verdict(&run, ALLOCATE_ELSEWHERE, "resourceclaim not available on the node");
    else if (outcome == YES)
        set_results(&run);
    return run.answer;
}
