/* server_harness: see server_harness.h. */
#include "server_harness.h"
#include "base/buf.h"
#include "base/mem.h"
#include "client.h"
#include "unit.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_LATE 1024

struct server_harness {
    struct server *server;
    pthread_mutex_t lock;
    pthread_cond_t arrived;
    bool let_go;
    struct exchange *late[MAX_LATE];
    size_t n_taken;
    size_t n_late;
    struct gate gate;
    struct route routes[15];
};

void server_harness_answer(struct exchange *exchange)
{
    size_t len = 0;
    const char *body = exchange_body(exchange, &len);
    const char *query = exchange_query(exchange, "q");
    const char *header = exchange_header(exchange, "x-test");
    struct buf text;
    buf_init(&text, BUF_UNBOUNDED);
    buf_printf(&text, "%s %s q=%s x-test=%s %zu ", exchange_method(exchange),
               exchange_path(exchange), query ? query : "(none)", header ? header : "(none)", len);
    buf_add(&text, body, len);
    size_t text_len = text.len;
    exchange_answer(exchange, 200, "text/plain", buf_take(&text), text_len, 0);
}

static void answer_now(void *context, struct exchange *exchange)
{
    (void)context;
    server_harness_answer(exchange);
}

static void answer_nothing(void *context, struct exchange *exchange)
{
    (void)context;
    exchange_answer(exchange, 200, "text/plain", NULL, 0, EXCHANGE_CLOSE);
}

static void answer_much(void *context, struct exchange *exchange)
{
    (void)context;
    char *body = mem_new_array(SERVER_HARNESS_MUCH_BYTES, 1);
    memset(body, 'm', SERVER_HARNESS_MUCH_BYTES);
    exchange_answer(exchange, 200, "text/plain", body, SERVER_HARNESS_MUCH_BYTES, 0);
}

static void answer_badly(void *context, struct exchange *exchange)
{
    (void)context;
    const char *said = exchange_query(exchange, "say");
    exchange_answer_error(exchange, 400, said ? said : "");
}

static void answer_later(void *context, struct exchange *exchange)
{
    struct server_harness *harness = context;
    (void)pthread_mutex_lock(&harness->lock);
    harness->late[harness->n_late++ % MAX_LATE] = exchange;
    (void)pthread_cond_broadcast(&harness->arrived);
    (void)pthread_mutex_unlock(&harness->lock);
}

static void hold(void *context, struct exchange *exchange)
{
    struct server_harness *harness = context;
    answer_later(harness, exchange);
    (void)pthread_mutex_lock(&harness->lock);
    while (!harness->let_go)
        (void)pthread_cond_wait(&harness->arrived, &harness->lock);
    (void)pthread_mutex_unlock(&harness->lock);
}

static void hold_deferred(void *context, struct exchange *exchange)
{
    if (!exchange_defer(exchange))
        hold(context, exchange);
}

static enum gate_verdict judge(void *context, struct exchange *exchange)
{
    (void)context;
    const char *gate = exchange_query(exchange, "gate");
    const char *caller = exchange_query(exchange, "caller");
    exchange_set_caller(exchange, caller ? strtoull(caller, NULL, 10) : 0);
    if (strcmp(gate, "closed") == 0) {
        exchange_answer_error(exchange, 401, "who are you?");
        return GATE_CLOSED;
    }
    return strcmp(gate, "open") == 0 ? GATE_OPEN : GATE_ASK;
}

static void ask(void *context, struct exchange *exchange)
{
    if (strcmp(exchange_query(exchange, "gate"), "pass") == 0)
        exchange_pass(exchange);
    else
        answer_later(context, exchange);
}

void server_harness_let_go(struct server_harness *harness)
{
    (void)pthread_mutex_lock(&harness->lock);
    harness->let_go = true;
    (void)pthread_cond_broadcast(&harness->arrived);
    (void)pthread_mutex_unlock(&harness->lock);
}

struct exchange *server_harness_next(struct server_harness *harness)
{
    (void)pthread_mutex_lock(&harness->lock);
    while (harness->n_taken == harness->n_late)
        (void)pthread_cond_wait(&harness->arrived, &harness->lock);
    struct exchange *exchange = harness->late[harness->n_taken++ % MAX_LATE];
    (void)pthread_mutex_unlock(&harness->lock);
    return exchange;
}

int server_harness_start(const char *verbs, const char *people, const char *probes,
                         struct server_harness **ret_harness, struct err *err)
{
    const struct server_settings settings = {.verbs = verbs,
                                             .people = people,
                                             .probes = probes,
                                             .max_body_bytes = 10000,
                                             .max_user_body_bytes = 10000,
                                             .max_bodies_bytes = 20000,
                                             .max_connections = 512,
                                             .idle_timeout_s = 300,
                                             .request_timeout_s = 300,
                                             .n_threads = 4};
    return server_harness_start_with(&settings, ret_harness, err);
}

