/*
 * reflector_verdict: what a reflector reports of a failure (one printable ASCII line), its next
 * step, its lag, and whether it has caught up.
 */
#include "base/clock.h"
#include "formats/json_parse.h"
#include "formats/json_values.h"
#include "reflector_priv.h"
#include "resource_version.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN_MAX 200

/* A longer Retry-After is cut to this. */
#define RETRY_AFTER_MAX_S 300
/* After a shorter time since the last list, a 410 backs off before it lists again. */
#define IN_VAIN_MS 120000
/* How long to wait for events: pending ones arrive at once. */
#define CATCH_UP_MS 300

/* ---- reports ---- */

/* shown: at least SHOWN_MAX + 1 bytes. */
static void make_printable(const char *text, char *shown)
{
    size_t n = strnlen(text, SHOWN_MAX);
    for (size_t i = 0; i < n; i++) {
        bool blank = text[i] == '\n' || text[i] == '\r' || text[i] == '\t';
        bool plain = text[i] >= ' ' && text[i] <= '~';
        shown[i] = blank ? ' ' : text[i];
        if (!blank && !plain)
            shown[i] = '?';
    }
    shown[n] = '\0';
}

static void say(struct reflector *reflector, enum reflector_trouble trouble, const char *number,
                const char *text)
{
    char shown[SHOWN_MAX + 1];
    bool is_watch = reflector->step == STEP_WATCH || reflector->step == STEP_REWATCH;
    make_printable(text, shown);
    (void)snprintf(reflector->why, sizeof reflector->why, "%s %s: %s%s%s",
                   is_watch ? "watch" : "GET", reflector_collection(reflector), number,
                   number[0] && shown[0] ? ": " : "", shown);
    reflector->status.why = reflector->why;
    reflector->status.trouble = trouble;
    reflector->is_dirty = true;
    reflector->told_of_watch = is_watch;
    if (log_dedup_is_news(&reflector->log, reflector->why))
        reflector->status.is_news = true;
}

static enum reflector_trouble trouble_of(unsigned status)
{
    return status == 401 || status == 403 ? TROUBLE_REFUSED : TROUBLE_FAILED;
}

void reflector_say(struct reflector *reflector, enum reflector_trouble trouble, const char *what)
{
    say(reflector, trouble, "", what);
}

void reflector_say_refused(struct reflector *reflector, const char *why)
{
    say(reflector, TROUBLE_REFUSED, "401", why);
}

static const char *message_of(const json_t *status)
{
    const char *message = json_string_value(json_member(status, "message"));
    return message ? message : "";
}

void reflector_say_status(struct reflector *reflector)
{
    const struct flight *flight = &reflector->flight;
    const char *text = buf_text(&flight->error_body);
    char number[16];
    json_t *status = NULL;
    (void)snprintf(number, sizeof number, "%u", flight->status);
    int r = json_parse(text, flight->error_body.len, 0, &JSON_ANSWER, &status, NULL);
    say(reflector, trouble_of(flight->status), number, r == 0 ? message_of(status) : text);
    if (r == 0)
        json_decref(status);
}

void reflector_say_error(struct reflector *reflector, const json_t *status)
{
    char number[32];
    (void)snprintf(number, sizeof number, "ERROR %u", reflector->event_code);
    say(reflector, trouble_of(reflector->event_code), number, message_of(status));
}

void reflector_say_nothing(struct reflector *reflector)
{
    reflector->status.why = NULL;
    reflector->status.trouble = TROUBLE_NONE;
    reflector->status.is_news = false;
    if (!reflector->told_of_watch)
        log_dedup_forget(&reflector->log);
}

void reflector_watch_works(struct reflector *reflector)
{
    log_dedup_forget(&reflector->log);
}

/* ---- what follows ---- */

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
    listing->n_unserved = 0;
    listing->is_counted = false;
    listing->has_begun = false;
    buf_clear(&listing->continue_);
}

static enum relist_cause cause_of(enum reflector_failure failure)
{
    switch (failure) {
    case FAILURE_GONE:
        return RELIST_GONE;
    case FAILURE_GARBAGE:
        return RELIST_GARBAGE;
    case FAILURE_BUSY:
    case FAILURE_CUT:
    case FAILURE_UNSERVED:
    case FAILURE_OTHER:
        break;
    }
    return RELIST_FAILED;
}

/* After a 429 the same page is requested again: it belongs to the same list. */
static void list_failed(struct reflector *reflector, enum reflector_failure failure)
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

static void watch_failed(struct reflector *reflector, enum reflector_failure failure)
{
    if (failure != FAILURE_BUSY && failure != FAILURE_CUT)
        reflector_relist(reflector, cause_of(failure));
    else if (reflector->status.stale)
        reflector->step = STEP_PROBE;
}

/* A watch that opened and then broke off did not reach the probe's version. */
static void rewatch_failed(struct reflector *reflector, enum reflector_failure failure)
{
    bool refused = failure == FAILURE_BUSY || failure == FAILURE_CUT;
    if (refused && reflector->watch_is_open)
        reflector_relist(reflector, RELIST_SILENT);
    else if (refused)
        reflector->step = STEP_PROBE;
    else
        reflector_relist(reflector, cause_of(failure));
}

