/*
 * reflector_wire: writes a reflector's requests, and reads the pages of a list and the events of a
 * watch.
 *
 * A probe's answer is read like a page without its items. The resourceVersion of an event is taken
 * over only after the event was applied. Everything before a fault is applied.
 */
#include "formats/json_values.h"
#include "pace.h"
#include "reflector_priv.h"
#include "resource_version.h"

#include <ctype.h>
#include <string.h>

#define LIST_HEAD_MS 30000
#define LIST_IDLE_MS 30000
#define PROBE_MS 10000
#define WATCH_HEAD_MS 20000
#define WATCH_SHORTEST_S 300
#define WATCH_LONGEST_S 600
#define REWATCH_S 8
#define MAX_DEPTH ((size_t)100)
/* How long a 404 in all versions is trusted. */
#define ABSENT_MS 60000

/* ---- requests ---- */

static void add(struct reflector *reflector, const char *text)
{
    buf_add_text(&reflector->path, text);
}

/* Percent-encodes all but the unreserved characters of RFC 3986. */
static void add_encoded(struct reflector *reflector, const char *text)
{
    for (; *text; text++) {
        unsigned char byte = (unsigned char)*text;
        bool plain = byte < 0x80 &&
                     (isalnum(byte) || byte == '-' || byte == '.' || byte == '_' || byte == '~');
        buf_printf(&reflector->path, plain ? "%c" : "%%%02X", byte);
    }
}

static void add_selector(struct reflector *reflector)
{
    if (!reflector->settings.kind->field_selector)
        return;
    add(reflector, "&fieldSelector=");
    add(reflector, reflector->settings.kind->field_selector);
}

static void write_list(struct reflector *reflector, int limit)
{
    buf_printf(&reflector->path, "?limit=%d", limit);
    add_selector(reflector);
}

static void write_page(struct reflector *reflector)
{
    write_list(reflector, reflector->settings.page_size);
    if (reflector->listing.continue_.len == 0)
        return;
    add(reflector, "&continue=");
    add_encoded(reflector, buf_text(&reflector->listing.continue_));
}

static void write_watch(struct reflector *reflector, int64_t seconds)
{
    add(reflector, "?watch=true&resourceVersion=");
    add_encoded(reflector, buf_text(&reflector->version));
    buf_printf(&reflector->path, "&allowWatchBookmarks=true&timeoutSeconds=%d", (int)seconds);
    add_selector(reflector);
}

static struct kube_request request_of(struct reflector *reflector, int64_t timeout_ms,
                                      int64_t idle_ms)
{
    return (struct kube_request){
        .method = "GET",
        .path = buf_text(&reflector->path),
        .timeout_ms = timeout_ms,
        .idle_ms = idle_ms,
        .fresh = reflector->fresh,
    };
}

const char *reflector_collection(const struct reflector *reflector)
{
    const struct reflector_kind *kind = reflector->settings.kind;
    const size_t n_unserved = reflector->listing.n_unserved;
    return n_unserved == 0 ? kind->path : kind->older[n_unserved - 1];
}

struct kube_request reflector_request(struct reflector *reflector)
{
    int64_t seconds = WATCH_SHORTEST_S;
    buf_clear(&reflector->path);
    add(reflector, reflector_collection(reflector));
    switch (reflector->step) {
    case STEP_LIST:
        write_page(reflector);
        return request_of(reflector, LIST_HEAD_MS, LIST_IDLE_MS);
    case STEP_PROBE:
        write_list(reflector, 1);
        return request_of(reflector, PROBE_MS, PROBE_MS);
    case STEP_REWATCH:
        write_watch(reflector, REWATCH_S);
        break;
    case STEP_WATCH:
        seconds += random_below(&reflector->random, WATCH_LONGEST_S - WATCH_SHORTEST_S + 1);
        write_watch(reflector, seconds);
        break;
    }
    return request_of(reflector, WATCH_HEAD_MS, 0);
}

/* ---- pages ---- */

/* "PodList". may_be_absent: the kind may follow later. */
static int check_kind(const json_t *list, bool may_be_absent, struct err *err)
{
    static const char END[] = "List";
    const char *kind = NULL;
    int r = json_get_string(list, "kind", &kind, err);
    if (r < 0 || (!kind && may_be_absent))
        return r;
    size_t len = kind ? strlen(kind) : 0;
    if (len < sizeof END || strcmp(kind + len - (sizeof END - 1), END) != 0)
        return err_set(err, EINVAL, "kind: is \"%.40s\", should be a list's kind",
                       kind ? kind : "");
    return 0;
}

static int on_list(void *context, json_t *so_far, struct text_position at, struct err *err)
{
    struct reflector *reflector = context;
    (void)at;
    reflector->listing.has_items = true;
    return check_kind(so_far, true, err);
}

