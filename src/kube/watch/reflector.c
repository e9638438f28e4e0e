/* reflector: see include/kube/reflector.h and reflector_priv.h. */
#include "kube/reflector.h"

#include "base/clock.h"
#include "base/mem.h"
#include "reflector_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Limits for reading the body of an error. */
#define ERROR_BODY_MAX ((size_t)4096)
#define ERROR_BODY_MS 5000
#define REWATCH_MS 10000
/* Path and query: three bytes for each byte of an encoded token, and the rest. */
#define PATH_MAX_BYTES (3 * REFLECTOR_TOKEN_MAX + 4096)

/* ---- its life ---- */

/* Returns the paths within an event: "object.metadata.managedFields" for
 * "metadata.managedFields". */
static const char **inside_events(const char *const *paths)
{
    size_t n = 0;
    while (paths && paths[n])
        n++;
    const char **inside = MEM_ARRAY(const char *, n + 1);
    for (size_t i = 0; i < n; i++) {
        size_t size = strlen("object.") + strlen(paths[i]) + 1;
        char *path = mem_new(size);
        (void)snprintf(path, size, "object.%s", paths[i]);
        inside[i] = path;
    }
    return inside;
}

static void free_paths(const char **paths)
{
    for (size_t i = 0; paths[i]; i++)
        free((void *)(uintptr_t)paths[i]);
    free((void *)paths);
}

struct reflector *reflector_new(const struct reflector_settings *settings,
                                const struct reflector_store *store)
{
    struct reflector *reflector = MEM_NEW(struct reflector);
    struct listing *listing = &reflector->listing;
    reflector->settings = *settings;
    reflector->store = *store;
    reflector->random = settings->seed;
    reflector->event_drop = inside_events(settings->kind->drop);
    reflector->event_keep = inside_events(settings->kind->keep);
    reflector->object_budget = (struct json_budget){.max_values = settings->max_object_values,
                                                    .max_tree_bytes = SIZE_MAX,
                                                    .max_depth = JSON_PARSER_MAX_DEPTH,
                                                    .values_key = "limits.objectValues"};
    reflector->status.why = REFLECTOR_NOT_LISTED;
    buf_init(&reflector->path, PATH_MAX_BYTES);
    buf_init(&reflector->flight.error_body, ERROR_BODY_MAX);
    buf_init(&reflector->version, REFLECTOR_TOKEN_MAX);
    buf_init(&reflector->probed, REFLECTOR_TOKEN_MAX);
    buf_init(&reflector->catch_up.version, REFLECTOR_TOKEN_MAX);
    buf_init(&listing->version, REFLECTOR_TOKEN_MAX);
    buf_init(&listing->continue_, REFLECTOR_TOKEN_MAX);
    buf_init(&listing->page_version, REFLECTOR_TOKEN_MAX);
    buf_init(&listing->page_continue, REFLECTOR_TOKEN_MAX);
    reflector_relist(reflector, RELIST_START);
    return reflector;
}

void reflector_free(struct reflector *reflector)
{
    if (!reflector)
        return;
    json_stream_free(reflector->flight.stream);
    free_paths(reflector->event_drop);
    free_paths(reflector->event_keep);
    buf_fini(&reflector->path);
    buf_fini(&reflector->flight.error_body);
    buf_fini(&reflector->version);
    buf_fini(&reflector->probed);
    buf_fini(&reflector->catch_up.version);
    buf_fini(&reflector->listing.version);
    buf_fini(&reflector->listing.continue_);
    buf_fini(&reflector->listing.page_version);
    buf_fini(&reflector->listing.page_continue);
    free(reflector);
}

static void flush(struct reflector *reflector)
{
    if (reflector->is_dirty)
        reflector->store.flush(reflector->store.context, &reflector->status);
    reflector->is_dirty = false;
    reflector->status.is_news = false;
}

/* ---- the request in flight ---- */

static bool is_watch(const struct reflector *reflector)
{
    return reflector->step == STEP_WATCH || reflector->step == STEP_REWATCH;
}

static bool is_refused(const struct flight *flight)
{
    return flight->head_ms && flight->status != 200;
}

static void count_request(struct reflector *reflector, int64_t now_ms)
{
    struct listing *listing = &reflector->listing;
    if (reflector->step == STEP_PROBE) {
        reflector->status.probes++;
        reflector->is_dirty = true;
    } else if (reflector->step == STEP_LIST && !listing->is_counted) {
        listing->is_counted = true;
        listing->catches_up = reflector->catch_up.number;
        listing->began_ms = now_ms;
        reflector->status.relists[listing->cause]++;
        reflector->is_dirty = true;
    }
}

