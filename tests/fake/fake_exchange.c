/* fake_exchange: see fake_exchange.h. */
#include "fake_exchange.h"
#include "base/buf.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct exchange {
    struct arena *arena;
    char *body;
    size_t len;
    const char *output;
    const char *const (*query)[2];
    const char *path;
    const char *method;
    const char *authorization;
    uint64_t network;
    unsigned n_answers;
    int note;
    bool has_tag;
    bool was_deferred;
    struct end *ends;
    struct fake_answer answer;
};

struct end {
    void (*done)(void *context);
    void *context;
    struct end *next;
};

const char *exchange_method(const struct exchange *exchange)
{
    return exchange->method ? exchange->method : "POST";
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

bool exchange_has_left(struct exchange *exchange)
{
    (void)exchange;
    return false;
}

void exchange_set_tag(struct exchange *exchange, const char *tag)
{
    (void)tag;
    exchange->has_tag = true;
}

void exchange_set_caller(struct exchange *exchange, uint64_t caller)
{
    exchange->answer.caller = caller;
}

void exchange_set_note(struct exchange *exchange, int note)
{
    exchange->note = note;
}

int exchange_note(const struct exchange *exchange)
{
    return exchange->note;
}

bool exchange_knows_tag(const struct exchange *exchange, const char *tag)
{
    (void)exchange;
    (void)tag;
    return false;
}

const char *exchange_header(const struct exchange *exchange, const char *name)
{
    return strcasecmp(name, "Authorization") == 0 ? exchange->authorization : NULL;
}

const char *exchange_body(const struct exchange *exchange, size_t *ret_len)
{
    if (ret_len)
        *ret_len = exchange->len;
    return exchange->body;
}

char *exchange_own_body(struct exchange *exchange, size_t *ret_len)
{
    *ret_len = exchange->len;
    return exchange->body;
}

uint64_t exchange_id(const struct exchange *exchange)
{
    (void)exchange;
    return 1;
}

uint64_t exchange_network(const struct exchange *exchange)
{
    return exchange->network;
}

struct arena *exchange_arena(struct exchange *exchange)
{
    return exchange->arena;
}

/* Freed with the answer, as in the real exchange. */
static const char *copy_text(struct arena *arena, const char *text)
{
    return text ? arena_strdup(arena, text) : NULL;
}

static void end_question(struct exchange *exchange)
{
    arena_free(exchange->arena);
    free(exchange->body);
    exchange->arena = NULL;
    exchange->body = NULL;
}

/* Terminates the answer's text; the length excludes the NUL. */
void exchange_answer(struct exchange *exchange, unsigned status, const char *content_type,
                     char *body, size_t len, unsigned flags)
{
    if (exchange->n_answers++ > 0)
        abort();
    exchange->answer = (struct fake_answer){.status = status,
                                            .content_type = content_type,
                                            .body = mem_new(len + 1),
                                            .len = len,
                                            .flags = flags,
                                            .caller = exchange->answer.caller,
                                            .has_tag = exchange->has_tag,
                                            .was_deferred = exchange->was_deferred};
    if (len > 0)
        memcpy(exchange->answer.body, body, len);
    free(body);
    end_question(exchange);
}

static void answer_error(struct exchange *exchange, unsigned status, const char *message,
                         unsigned flags)
{
    struct buf body;
    buf_init(&body, BUF_UNBOUNDED);
    buf_add_text(&body, "{\"error\": ");
    buf_add_quoted(&body, message);
    buf_add_text(&body, "}\n");
    size_t len = body.len;
    exchange_answer(exchange, status, "application/json", buf_take(&body), len, flags);
}

void exchange_answer_error(struct exchange *exchange, unsigned status, const char *message)
{
    answer_error(exchange, status, message, 0);
}

void exchange_answer_busy(struct exchange *exchange, const char *message)
{
    answer_error(exchange, 503, message, EXCHANGE_RETRY);
}

void exchange_answer_elsewhere(struct exchange *exchange, const char *message)
{
    answer_error(exchange, 503, message, EXCHANGE_RETRY | EXCHANGE_CLOSE);
}

bool exchange_defer(struct exchange *exchange)
{
    const bool defers = !exchange->was_deferred;
    exchange->was_deferred = true;
    return defers;
}

void exchange_pass(struct exchange *exchange)
{
    exchange_answer(exchange, FAKE_PASSED, "", NULL, 0, 0);
}

void exchange_on_end(struct exchange *exchange, void (*done)(void *context), void *context)
{
    struct end *end = MEM_NEW(struct end);
    *end = (struct end){done, context, exchange->ends};
    exchange->ends = end;
}

struct exchange *fake_begin(handle_exchange *handle, void *context,
                            const struct fake_question *question)
{
    struct exchange *exchange = MEM_NEW(struct exchange);
    struct arena *arena = arena_new();
    *exchange = (struct exchange){.arena = arena,
                                  .body = mem_new(question->len + 1),
                                  .len = question->len,
                                  .output = question->output,
                                  .query = question->query,
                                  .path = copy_text(arena, question->path),
                                  .method = copy_text(arena, question->method),
                                  .authorization = copy_text(arena, question->authorization),
                                  .network = question->network};
    if (question->len > 0)
        memcpy(exchange->body, question->body, question->len);
    handle(context, exchange);
    if (exchange->was_deferred && fake_is_answered(exchange))
        abort();
    if (exchange->was_deferred)
        handle(context, exchange);
    return exchange;
}

bool fake_is_answered(const struct exchange *exchange)
{
    return exchange->n_answers > 0;
}

struct fake_answer fake_end(struct exchange *exchange)
{
    const struct fake_answer answer = exchange->answer;
    if (exchange->n_answers != 1)
        abort();
    for (struct end *end = exchange->ends, *next = NULL; end; end = next) {
        next = end->next;
        end->done(end->context);
        free(end);
    }
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
