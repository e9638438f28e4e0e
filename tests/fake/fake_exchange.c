/* fake_exchange: see fake_exchange.h. */
#include "fake_exchange.h"
#include "base/buf.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

struct exchange {
    struct arena *arena;
    char *body;
    size_t len;
    const char *output;
    const char *const (*query)[2];
    const char *path;
    unsigned n_answers;
    void (*on_end)(void *context);
    void *on_end_context;
    struct fake_answer answer;
};

const char *exchange_method(const struct exchange *exchange)
{
    (void)exchange;
    return "POST";
}

const char *exchange_path(const struct exchange *exchange)
{
    return exchange->path ? exchange->path : "/";
}

const char *exchange_query(const struct exchange *exchange, const char *name)
{
    if (strcmp(name, "output") == 0)
        return exchange->output;
    for (size_t i = 0; exchange->query && exchange->query[i][0]; i++) {
        if (strcmp(exchange->query[i][0], name) == 0)
            return exchange->query[i][1];
    }
    return NULL;
}

const char *exchange_query_name(const struct exchange *exchange, size_t index)
{
    if (exchange->output && index-- == 0)
        return "output";
    for (size_t i = 0; exchange->query && exchange->query[i][0]; i++) {
        if (i == index)
            return exchange->query[i][0];
    }
    return NULL;
}

const char *exchange_header(const struct exchange *exchange, const char *name)
{
    (void)exchange;
    (void)name;
    return NULL;
}

const char *exchange_body(const struct exchange *exchange, size_t *ret_len)
{
    if (ret_len)
        *ret_len = exchange->len;
    return exchange->body;
}

uint64_t exchange_id(const struct exchange *exchange)
{
    (void)exchange;
    return 1;
}

struct arena *exchange_arena(struct exchange *exchange)
{
    return exchange->arena;
}

static void end_question(struct exchange *exchange)
{
    arena_free(exchange->arena);
    free(exchange->body);
    exchange->arena = NULL;
    exchange->body = NULL;
}

/* The answer's text gets a NUL, which its length does not count. */
void exchange_answer(struct exchange *exchange, unsigned status, const char *content_type,
                     char *body, size_t len, unsigned flags)
{
    if (exchange->n_answers++ > 0)
        abort();
    exchange->answer = (struct fake_answer){status, content_type, mem_new(len + 1), len, flags};
    if (len > 0)
        memcpy(exchange->answer.body, body, len);
    free(body);
    end_question(exchange);
}

void exchange_answer_error(struct exchange *exchange, unsigned status, const char *message)
{
    struct buf body;
    buf_init(&body, SIZE_MAX / 2);
    (void)buf_add_text(&body, "{\"error\": ");
    (void)buf_add_quoted(&body, message);
    (void)buf_add_text(&body, "}\n");
    size_t len = body.len;
    exchange_answer(exchange, status, "application/json", buf_take(&body), len, 0);
}

void exchange_answer_busy(struct exchange *exchange, const char *message)
{
    exchange_answer_error(exchange, 503, message);
}

void exchange_on_end(struct exchange *exchange, void (*done)(void *context), void *context)
{
    exchange->on_end = done;
    exchange->on_end_context = context;
}

struct exchange *fake_begin(handle_exchange *handle, void *context,
                            const struct fake_question *question)
{
    struct exchange *exchange = MEM_NEW(struct exchange);
    *exchange = (struct exchange){.arena = arena_new(),
                                  .body = mem_new(question->len + 1),
                                  .len = question->len,
                                  .output = question->output,
                                  .query = question->query,
                                  .path = question->path};
    if (question->len > 0)
        memcpy(exchange->body, question->body, question->len);
    handle(context, exchange);
    return exchange;
}

struct fake_answer fake_end(struct exchange *exchange)
{
    const struct fake_answer answer = exchange->answer;
    if (exchange->n_answers != 1)
        abort();
    if (exchange->on_end)
        exchange->on_end(exchange->on_end_context);
    free(exchange);
    return answer;
}

struct fake_answer fake_ask(handle_exchange *handle, void *context,
                            const struct fake_question *question)
{
    return fake_end(fake_begin(handle, context, question));
}

void fake_answer_fini(struct fake_answer *answer)
{
    free(answer->body);
    *answer = (struct fake_answer){0};
}
