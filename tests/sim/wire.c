/* wire: see wire.h. The requests of binds; streams are in stream.c. */
#include "wire.h"

#include "base/clock.h"
#include "base/mem.h"
#include "fences.h"
#include "groups.h"
#include "kube_answers.h"
#include "quotas.h"
#include "world.h"

#include <stdlib.h>
#include <string.h>
#include <utlist.h>

/* A request reaches the server before this, or never: binds relies on it. So does the end of a dead
 * client's connection, which aborts what the server still does for it (net/http ends a request's
 * context with its connection). */
#define WAY_MAX_MS 800
/* Longest wait of a request for a connection. */
#define CONNECTING_MAX_MS 3000

struct call {
    struct wire *wire;
    struct binder binder;
    const char *method;
    bool changes;    /* not a GET */
    bool has_left;   /* else it waits for a connection */
    bool is_doubled; /* in flight */
    const char *path;
    const char *body;
    bool (*may_leave)(void *context, int64_t now_ms);
    void *may_leave_context;
    kube_done *done;
    void *context;
    bool is_answered;
    size_t n_policies;      /* of the service, when it was made */
    int64_t sent_until_ms;  /* by the kernel */
    int64_t heard_until_ms; /* by the server: the client has died */
    struct call *next;
};

/* One arrival of a request at the server. */
struct visit {
    struct call *call;
    unsigned lifetime; /* of the server */
    struct server_reply reply;
};

static struct world *world_of(const struct call *call)
{
    return call->wire->world;
}

/* By a reset: nothing more is sent, and the server later aborts the request. */
static void end_connection(struct call *call)
{
    const int64_t now_ms = world_now(world_of(call));
    call->sent_until_ms = now_ms + WAY_MAX_MS;
    call->heard_until_ms = now_ms + times()->post_life_ms + TIMING_SLACK_MS - 1;
}

/* A sleeping service gets it later. */
struct late {
    struct call *call;
    enum kube_outcome outcome;
    const struct server_reply *reply;
    const char *why;
};

static void answer(struct call *call, enum kube_outcome outcome, const struct server_reply *reply,
                   const char *why);

static void on_awake(void *context)
{
    const struct late *late = context;
    answer(late->call, late->outcome, late->reply, late->why);
}

static void answer(struct call *call, enum kube_outcome outcome, const struct server_reply *reply,
                   const char *why)
{
    struct world *world = world_of(call);
    const struct service *service = call->wire->service;
    if (world_now(world) < service->sleeps_until_ms) {
        struct late *late = ARENA_NEW(world->arena, struct late);
        *late = (struct late){call, outcome, reply, why};
        agenda_at(&world->agenda, service->sleeps_until_ms, on_awake, late);
        return;
    }
    const int64_t now_ms = service_now(service);
    struct kube_answer result = reply ? kube_answered(now_ms, reply->status, reply->body)
                                      : kube_unanswered(now_ms, outcome, why);
    if (reply)
        result.retry_after_s = reply->retry_after_s;
    if (call->is_answered)
        return;
    call->is_answered = true;
    if (!reply)
        end_connection(call);
    world_tell(world, "wire: %s %s: %u %s", call->method, call->path, result.status, why);
    call->done(call->context, &result);
    service_stir(call->wire->service);
}

static void on_time_out(void *context)
{
    struct call *call = context;
    answer(call, call->has_left ? KUBE_UNKNOWN : KUBE_NOT_SENT, NULL, "timed out");
}

static void on_cut(void *context)
{
    answer(context, KUBE_UNKNOWN, NULL, "connection reset by peer");
}

static void on_refused(void *context)
{
    answer(context, KUBE_NOT_SENT, NULL, "connection refused");
}

static void on_reply(void *context)
{
    struct visit *visit = context;
    answer(visit->call, KUBE_ANSWERED, &visit->reply, "");
}

static int64_t way_ms(struct world *world)
{
    if (world_trouble(world, world->plan.delays, 4))
        return world_between(world, 1, WAY_MAX_MS);
    return world_between(world, 1, 20);
}

/* The kernel retransmits lost data for a limited time, counted from the first retransmission. Data
 * that has not arrived by then never will. */
#define FIRST_AGAIN_MS 300
#define LINGERING_MS 1500
#define LINGERING_MAX_MS 40000

