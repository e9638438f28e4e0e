/* stream: lists and watches in flight to the reflectors. See wire.h. */
#include "wire.h"

#include "world.h"

#include <string.h>

/* A piece of a stream in flight. */
struct piece {
    struct stream *stream;
    enum { PIECE_HEAD, PIECE_BYTES, PIECE_END } what;
    struct server_reply reply; /* of a head */
    const char *bytes;
    enum kube_outcome outcome;
    const char *why;
    bool is_late; /* arrived, but the service sleeps */
};

static agenda_call on_piece;

static bool is_heard(const struct stream *stream)
{
    return !stream->is_over && !stream->is_silent && stream->life == stream->service->life &&
           stream->service->is_alive;
}

/* A sleeping service receives it later, in the same order. */
static bool must_wait(struct piece *piece)
{
    struct stream *stream = piece->stream;
    const int64_t now_ms = world_now(stream->world);
    const int64_t wakes_ms = stream->service->sleeps_until_ms;
    if (now_ms >= wakes_ms && (stream->n_late == 0 || piece->is_late)) {
        stream->n_late -= piece->is_late;
        return false;
    }
    stream->n_late += !piece->is_late;
    piece->is_late = true;
    agenda_at(&stream->world->agenda, wakes_ms > now_ms ? wakes_ms : now_ms, on_piece, piece);
    return true;
}

static void on_piece(void *context)
{
    struct piece *piece = context;
    struct stream *stream = piece->stream;
    struct service *service = stream->service;
    const int64_t now_ms = service_now(service);
    if (must_wait(piece) || !is_heard(stream))
        return;
    stream->heard_ms = world_now(stream->world);
    if (piece->what == PIECE_HEAD) {
        stream->has_head = true;
        reflector_head(service->reflectors[stream->kind], now_ms, piece->reply.status,
                       piece->reply.retry_after_s);
    } else if (piece->what == PIECE_BYTES) {
        reflector_bytes(service->reflectors[stream->kind], now_ms, piece->bytes,
                        strlen(piece->bytes));
        reflector_drained(service->reflectors[stream->kind], now_ms);
    } else {
        world_tell(stream->world, "wire: %s ends: %s", stream->path, piece->why);
        stream->is_over = true;
        reflector_end(service->reflectors[stream->kind], now_ms, piece->outcome, piece->why);
    }
    service_pump(service, stream->kind);
}

/* In sequence, whatever the delay of each. */
static void set_off(struct stream *stream, const struct piece *piece)
{
    struct world *world = stream->world;
    struct piece *copy = ARENA_NEW(world->arena, struct piece);
    static const struct world_pace PACE = {
        .usual_ms = 20, .trouble_one_in = 10, .trouble_ms = 3000};
    *copy = *piece;
    agenda_at(&world->agenda, world_next(world, &PACE, &stream->last_ms), on_piece, copy);
}

static void send_end(struct stream *stream, enum kube_outcome outcome, const char *why)
{
    const struct piece end = {.stream = stream, .what = PIECE_END, .outcome = outcome, .why = why};
    if (stream->is_finished)
        return;
    stream->is_finished = true;
    set_off(stream, &end);
}

static void send_bytes(struct stream *stream, const char *bytes)
{
    const struct piece piece = {.stream = stream, .what = PIECE_BYTES, .bytes = bytes};
    set_off(stream, &piece);
}

/* In two pieces, split anywhere. */
void stream_send(struct stream *stream, const char *text)
{
    struct world *world = stream->world;
    const size_t len = strlen(text);
    if (stream->is_finished || len == 0)
        return;
    const size_t cut = dice_below(&world->dice, (unsigned)len);
    if (cut > 0)
        send_bytes(stream, arena_strndup(world->arena, text, cut));
    if (world_trouble(world, world->plan.cuts, 60)) {
        send_end(stream, KUBE_UNKNOWN, "cut in an object");
        server_unwatch(&world->server, stream);
        return;
    }
    send_bytes(stream, arena_strdup(world->arena, text + cut));
}

void stream_finish(struct stream *stream)
{
    send_end(stream, KUBE_ANSWERED, "");
}

void stream_cut(struct stream *stream)
{
    if (!stream->is_over)
        send_end(stream, KUBE_UNKNOWN, "connection reset by peer");
}

void stream_cancel(struct stream *stream)
{
    stream->is_over = true;
    server_unwatch(&stream->world->server, stream);
}

static struct server_reply refusal(struct world *world)
{
    static const unsigned CODES[] = {429, 500, 503, 403};
    const unsigned code = CODES[dice_below(&world->dice, 4)];
    return (struct server_reply){code, code == 429 ? 2 : -1, "{\"message\":\"not now\"}"};
}

