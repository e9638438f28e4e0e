/* bind_wire: see bind_wire.h. */
#include "extender/bind/bind_wire.h"
#include "base/dns_name.h"
#include "formats/json_parse.h"
#include "formats/json_values.h"
#include "objects/pod.h"

#include <string.h>

#define UID_BYTES_MAX 128
/* Limit on foreign text that we pass on. */
#define TOLD_BYTES_MAX 300

static bool is_uid(const char *text)
{
    const size_t len = strlen(text);
    for (size_t i = 0; i < len; i++) {
        if (text[i] <= ' ' || text[i] > '~')
            return false;
    }
    return len > 0 && len <= UID_BYTES_MAX;
}

static int refuse_name(const char *what, const char *value, const char *should, struct err *err)
{
    return err_set(err, EINVAL, "%s: is \"%.80s\", should be %s", what, value, should);
}

int bind_wire_check(const struct bind_args *args, struct err *err)
{
    if (!dns_is_label(args->namespace_))
        return refuse_name("PodNamespace", args->namespace_, "a DNS label", err);
    if (!dns_is_subdomain(args->name, strlen(args->name)))
        return refuse_name("PodName", args->name, "a DNS subdomain", err);
    if (!dns_is_subdomain(args->node_name, strlen(args->node_name)))
        return refuse_name("Node", args->node_name, "a DNS subdomain", err);
    if (!is_uid(args->uid))
        return refuse_name("PodUID", args->uid, "at most 128 visible ASCII characters", err);
    return 0;
}

const char *bind_wire_get_path(const struct bind_args *args, struct arena *arena)
{
    return arena_printf(arena, "/api/v1/namespaces/%s/pods/%s", args->namespace_, args->name);
}

const char *bind_wire_post_path(const struct bind_args *args, int64_t post_life_ms,
                                struct arena *arena)
{
    return arena_printf(arena, "%s/binding?timeout=%llds", bind_wire_get_path(args, arena),
                        (long long)(post_life_ms / 1000));
}

static void add_member(struct buf *out, const char *before, const char *value)
{
    buf_add_text(out, before);
    buf_add_quoted(out, value);
}

const char *bind_wire_body(const struct bind_args *args, const char *bound_by, struct arena *arena)
{
    struct buf text;
    buf_init(&text, BUF_UNBOUNDED);
    add_member(&text,
               "{\"apiVersion\":\"v1\",\"kind\":\"Binding\",\"metadata\":{\"name\":", args->name);
    add_member(&text, ",\"namespace\":", args->namespace_);
    add_member(&text, ",\"uid\":", args->uid);
    add_member(&text, ",\"annotations\":{\"" POD_BOUND_BY "\":", bound_by);
    add_member(&text,
               "}},\"target\":{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"name\":", args->node_name);
    buf_add_text(&text, "}}");
    const char *body = arena_strdup(arena, buf_text(&text));
    buf_fini(&text);
    return body;
}

static json_t *parse(const struct kube_answer *answer)
{
    struct err err;
    json_t *root = NULL;
    return json_parse(answer->body, answer->body_len, 0, &JSON_ANSWER, &root, &err) < 0 ? NULL
                                                                                        : root;
}

static int64_t retry_after_ms(const struct kube_answer *answer)
{
    return answer->outcome == KUBE_ANSWERED && answer->retry_after_s > 0 &&
                   answer->retry_after_s < INT64_MAX / 1000
               ? answer->retry_after_s * 1000
               : 0;
}

/* "409: message of the Status", or only the number. */
static const char *status_text(const struct kube_answer *answer, struct arena *arena)
{
    const char *message = "";
    json_t *status = parse(answer);
    (void)json_get_string(status, "message", &message, NULL);
    const char *text = arena_printf(arena, "%u%s%.*s", answer->status, *message ? ": " : "",
                                    TOLD_BYTES_MAX, message);
    json_decref(status);
    return text;
}

static bool says(const json_t *object, const char *member, const char *value)
{
    const char *text = "";
    return json_get_string(object, member, &text, NULL) == 0 && strcmp(text, value) == 0;
}

/* Whether the API server itself answered: a proxy may send its own 200 or 404. */
static bool is_status(const struct kube_answer *answer)
{
    json_t *root = parse(answer);
    const bool is = says(root, "kind", "Status");
    json_decref(root);
    return is;
}

