/* server: see server.h. */
#include "server.h"

#include "flapping.h"
#include "formats/json_parse.h"
#include "formats/json_values.h"
#include "world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAGE_BYTES_MAX (1 << 20)
#define BOOKMARK_MS 20000

static const char *finish(struct server *server, struct buf *text)
{
    const char *body = arena_strdup(server->world->arena, buf_text(text));
    buf_fini(text);
    return body;
}

struct server_reply server_status(struct server *server, unsigned code, const char *message)
{
    return (struct server_reply){
        code, code == 429 ? 1 : -1,
        arena_printf(server->world->arena,
                     "{\"kind\":\"Status\",\"status\":\"%s\",\"code\":%u,\"message\":\"%s\"}",
                     code < 300 ? "Success" : "Failure", code, message)};
}

static enum truth_kind kind_of(const char *path)
{
    if (strncmp(path, "/api/v1/nodes?", 14) == 0)
        return TRUTH_NODES;
    return strncmp(path, "/api/v1/pods?", 13) == 0 ? TRUTH_PODS : TRUTH_OTHERS;
}

static long long number_after(const char *path, const char *key, long long otherwise)
{
    const char *at = strstr(path, key);
    return at ? strtoll(at + strlen(key), NULL, 10) : otherwise;
}

/* ---- reading ---- */

struct page {
    enum truth_kind kind;
    const char *path;
    int64_t rv;
    long long first; /* position among objects of the kind */
    long long limit;
};

static struct page page_of(const struct server *server, const char *path)
{
    const char *token = strstr(path, "&continue=");
    struct page page = {.kind = kind_of(path),
                        .path = path,
                        .rv = truth_rv(&server->world->truth),
                        .limit = number_after(path, "limit=", 500)};
    if (token) {
        page.rv = number_after(path, "&continue=", 0);
        page.first = number_after(token, "%2F", 0);
    }
    return page;
}

/* Unfinished pods, failed ones, or all. */
static bool is_selected(const char *path, const struct truth_state *state)
{
    if (strstr(path, "&fieldSelector=status.phase%3DFailed"))
        return state->finished && state->failure;
    return !strstr(path, "&fieldSelector=") || !state->finished;
}

/* Returns where the page ended; 0: at the last object. */
static long long write_items(const struct server *server, const struct page *page, struct buf *out)
{
    long long i = -1;
    long long n = 0;
    const struct truth_object *object = server->world->truth.objects;
    for (; object; object = object->next) {
        if (object->kind != page->kind || ++i < page->first)
            continue;
        const struct truth_version *version = truth_at(object, page->rv);
        if (!version || !is_selected(page->path, &version->state))
            continue;
        if (n == page->limit)
            return i;
        buf_add_text(out, n++ > 0 ? "," : "");
        truth_write(object, &version->state, version->rv, out);
    }
    return 0;
}

static struct server_reply list(struct server *server, const char *path)
{
    const struct page page = page_of(server, path);
    struct buf text;
    struct buf items;
    if (page.rv < server->world->truth.compacted_rv)
        return server_status(server, 410, "The provided continue parameter is too old");
    buf_init(&text, PAGE_BYTES_MAX);
    buf_init(&items, PAGE_BYTES_MAX);
    const long long rest = write_items(server, &page, &items);
    buf_printf(&text, "{\"kind\":\"SomeList\",\"metadata\":{\"resourceVersion\":\"%lld\"",
               (long long)page.rv);
    if (rest > 0)
        buf_printf(&text, ",\"continue\":\"%lld/%lld\"", (long long)page.rv, rest);
    buf_printf(&text, "},\"items\":[%s]}", buf_text(&items));
    buf_fini(&items);
    return (struct server_reply){200, -1, finish(server, &text)};
}

static struct truth_object *pod_of(const struct server *server, const char *path)
{
    char name[100] = "";
    (void)sscanf(path, "/api/v1/namespaces/%*[^/]/pods/%99[^/?]", name);
    return truth_find(&server->world->truth, TRUTH_PODS, name);
}

static struct server_reply get_pod(struct server *server, const char *path)
{
    const struct truth_object *object = pod_of(server, path);
    const struct truth_state *state = truth_now(object);
    struct buf text;
    if (!state)
        return server_status(server, 404, "not found");
    buf_init(&text, PAGE_BYTES_MAX);
    truth_write(object, state, object->last->rv, &text);
    return (struct server_reply){200, -1, finish(server, &text)};
}

static const char SICK[] = "etcdserver: request timed out";

static bool is_sick(const struct server *server)
{
    return world_now(server->world) < server->well_ms;
}

static bool is_ready(const struct server *server)
{
    return world_now(server->world) >= server->ready_ms;
}

struct server_reply server_may_read(struct server *server)
{
    if (!server_is_up(server))
        return (struct server_reply){0, -1, ""};
    if (is_sick(server))
        return server_status(server, 500, SICK);
    if (!is_ready(server))
        return server_status(server, 429, "storage is (re)initializing");
    return (struct server_reply){200, -1, ""};
}