static struct server_reply reply_to(struct stream *stream, bool is_watch)
{
    struct world *world = stream->world;
    if (wire_is_blind(&stream->service->wire))
        return server_status(&world->server, 403, "forbidden");
    if (world_trouble(world, world->plan.refusals, 6))
        return refusal(world);
    return is_watch ? server_may_watch(&world->server, stream->path)
                    : server_read(&world->server, stream->path);
}

static void on_arrived(void *context)
{
    struct stream *stream = context;
    const bool is_watch = strstr(stream->path, "watch=true") != NULL;
    if (stream->is_over || stream->is_silent)
        return;
    const struct piece head = {
        .stream = stream, .what = PIECE_HEAD, .reply = reply_to(stream, is_watch)};
    if (head.reply.status == 0) {
        send_end(stream, KUBE_UNKNOWN, "cut before an answer");
        return;
    }
    set_off(stream, &head);
    if (is_watch && head.reply.status == 200 && head.reply.body[0] == '\0') {
        server_watch(&stream->world->server, stream->path, stream);
        return;
    }
    stream_send(stream, head.reply.body);
    stream_finish(stream);
}

static void on_refused(void *context)
{
    send_end(context, KUBE_NOT_SENT, "connection refused");
}

/* Like the loop: no head in time, or a stalled list. A watch may be silent. */
static void on_due(void *context)
{
    struct stream *stream = context;
    struct world *world = stream->world;
    const int64_t limit_ms = stream->has_head ? stream->idle_ms : stream->head_timeout_ms;
    if (stream->is_over || limit_ms == 0 || stream->life != stream->service->life)
        return;
    /* A waking service first receives what has arrived. */
    const int64_t awake_ms = stream->service->sleeps_until_ms + 1;
    int64_t due_ms = stream->heard_ms + limit_ms;
    if (due_ms < awake_ms)
        due_ms = awake_ms;
    if (world_now(world) < due_ms) {
        agenda_at(&world->agenda, due_ms, on_due, stream);
        return;
    }
    const struct piece end = {
        .stream = stream, .what = PIECE_END, .outcome = KUBE_UNKNOWN, .why = "timed out"};
    stream->is_silent = false;
    stream->service->wire.is_dead = false;
    server_unwatch(&world->server, stream);
    struct piece *copy = ARENA_NEW(world->arena, struct piece);
    *copy = end;
    on_piece(copy);
}

struct stream *stream_open(struct wire *wire, size_t kind, const struct kube_request *request)
{
    struct world *world = wire->world;
    struct stream *stream = ARENA_NEW(world->arena, struct stream);
    if (request->fresh)
        wire->is_dead = false;
    while (wire->streams && wire->streams->is_over)
        wire->streams = wire->streams->next;
    *stream = (struct stream){.world = world,
                              .service = wire->service,
                              .life = wire->service->life,
                              .kind = kind,
                              .path = arena_strdup(world->arena, request->path),
                              .head_timeout_ms = request->timeout_ms,
                              .idle_ms = request->idle_ms,
                              .heard_ms = world_now(world),
                              .is_silent = wire->is_dead,
                              .next = wire->streams};
    wire->streams = stream;
    world_tell(world, "reflector: GET %s%s", request->path, request->fresh ? " (fresh)" : "");
    agenda_in(&world->agenda, request->timeout_ms, on_due, stream);
    if (server_is_up(&world->server))
        agenda_in(&world->agenda, world_between(world, 1, 20), on_arrived, stream);
    else
        agenda_in(&world->agenda, 1, on_refused, stream);
    return stream;
}

void wire_cut_one(struct wire *wire)
{
    unsigned n = 0;
    for (struct stream *stream = wire->streams; stream; stream = stream->next)
        n += !stream->is_over;
    if (n == 0)
        return;
    unsigned chosen = dice_below(&wire->world->dice, n);
    for (struct stream *stream = wire->streams; stream; stream = stream->next) {
        if (stream->is_over || chosen-- > 0)
            continue;
        server_unwatch(&wire->world->server, stream);
        stream_cut(stream);
        return;
    }
}

bool wire_is_blind(const struct wire *wire)
{
    return world_now(wire->world) < wire->blind_until_ms;
}

void wire_blind(struct wire *wire, int64_t until_ms)
{
    wire->blind_until_ms = until_ms;
    for (struct stream *stream = wire->streams; stream; stream = stream->next) {
        server_unwatch(&wire->world->server, stream);
        stream_cut(stream);
    }
}

void wire_black_hole(struct wire *wire)
{
    wire->is_dead = true;
    for (struct stream *stream = wire->streams; stream; stream = stream->next)
        stream->is_silent = true;
}
