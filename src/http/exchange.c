/*
 * exchange: one request and its answer, which may come from any thread. exchange_priv.h states the
 * owners. The body of an error is {"error": "..."} and a newline, a line of text, or a Status.
 */
#include "base/mem.h"
#include "exchange_priv.h"
#include "worker.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <utlist.h>

/* A handler of so large a request allocates and frees a multiple of it, which each thread of the
 * server would keep. */
#define LARGE_BYTES ((size_t)8 * 1024 * 1024)

static atomic_uint_fast64_t last_id;

struct exchange *exchange_new(const char *method, const char *path, size_t max_body_bytes)
{
    struct exchange *exchange = MEM_NEW(struct exchange);
    exchange->id = atomic_fetch_add_explicit(&last_id, 1, memory_order_relaxed) + 1;
    exchange->arena = arena_new();
    exchange->method = arena_strdup(exchange->arena, method);
    exchange->path = arena_strdup(exchange->arena, path);
    exchange->peer_fault = "there is no client certificate";
    buf_init(&exchange->body, max_body_bytes);
    atomic_init(&exchange->n_owners, 1);
    mutex_init(&exchange->lock);
    return exchange;
}

static struct exchange_pair *pair_new(struct arena *arena, const char *name, const char *value)
{
    struct exchange_pair *pair = ARENA_NEW(arena, struct exchange_pair);
    pair->name = arena_strdup(arena, name);
    pair->value = arena_strdup(arena, value);
    return pair;
}

void exchange_add_header(struct exchange *exchange, const char *name, const char *value)
{
    struct exchange_pair *pair = pair_new(exchange->arena, name, value);
    LL_APPEND(exchange->headers, pair);
}

void exchange_add_query(struct exchange *exchange, const char *name, const char *value)
{
    struct exchange_pair *pair = pair_new(exchange->arena, name, value);
    LL_APPEND(exchange->query, pair);
}

void exchange_lend(struct exchange *exchange)
{
    assert(!exchange->lent);
    exchange->lent = true;
    atomic_fetch_add_explicit(&exchange->n_owners, 1, memory_order_relaxed);
}

void exchange_return(struct exchange *exchange)
{
    assert(exchange->lent && !exchange->answered);
    exchange->lent = false;
    exchange_drop(exchange);
}

/* Freed memory is not cleared. */
static void wipe_secrets(const struct exchange *exchange)
{
    const struct exchange_pair *pair = NULL;
    LL_FOREACH (exchange->headers, pair) {
        if (strcasecmp(pair->name, "Authorization") == 0)
            explicit_bzero((char *)(uintptr_t)pair->value, strlen(pair->value));
    }
}

void exchange_drop(struct exchange *exchange)
{
    if (atomic_fetch_sub_explicit(&exchange->n_owners, 1, memory_order_acq_rel) > 1)
        return;
    free(exchange->answer.body);
    buf_fini(&exchange->body);
    wipe_secrets(exchange);
    for (const struct exchange_end *end = exchange->ends; end; end = end->next)
        end->done(end->context);
    arena_free(exchange->arena);
    mutex_fini(&exchange->lock);
    bool was_large = exchange->received_bytes + exchange->answer.len > LARGE_BYTES;
    free(exchange);
    if (was_large)
        mem_give_back();
}

const char *exchange_method(const struct exchange *exchange)
{
    return exchange->method;
}

const char *exchange_path(const struct exchange *exchange)
{
    return exchange->path;
}

const char *exchange_query(const struct exchange *exchange, const char *name)
{
    const struct exchange_pair *pair = NULL;
    LL_FOREACH (exchange->query, pair) {
        if (strcmp(pair->name, name) == 0)
            return pair->value;
    }
    return NULL;
}

const char *exchange_query_name(const struct exchange *exchange, size_t index)
{
    const struct exchange_pair *pair = exchange->query;
    while (pair && index-- > 0)
        pair = pair->next;
    return pair ? pair->name : NULL;
}

const char *exchange_header(const struct exchange *exchange, const char *name)
{
    const struct exchange_pair *pair = NULL;
    LL_FOREACH (exchange->headers, pair) {
        if (strcasecmp(pair->name, name) == 0)
            return pair->value;
    }
    return NULL;
}

void exchange_each_header(const struct exchange *exchange,
                          void (*each)(void *context, const char *name, const char *value),
                          void *context)
{
    const struct exchange_pair *pair = NULL;
    LL_FOREACH (exchange->headers, pair)
        each(context, pair->name, pair->value);
}

const char *exchange_body(const struct exchange *exchange, size_t *ret_len)
{
    if (ret_len)
        *ret_len = exchange->body.len;
    return buf_text(&exchange->body);
}

char *exchange_own_body(struct exchange *exchange, size_t *ret_len)
{
    return (char *)(uintptr_t)exchange_body(exchange, ret_len);
}

uint64_t exchange_id(const struct exchange *exchange)
{
    return exchange->id;
}