/* CLOCK_NEVER: given up. */
static int64_t outward_ms(struct world *world)
{
    if (!world_trouble(world, world->plan.lingering, world->plan.is_focused ? 2 : 4))
        return way_ms(world);
    const int64_t last_ms = times()->unacked_ms + FIRST_AGAIN_MS;
    const int64_t most_ms = dice_one_in(&world->dice, 2) ? LINGERING_MAX_MS : LINGERING_MS;
    const int64_t ms = world_between(world, 1, most_ms);
    if (dice_one_in(&world->dice, 3))
        return last_ms;
    return ms <= last_ms ? ms : CLOCK_NEVER;
}

static void send_back(struct visit *visit)
{
    struct world *world = world_of(visit->call);
    if (visit->reply.status == 0)
        agenda_in(&world->agenda, 1, on_cut, visit->call);
    else if (world_trouble(world, world->plan.losses, 8)) {
        world_tell(world, "wire: the answer %u to %s is lost", visit->reply.status,
                   visit->call->path);
        if (dice_one_in(&world->dice, 2))
            agenda_in(&world->agenda, 1, on_cut, visit->call);
    } else
        agenda_in(&world->agenda, way_ms(world), on_reply, visit);
}

/* A restarted server has no record of it. */
static void on_done(void *context)
{
    struct visit *visit = context;
    struct call *call = visit->call;
    struct server *server = &world_of(call)->server;
    if (visit->lifetime != server->lifetimes || world_now(world_of(call)) > call->heard_until_ms)
        visit->reply = (struct server_reply){0, -1, ""};
    else if (strstr(call->path, "/leases"))
        visit->reply = server_lease(server, &call->binder, call->method, call->body);
    else if (call->changes)
        visit->reply = server_bind(server, &call->binder, call->is_doubled, call->path, call->body);
    else if (wire_is_blind(call->wire) && strstr(call->path, "limit="))
        visit->reply = server_status(server, 403, "forbidden");
    else
        visit->reply = server_read(server, call->path);
    send_back(visit);
}

static void on_given_up(void *context)
{
    struct visit *visit = context;
    visit->reply = (struct server_reply){504, -1, "{\"kind\":\"Status\",\"code\":504}"};
    send_back(visit);
}

/* It may take effect although the answer will be a timeout. */
static void take_long(struct world *world, struct visit *visit)
{
    int64_t life_ms = times()->post_life_ms;
    if (world_trouble(world, world->plan.lingering, 2))
        life_ms += TIMING_SLACK_MS - 1;
    if (dice_one_in(&world->dice, 2)) {
        struct visit *unheard = ARENA_NEW(world->arena, struct visit);
        *unheard = *visit;
        const int64_t least_ms = dice_one_in(&world->dice, 2) ? life_ms : 0;
        agenda_in(&world->agenda, world_between(world, least_ms, life_ms), on_done, unheard);
    } else {
        agenda_in(&world->agenda, life_ms, on_given_up, visit);
    }
}

static void on_arrived(void *context)
{
    struct call *call = context;
    struct world *world = world_of(call);
    struct visit *visit = ARENA_NEW(world->arena, struct visit);
    *visit = (struct visit){.call = call, .lifetime = world->server.lifetimes};
    if (world_now(world) > call->sent_until_ms)
        return;
    if (world_trouble(world, world->plan.refusals, 8)) {
        /* 429 means that nothing was or will be done: no API server says so about one of two
         * copies. */
        const bool is_word = !call->is_doubled && dice_one_in(&world->dice, 2);
        const unsigned code = is_word ? 429 : 500;
        visit->reply = (struct server_reply){code, code == 429 ? 1 : -1, "{\"kind\":\"Status\"}"};
        send_back(visit);
    } else if (call->changes &&
               world_trouble(world, world->plan.slow_api, world->plan.is_focused ? 2 : 4)) {
        take_long(world, visit);
    } else {
        agenda_in(&world->agenda, world_between(world, 1, 30), on_done, visit);
    }
}

static void set_off(struct call *call)
{
    struct world *world = world_of(call);
    call->has_left = true;
    if (call->changes && !strstr(call->path, "/leases"))
        fences_leaves(&call->binder);
    if (!server_is_up(&world->server)) {
        agenda_in(&world->agenda, 1, on_refused, call);
        return;
    }
    if (world_now(world) < call->wire->no_lease_until_ms && strstr(call->path, "/leases"))
        return;
    if (world_trouble(world, world->plan.losses, 8)) {
        world_tell(world, "wire: %s is lost on its way", call->path);
        if (dice_one_in(&world->dice, 2))
            agenda_in(&world->agenda, 1, on_cut, call);
        return;
    }
    const int64_t ms = outward_ms(world);
    if (ms == CLOCK_NEVER) {
        agenda_in(&world->agenda, times()->unacked_ms + FIRST_AGAIN_MS, on_cut, call);
        return;
    }
    agenda_in(&world->agenda, ms, on_arrived, call);
    call->is_doubled = world_trouble(world, world->plan.duplicates, 6);
    if (call->is_doubled)
        agenda_in(&world->agenda, way_ms(world), on_arrived, call);
}