/* After a 410, or a 404 to a version that was served, the collection is listed at once, unless the
 * last list was a moment ago. */
static int64_t delay_of(struct reflector *reflector, int64_t now_ms, enum reflector_failure failure,
                        int64_t retry_after_s)
{
    bool is_watch = reflector->step == STEP_WATCH || reflector->step == STEP_REWATCH;
    bool is_probe = reflector->step == STEP_PROBE;
    bool may_help = (is_watch && failure == FAILURE_GONE) ||
                    ((is_watch || is_probe) && failure == FAILURE_UNSERVED);
    if (may_help && now_ms - reflector->listed_ms >= IN_VAIN_MS)
        return 0;
    if (retry_after_s < 0 || retry_after_s > RETRY_AFTER_MAX_S)
        retry_after_s = retry_after_s < 0 ? 0 : RETRY_AFTER_MAX_S;
    int64_t delay_ms = backoff_next_ms(&reflector->backoff, now_ms, &reflector->random);
    const int64_t asked_ms = retry_after_s * 1000;
    return delay_ms > asked_ms ? delay_ms : asked_ms;
}

void reflector_failed(struct reflector *reflector, int64_t now_ms, enum reflector_failure failure,
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
        if (failure == FAILURE_UNSERVED)
            reflector_relist(reflector, RELIST_FAILED);
        break;
    case STEP_REWATCH:
        rewatch_failed(reflector, failure);
        break;
    }
    reflector_settle(reflector);
}

/* ---- the lag ---- */

static void set_lag(struct reflector *reflector, int64_t since_ms)
{
    reflector->lag_since_ms = since_ms;
    reflector_lag_report(reflector);
}

void reflector_lag_report(const struct reflector *reflector)
{
    if (reflector->store.lags)
        reflector->store.lags(reflector->store.context, reflector->lag_since_ms);
}

void reflector_lag_runs(struct reflector *reflector, int64_t now_ms)
{
    const int64_t since_ms = now_ms - reflector_lag_ms(reflector->lag_since_ms, now_ms);
    set_lag(reflector, since_ms > 0 ? since_ms : 1);
}

void reflector_lag_stands(struct reflector *reflector, int64_t now_ms)
{
    set_lag(reflector, -reflector_lag_ms(reflector->lag_since_ms, now_ms));
}

void reflector_lag_ends(struct reflector *reflector, int64_t now_ms, bool is_first)
{
    set_lag(reflector, is_first ? reflector->listing.began_ms - now_ms : 0);
}

void reflector_lag_drained(struct reflector *reflector, int64_t now_ms)
{
    set_lag(reflector, now_ms);
    if (reflector->has_news && reflector->step == STEP_WATCH && !reflector->status.stale)
        reflector_set_fresh(reflector, now_ms);
    reflector->has_news = false;
}

/* ---- catching up ---- */

static bool is_under_way(const struct reflector *reflector)
{
    return reflector->catch_up.done != reflector->catch_up.number;
}

void reflector_catch_up(struct reflector *reflector, int64_t now_ms, uint64_t number,
                        const char *version)
{
    struct catching_up *catch_up = &reflector->catch_up;
    catch_up->number = number;
    buf_clear(&catch_up->version);
    if (version)
        buf_add_text(&catch_up->version, version);
    catch_up->until_ms = catch_up->version.len > 0 ? now_ms + CATCH_UP_MS : now_ms;
    reflector_catch_up_look(reflector);
}

/* A list that began before the catch-up may miss changes; one that is still to begin will not. If
 * the version is known, the watch after the list may reach it. */
static bool is_helped_by_list(const struct reflector *reflector)
{
    const struct listing *listing = &reflector->listing;
    return reflector->step == STEP_LIST &&
           (!listing->is_counted || listing->catches_up == reflector->catch_up.number ||
            reflector->catch_up.version.len > 0);
}

int64_t reflector_catch_up_due_ms(const struct reflector *reflector)
{
    return is_under_way(reflector) && !is_helped_by_list(reflector) ? reflector->catch_up.until_ms
                                                                    : CLOCK_NEVER;
}

void reflector_catch_up_look(struct reflector *reflector)
{
    struct catching_up *catch_up = &reflector->catch_up;
    const bool follows = reflector->step == STEP_WATCH || reflector->step == STEP_REWATCH;
    if (is_under_way(reflector) && follows && catch_up->version.len > 0 &&
        resource_version_is_at_least(buf_text(&reflector->version), buf_text(&catch_up->version)))
        catch_up->done = catch_up->number;
}

void reflector_catch_up_listed(struct reflector *reflector, int64_t now_ms)
{
    struct catching_up *catch_up = &reflector->catch_up;
    if (is_under_way(reflector) && reflector->listing.catches_up == catch_up->number)
        catch_up->done = catch_up->number;
    reflector_catch_up_look(reflector);
    catch_up->until_ms = now_ms + CATCH_UP_MS;
}

uint64_t reflector_caught_up(const struct reflector *reflector)
{
    return reflector->catch_up.done;
}
