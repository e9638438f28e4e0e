/* forward: see forward.h. */
#include "forward.h"
#include "base/hash.h"
#include "source.h"

#include <inttypes.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <utlist.h>

#define BELOW "/v1/"
#define ANSWER_BYTES_MAX ((size_t)256 * 1024 * 1024)
#define JSON_TYPE "application/json"

/* A waiting question. It is in the exchange's arena. */
struct forward_question {
    struct exchange *exchange;
    struct forward_question *next;
};

/* ---- the question ---- */

static const struct local_parameter *query_of(const struct exchange *exchange, struct arena *arena)
{
    size_t n = 0;
    while (exchange_query_name(exchange, n))
        n++;
    struct local_parameter *query = ARENA_ARRAY(arena, struct local_parameter, n + 1);
    for (size_t i = 0; i < n; i++) {
        const char *name = exchange_query_name(exchange, i);
        query[i] = (struct local_parameter){name, exchange_query(exchange, name)};
    }
    return query;
}

/* ---- the answer ---- */

/* The next member that passes with time; NULL: none. No string of JSON contains such text. */
static const char *next_time(const char *text)
{
    static const char *const TIMES[] = {
        "\"asOf\":", "\"ageSeconds\":", "\"lagSeconds\":", "\"waitsSeconds\":"};
    for (; (text = strchr(text, '"')); text++) {
        for (size_t i = 0; i < sizeof TIMES / sizeof *TIMES; i++) {
            if (strncmp(text, TIMES[i], strlen(TIMES[i])) == 0)
                return text;
        }
    }
    return NULL;
}

/* Hashes all but the times. The API's own tag is unknown, as kubectl shows no headers. */
static const char *tag_of(const char *text, struct arena *arena)
{
    struct siphash hash = siphash_begin(hash_key(), false);
    const char *time = NULL;
    while ((time = next_time(text))) {
        siphash_add(&hash, text, (size_t)(time - text), HASH_ROUNDS);
        text = time + strcspn(time, ",}");
    }
    siphash_add(&hash, text, strlen(text), HASH_ROUNDS);
    return arena_printf(arena, "W/\"%016" PRIx64 "\"",
                        siphash_end(&hash, HASH_ROUNDS, HASH_LAST_ROUNDS));
}

static void answer(struct exchange *exchange, struct buf *text)
{
    const char *tag = tag_of(buf_text(text), exchange_arena(exchange));
    const size_t len = text->len;
    exchange_set_tag(exchange, tag);
    if (exchange_knows_tag(exchange, tag))
        exchange_answer(exchange, 304, JSON_TYPE, NULL, 0, EXCHANGE_PAGE);
    else
        exchange_answer(exchange, 200, JSON_TYPE, buf_take(text), len, EXCHANGE_PAGE);
}

static bool is_json(const struct reply *reply)
{
    return reply->type && strncmp(reply->type, JSON_TYPE, strlen(JSON_TYPE)) == 0;
}

/* An error of the API, or of what stands before it. */
static void answer_error(struct exchange *exchange, struct reply *reply)
{
    const bool is_for_page = reply->status >= 400 && reply->status < 600 && reply->status != 401;
    const unsigned status = is_for_page ? reply->status : 502;
    const size_t len = reply->text.len;
    const char *text =
        reply->is_message
            ? buf_text(&reply->text)
            : arena_printf(exchange_arena(exchange), "the answer is HTTP status %u", reply->status);
    if (is_for_page && is_json(reply))
        exchange_answer(exchange, status, JSON_TYPE, buf_take(&reply->text), len, EXCHANGE_PAGE);
    else
        exchange_answer_error(exchange, status, text);
}

static void answer_reply(struct exchange *exchange, struct reply *reply)
{
    if (reply->text.overflowed)
        exchange_answer_error(exchange, 502, "the answer is too long");
    else if (reply->status == 200)
        answer(exchange, &reply->text);
    else
        answer_error(exchange, reply);
}

static void ask(const struct forward *forward, struct exchange *exchange)
{
    struct arena *arena = exchange_arena(exchange);
    struct question question = {.view = exchange_path(exchange) + strlen(BELOW),
                                .query = query_of(exchange, arena),
                                .bound = &forward->bound};
    struct reply reply = {.status = 0};
    struct err err;
    if (strcmp(exchange_method(exchange), "POST") == 0)
        question.body = exchange_body(exchange, &question.len);
    buf_init(&reply.text, ANSWER_BYTES_MAX);
    const int r = source_ask(forward->arguments, &question, arena, &reply, &err);
    if (r < 0)
        exchange_answer_error(exchange, r == -ETIMEDOUT ? 504 : 502, err.text);
    else
        answer_reply(exchange, &reply);
    buf_fini(&reply.text);
}

/* ---- the threads ---- */

void forward_handle(void *context, struct exchange *exchange)
{
    struct forward *forward = context;
    struct forward_question *question =
        ARENA_NEW(exchange_arena(exchange), struct forward_question);
    question->exchange = exchange;
    mutex_lock(&forward->lock);
    LL_APPEND(forward->waiting, question);
    (void)pthread_cond_signal(&forward->changed);
    mutex_unlock(&forward->lock);
}

/* NULL: it stops, and no question is left. */
static struct exchange *await_question(struct forward *forward)
{
    mutex_lock(&forward->lock);
    while (!forward->waiting && !forward->is_stopping)
        (void)pthread_cond_wait(&forward->changed, &forward->lock.native);
    const struct forward_question *first = forward->waiting;
    if (first)
        forward->waiting = first->next;
    mutex_unlock(&forward->lock);
    return first ? first->exchange : NULL;
}

static void *run(void *arg)
{
    struct forward *forward = arg;
    struct exchange *exchange = NULL;
    while ((exchange = await_question(forward)))
        ask(forward, exchange);
    return NULL;
}

int forward_start(struct forward *forward, const struct arguments *arguments, int limit_ms,
                  struct err *err)
{
    int r = 0;
    *forward = (struct forward){.arguments = arguments,
                                .bound = {.limit_ms = limit_ms, .stop = eventfd(0, EFD_CLOEXEC)}};
    mutex_init(&forward->lock);
    (void)pthread_cond_init(&forward->changed, NULL);
    while (r == 0 && forward->n_threads < FORWARD_THREADS) {
        r = pthread_create(&forward->threads[forward->n_threads], NULL, run, forward);
        if (r == 0)
            forward->n_threads++;
    }
    return r == 0 ? 0 : err_set(err, r, "cannot start the threads that ask");
}

void forward_stop(struct forward *forward)
{
    (void)eventfd_write(forward->bound.stop, 1);
    mutex_lock(&forward->lock);
    forward->is_stopping = true;
    (void)pthread_cond_broadcast(&forward->changed);
    mutex_unlock(&forward->lock);
    for (size_t i = 0; i < forward->n_threads; i++)
        (void)pthread_join(forward->threads[i], NULL);
    (void)pthread_cond_destroy(&forward->changed);
    mutex_fini(&forward->lock);
    (void)close(forward->bound.stop);
}