static int on_item(void *context, json_t *item, struct text_position at, struct err *err)
{
    struct reflector *reflector = context;
    if (!json_is_object(item))
        return err_set(err, EINVAL, "%zu:%zu: is %s, should be an object of the list", at.line,
                       at.column, json_type_text(item));
    reflector->store.upsert(reflector->store.context, item);
    reflector->is_dirty = true;
    return 0;
}

static bool on_large_item(void *context, const json_t *part, const struct json_over *over)
{
    struct reflector *reflector = context;
    reflector->store.too_large(reflector->store.context, part, over);
    reflector->is_dirty = true;
    return true;
}

/* Copies a member of the list's metadata; "" if it is absent. */
static int take_token(const json_t *list, const char *key, struct buf *out, struct err *err)
{
    const char *token = "";
    buf_clear(out);
    int r = json_get_string(json_member(list, "metadata"), key, &token, err);
    if (r < 0)
        return r;
    buf_add_text(out, token);
    if (out->overflowed)
        return err_set(err, EINVAL, "metadata.%s: is longer than %zu bytes", key,
                       REFLECTOR_TOKEN_MAX);
    return 0;
}

static int on_envelope(void *context, json_t *list, struct text_position at, struct err *err)
{
    struct reflector *reflector = context;
    struct listing *listing = &reflector->listing;
    (void)at;
    if (reflector->flight.n_objects++ > 0)
        return err_set(err, EINVAL, "a second object follows the list");
    int r = check_kind(list, false, err);
    /* Go also writes an empty list as null. */
    if (r == 0 && !listing->has_items && !json_is_null(json_object_get(list, "items")))
        r = err_set(err, EINVAL, "items: is missing, should be a list");
    if (r == 0)
        r = take_token(list, "resourceVersion", &listing->page_version, err);
    if (r == 0 && (listing->page_version.len == 0 || strcmp(listing->page_version.data, "0") == 0))
        r = err_set(err, EINVAL, "metadata.resourceVersion: is missing");
    if (r == 0)
        r = take_token(list, "continue", &listing->page_continue, err);
    return r;
}

/* Of an object over a limit. */
static const char *const NAMING[] = {
    "apiVersion",   "kind", "metadata.name", "metadata.namespace", "metadata.resourceVersion",
    "metadata.uid", NULL};

static const struct json_budget *budget_of(const struct reflector *reflector)
{
    return reflector->settings.max_object_values > 0 ? &reflector->object_budget : NULL;
}

struct json_stream *reflector_page_stream(struct reflector *reflector)
{
    bool is_probe = reflector->step == STEP_PROBE;
    const struct json_stream_options options = {
        .drop = reflector->settings.kind->drop,
        .keep = reflector->settings.kind->keep,
        .keep_least = NAMING,
        .object_budget = budget_of(reflector),
        .max_object_bytes = reflector->settings.max_object_bytes,
        .max_depth = MAX_DEPTH,
    };
    const struct json_stream_handler handler = {
        .on_list = on_list,
        .on_item = is_probe ? NULL : on_item,
        .on_envelope = on_envelope,
        .on_large_item = on_large_item,
        .context = reflector,
    };
    struct listing *listing = &reflector->listing;
    listing->has_items = false;
    if (!is_probe && !listing->has_begun) {
        listing->has_begun = true;
        reflector->store.list_begin(reflector->store.context);
        reflector->is_dirty = true;
    }
    return json_stream_new(&options, &handler);
}

static void copy(struct buf *to, const struct buf *from)
{
    buf_clear(to);
    buf_add(to, buf_text(from), from->len);
}

static void list_end(struct reflector *reflector, int64_t now_ms)
{
    reflector->is_filled = true;
    reflector->is_doubtful = false;
    copy(&reflector->version, &reflector->listing.version);
    reflector->store.list_end(reflector->store.context);
    reflector_lag_ends(reflector, now_ms, !reflector->status.synced);
    reflector->status.synced = true;
    reflector->status.n_unserved = reflector->listing.n_unserved;
    reflector->step = STEP_WATCH;
    reflector->listed_ms = now_ms;
    reflector_set_fresh(reflector, now_ms);
    reflector_catch_up_listed(reflector, now_ms);
}

/* The list has the resourceVersion of its first page: if a later page is newer, the watch repeats
 * the changes in between. */
void reflector_page_end(struct reflector *reflector, int64_t now_ms)
{
    struct listing *listing = &reflector->listing;
    if (listing->continue_.len == 0)
        copy(&listing->version, &listing->page_version);
    if (listing->page_continue.len == 0) {
        list_end(reflector, now_ms);
        return;
    }
    if (strcmp(buf_text(&listing->page_continue), buf_text(&listing->continue_)) == 0) {
        reflector_say(reflector, TROUBLE_FAILED, "the next page has the same continue token");
        reflector_failed(reflector, now_ms, FAILURE_GARBAGE, -1);
        return;
    }
    copy(&listing->continue_, &listing->page_continue);
}

