/*
 * reflector_watch: reads the events of a watch, and judges the watch that follows a probe.
 *
 * A resourceVersion is taken over only after its event was. What comes before a fault is applied.
 */
#include "formats/json_get.h"
#include "reflector_priv.h"
#include "resource_version.h"

#include <string.h>

#define MAX_DEPTH ((size_t)100)

static int no_list(void *context, json_t *so_far, struct text_position at, struct err *err)
{
    (void)context;
    (void)so_far;
    return err_set(err, EINVAL, "%zu:%zu: is a list, should be an event", at.line, at.column);
}

static int type_of(const json_t *event, struct text_position at, enum watch_event *ret_type,
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
    return err_set(err, EINVAL, "%zu:%zu: type: is \"%.40s\", should be that of an event", at.line,
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
    const char *version; /* NULL: an error has none */
};

static int read_event(const json_t *root, struct text_position at, struct event *ret_event,
                      struct err *err)
{
    struct event event = {.type = WATCH_ERROR};
    int r = type_of(root, at, &event.type, err);
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

static void apply(struct reflector *reflector, const struct event *event,
                  void (*upsert)(void *context, const json_t *object))
{
    const struct reflector_store *store = &reflector->store;
    count(reflector, event);
    reflector->flight.n_objects++;
    reflector_watch_works(reflector);
    if (event->type == WATCH_ADDED || event->type == WATCH_MODIFIED)
        upsert(store->context, event->object);
    else if (event->type == WATCH_DELETED)
        store->removed(store->context, event->object);
    buf_clear(&reflector->version);
    (void)buf_add_text(&reflector->version, event->version);
}

static int on_event(void *context, json_t *root, struct text_position at, struct err *err)
{
    struct reflector *reflector = context;
    struct event event = {0};
    int r = read_event(root, at, &event, err);
    if (r < 0)
        return r;
    if (event.type == WATCH_ERROR) {
        count(reflector, &event);
        on_error(reflector, event.object);
        return -ECANCELED;
    }
    apply(reflector, &event, reflector->store.upsert);
    return 0;
}

/* As long as it says what it is about it is an event like others. */
static bool on_large_event(void *context, const json_t *part)
{
    const struct text_position nowhere = {0, 0};
    struct reflector *reflector = context;
    struct event event = {0};
    if (read_event(part, nowhere, &event, NULL) < 0 || event.type == WATCH_ERROR)
        return false;
    apply(reflector, &event, reflector->store.too_large);
    return true;
}

struct json_stream *reflector_event_stream(struct reflector *reflector)
{
    const struct json_stream_options options = {
        .drop = reflector->event_drop,
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

/* Behind what we have: another history, as after a restored backup. */
void reflector_probe_end(struct reflector *reflector, int64_t now_ms)
{
    const char *seen = buf_text(&reflector->listing.page_version);
    const char *ours = buf_text(&reflector->version);
    buf_clear(&reflector->probed);
    (void)buf_add_text(&reflector->probed, seen);
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