static struct reflector_action take_off(struct reflector *reflector, int64_t now_ms)
{
    struct flight *flight = &reflector->flight;
    if (reflector->step == STEP_PROBE)
        reflector->fresh = true;
    count_request(reflector, now_ms);
    flight->request = reflector_request(reflector);
    flight->is_open = true;
    flight->settled = false;
    flight->sent_ms = now_ms;
    flight->head_ms = 0;
    flight->heard_ms = now_ms;
    flight->status = 0;
    flight->retry_after_s = -1;
    flight->has_text = false;
    flight->n_objects = 0;
    reflector->fresh = false;
    return (struct reflector_action){.want = REFLECTOR_REQUEST, .request = flight->request};
}

/* A watch without an event that ended at once shows no more than a watch that failed to open. */
static bool watch_was_in_vain(const struct reflector *reflector, int64_t now_ms)
{
    const struct flight *flight = &reflector->flight;
    return flight->n_objects == 0 && now_ms - flight->head_ms < VERY_SHORT_MS;
}

/* The request has ended or is abandoned. */
static void land(struct reflector *reflector, int64_t now_ms)
{
    struct flight *flight = &reflector->flight;
    json_stream_free(flight->stream);
    flight->stream = NULL;
    buf_clear(&flight->error_body);
    flight->is_open = false;
    if (reflector->watch_is_open && !watch_was_in_vain(reflector, now_ms))
        reflector->unopened_ms = now_ms;
    if (reflector->watch_is_open)
        reflector_lag_stands(reflector, now_ms);
    reflector->watch_is_open = false;
}

static bool is_first_page(const struct reflector *reflector)
{
    return reflector->step == STEP_LIST && reflector->listing.continue_.len == 0;
}

static void judge_refusal(struct reflector *reflector, int64_t now_ms)
{
    const struct flight *flight = &reflector->flight;
    const bool is_unserved = flight->status == 404 && reflector->settings.kind->older;
    enum reflector_failure failure = FAILURE_OTHER;
    if (is_unserved && is_first_page(reflector)) {
        reflector_page_unserved(reflector, now_ms);
        return;
    }
    if (is_unserved)
        failure = FAILURE_UNSERVED;
    else if (flight->status == 429)
        failure = FAILURE_BUSY;
    else if (flight->status == 410)
        failure = FAILURE_GONE;
    reflector_say_status(reflector);
    reflector_failed(reflector, now_ms, failure, flight->retry_after_s);
}

static void judge_error_event(struct reflector *reflector, int64_t now_ms)
{
    enum reflector_failure failure = FAILURE_OTHER;
    if (reflector->event_code == 429)
        failure = FAILURE_BUSY;
    else if (reflector->event_code == 410)
        failure = FAILURE_GONE;
    reflector_failed(reflector, now_ms, failure, reflector->event_retry_after_s);
}

static void judge_garbage(struct reflector *reflector, int64_t now_ms, const struct err *err)
{
    reflector_say(reflector, TROUBLE_FAILED, err->text);
    reflector_failed(reflector, now_ms, FAILURE_GARBAGE, -1);
}

/* ---- time-outs ---- */

/* The watch was silent, or its events may be incomplete. */
static void begin_probe(struct reflector *reflector)
{
    reflector_settle(reflector);
    reflector->step = STEP_PROBE;
}

static void judge_rewatch(struct reflector *reflector)
{
    if (reflector->flight.n_objects == 0 && !reflector->flight.has_text) {
        reflector_say(reflector, TROUBLE_UNREACHABLE,
                      "silent, and no event arrived after it was reopened");
        reflector_set_stale(reflector);
    }
    reflector->fresh = true;
    reflector_settle(reflector);
    reflector_relist(reflector, RELIST_SILENT);
}

static int64_t unopened_deadline(const struct reflector *reflector)
{
    bool counts = reflector->status.synced && !reflector->status.stale;
    if (!counts || reflector->watch_is_open)
        return CLOCK_NEVER;
    return reflector->unopened_ms + reflector->settings.silence_ms;
}

static int64_t flight_deadline(const struct reflector *reflector)
{
    const struct flight *flight = &reflector->flight;
    if (is_refused(flight))
        return flight->head_ms + ERROR_BODY_MS;
    if (reflector->step == STEP_REWATCH)
        return (flight->head_ms ? flight->head_ms : flight->sent_ms) + REWATCH_MS;
    if (!reflector->watch_is_open)
        return CLOCK_NEVER;
    return reflector->status.stale ? 0 : reflector->heard_ms + reflector->settings.silence_ms;
}