/* Empties the store. Later 404s leave it unchanged. */
static void be_absent(struct reflector *reflector, int64_t now_ms)
{
    const struct reflector_store *store = &reflector->store;
    if (reflector->is_filled || !reflector->status.synced) {
        store->list_begin(store->context);
        store->list_end(store->context);
    }
    reflector->is_filled = false;
    reflector->is_doubtful = false;
    reflector->status.synced = true;
    reflector_set_fresh(reflector, now_ms);
}

/* The store is emptied only after a second look, on another connection: API servers may differ. The
 * next request comes within silence_ms, so the data never become stale, and counts as no relist. */
static void end_unserved(struct reflector *reflector, int64_t now_ms)
{
    const int64_t half_ms = reflector->settings.silence_ms / 2;
    if (!reflector->is_filled || reflector->is_doubtful) {
        be_absent(reflector, now_ms);
    } else {
        reflector->is_doubtful = true;
        reflector->fresh = true;
        reflector_say_status(reflector);
    }
    reflector_relist(reflector, RELIST_START);
    reflector->listing.is_counted = true;
    reflector->not_before_ms = now_ms + (half_ms < ABSENT_MS ? half_ms : ABSENT_MS);
}

void reflector_page_unserved(struct reflector *reflector, int64_t now_ms)
{
    struct listing *listing = &reflector->listing;
    if (reflector->settings.kind->older[listing->n_unserved])
        listing->n_unserved++;
    else
        end_unserved(reflector, now_ms);
    reflector_settle(reflector);
}

/* ---- events ---- */

static int no_list(void *context, json_t *so_far, struct text_position at, struct err *err)
{
    (void)context;
    (void)so_far;
    return err_set(err, EINVAL, "%zu:%zu: is a list, should be an event", at.line, at.column);
}

static int event_type(const json_t *event, struct text_position at, enum watch_event *ret_type,
                      struct err *err)
{
    static const char *const TYPES[N_WATCH_EVENTS] = {
        [WATCH_ADDED] = "ADDED",       [WATCH_MODIFIED] = "MODIFIED", [WATCH_DELETED] = "DELETED",
        [WATCH_BOOKMARK] = "BOOKMARK", [WATCH_ERROR] = "ERROR",
    };
    const char *type = "";
    int r = json_get_string(event, "type", &type, err);
    if (r < 0)
        return r;
    for (int i = 0; i < N_WATCH_EVENTS; i++) {
        if (strcmp(type, TYPES[i]) == 0) {
            *ret_type = (enum watch_event)i;
            return 0;
        }
    }
    return err_set(err, EINVAL, "%zu:%zu: type: is \"%.40s\", should be an event's type", at.line,
                   at.column, type);
}

static int version_of(const json_t *object, struct text_position at, const char **ret_version,
                      struct err *err)
{
    const char *version = "";
    int r = json_get_string(json_member(object, "metadata"), "resourceVersion", &version, err);
    if (r == 0 && version[0] == '\0')
        r = err_set(err, EINVAL, "%zu:%zu: object.metadata.resourceVersion: is missing", at.line,
                    at.column);
    if (r == 0 && strlen(version) > REFLECTOR_TOKEN_MAX)
        r = err_set(err, EINVAL,
                    "%zu:%zu: object.metadata.resourceVersion: is longer than %zu bytes", at.line,
                    at.column, REFLECTOR_TOKEN_MAX);
    if (r == 0)
        *ret_version = version;
    return r;
}

static void on_error(struct reflector *reflector, const json_t *status)
{
    const char *reason = json_string_value(json_member(status, "reason"));
    json_int_t code = json_integer_value(json_member(status, "code"));
    json_int_t retry_after_s =
        json_integer_value(json_member(json_member(status, "details"), "retryAfterSeconds"));
    bool gone = reason && (strcmp(reason, "Expired") == 0 || strcmp(reason, "Gone") == 0);
    reflector->event_verdict = EVENT_FAILED;
    reflector->event_code = code > 0 && code < 1000 ? (unsigned)code : 0;
    if (gone)
        reflector->event_code = 410;
    reflector->event_retry_after_s = retry_after_s;
    reflector_say_error(reflector, status);
}

struct event {
    enum watch_event type;
    json_t *object;
    const char *version; /* NULL: WATCH_ERROR has none */
};

static int read_event(const json_t *root, struct text_position at, struct event *ret_event,
                      struct err *err)
{
    struct event event = {.type = WATCH_ERROR};
    int r = event_type(root, at, &event.type, err);
    if (r == 0)
        r = json_get_object(root, "object", &event.object, err);
    if (r == 0 && !event.object)
        r = err_set(err, EINVAL, "%zu:%zu: object: is missing", at.line, at.column);
    if (r == 0 && event.type != WATCH_ERROR)
        r = version_of(event.object, at, &event.version, err);
    if (r == 0)
        *ret_event = event;
    return r;
}