/* A sleeping service continues when it wakes. */
static void on_connected(void *context)
{
    struct call *call = context;
    struct world *world = world_of(call);
    const int64_t awake_ms = call->wire->service->sleeps_until_ms;
    if (call->is_answered)
        return;
    if (world_now(world) < awake_ms)
        agenda_at(&world->agenda, awake_ms, on_connected, call);
    else if (call->may_leave &&
             !call->may_leave(call->may_leave_context, service_now(call->wire->service)))
        answer(call, KUBE_NOT_SENT, NULL, "the request was no longer allowed");
    else
        set_off(call);
}

static void send_call(void *sender, const struct kube_request *request, kube_done *done,
                      void *context)
{
    struct wire *wire = sender;
    struct world *world = wire->world;
    struct call *call = ARENA_NEW(world->arena, struct call);
    *call = (struct call){.wire = wire,
                          .binder = {wire->service, wire->service->life},
                          .method = request->method,
                          .changes = strcmp(request->method, "GET") != 0,
                          .n_policies = wire->service->n_policies,
                          .path = arena_strdup(world->arena, request->path),
                          .body = arena_strdup(world->arena, request->body ? request->body : ""),
                          .may_leave = request->may_leave,
                          .may_leave_context = request->may_leave_context,
                          .sent_until_ms = INT64_MAX,
                          .heard_until_ms = INT64_MAX,
                          .done = done,
                          .context = context};
    LL_PREPEND(wire->calls, call);
    if (call->changes && !strstr(call->path, "/leases")) {
        quotas_posted(wire->service, call->body);
        groups_posted(wire->service, call->body);
    }
    agenda_in(&world->agenda, request->timeout_ms, on_time_out, call);
    if (world_trouble(world, world->plan.delays, 4))
        agenda_in(&world->agenda, world_between(world, 1, CONNECTING_MAX_MS), on_connected, call);
    else
        set_off(call);
}

void wire_init(struct wire *wire, struct service *service)
{
    *wire = (struct wire){.world = service->world, .service = service};
}

/* The service runs its tasks after everything that may wake them. */
static void wake(void *sender)
{
    (void)sender;
}

struct kube_sender wire_sender(struct wire *wire)
{
    return (struct kube_sender){send_call, wake, wire};
}

static void stop(struct call *call)
{
    struct world *world = world_of(call);
    const struct kube_answer stopped =
        kube_unanswered(service_now(call->wire->service), KUBE_UNKNOWN, "stopped");
    /* If the host died, the server does not notice either. */
    if (!world_trouble(world, world->plan.lingering, 2))
        call->heard_until_ms = world_now(world) + world_between(world, 0, WAY_MAX_MS);
    if (call->is_answered)
        return;
    call->is_answered = true;
    call->done(call->context, &stopped);
}

bool wire_posts(const struct wire *wire, const char *uid)
{
    const char *quoted = arena_printf(wire->world->arena, "\"%s\"", uid);
    for (const struct call *call = wire->calls; call; call = call->next) {
        if (call->changes && !call->is_answered && strstr(call->body, quoted))
            return true;
    }
    return false;
}

size_t wire_first_posted(const struct wire *wire, const char *uid)
{
    const char *quoted = arena_printf(wire->world->arena, "\"%s\"", uid);
    size_t n = wire->service->n_policies;
    for (const struct call *call = wire->calls; call; call = call->next) {
        if (call->changes && strstr(call->body, quoted) && call->n_policies < n)
            n = call->n_policies;
    }
    return n;
}

void wire_lose_lease(struct wire *wire, int64_t until_ms)
{
    wire->no_lease_until_ms = until_ms;
}

void wire_stop(struct wire *wire)
{
    for (struct call *call = wire->calls; call; call = call->next)
        stop(call);
    wire->calls = NULL;
    wire->is_dead = false;
}

void wire_cut_all(struct wire *wire)
{
    for (struct call *call = wire->calls; call; call = call->next) {
        if (!call->is_answered)
            agenda_in(&wire->world->agenda, 1, on_cut, call);
    }
    for (struct stream *stream = wire->streams; stream; stream = stream->next)
        stream_cut(stream);
    wire->streams = NULL;
}
