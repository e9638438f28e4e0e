/* allocate: the steps of one question. See include/allocate/allocate.h. */
#include "allocate/allocate.h"

#include "allocate_priv.h"
#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>

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
    if (pools_gather(run) == STOPPED || requests_prepare(run) == STOPPED)
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
