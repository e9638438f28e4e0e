/* slice: see include/kube/slice.h. */
#include "kube/slice.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "formats/json_values.h"
#include "kube/watch/pace.h"
#include "request_text.h"

#include <stdlib.h>
#include <string.h>

#define QUESTION_MS 5000
/* Least time between our write and the next, if another writer interferes. */
#define AGAIN_MS 1000
/* Delay after a conflict. */
#define CONFLICT_MS 200
#define WHY_MAX_BYTES ((size_t)400)
#define SERVICE_LABEL "kubernetes.io/service-name"
#define MANAGER_LABEL "endpointslice.kubernetes.io/managed-by"
#define MANAGER "gpu-extender"

enum slice_request { NO_REQUEST, READ, MAKE, WRITE, REMOVE };

struct slice {
    struct slice_settings settings;
    unsigned port;
    unsigned users_port;   /* 0: none */
    struct buf collection; /* its path */
    struct buf path;
    struct buf why;
    char *body;
    uint64_t random;
    struct backoff backoff;
    bool leads;
    enum slice_request next; /* NO_REQUEST: the slice is right */
    int64_t due_ms;
    enum slice_request asked; /* in flight */
    bool is_hinted;           /* since the request was sent the watch showed a change */
    json_t *object;           /* as last read; NULL: none exists */
    json_t *settled;          /* as our last write left it, or as read when right; NULL: neither */
    int64_t settled_ms;
};

struct slice *slice_new(const struct slice_settings *settings)
{
    struct slice *slice = MEM_NEW(struct slice);
    slice->settings = *settings;
    slice->random = settings->seed;
    buf_init(&slice->collection, BUF_UNBOUNDED);
    buf_init(&slice->path, BUF_UNBOUNDED);
    buf_init(&slice->why, WHY_MAX_BYTES);
    buf_printf(&slice->collection, "/apis/discovery.k8s.io/v1/namespaces/%s/endpointslices",
               settings->namespace_);
    buf_printf(&slice->path, "%s/%s", buf_text(&slice->collection), settings->service);
    return slice;
}

void slice_free(struct slice *slice)
{
    if (!slice)
        return;
    json_decref(slice->object);
    json_decref(slice->settled);
    free(slice->body);
    buf_fini(&slice->collection);
    buf_fini(&slice->path);
    buf_fini(&slice->why);
    free(slice);
}

/* ---- the right content ---- */

static const char *address_type(const struct slice *slice)
{
    return strchr(slice->settings.address, ':') ? "IPv6" : "IPv4";
}

static json_t *endpoints_of(const struct slice *slice)
{
    return json_pack("[{s:[s], s:{s:b, s:b, s:b}}]", "addresses", slice->settings.address,
                     "conditions", "ready", 1, "serving", 1, "terminating", 0);
}

static json_t *port_json(const char *name, unsigned port)
{
    return json_pack("{s:s, s:s, s:i}", "name", name, "protocol", "TCP", "port", (int)port);
}

static json_t *ports_of(const struct slice *slice)
{
    json_t *ports = json_array();
    (void)json_array_append_new(ports, port_json(slice->settings.port_name, slice->port));
    if (slice->users_port > 0)
        (void)json_array_append_new(ports,
                                    port_json(slice->settings.users_port_name, slice->users_port));
    return ports;
}

static json_t *member_to_write(json_t *object, const char *key)
{
    json_t *member = json_object_get(object, key);
    if (json_is_object(member))
        return member;
    (void)json_object_set_new(object, key, json_object());
    return json_object_get(object, key);
}

/* Keeps other writers' fields. */
static json_t *write_object(const struct slice *slice, const json_t *before)
{
    json_t *object =
        before ? json_deep_copy(before)
               : json_pack("{s:s, s:s, s:{s:s, s:s}}", "apiVersion", "discovery.k8s.io/v1", "kind",
                           "EndpointSlice", "metadata", "name", slice->settings.service,
                           "namespace", slice->settings.namespace_);
    json_t *labels = member_to_write(member_to_write(object, "metadata"), "labels");
    (void)json_object_set_new(labels, SERVICE_LABEL, json_string(slice->settings.service));
    (void)json_object_set_new(labels, MANAGER_LABEL, json_string(MANAGER));
    (void)json_object_set_new(object, "addressType", json_string(address_type(slice)));
    (void)json_object_set_new(object, "endpoints", endpoints_of(slice));
    (void)json_object_set_new(object, "ports", ports_of(slice));
    return object;
}

static bool same_member(const json_t *a, const json_t *b, const char *key)
{
    const json_t *in_a = json_object_get(a, key);
    const json_t *in_b = json_object_get(b, key);
    return in_a == in_b || (in_a && in_b && json_equal(in_a, in_b));
}

static const json_t *labels_of(const json_t *object)
{
    return json_member(json_member(object, "metadata"), "labels");
}

/* Compares only the fields that we write. */
static bool says_the_same(const json_t *a, const json_t *b)
{
    return same_member(a, b, "addressType") && same_member(a, b, "endpoints") &&
           same_member(a, b, "ports") && same_member(labels_of(a), labels_of(b), SERVICE_LABEL) &&
           same_member(labels_of(a), labels_of(b), MANAGER_LABEL);
}