/* It serves resource.k8s.io in one version, or not at all; after a restart in another. */
static bool is_served(const struct server *server, const char *path)
{
    static const char *const VERSIONS[] = {"/v1/", "/v1beta1/", "/v1beta2/", "/none/"};
    return !strstr(path, "/resource.k8s.io/") ||
           strstr(path, VERSIONS[server->lifetimes % (sizeof VERSIONS / sizeof *VERSIONS)]);
}

/* Status 200: the collection may be read. */
static struct server_reply may_read_path(struct server *server, const char *path)
{
    const struct server_reply reply = server_may_read(server);
    if (reply.status == 200 && !is_served(server, path))
        return server_status(server, 404, "the server could not find the requested resource");
    return reply;
}

struct server_reply server_read(struct server *server, const char *path)
{
    const struct server_reply reply = may_read_path(server, path);
    if (reply.status != 200)
        return reply;
    if (strcmp(path, "/version") == 0)
        return (struct server_reply){200, -1,
                                     server->world->plan.comparable
                                         ? "{\"major\":\"1\",\"minor\":\"36\"}"
                                         : "{\"major\":\"1\",\"minor\":\"34\"}"};
    return strstr(path, "limit=") ? list(server, path) : get_pod(server, path);
}

/* ---- binding ---- */

static struct server_reply give_to_node(struct server *server, const struct truth_object *object,
                                        const struct binder *binder, const json_t *binding)
{
    struct truth_state state = *truth_now(object);
    struct world *world = server->world;
    const char *node = json_string_value(json_member(json_member(binding, "target"), "name"));
    const json_t *annotations = json_member(json_member(binding, "metadata"), "annotations");
    const char *bound_by = json_string_value(json_member(annotations, "gpu-extender.io/bound-by"));
    state.node = arena_strdup(world->arena, node);
    state.bound_by = arena_strdup(world->arena, bound_by);
    state.binder = *binder;
    state.is_unstarted = world->plan.flapping;
    truth_put(&world->truth, TRUTH_PODS, object->name, &state);
    const struct truth_object *place = truth_find(&world->truth, TRUTH_NODES, node);
    fences_took_effect(binder, state.uid, node);
    flapping_bound(world, object);
    const unsigned ours = truth_gpus_used(&world->truth, node, WORLD_US);
    world_tell(world, "truth: %s (%s) is bound to %s by us, %u of %u GPUs are ours", object->name,
               state.uid, node, ours, place->gpus_ever);
    if (ours > place->gpus_ever)
        world_fail(world, "%s (%s) was bound to %s: we gave %u GPUs of its %u", object->name,
                   state.uid, node, ours, place->gpus_ever);
    return server_status(server, 201, "");
}

static struct server_reply bind_pod(struct server *server, const char *path,
                                    const struct binder *binder, const json_t *binding)
{
    const struct truth_object *object = pod_of(server, path);
    const struct truth_state *state = truth_now(object);
    const char *uid = json_string_value(json_member(json_member(binding, "metadata"), "uid"));
    if (!state)
        return server_status(server, 404, "not found");
    if (uid && strcmp(uid, state->uid) != 0)
        return server_status(server, 409, "Precondition failed: UID");
    if (state->node[0])
        return server_status(server, 409, "is already assigned to a node");
    if (state->terminating)
        return server_status(server, 409, "is being deleted, cannot be assigned to a host");
    server->world->n_bindings += state->gang != NULL;
    if (state->gang && server->world->refuses_from > 0 &&
        server->world->n_bindings >= server->world->refuses_from)
        return server_status(server, 429, "too many requests");
    return give_to_node(server, object, binder, binding);
}

struct server_reply server_bind(struct server *server, const struct binder *binder, bool is_doubled,
                                const char *path, const char *body)
{
    json_t *binding = NULL;
    if (!server_is_up(server))
        return (struct server_reply){0, -1, ""};
    if (is_sick(server) && dice_one_in(&server->world->dice, 2))
        return server_status(server, 500, SICK);
    if (json_parse(body, strlen(body), 0, &JSON_OWN, &binding, NULL) < 0)
        return server_status(server, 400, "not a Binding");
    if (!is_doubled)
        fences_carried_out(binder);
    const struct server_reply reply = bind_pod(server, path, binder, binding);
    json_decref(binding);
    return is_sick(server) ? server_status(server, 500, SICK) : reply;
}

/* ---- watching ---- */

static void send_event(const struct server_watch *watch, const char *type,
                       const struct truth_version *version, const struct truth_state *state)
{
    struct buf text;
    buf_init(&text, PAGE_BYTES_MAX);
    buf_printf(&text, "{\"type\":\"%s\",\"object\":", type);
    truth_write(version->object, state, version->rv, &text);
    buf_add_text(&text, "}\n");
    stream_send(watch->stream, buf_text(&text));
    buf_fini(&text);
}