int server_harness_start_with(const struct server_settings *settings,
                              struct server_harness **ret_harness, struct err *err)
{
    const unsigned all = LISTEN_VERBS | LISTEN_PEOPLE | LISTEN_PROBES;
    struct server_harness *harness = MEM_NEW(struct server_harness);
    const struct route routes[] = {
        {"GET", "/now", all, "now", answer_now, NULL, NULL, NULL},
        {"POST", "/now", all, "now", answer_now, NULL, NULL, NULL},
        {"POST", "/later", LISTEN_VERBS, "later", answer_later, harness, NULL, NULL},
        {"POST", "/hold", LISTEN_PEOPLE, "hold", hold, harness, NULL, NULL},
        {"POST", "/long", LISTEN_PEOPLE, "long", hold_deferred, harness, NULL, NULL},
        {"GET", "/nothing", all, "nothing", answer_nothing, NULL, NULL, NULL},
        {"GET", "/much", all, "much", answer_much, NULL, NULL, NULL},
        {"GET", "/bad", all, "bad", answer_badly, NULL, NULL, NULL},
        {"GET", "/below/", LISTEN_PEOPLE, "below", answer_now, NULL, NULL, NULL},
        {"POST", "/below/deep/", LISTEN_PEOPLE, "deep", answer_now, NULL, NULL, NULL},
        {"POST", "/gated/now", LISTEN_VERBS, "gated", answer_now, NULL, &harness->gate, NULL},
        {"POST", "/gated/later", LISTEN_VERBS, "gated", answer_later, harness, &harness->gate,
         NULL},
        {"POST", "/gated/long", LISTEN_PEOPLE, "gated", hold_deferred, harness, &harness->gate,
         NULL},
        {"GET", "/livez", LISTEN_PROBES, "livez", answer_now, NULL, NULL, NULL},
        {0}};
    harness->gate = (struct gate){.judge = judge, .ask = ask, .context = harness};
    memcpy(harness->routes, routes, sizeof routes);
    (void)pthread_mutex_init(&harness->lock, NULL);
    (void)pthread_cond_init(&harness->arrived, NULL);
    int r = server_start(settings, harness->routes, &harness->server, err);
    if (r < 0)
        server_harness_free(harness, 0);
    else
        *ret_harness = harness;
    return r;
}

struct server_harness *server_harness_new(void)
{
    struct server_harness *harness = NULL;
    struct err err = {""};
    const char *address = "127.0.0.1:0";
    if (server_harness_start(address, address, address, &harness, &err) < 0)
        fail_msg("%s", err.text);
    return harness;
}

struct server *server_harness_take_server(struct server_harness *harness)
{
    struct server *server = harness->server;
    harness->server = NULL;
    return server;
}

void server_harness_wait_for_metric(const struct server_harness *harness, const char *line)
{
    struct buf out;
    buf_init(&out, 100000);
    do {
        buf_clear(&out);
        server_metrics(harness->server, &out);
    } while (!strstr(buf_text(&out), line));
    buf_fini(&out);
}

struct server *server_harness_server(const struct server_harness *harness)
{
    return harness->server;
}

void server_harness_free(struct server_harness *harness, unsigned drain_ms)
{
    if (harness->server)
        server_stop(harness->server, drain_ms);
    (void)pthread_mutex_destroy(&harness->lock);
    (void)pthread_cond_destroy(&harness->arrived);
    free(harness);
}

int server_harness_client(const struct server_harness *harness, enum listener listener)
{
    return client_open(server_address(harness->server, listener));
}

int server_harness_setup(void **state)
{
    *state = server_harness_new();
    return 0;
}

int server_harness_teardown(void **state)
{
    server_harness_free(*state, 10000);
    return 0;
}

#define N_RACING 200

struct race {
    struct exchange *exchanges[N_RACING];
    void (*end)(struct exchange *exchange);
};

static void *end_all(void *arg)
{
    const struct race *race = arg;
    for (int i = 0; i < N_RACING; i++)
        race->end(race->exchanges[i]);
    return NULL;
}

void server_harness_race_with_stop(const char *request, void (*end)(struct exchange *exchange))
{
    struct server_harness *harness = server_harness_new();
    struct race race = {.end = end};
    struct reply reply;
    pthread_t thread;
    int fds[N_RACING];
    for (int i = 0; i < N_RACING; i++) {
        fds[i] = server_harness_client(harness, LISTEN_VERBS);
        client_send(fds[i], request);
    }
    for (int i = 0; i < N_RACING; i++)
        race.exchanges[i] = server_harness_next(harness);
    assert_int_equal(pthread_create(&thread, NULL, end_all, &race), 0);
    server_stop(server_harness_take_server(harness), 0);
    for (int i = 0; i < N_RACING; i++) {
        client_read(fds[i], &reply);
        assert_true(reply.status == 200 || reply.status == 503);
        assert_true(client_at_end(fds[i]));
        (void)close(fds[i]);
    }
    assert_int_equal(pthread_join(thread, NULL), 0);
    server_harness_free(harness, 0);
}
