/* stream: see stream.h. */
#include "stream.h"

#include "base/clock.h"
#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

/* How long a rejected request waits for a newer credential. */
#define RENEWAL_MS 10000
#define UNAUTHORIZED 401U
#define REFUSAL_BYTES ((size_t)300)

struct kube_stream *stream_new(const struct kube_request *request,
                               const struct kube_stream_handler *handler, bool is_whole)
{
    struct kube_stream *stream = MEM_NEW(struct kube_stream);
    stream->request = *request;
    stream->request.path = mem_strdup(request->path);
    stream->request.body = request->body ? mem_strndup(request->body, request->body_len) : NULL;
    stream->handler = *handler;
    stream->is_whole = is_whole;
    stream->deadline_ms = clock_ms() + request->timeout_ms;
    return stream;
}

static void stream_free(struct kube_stream *stream)
{
    char *body = (char *)(uintptr_t)stream->request.body;
    if (body && stream->request.secret)
        explicit_bzero(body, stream->request.body_len);
    free((void *)(uintptr_t)stream->request.path);
    free(body);
    free(stream);
}

void streams_add(struct streams *streams, struct kube_stream *stream)
{
    stream->streams = streams;
    DL_APPEND(streams->list, stream);
}

void kube_stream_cancel(struct kube_stream *stream)
{
    stream->cancelled = true;
}

/* ---- ends ---- */

static void remove_stream(struct kube_stream *stream)
{
    if (stream->transfer)
        transfer_drop(stream->transfer);
    DL_DELETE(stream->streams->list, stream);
    stream_free(stream);
}

static void end_stream(struct kube_stream *stream, enum kube_outcome outcome, const char *why)
{
    struct streams *streams = stream->streams;
    stream->cancelled = true; /* cancelling from the handler has no further effect */
    streams->touched = true;
    /* The round may have begun before the answer arrived, and delays count from the answer. */
    streams->now_ms = clock_ms();
    stream->handler.on_end(stream->handler.context, streams->now_ms, outcome, why);
    remove_stream(stream);
}

static void fail_stream(struct kube_stream *stream, const char *why)
{
    end_stream(stream, stream->sent ? KUBE_UNKNOWN : KUBE_NOT_SENT, why);
}

static void give_head(struct kube_stream *stream, unsigned status, int64_t retry_after_s)
{
    stream->has_head = true;
    stream->streams->touched = true;
    stream->handler.on_head(stream->handler.context, stream->streams->now_ms, status,
                            retry_after_s);
}

static void describe_refusal(const struct kube_stream *stream, char *text, size_t size)
{
    (void)snprintf(text, size, "the API server refused %s",
                   kube_credentials_name(stream->streams->credentials));
}

/* Once per request. Usually a newer credential is at hand, and the handler is not called. */
static void report_refused(struct kube_stream *stream)
{
    char why[REFUSAL_BYTES];
    if (stream->reported || !stream->handler.on_refused)
        return;
    stream->reported = true;
    stream->streams->touched = true;
    describe_refusal(stream, why, sizeof why);
    stream->handler.on_refused(stream->handler.context, why);
}

/* No newer credential came: reports the first 401. A client certificate belongs to its connection;
 * a new connection reads the file again. */
static void end_refused(struct kube_stream *stream)
{
    char why[REFUSAL_BYTES];
    client_retire(stream->streams->client);
    give_head(stream, UNAUTHORIZED, -1);
    describe_refusal(stream, why, sizeof why);
    if (!stream->cancelled)
        stream->handler.on_bytes(stream->handler.context, stream->streams->now_ms, why,
                                 strlen(why));
    if (stream->cancelled)
        remove_stream(stream);
    else
        end_stream(stream, KUBE_ANSWERED, "");
}

static void end_late(struct kube_stream *stream)
{
    char why[80];
    bool is_idle = stream->has_head && !stream->is_whole;
    (void)snprintf(why, sizeof(why), is_idle ? "nothing came in %lld ms" : "no answer in %lld ms",
                   (long long)(is_idle ? stream->request.idle_ms : stream->request.timeout_ms));
    if (stream->transfer) {
        stream->sent = transfer_was_sent(stream->transfer);
        if (!stream->request.only_asks)
            transfer_retire(stream->transfer);
    }
    fail_stream(stream, why);
}

/* ---- what comes ---- */

static void extend(struct kube_stream *stream)
{
    int64_t idle_ms = stream->request.idle_ms;
    if (!stream->is_whole)
        stream->deadline_ms = idle_ms > 0 ? stream->streams->now_ms + idle_ms : CLOCK_NEVER;
}

static bool may_leave(void *context)
{
    struct kube_stream *stream = context;
    const struct kube_request *request = &stream->request;
    stream->is_kept =
        request->may_leave && !request->may_leave(request->may_leave_context, clock_ms());
    return !stream->is_kept;
}

static bool on_head(void *context, unsigned status, int64_t retry_after_s)
{
    struct kube_stream *stream = context;
    if (stream->cancelled)
        return false;
    if (status == UNAUTHORIZED && !stream->was_refused) {
        stream->state = STREAM_REFUSED;
        return true;
    }
    extend(stream);
    give_head(stream, status, retry_after_s);
    return !stream->cancelled;
}

