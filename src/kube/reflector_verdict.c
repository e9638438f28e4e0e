/* reflector_verdict: what follows from a failed request, and from its success for the status. */
#include "reflector_priv.h"

#include <stdlib.h>

/* A Retry-After longer than this is no Retry-After. */
#define RETRY_AFTER_MAX_S 300
/* A list that is over so soon after the last one was in vain. */
#define IN_VAIN_MS 120000

void reflector_settle(struct reflector *reflector)
{
    reflector->flight.settled = true;
}

void reflector_set_stale(struct reflector *reflector)
{
    reflector->status.stale = true;
    reflector->is_dirty = true;
}

void reflector_set_fresh(struct reflector *reflector, int64_t now_ms)
{
    reflector->status.stale = false;
    reflector->status.fresh_ms = now_ms;
    reflector->heard_ms = now_ms;
    reflector->unopened_ms = now_ms;
    reflector->is_dirty = true;
    reflector_say_nothing(reflector);
}

void reflector_relist(struct reflector *reflector, enum relist_cause cause)
{
    struct listing *listing = &reflector->listing;
    reflector->step = STEP_LIST;
    listing->cause = cause;
    listing->is_counted = false;
    listing->has_begun = false;
    buf_clear(&listing->continue_);
}

static enum relist_cause cause_of(enum failure failure)
{
    switch (failure) {
    case FAILURE_GONE:
        return RELIST_GONE;
    case FAILURE_GARBAGE:
        return RELIST_GARBAGE;
    case FAILURE_BUSY:
    case FAILURE_CUT:
    case FAILURE_OTHER:
        break;
    }
    return RELIST_FAILED;
}

/* A page that was refused for being one too many is asked for again: it is of the same list. */
static void list_failed(struct reflector *reflector, enum failure failure)
{
    struct listing *listing = &reflector->listing;
    if (listing->cause == RELIST_SILENT)
        reflector_set_stale(reflector);
    if (failure == FAILURE_BUSY)
        return;
    bool page_gone = failure == FAILURE_GONE && listing->continue_.len > 0;
    bool gone = failure == FAILURE_GONE;
    if (page_gone)
        reflector_relist(reflector, RELIST_PAGE_GONE);
    else
        reflector_relist(reflector, gone ? RELIST_FAILED : cause_of(failure));
}

static void watch_failed(struct reflector *reflector, enum failure failure)
{
    if (failure != FAILURE_BUSY && failure != FAILURE_CUT)
        reflector_relist(reflector, cause_of(failure));
    else if (reflector->status.stale)
        reflector->step = STEP_PROBE;
}

/* One that was opened and broke off before it had caught up has ended without. */
static void rewatch_failed(struct reflector *reflector, enum failure failure)
{
    bool refused = failure == FAILURE_BUSY || failure == FAILURE_CUT;
    if (refused && reflector->watch_is_open)
        reflector_relist(reflector, RELIST_SILENT);
    else if (refused)
        reflector->step = STEP_PROBE;
    else
        reflector_relist(reflector, cause_of(failure));
}

/* Lists that became too old are made anew at once, but not one after another. */
static int64_t delay_of(struct reflector *reflector, int64_t now_ms, enum failure failure,
                        int64_t retry_after_s)
{
    bool is_watch = reflector->step == STEP_WATCH || reflector->step == STEP_REWATCH;
    if (is_watch && failure == FAILURE_GONE && now_ms - reflector->listed_ms >= IN_VAIN_MS)
        return 0;
    if (retry_after_s < 0 || retry_after_s > RETRY_AFTER_MAX_S)
        retry_after_s = retry_after_s < 0 ? 0 : RETRY_AFTER_MAX_S;
    int64_t delay_ms = backoff_next_ms(&reflector->backoff, now_ms, &reflector->random);
    return delay_ms > retry_after_s * 1000 ? delay_ms : retry_after_s * 1000;
}

void reflector_failed(struct reflector *reflector, int64_t now_ms, enum failure failure,
                      int64_t retry_after_s)
{
    reflector->not_before_ms = now_ms + delay_of(reflector, now_ms, failure, retry_after_s);
    reflector->is_dirty = true;
    switch (reflector->step) {
    case STEP_LIST:
        list_failed(reflector, failure);
        break;
    case STEP_WATCH:
        watch_failed(reflector, failure);
        break;
    case STEP_PROBE:
        reflector_set_stale(reflector);
        break;
    case STEP_REWATCH:
        rewatch_failed(reflector, failure);
        break;
    }
    reflector_settle(reflector);
}