static void count(struct reflector *reflector, const struct event *event)
{
    reflector->status.events[event->type]++;
    reflector->is_dirty = true;
}

/* over: NULL, or of an event over a limit. */
static void apply(struct reflector *reflector, const struct event *event,
                  const struct json_over *over)
{
    const struct reflector_store *store = &reflector->store;
    count(reflector, event);
    reflector->flight.n_objects++;
    reflector_watch_works(reflector);
    const bool is_there = event->type == WATCH_ADDED || event->type == WATCH_MODIFIED;
    if (is_there && over)
        store->too_large(store->context, event->object, over);
    else if (is_there)
        store->upsert(store->context, event->object);
    else if (event->type == WATCH_DELETED)
        store->removed(store->context, event->object);
    buf_clear(&reflector->version);
    buf_add_text(&reflector->version, event->version);
}

static int on_event(void *context, json_t *root, struct text_position at, struct err *err)
{
    struct reflector *reflector = context;
    struct event event = {0};
    int r = read_event(root, at, &event, err);
    if (r != 0)
        return r;
    if (event.type == WATCH_ERROR) {
        count(reflector, &event);
        on_error(reflector, event.object);
        return -ECANCELED;
    }
    apply(reflector, &event, NULL);
    return 0;
}

/* An oversized event counts if its type and resourceVersion are readable. */
static bool on_large_event(void *context, const json_t *part, const struct json_over *over)
{
    const struct text_position nowhere = {0, 0};
    struct reflector *reflector = context;
    struct event event = {0};
    if (read_event(part, nowhere, &event, NULL) != 0 || event.type == WATCH_ERROR)
        return false;
    apply(reflector, &event, over);
    return true;
}

static const char *const NAMING_IN_EVENTS[] = {"type",
                                               "object.apiVersion",
                                               "object.kind",
                                               "object.metadata.name",
                                               "object.metadata.namespace",
                                               "object.metadata.resourceVersion",
                                               "object.metadata.uid",
                                               NULL};

struct json_stream *reflector_event_stream(struct reflector *reflector)
{
    const struct json_stream_options options = {
        .drop = reflector->event_drop,
        .keep = reflector->settings.kind->keep ? reflector->event_keep : NULL,
        .keep_least = NAMING_IN_EVENTS,
        .object_budget = budget_of(reflector),
        .max_object_bytes = reflector->settings.max_object_bytes,
        .max_depth = MAX_DEPTH,
    };
    const struct json_stream_handler handler = {
        .on_list = no_list,
        .on_envelope = on_event,
        .on_large_envelope = on_large_event,
        .context = reflector,
    };
    reflector->event_verdict = EVENT_FINE;
    return json_stream_new(&options, &handler);
}

bool reflector_event_failed(const struct reflector *reflector)
{
    return reflector->event_verdict == EVENT_FAILED;
}

void reflector_events_end(struct reflector *reflector, int64_t now_ms)
{
    reflector->has_news = true;
    reflector_catch_up_look(reflector);
    if (reflector->step != STEP_REWATCH ||
        !resource_version_is_at_least(buf_text(&reflector->version), buf_text(&reflector->probed)))
        return;
    reflector->step = STEP_WATCH;
    reflector_set_fresh(reflector, now_ms);
}

void reflector_watch_end(struct reflector *reflector, int64_t now_ms)
{
    const struct flight *flight = &reflector->flight;
    if (reflector->step == STEP_REWATCH)
        reflector_relist(reflector, RELIST_SILENT);
    if (reflector->step == STEP_LIST || flight->n_objects > 0)
        return;
    if (now_ms - flight->head_ms >= VERY_SHORT_MS) {
        reflector_watch_works(reflector);
        return;
    }
    reflector_say(reflector, TROUBLE_FAILED, "ended at once, without an event");
    reflector_failed(reflector, now_ms, FAILURE_CUT, -1);
}

/* A smaller version than ours means another history, as after a restored backup. */
void reflector_probe_end(struct reflector *reflector, int64_t now_ms)
{
    const char *seen = buf_text(&reflector->listing.page_version);
    const char *ours = buf_text(&reflector->version);
    buf_clear(&reflector->probed);
    buf_add_text(&reflector->probed, seen);
    reflector->fresh = true;
    if (resource_version_less(seen, ours)) {
        reflector_relist(reflector, RELIST_SILENT);
        return;
    }
    reflector->step = STEP_REWATCH;
    if (strcmp(seen, ours) != 0)
        return;
    reflector->step = STEP_WATCH;
    reflector_set_fresh(reflector, now_ms);
}