struct arena *exchange_arena(struct exchange *exchange)
{
    return exchange->arena;
}

const struct exchange_peer *exchange_peer(const struct exchange *exchange)
{
    return exchange->peer;
}

const char *exchange_peer_fault(const struct exchange *exchange)
{
    return exchange->peer_fault;
}

const struct exchange_peer *exchange_front(const struct exchange *exchange, const char **ret_fault)
{
    *ret_fault = "there is no client certificate";
    return exchange->front ? exchange->front(exchange->session, exchange->arena, ret_fault) : NULL;
}

void exchange_watch(struct exchange *exchange, bool (*has_left)(void *connection), void *connection)
{
    mutex_lock(&exchange->lock);
    exchange->has_left = has_left;
    exchange->watched = connection;
    mutex_unlock(&exchange->lock);
}

uint64_t exchange_network(const struct exchange *exchange)
{
    return exchange->network;
}

bool exchange_has_left(struct exchange *exchange)
{
    mutex_lock(&exchange->lock);
    const bool has_left = exchange->has_left && exchange->has_left(exchange->watched);
    mutex_unlock(&exchange->lock);
    return has_left;
}

/* Resuming under the lock is what makes it safe: the transport must take the lock before it can be
 * done with the connection. */
static void wake(struct exchange *exchange) REQUIRES(exchange->lock)
{
    if (exchange->parked.resume)
        exchange->parked.resume(exchange->parked.connection);
    exchange->parked = (struct parking){0};
}

static void set_answer(struct exchange *exchange, const struct answer *answer)
    REQUIRES(exchange->lock)
{
    exchange->answer = *answer;
    exchange->answered = true;
    wake(exchange);
}

void exchange_pass(struct exchange *exchange)
{
    mutex_lock(&exchange->lock);
    assert(!exchange->passed && (exchange->taken_back || !exchange->answered));
    exchange->passed = true;
    wake(exchange);
    mutex_unlock(&exchange->lock);
    exchange_drop(exchange);
}

bool exchange_take_pass(struct exchange *exchange)
{
    mutex_lock(&exchange->lock);
    bool passed = exchange->passed && !exchange->answered;
    if (passed)
        exchange->passed = exchange->lent = false;
    mutex_unlock(&exchange->lock);
    return passed;
}

void exchange_answer(struct exchange *exchange, unsigned status, const char *content_type,
                     char *body, size_t len, unsigned flags)
{
    const struct answer answer = {.status = status,
                                  .content_type = content_type,
                                  .body = body,
                                  .len = len,
                                  .tag = status == 200 || status == 304 ? exchange->tag : NULL,
                                  .location = exchange->location,
                                  .close = (flags & EXCHANGE_CLOSE) != 0,
                                  .retry = (flags & EXCHANGE_RETRY) != 0,
                                  .is_page = (flags & EXCHANGE_PAGE) != 0};
    assert(status >= 200 && status <= 599);
    mutex_lock(&exchange->lock);
    bool too_late = exchange->taken_back;
    assert(too_late || !exchange->answered);
    if (!too_late)
        set_answer(exchange, &answer);
    mutex_unlock(&exchange->lock);
    if (too_late)
        free(body);
    exchange_drop(exchange);
}

void exchange_answer_moved(struct exchange *exchange, const char *location)
{
    exchange->location = location;
    exchange_answer(exchange, 301, "text/plain", NULL, 0, 0);
}

bool exchange_defer(struct exchange *exchange)
{
    if (!exchange->worker || exchange->deferred)
        return false;
    exchange->deferred = true;
    worker_add(exchange->worker, exchange);
    return true;
}

static bool wants_table(const struct exchange *exchange)
{
    const char *output = exchange_query(exchange, "output");
    return output && strcmp(output, "table") == 0;
}

/* The error as a metav1.Status. */
static void write_status(unsigned status, const char *message, struct buf *out)
{
    static const struct {
        unsigned status;
        const char *reason;
    } REASONS[] = {
        {400, "BadRequest"},
        {401, "Unauthorized"},
        {403, "Forbidden"},
        {404, "NotFound"},
        {405, "MethodNotAllowed"},
        {406, "NotAcceptable"},
        {413, "RequestEntityTooLarge"},
        {500, "InternalError"},
        {503, "ServiceUnavailable"},
    };
    const char *reason = "";
    for (size_t i = 0; i < sizeof REASONS / sizeof *REASONS; i++) {
        if (REASONS[i].status == status)
            reason = REASONS[i].reason;
    }
    buf_add_text(out, "{\"kind\": \"Status\", \"apiVersion\": \"v1\", \"metadata\": {}, "
                      "\"status\": \"Failure\", \"message\": ");
    buf_add_quoted(out, message);
    buf_printf(out, ", \"reason\": \"%s\", \"code\": %u}\n", reason, status);
}

static bool is_below(const char *path, const char *folder)
{
    const size_t len = strlen(folder);
    return strncmp(path, folder, len) == 0 && (path[len] == '\0' || path[len] == '/');
}