/* ---- requests ---- */

static void ask_next(struct slice *slice, enum slice_request request, int64_t due_ms)
{
    slice->next = request;
    slice->due_ms = due_ms;
}

void slice_serve(struct slice *slice, unsigned port, unsigned users_port)
{
    slice->port = port;
    slice->users_port = users_port;
}

void slice_lead(struct slice *slice, int64_t now_ms, bool leads)
{
    if (leads && !slice->leads)
        ask_next(slice, READ, now_ms);
    slice->leads = leads;
}

static const char *method_of(enum slice_request request)
{
    static const char *const METHODS[] = {[NO_REQUEST] = "GET",
                                          [READ] = "GET",
                                          [MAKE] = "POST",
                                          [WRITE] = "PUT",
                                          [REMOVE] = "DELETE"};
    return METHODS[request];
}

struct slice_action slice_next(struct slice *slice, int64_t now_ms)
{
    const enum slice_request request = slice->next;
    if (!slice->leads || slice->asked != NO_REQUEST || request == NO_REQUEST)
        return (struct slice_action){.until_ms = CLOCK_NEVER};
    if (now_ms < slice->due_ms)
        return (struct slice_action){.until_ms = slice->due_ms};
    struct slice_action action = {.sends = true, .until_ms = CLOCK_NEVER};
    action.request = (struct kube_request){
        .method = method_of(request),
        .path = buf_text(request == MAKE ? &slice->collection : &slice->path),
        .timeout_ms = QUESTION_MS,
    };
    if (request == MAKE || request == WRITE) {
        free(slice->body);
        slice->body = json_take_text(write_object(slice, slice->object), JSON_COMPACT,
                                     &action.request.body_len);
        action.request.body = slice->body;
    }
    slice->asked = request;
    slice->is_hinted = false;
    return action;
}

/* ---- answers ---- */

static void keep(json_t **place, json_t *object)
{
    json_decref(*place);
    *place = object;
}

static bool is_slice(const json_t *object)
{
    const char *kind = "";
    return json_get_string(object, "kind", &kind, NULL) == 0 && strcmp(kind, "EndpointSlice") == 0;
}

static json_t *slice_in(const struct kube_answer *answer)
{
    json_t *object = request_text_object(answer);
    if (is_slice(object))
        return object;
    json_decref(object);
    return NULL;
}

static void settle(struct slice *slice, int64_t now_ms, json_t *object)
{
    keep(&slice->settled, object);
    slice->settled_ms = now_ms;
    buf_clear(&slice->why);
    ask_next(slice, slice->is_hinted ? READ : NO_REQUEST, now_ms + AGAIN_MS);
}

static void judge_read(struct slice *slice, int64_t now_ms, json_t *object)
{
    json_t *wanted = write_object(slice, object);
    const bool is_right = says_the_same(object, wanted);
    const bool can_be_written = same_member(object, wanted, "addressType");
    json_decref(wanted);
    if (is_right) {
        settle(slice, now_ms, object);
        return;
    }
    keep(&slice->object, object);
    ask_next(slice, can_be_written ? WRITE : REMOVE, now_ms);
}

static void judge_failure(struct slice *slice, enum slice_request request,
                          const struct kube_answer *answer)
{
    if (answer->status == 404 && request == READ) {
        keep(&slice->object, NULL);
        ask_next(slice, MAKE, answer->at_ms);
        return;
    }
    if (request == REMOVE && (answer->status == 200 || answer->status == 404)) {
        ask_next(slice, READ, answer->at_ms);
        return;
    }
    const bool is_conflict = answer->status == 409;
    request_text_explain(&slice->why, method_of(request), buf_text(&slice->path), answer);
    ask_next(slice, READ,
             answer->at_ms +
                 (is_conflict ? CONFLICT_MS
                              : backoff_next_ms(&slice->backoff, answer->at_ms, &slice->random)));
}

void slice_answered(struct slice *slice, const struct kube_answer *answer)
{
    const enum slice_request request = slice->asked;
    json_t *object = request == REMOVE ? NULL : slice_in(answer);
    slice->asked = NO_REQUEST;
    if (!object)
        judge_failure(slice, request, answer);
    else if (request == READ)
        judge_read(slice, answer->at_ms, object);
    else
        settle(slice, answer->at_ms, object);
}

/* Compares with the result of our last write: the server may normalize what we wrote. */
void slice_seen(struct slice *slice, int64_t now_ms, const json_t *object)
{
    slice->is_hinted = true;
    if (!slice->leads || slice->next != NO_REQUEST || slice->asked != NO_REQUEST)
        return;
    if (object && says_the_same(object, slice->settled))
        return;
    const int64_t again_ms = slice->settled_ms + AGAIN_MS;
    ask_next(slice, READ, again_ms > now_ms ? again_ms : now_ms);
}

const char *slice_why(const struct slice *slice)
{
    return buf_text(&slice->why);
}