static void judge_flight(struct reflector *reflector, int64_t now_ms)
{
    if (is_refused(&reflector->flight))
        judge_refusal(reflector, now_ms);
    else if (reflector->step == STEP_REWATCH)
        judge_rewatch(reflector);
    else
        begin_probe(reflector);
}

static void judge_unopened(struct reflector *reflector)
{
    if (!reflector->status.why)
        reflector_say(reflector, TROUBLE_UNREACHABLE, "not watched for too long");
    reflector_set_stale(reflector);
    if (!reflector->flight.is_open && reflector->step == STEP_WATCH)
        reflector->step = STEP_PROBE;
}

static void relist_behind(struct reflector *reflector)
{
    reflector_settle(reflector);
    reflector_relist(reflector, RELIST_BEHIND);
}

void reflector_list_again(struct reflector *reflector)
{
    reflector_settle(reflector);
    reflector_relist(reflector, RELIST_POLICY);
}

static int64_t sooner(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Deadlines that hold in every step. */
static int64_t own_deadline(const struct reflector *reflector)
{
    return sooner(unopened_deadline(reflector), reflector_catch_up_due_ms(reflector));
}

static struct reflector_action wait_until(int64_t until_ms)
{
    return (struct reflector_action){.want = REFLECTOR_WAIT, .until_ms = until_ms};
}

static struct reflector_action decide(struct reflector *reflector, int64_t now_ms)
{
    struct flight *flight = &reflector->flight;
    if (now_ms >= unopened_deadline(reflector))
        judge_unopened(reflector);
    if (now_ms >= reflector_catch_up_due_ms(reflector))
        relist_behind(reflector);
    if (flight->is_open && !flight->settled && now_ms >= flight_deadline(reflector))
        judge_flight(reflector, now_ms);
    if (flight->is_open && flight->settled) {
        land(reflector, now_ms);
        return (struct reflector_action){.want = REFLECTOR_CANCEL};
    }
    if (flight->is_open)
        return wait_until(sooner(flight_deadline(reflector), own_deadline(reflector)));
    if (now_ms < reflector->not_before_ms)
        return wait_until(sooner(reflector->not_before_ms, own_deadline(reflector)));
    return take_off(reflector, now_ms);
}

struct reflector_action reflector_next(struct reflector *reflector, int64_t now_ms)
{
    struct reflector_action action = decide(reflector, now_ms);
    flush(reflector);
    return action;
}

/* ---- what came ---- */

static void open_watch(struct reflector *reflector, int64_t now_ms)
{
    reflector_lag_runs(reflector, now_ms);
    reflector->has_news = false;
    reflector->watch_is_open = true;
    reflector->status.watches++;
    reflector->is_dirty = true;
    reflector->flight.stream = reflector_event_stream(reflector);
    if (!reflector->status.stale)
        reflector_say_nothing(reflector);
}

void reflector_refused(struct reflector *reflector, const char *why)
{
    if (!reflector->flight.is_open || reflector->flight.settled)
        return;
    reflector_say_refused(reflector, why);
    flush(reflector);
}

void reflector_head(struct reflector *reflector, int64_t now_ms, unsigned status,
                    int64_t retry_after_s)
{
    struct flight *flight = &reflector->flight;
    if (!flight->is_open || flight->settled)
        return;
    flight->head_ms = now_ms;
    flight->heard_ms = now_ms;
    flight->status = status;
    flight->retry_after_s = retry_after_s;
    if (status == 200 && is_watch(reflector))
        open_watch(reflector, now_ms);
    else if (status == 200)
        flight->stream = reflector_page_stream(reflector);
    flush(reflector);
}

static void read_refusal(struct reflector *reflector, int64_t now_ms, const char *bytes, size_t len)
{
    struct buf *body = &reflector->flight.error_body;
    size_t room = ERROR_BODY_MAX - body->len;
    buf_add(body, bytes, len < room ? len : room);
    if (len >= room)
        judge_refusal(reflector, now_ms);
}

static bool is_blank(const char *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (bytes[i] != ' ' && bytes[i] != '\t' && bytes[i] != '\r' && bytes[i] != '\n')
            return false;
    }
    return true;
}

