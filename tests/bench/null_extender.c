/*
 * null_extender: the yardstick. Answers filter and prioritize over the same http library with the
 * names it was sent, read and judged as little as can be: what is left is the cost of the wire.
 *
 * Prints the address it listens on; ends with SIGTERM.
 */
#include "base/buf.h"
#include "http/server.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define NAMES "\"NodeNames\":["

/* What stands between the brackets of NodeNames; "" where there are none. */
static const char *find_names(const char *body, size_t *ret_len)
{
    const char *names = strstr(body, NAMES);
    *ret_len = 0;
    if (!names)
        return "";
    names += strlen(NAMES);
    *ret_len = strcspn(names, "]");
    return names;
}

static void answer(struct exchange *exchange, struct buf *text)
{
    size_t len = text->len;
    exchange_answer(exchange, 200, "application/json", buf_take(text), len, 0);
}

static void filter(void *context, struct exchange *exchange)
{
    (void)context;
    size_t len = 0;
    const char *names = find_names(exchange_body(exchange, NULL), &len);
    struct buf text;
    buf_init(&text, SIZE_MAX / 2);
    (void)buf_add_text(&text, "{" NAMES);
    (void)buf_add(&text, names, len);
    (void)buf_add_text(&text, "]}");
    answer(exchange, &text);
}

/* Every name, which is quoted already, with the same score. */
static void prioritize(void *context, struct exchange *exchange)
{
    (void)context;
    size_t len = 0;
    const char *name = find_names(exchange_body(exchange, NULL), &len);
    const char *end = name + len;
    struct buf text;
    buf_init(&text, SIZE_MAX / 2);
    (void)buf_add_text(&text, "[");
    for (bool first = true; name < end; first = false) {
        size_t name_len = strcspn(name, ",]");
        (void)buf_add_text(&text, first ? "{\"Host\":" : ",{\"Host\":");
        (void)buf_add(&text, name, name_len);
        (void)buf_add_text(&text, ",\"Score\":5}");
        name += name_len + 1;
    }
    (void)buf_add_text(&text, "]");
    answer(exchange, &text);
}

int main(void)
{
    const struct route routes[] = {
        {"POST", "/scheduler/filter", LISTEN_VERBS, "filter", filter, NULL},
        {"POST", "/scheduler/prioritize", LISTEN_VERBS, "prioritize", prioritize, NULL},
        {0},
    };
    const struct server_settings settings = {
        .verbs = "127.0.0.1:0",
        .max_body_bytes = (size_t)64 << 20,
        .max_connections = 100,
        .idle_timeout_s = 600,
    };
    struct server *server = NULL;
    struct err err;
    sigset_t signals;
    int number = 0;
    (void)sigemptyset(&signals);
    (void)sigaddset(&signals, SIGTERM);
    (void)sigprocmask(SIG_BLOCK, &signals, NULL);
    if (server_start(&settings, routes, &server, &err) < 0) {
        (void)fprintf(stderr, "null_extender: %s\n", err.text);
        return 1;
    }
    (void)printf("addr=%s\n", server_address(server, LISTEN_VERBS));
    (void)fflush(stdout);
    (void)sigwait(&signals, &number);
    server_stop(server, 1000);
    return 0;
}