static bool on_bytes(void *context, const char *bytes, size_t len)
{
    struct kube_stream *stream = context;
    if (stream->cancelled || stream->state == STREAM_REFUSED)
        return !stream->cancelled;
    extend(stream);
    stream->streams->touched = true;
    stream->handler.on_bytes(stream->handler.context, stream->streams->now_ms, bytes, len);
    return !stream->cancelled;
}

static void wait_for_credential(struct kube_stream *stream)
{
    struct streams *streams = stream->streams;
    stream->was_refused = true;
    stream->renewed_by_ms = streams->now_ms + RENEWAL_MS;
    kube_credentials_refused(streams->credentials, stream->version, streams->now_ms);
    streams->renewed = true;
}

static void on_end(void *context, const char *fault)
{
    struct kube_stream *stream = context;
    stream->sent = transfer_was_sent(stream->transfer);
    stream->transfer = NULL;
    if (stream->cancelled)
        remove_stream(stream);
    else if (stream->state == STREAM_REFUSED)
        wait_for_credential(stream);
    else if (fault)
        fail_stream(stream, stream->is_kept ? "the request was no longer allowed" : fault);
    else
        end_stream(stream, KUBE_ANSWERED, "");
}

/* Reports the time before the round, so later arrivals do not count as read. */
static void on_empty(void *context)
{
    const struct kube_stream *stream = context;
    if (stream->has_head && !stream->cancelled && stream->handler.on_drained)
        stream->handler.on_drained(stream->handler.context, stream->streams->now_ms);
}

static const struct transfer_handler TRANSFER_HANDLER = {may_leave, on_head, on_bytes, on_end,
                                                         on_empty};

/* ---- steps ---- */

static void send_stream(struct kube_stream *stream, const struct kube_identity *identity)
{
    struct client *client = stream->streams->client;
    const struct transfer_request request = {&stream->request, identity, !stream->is_whole};
    if (stream->request.fresh)
        client_retire(client);
    stream->request.fresh = false; /* retire once only */
    stream->sent = false;          /* a rejected request had no effect */
    stream->state = STREAM_SENT;
    stream->version = identity->version;
    stream->transfer = client_send(client, &request, &TRANSFER_HANDLER, stream);
}

static void step_stream(struct kube_stream *stream, bool renewed)
{
    struct streams *streams = stream->streams;
    bool is_new = stream->state == STREAM_NEW;
    if (stream->cancelled) {
        remove_stream(stream);
        return;
    }
    /* If the process was stopped meanwhile, the caller no longer waits. */
    if (is_new && stream->is_whole && stream->deadline_ms <= streams->now_ms) {
        fail_stream(stream, "the deadline passed before the request was sent");
        return;
    }
    if (!is_new && (!renewed || stream->state != STREAM_REFUSED || stream->transfer))
        return;
    struct kube_identity identity CLEANUP(kube_identity_fini) = {0};
    kube_credentials_get(streams->credentials, streams->now_ms, &identity);
    if (is_new || identity.version > stream->version)
        send_stream(stream, &identity);
    else
        report_refused(stream);
}

void streams_step(struct streams *streams)
{
    bool renewed = streams->renewed;
    streams->renewed = false;
    struct kube_stream *stream = NULL, *next = NULL;
    DL_FOREACH_SAFE (streams->list, stream, next)
        step_stream(stream, renewed);
}

static bool is_waiting(const struct kube_stream *stream)
{
    return stream->state == STREAM_REFUSED && !stream->transfer;
}

static int64_t due_ms(const struct kube_stream *stream)
{
    if (stream->cancelled || stream->state == STREAM_NEW)
        return 0;
    if (is_waiting(stream) && stream->renewed_by_ms < stream->deadline_ms)
        return stream->renewed_by_ms;
    return stream->deadline_ms;
}

void streams_expire(struct streams *streams)
{
    struct kube_stream *stream = NULL, *next = NULL;
    DL_FOREACH_SAFE (streams->list, stream, next) {
        if (due_ms(stream) > streams->now_ms || due_ms(stream) == 0)
            continue;
        if (is_waiting(stream))
            end_refused(stream);
        else
            end_late(stream);
    }
}

int64_t streams_due_ms(const struct streams *streams)
{
    int64_t least_ms = streams->renewed ? 0 : CLOCK_NEVER;
    const struct kube_stream *stream = NULL;
    DL_FOREACH (streams->list, stream) {
        if (due_ms(stream) < least_ms)
            least_ms = due_ms(stream);
    }
    return least_ms;
}

bool streams_are_looked_at(const struct streams *streams)
{
    const struct kube_stream *stream = NULL;
    DL_FOREACH (streams->list, stream) {
        if (stream->has_head && stream->handler.on_drained)
            return true;
    }
    return false;
}

void streams_stop(struct streams *streams)
{
    struct kube_stream *stream = NULL, *next = NULL;
    DL_FOREACH_SAFE (streams->list, stream, next) {
        stream->sent = stream->transfer && transfer_was_sent(stream->transfer);
        if (stream->is_whole && !stream->cancelled)
            fail_stream(stream, "the service stops");
        else
            remove_stream(stream);
    }
}