static void read_answer(struct reflector *reflector, int64_t now_ms, const char *bytes, size_t len)
{
    struct flight *flight = &reflector->flight;
    struct err err = {""};
    size_t n_before = flight->n_objects;
    flight->has_text = flight->has_text || !is_blank(bytes, len);
    int r = json_stream_feed(flight->stream, bytes, len, &err);
    if (is_watch(reflector) && flight->n_objects > n_before)
        reflector_events_end(reflector, now_ms);
    if (r < 0 && is_watch(reflector) && reflector_event_failed(reflector))
        judge_error_event(reflector, now_ms);
    else if (r < 0)
        judge_garbage(reflector, now_ms, &err);
}

void reflector_bytes(struct reflector *reflector, int64_t now_ms, const char *bytes, size_t len)
{
    struct flight *flight = &reflector->flight;
    if (!flight->is_open || flight->settled)
        return;
    flight->heard_ms = now_ms;
    if (reflector->watch_is_open)
        reflector->heard_ms = now_ms;
    if (is_refused(flight))
        read_refusal(reflector, now_ms, bytes, len);
    else
        read_answer(reflector, now_ms, bytes, len);
    flush(reflector);
}

/* ---- ends ---- */

static void end_well(struct reflector *reflector, int64_t now_ms)
{
    struct flight *flight = &reflector->flight;
    struct err err = {""};
    bool is_empty_watch = is_watch(reflector) && !flight->has_text;
    if (!is_empty_watch && json_stream_end(flight->stream, &err) < 0) {
        judge_garbage(reflector, now_ms, &err);
        return;
    }
    reflector->not_before_ms = now_ms;
    if (is_watch(reflector))
        reflector_watch_end(reflector, now_ms);
    else if (reflector->step == STEP_PROBE)
        reflector_probe_end(reflector, now_ms);
    else
        reflector_page_end(reflector, now_ms);
}

/* If so, the connection may be dead. */
static bool is_out_of_time(const struct flight *flight, int64_t now_ms)
{
    const struct kube_request *request = &flight->request;
    if (!flight->head_ms)
        return now_ms - flight->sent_ms >= request->timeout_ms;
    return request->idle_ms > 0 && now_ms - flight->heard_ms >= request->idle_ms;
}

static void end_badly(struct reflector *reflector, int64_t now_ms, const char *why)
{
    if (is_out_of_time(&reflector->flight, now_ms))
        reflector->fresh = true;
    reflector_say(reflector, TROUBLE_UNREACHABLE, why);
    reflector_failed(reflector, now_ms, FAILURE_CUT, -1);
}

void reflector_end(struct reflector *reflector, int64_t now_ms, enum kube_outcome outcome,
                   const char *why)
{
    struct flight *flight = &reflector->flight;
    if (!flight->is_open)
        return;
    if (flight->settled)
        ; /* decided earlier */
    else if (is_refused(flight))
        judge_refusal(reflector, now_ms);
    else if (outcome == KUBE_ANSWERED && flight->stream)
        end_well(reflector, now_ms);
    else
        end_badly(reflector, now_ms, why ? why : "the answer has no header");
    land(reflector, now_ms);
    flush(reflector);
}

void reflector_drained(struct reflector *reflector, int64_t now_ms)
{
    const struct flight *flight = &reflector->flight;
    if (!reflector->watch_is_open || flight->settled)
        return;
    if (json_stream_is_between(flight->stream))
        reflector_lag_drained(reflector, now_ms);
    else
        reflector_lag_report(reflector); /* part of an event is unread, however slowly it arrives */
    flush(reflector);
}

/* ---- names ---- */

const char *reflector_cause_name(enum relist_cause cause)
{
    static const char *const NAMES[N_RELIST_CAUSES] = {
        [RELIST_START] = "start",   [RELIST_GONE] = "gone",     [RELIST_PAGE_GONE] = "page_gone",
        [RELIST_SILENT] = "silent", [RELIST_FAILED] = "failed", [RELIST_GARBAGE] = "garbage",
        [RELIST_BEHIND] = "behind", [RELIST_POLICY] = "policy",
    };
    return NAMES[cause];
}

const char *reflector_trouble_name(enum reflector_trouble trouble)
{
    static const char *const NAMES[N_TROUBLES] = {
        [TROUBLE_NONE] = "",
        [TROUBLE_REFUSED] = "refused",
        [TROUBLE_UNREACHABLE] = "unreachable",
        [TROUBLE_FAILED] = "failed",
    };
    return NAMES[trouble];
}

const char *reflector_event_name(enum watch_event event)
{
    static const char *const NAMES[N_WATCH_EVENTS] = {
        [WATCH_ADDED] = "added",       [WATCH_MODIFIED] = "modified", [WATCH_DELETED] = "deleted",
        [WATCH_BOOKMARK] = "bookmark", [WATCH_ERROR] = "error",
    };
    return NAMES[event];
}