static void write_error(bool is_text, const char *message, struct buf *out)
{
    buf_add_text(out, is_text ? "error: " : "{\"error\": ");
    if (is_text)
        buf_add_one_line(out, message);
    else
        buf_add_quoted(out, message);
    buf_add_text(out, is_text ? "\n" : "}\n");
}

struct answer exchange_error(const struct exchange *exchange, unsigned status, const char *message,
                             unsigned flags)
{
    const bool is_status =
        is_below(exchange->path, "/apis") || is_below(exchange->path, "/openapi");
    const bool is_text = !is_status && wants_table(exchange);
    struct buf body;
    buf_init(&body, BUF_UNBOUNDED); /* our messages are short */
    if (is_status)
        write_status(status, message, &body);
    else
        write_error(is_text, message, &body);
    struct answer answer = {.status = status,
                            .content_type =
                                is_text ? "text/plain; charset=utf-8" : "application/json",
                            .len = body.len,
                            .close = (flags & EXCHANGE_CLOSE) != 0,
                            .retry = (flags & EXCHANGE_RETRY) != 0};
    answer.body = buf_take(&body);
    return answer;
}

void exchange_answer_error(struct exchange *exchange, unsigned status, const char *message)
{
    struct answer answer = exchange_error(exchange, status, message, 0);
    exchange_answer(exchange, status, answer.content_type, answer.body, answer.len, 0);
}

static void answer_later(struct exchange *exchange, const char *message, unsigned flags)
{
    struct answer answer = exchange_error(exchange, 503, message, 0);
    exchange_answer(exchange, 503, answer.content_type, answer.body, answer.len,
                    flags | EXCHANGE_RETRY);
}

void exchange_answer_busy(struct exchange *exchange, const char *message)
{
    answer_later(exchange, message, 0);
}

void exchange_answer_elsewhere(struct exchange *exchange, const char *message)
{
    answer_later(exchange, message, EXCHANGE_CLOSE);
}

void exchange_set_tag(struct exchange *exchange, const char *tag)
{
    exchange->tag = tag;
}

/* Weak comparison (RFC 9110, 8.8.3.2): W/ does not count. */
bool exchange_knows_tag(const struct exchange *exchange, const char *tag)
{
    const char *known = exchange_header(exchange, "If-None-Match");
    const char *quoted = strchr(tag, '"');
    if (!known || strcmp(known, "*") == 0)
        return known != NULL;
    return strstr(known, quoted) != NULL;
}

void exchange_set_note(struct exchange *exchange, int note)
{
    exchange->note = note;
}

int exchange_note(const struct exchange *exchange)
{
    return exchange->note;
}

void exchange_set_memo(struct exchange *exchange, const void *memo)
{
    exchange->memo = memo;
}

void exchange_set_caller(struct exchange *exchange, uint64_t caller)
{
    exchange->caller = caller;
}

const void *exchange_memo(const struct exchange *exchange)
{
    return exchange->memo;
}

void exchange_on_end(struct exchange *exchange, void (*done)(void *context), void *context)
{
    struct exchange_end *end = ARENA_NEW(exchange->arena, struct exchange_end);
    *end = (struct exchange_end){done, context, exchange->ends};
    exchange->ends = end;
}

void exchange_refuse(struct exchange *exchange, unsigned status, const char *message,
                     const char *allow, unsigned flags)
{
    assert(!exchange->lent && !exchange->answered);
    exchange->answer = exchange_error(exchange, status, message, flags);
    exchange->answer.allow = allow;
    exchange->answered = true;
}

bool exchange_is_answered(struct exchange *exchange)
{
    mutex_lock(&exchange->lock);
    bool answered = exchange->answered;
    mutex_unlock(&exchange->lock);
    return answered;
}

struct answer exchange_take_answer(struct exchange *exchange)
{
    mutex_lock(&exchange->lock);
    assert(exchange->answered);
    struct answer answer = exchange->answer;
    exchange->answer.body = NULL;
    bool handler_is_through = !exchange->taken_back;
    mutex_unlock(&exchange->lock);
    if (handler_is_through) /* a slow reader of the answer need not keep the request's body */
        buf_fini(&exchange->body);
    return answer;
}

bool exchange_park(struct exchange *exchange, const struct parking *parking)
{
    mutex_lock(&exchange->lock);
    bool park = !exchange->answered && !exchange->passed;
    if (park) {
        parking->suspend(parking->connection);
        exchange->parked = *parking;
    }
    mutex_unlock(&exchange->lock);
    return park;
}

bool exchange_take_back(struct exchange *exchange)
{
    mutex_lock(&exchange->lock);
    bool take = !exchange->answered;
    if (take) {
        struct answer answer =
            exchange_error(exchange, 503, "the server is stopping", EXCHANGE_CLOSE);
        exchange->taken_back = true;
        set_answer(exchange, &answer);
    }
    mutex_unlock(&exchange->lock);
    return take;
}
