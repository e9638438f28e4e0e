/* desk: see desk.h. */
#include "desk.h"
#include "base/mem.h"
#include "client.h"
#include "unit.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_LATE 1024

struct desk {
    struct server *server;
    pthread_mutex_t lock;
    pthread_cond_t arrived;
    bool let_go;
    struct exchange *late[MAX_LATE];
    size_t n_taken;
    size_t n_late;
    struct gate gate;
    struct route routes[13];
};

void desk_answer(struct exchange *exchange)
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
    desk_answer(exchange);
}

static void answer_nothing(void *context, struct exchange *exchange)
{
    (void)context;
    exchange_answer(exchange, 200, "text/plain", NULL, 0, EXCHANGE_CLOSE);
}

static void answer_much(void *context, struct exchange *exchange)
{
    (void)context;
    char *body = mem_new_array(DESK_MUCH_BYTES, 1);
    memset(body, 'm', DESK_MUCH_BYTES);
    exchange_answer(exchange, 200, "text/plain", body, DESK_MUCH_BYTES, 0);
}

static void answer_badly(void *context, struct exchange *exchange)
{
    (void)context;
    const char *said = exchange_query(exchange, "say");
    exchange_answer_error(exchange, 400, said ? said : "");
}

static void answer_later(void *context, struct exchange *exchange)
{
    struct desk *desk = context;
    (void)pthread_mutex_lock(&desk->lock);
    desk->late[desk->n_late++ % MAX_LATE] = exchange;
    (void)pthread_cond_broadcast(&desk->arrived);
    (void)pthread_mutex_unlock(&desk->lock);
}

static void hold(void *context, struct exchange *exchange)
{
    struct desk *desk = context;
    answer_later(desk, exchange);
    (void)pthread_mutex_lock(&desk->lock);
    while (!desk->let_go)
        (void)pthread_cond_wait(&desk->arrived, &desk->lock);
    (void)pthread_mutex_unlock(&desk->lock);
}

static enum gate_verdict judge(void *context, struct exchange *exchange)
{
    (void)context;
    const char *gate = exchange_query(exchange, "gate");
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

void desk_let_go(struct desk *desk)
{
    (void)pthread_mutex_lock(&desk->lock);
    desk->let_go = true;
    (void)pthread_cond_broadcast(&desk->arrived);
    (void)pthread_mutex_unlock(&desk->lock);
}

struct exchange *desk_next(struct desk *desk)
{
    (void)pthread_mutex_lock(&desk->lock);
    while (desk->n_taken == desk->n_late)
        (void)pthread_cond_wait(&desk->arrived, &desk->lock);
    struct exchange *exchange = desk->late[desk->n_taken++ % MAX_LATE];
    (void)pthread_mutex_unlock(&desk->lock);
    return exchange;
}

int desk_start(const char *verbs, const char *people, const char *probes, struct desk **ret_desk,
               struct err *err)
{
    const struct server_settings settings = {.verbs = verbs,
                                             .people = people,
                                             .probes = probes,
                                             .max_body_bytes = 10000,
                                             .max_bodies_bytes = 20000,
                                             .max_connections = 512,
                                             .idle_timeout_s = 300,
                                             .request_timeout_s = 300,
                                             .n_threads = 4};
    return desk_start_with(&settings, ret_desk, err);
}

int desk_start_with(const struct server_settings *settings, struct desk **ret_desk, struct err *err)
{
    const unsigned all = LISTEN_VERBS | LISTEN_PEOPLE | LISTEN_PROBES;
    struct desk *desk = MEM_NEW(struct desk);
    const struct route routes[] = {
        {"GET", "/now", all, "now", answer_now, NULL, NULL},
        {"POST", "/now", all, "now", answer_now, NULL, NULL},
        {"POST", "/later", LISTEN_VERBS, "later", answer_later, desk, NULL},
        {"POST", "/hold", LISTEN_PEOPLE, "hold", hold, desk, NULL},
        {"GET", "/nothing", all, "nothing", answer_nothing, NULL, NULL},
        {"GET", "/much", all, "much", answer_much, NULL, NULL},
        {"GET", "/bad", all, "bad", answer_badly, NULL, NULL},
        {"GET", "/below/", LISTEN_PEOPLE, "below", answer_now, NULL, NULL},
        {"POST", "/below/deep/", LISTEN_PEOPLE, "deep", answer_now, NULL, NULL},
        {"POST", "/gated/now", LISTEN_VERBS, "gated", answer_now, NULL, &desk->gate},
        {"POST", "/gated/later", LISTEN_VERBS, "gated", answer_later, desk, &desk->gate},
        {"GET", "/livez", LISTEN_PROBES, "livez", answer_now, NULL, NULL},
        {0}};
    desk->gate = (struct gate){judge, ask, desk};
    memcpy(desk->routes, routes, sizeof routes);
    (void)pthread_mutex_init(&desk->lock, NULL);
    (void)pthread_cond_init(&desk->arrived, NULL);
    int r = server_start(settings, desk->routes, &desk->server, err);
    if (r < 0)
        desk_free(desk, 0);
    else
        *ret_desk = desk;
    return r;
}

struct desk *desk_new(void)
{
    struct desk *desk = NULL;
    struct err err = {""};
    const char *address = "127.0.0.1:0";
    if (desk_start(address, address, address, &desk, &err) < 0)
        fail_msg("%s", err.text);
    return desk;
}

struct server *desk_take_server(struct desk *desk)
{
    struct server *server = desk->server;
    desk->server = NULL;
    return server;
}

struct server *desk_server(const struct desk *desk)
{
    return desk->server;
}

void desk_free(struct desk *desk, unsigned drain_ms)
{
    if (desk->server)
        server_stop(desk->server, drain_ms);
    (void)pthread_mutex_destroy(&desk->lock);
    (void)pthread_cond_destroy(&desk->arrived);
    free(desk);
}

int desk_client(const struct desk *desk, enum listener listener)
{
    return client_open(server_address(desk->server, listener));
}

int desk_set_up(void **state)
{
    *state = desk_new();
    return 0;
}

int desk_tear_down(void **state)
{
    desk_free(*state, 10000);
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

void desk_race_with_stop(const char *request, void (*end)(struct exchange *exchange))
{
    struct desk *desk = desk_new();
    struct race race = {.end = end};
    struct reply reply;
    pthread_t thread;
    int fds[N_RACING];
    for (int i = 0; i < N_RACING; i++) {
        fds[i] = desk_client(desk, LISTEN_VERBS);
        client_send(fds[i], request);
    }
    for (int i = 0; i < N_RACING; i++)
        race.exchanges[i] = desk_next(desk);
    assert_int_equal(pthread_create(&thread, NULL, end_all, &race), 0);
    server_stop(desk_take_server(desk), 0);
    for (int i = 0; i < N_RACING; i++) {
        client_read(fds[i], &reply);
        assert_true(reply.status == 200 || reply.status == 503);
        assert_true(client_at_end(fds[i]));
        (void)close(fds[i]);
    }
    assert_int_equal(pthread_join(thread, NULL), 0);
    desk_free(desk, 0);
}