/* An object that is deleted or no longer selected is sent in its previous state. */
static void tell_version(const struct server_watch *watch, const struct truth_version *version)
{
    const struct truth_version *before = version->before;
    if (version->object->kind != watch->kind)
        return;
    const bool is = !version->deleted && is_selected(watch->path, &version->state);
    const bool was = before && !before->deleted && is_selected(watch->path, &before->state);
    if (is)
        send_event(watch, was ? "MODIFIED" : "ADDED", version, &version->state);
    else if (was)
        send_event(watch, "DELETED", version, &before->state);
}

static void tell_news(const struct server *server, struct server_watch *watch)
{
    const struct truth *truth = &server->world->truth;
    while (watch->next < truth->n)
        tell_version(watch, truth->history[watch->next++]);
}

static void on_change(void *context, const struct truth_version *version)
{
    struct server *server = context;
    (void)version;
    for (struct server_watch *watch = server->watches; watch; watch = watch->next_watch) {
        if (!watch->is_over)
            tell_news(server, watch);
    }
}

static void send_bookmark(const struct server *server, const struct server_watch *watch)
{
    char text[160];
    (void)snprintf(text, sizeof text,
                   "{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"%lld\"}}"
                   "}\n",
                   (long long)truth_rv(&server->world->truth));
    stream_send(watch->stream, text);
}

struct tick {
    struct server *server;
    struct server_watch *watch;
};

static void on_bookmark(void *context)
{
    const struct tick *tick = context;
    const int64_t now_ms = world_now(tick->server->world);
    if (tick->watch->is_over)
        return;
    send_bookmark(tick->server, tick->watch);
    int64_t next_ms = now_ms + BOOKMARK_MS;
    if (next_ms >= tick->watch->ends_ms)
        next_ms = tick->watch->ends_ms - 1;
    if (next_ms > now_ms)
        agenda_at(&tick->server->world->agenda, next_ms, on_bookmark, context);
}

static void on_watch_end(void *context)
{
    const struct tick *tick = context;
    if (tick->watch->is_over)
        return;
    tick->watch->is_over = true;
    stream_finish(tick->watch->stream);
}

static void begin_watch(struct server *server, struct server_watch *watch, long long seconds)
{
    struct world *world = server->world;
    struct tick *tick = ARENA_NEW(world->arena, struct tick);
    const int64_t now_ms = world_now(world);
    *tick = (struct tick){server, watch};
    watch->ends_ms = now_ms + seconds * 1000;
    watch->next_watch = server->watches;
    server->watches = watch;
    agenda_at(&world->agenda, watch->ends_ms, on_watch_end, tick);
    if (world->plan.bookmarks)
        agenda_in(&world->agenda, seconds > 30 ? BOOKMARK_MS : seconds * 1000 - 2000, on_bookmark,
                  tick);
    tell_news(server, watch);
}

static const char TOO_OLD[] = "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"code\":410,"
                              "\"reason\":\"Expired\",\"message\":\"too old resource version\"}}\n";

struct server_reply server_may_watch(struct server *server, const char *path)
{
    const struct world *world = server->world;
    const struct server_reply reply = may_read_path(server, path);
    if (reply.status != 200 ||
        number_after(path, "resourceVersion=", 0) >= world->truth.compacted_rv)
        return reply;
    if (!world->plan.gone_events)
        return server_status(server, 410, "too old resource version");
    return (struct server_reply){200, -1, TOO_OLD};
}

void server_watch(struct server *server, const char *path, struct stream *stream)
{
    struct server_watch *watch = ARENA_NEW(server->world->arena, struct server_watch);
    *watch = (struct server_watch){.stream = stream,
                                   .kind = kind_of(path),
                                   .path = path,
                                   .next = (size_t)number_after(path, "resourceVersion=", 0)};
    begin_watch(server, watch, number_after(path, "timeoutSeconds=", 300));
}

void server_unwatch(struct server *server, const struct stream *stream)
{
    struct server_watch **at = &server->watches;
    while (*at && (*at)->stream != stream)
        at = &(*at)->next_watch;
    if (!*at)
        return;
    (*at)->is_over = true;
    *at = (*at)->next_watch;
}

/* ---- start and stop ---- */

void server_init(struct server *server, struct world *world)
{
    *server = (struct server){.world = world};
    truth_listen(&world->truth, on_change, server);
}

bool server_is_up(const struct server *server)
{
    return world_now(server->world) >= server->up_ms;
}

static void end_watches(struct server *server)
{
    for (; server->watches; server->watches = server->watches->next_watch) {
        server->watches->is_over = true;
        stream_finish(server->watches->stream);
    }
}

void server_sicken(struct server *server, int64_t how_long_ms)
{
    server->well_ms = world_now(server->world) + how_long_ms;
    end_watches(server);
}

void server_restart(struct server *server, int64_t down_ms, int64_t busy_ms)
{
    server->up_ms = world_now(server->world) + down_ms;
    server->ready_ms = server->up_ms + busy_ms;
    server->lifetimes++;
    for (; server->watches; server->watches = server->watches->next_watch)
        server->watches->is_over = true;
    for (unsigned i = 0; i < server->world->plan.n_replicas; i++)
        wire_cut_all(&server->world->services[i].wire);
}