static enum bind_posted posted_of_status(const struct kube_answer *answer)
{
    const unsigned status = answer->status;
    if (status >= 200 && status < 300)
        return is_status(answer) ? POSTED_BOUND : POSTED_UNKNOWN;
    switch (status) {
    case 404:
        return is_status(answer) ? POSTED_GONE : POSTED_UNKNOWN;
    case 408:
        return POSTED_UNKNOWN;
    case 409:
        return POSTED_CONFLICT;
    case 429:
        return POSTED_THROTTLED;
    default:
        return status >= 400 && status < 500 ? POSTED_REFUSED : POSTED_UNKNOWN;
    }
}

void bind_wire_read_reply(const struct kube_answer *answer, struct arena *arena,
                          struct bind_reply *ret_reply)
{
    struct bind_reply reply = {.retry_after_ms = retry_after_ms(answer), .why = ""};
    if (answer->outcome == KUBE_ANSWERED) {
        reply.posted = posted_of_status(answer);
        if (reply.posted != POSTED_BOUND)
            reply.why = arena_printf(arena, "the API server answered the binding with %s",
                                     status_text(answer, arena));
    } else if (answer->outcome == KUBE_NOT_SENT) {
        reply.posted = POSTED_NOT_SENT;
        reply.why =
            arena_printf(arena, "the binding was not sent: %.*s", TOLD_BYTES_MAX, answer->why);
    } else {
        reply.posted = POSTED_UNKNOWN;
        reply.why = arena_printf(arena, "the API server did not answer the binding: %.*s",
                                 TOLD_BYTES_MAX, answer->why);
    }
    *ret_reply = reply;
}

static bool has_uid(const json_t *metadata)
{
    const char *uid = "";
    return json_get_string(metadata, "uid", &uid, NULL) == 0 && *uid;
}

static void see_unbound(const struct pod_facts *facts, struct bind_sight *sight)
{
    if (facts->terminating || facts->finished) {
        sight->finding = FOUND_GONE;
        sight->why = facts->terminating ? "the pod is being deleted" : "the pod has finished";
        return;
    }
    sight->finding = FOUND_UNBOUND;
    sight->facts = facts;
}

static void see_facts(const struct pod_facts *facts, const struct bind_args *args,
                      struct arena *arena, struct bind_sight *sight)
{
    if (strcmp(facts->uid, args->uid) != 0) {
        sight->finding = FOUND_GONE;
        sight->why = "the pod was deleted, and another pod has its name";
        return;
    }
    sight->finished = facts->finished;
    sight->node_name = facts->node_name;
    if (!*facts->node_name) {
        see_unbound(facts, sight);
    } else if (strcmp(facts->node_name, args->node_name) == 0) {
        sight->finding = FOUND_BOUND;
    } else {
        sight->finding = FOUND_ELSEWHERE;
        sight->why = arena_printf(arena, "the pod is bound to node %s already", facts->node_name);
    }
}

/* An object other than the named pod gives no information. */
static void see_pod(const json_t *root, const struct bind_args *args, const struct policy *policy,
                    struct arena *arena, struct bind_sight *sight)
{
    struct err err = {"is not the requested pod"};
    const json_t *metadata = json_member(root, "metadata");
    struct pod_facts *facts = ARENA_NEW(arena, struct pod_facts);
    const char *bound_by = "";
    if (!says(metadata, "name", args->name) || !says(metadata, "namespace", args->namespace_) ||
        !has_uid(metadata) || pod_from_json(root, policy, arena, facts, &err) < 0) {
        sight->why = arena_printf(arena, "the API server's answer for the pod: %s", err.text);
        return;
    }
    (void)json_get_string(json_member(metadata, "annotations"), POD_BOUND_BY, &bound_by, NULL);
    sight->bound_by = arena_printf(arena, "%.*s", TOLD_BYTES_MAX, bound_by);
    see_facts(facts, args, arena, sight);
}

void bind_wire_read_pod(const struct kube_answer *answer, const struct bind_args *args,
                        const struct policy *policy, struct arena *arena,
                        struct bind_sight *ret_sight)
{
    struct bind_sight sight = {.finding = FOUND_NOTHING,
                               .retry_after_ms = retry_after_ms(answer),
                               .node_name = "",
                               .bound_by = "",
                               .why = ""};
    if (answer->outcome != KUBE_ANSWERED) {
        sight.why =
            arena_printf(arena, "the pod could not be read: %.*s", TOLD_BYTES_MAX, answer->why);
    } else if (answer->status == 404 && is_status(answer)) {
        sight.finding = FOUND_GONE;
        sight.why = "the pod no longer exists";
    } else if (answer->status != 200) {
        sight.why = arena_printf(arena, "the API server answered the read of the pod with %s",
                                 status_text(answer, arena));
    } else {
        json_t *root = parse(answer);
        see_pod(root, args, policy, arena, &sight);
        json_decref(root);
    }
    *ret_sight = sight;
}
