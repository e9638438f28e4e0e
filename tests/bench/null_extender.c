/*
 * null_extender [KUBECONFIG [N] | refuse]: the lower bound for any extender. Answers filter and
 * prioritize over the same http library with the names it was sent, with minimal parsing and no
 * judgement: only the cost of the wire remains. With a kubeconfig, prioritize returns no scores,
 * and bind posts the Binding over the same loop and passes on the API server's answer. With N,
 * filter returns the first N names only. With "refuse", filter rejects every name.
 *
 * Prints the address it listens on; stops on SIGTERM.
 */
#include "base/buf.h"
#include "http/server.h"
#include "kube/loop.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAMES "\"NodeNames\":["

/* The text between the brackets of NodeNames; "" if absent. */
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

/* Length of the first n_most names; 0: all. */
static size_t cut_names(const char *names, size_t len, size_t n_most)
{
    for (size_t i = 0, n = 0; n_most > 0 && i < len; i++) {
        n += names[i] == ',';
        if (n == n_most)
            return i;
    }
    return len;
}

/* context: the most names returned. */
static void filter(void *context, struct exchange *exchange)
{
    const size_t *n_most = context;
    size_t len = 0;
    const char *names = find_names(exchange_body(exchange, NULL), &len);
    len = cut_names(names, len, *n_most);
    struct buf text;
    buf_init(&text, BUF_UNBOUNDED);
    buf_add_text(&text, "{" NAMES);
    buf_add(&text, names, len);
    buf_add_text(&text, "]}");
    answer(exchange, &text);
}

/* Writes every name, quoted as received, between `before` and `after`, separated by commas. */
static void add_each(const char *names, size_t len, const char *before, const char *after,
                     struct buf *out)
{
    const char *end = names + len;
    for (const char *name = names; name < end;) {
        const size_t name_len = strcspn(name, ",]");
        buf_add_text(out, name == names ? "" : ",");
        buf_add_text(out, before);
        buf_add(out, name, name_len);
        buf_add_text(out, after);
        name += name_len + 1;
    }
}

/* Unresolvable: evictions would not help. */
static void refuse(void *context, struct exchange *exchange)
{
    (void)context;
    size_t len = 0;
    const char *names = find_names(exchange_body(exchange, NULL), &len);
    struct buf text;
    buf_init(&text, BUF_UNBOUNDED);
    buf_add_text(&text, "{" NAMES "],\"FailedAndUnresolvableNodes\":{");
    add_each(names, len, "", ":\"null extender: refused\"", &text);
    buf_add_text(&text, "}}");
    answer(exchange, &text);
}

/* The same score for every name. */
static void prioritize(void *context, struct exchange *exchange)
{
    (void)context;
    size_t len = 0;
    const char *names = find_names(exchange_body(exchange, NULL), &len);
    struct buf text;
    buf_init(&text, BUF_UNBOUNDED);
    buf_add_text(&text, "[");
    add_each(names, len, "{\"Host\":", ",\"Score\":5}", &text);
    buf_add_text(&text, "]");
    answer(exchange, &text);
}

/* Prioritize with a bind verb. */
static void no_opinion(void *context, struct exchange *exchange)
{
    (void)context;
    struct buf text;
    buf_init(&text, BUF_UNBOUNDED);
    buf_add_text(&text, "[]");
    answer(exchange, &text);
}

static void bound(void *context, const struct kube_answer *said)
{
    struct buf text;
    buf_init(&text, BUF_UNBOUNDED);
    if (said->outcome == KUBE_ANSWERED && said->status == 201)
        buf_add_text(&text, "{\"Error\":\"\"}");
    else
        buf_printf(&text, "{\"Error\":\"status %u %s\"}", said->status, said->why);
    answer(context, &text);
}

/* The value of a member of ExtenderBindingArgs; kube-scheduler writes no white space. */
static int member(const char *body, const char *key, int *ret_len)
{
    const char *at = strstr(body, key);
    const char *value = at ? at + strlen(key) : "";
    *ret_len = (int)strcspn(value, "\"");
    return at ? (int)(value - body) : 0;
}

static void bind_pod(void *context, struct exchange *exchange)
{
    const struct kube_sender *sender = context;
    const char *body = exchange_body(exchange, NULL);
    int name_len = 0;
    int namespace_len = 0;
    int uid_len = 0;
    int node_len = 0;
    const char *name = body + member(body, "\"PodName\":\"", &name_len);
    const char *namespace_ = body + member(body, "\"PodNamespace\":\"", &namespace_len);
    const char *uid = body + member(body, "\"PodUID\":\"", &uid_len);
    const char *node = body + member(body, "\"Node\":\"", &node_len);
    char path[512];
    char binding[1024];
    (void)snprintf(path, sizeof path, "/api/v1/namespaces/%.*s/pods/%.*s/binding", namespace_len,
                   namespace_, name_len, name);
    int len =
        snprintf(binding, sizeof binding,
                 "{\"apiVersion\":\"v1\",\"kind\":\"Binding\",\"metadata\":{\"name\":"
                 "\"%.*s\",\"uid\":\"%.*s\"},\"target\":{\"kind\":\"Node\",\"name\":\"%.*s\"}}",
                 name_len, name, uid_len, uid, node_len, node);
    const struct kube_request request = {.method = "POST",
                                         .path = path,
                                         .body = binding,
                                         .body_len = (size_t)len,
                                         .timeout_ms = 8000};
    sender->send(sender->sender, &request, bound, exchange);
}

/* The target of bindings. */
struct api_server {
    struct kube_target target;
    struct kube_credentials *credentials;
    struct kube_loop *loop;
    struct kube_sender sender;
};

static int connect_api_server(struct api_server *api_server, const char *kubeconfig,
                              struct err *err)
{
    const struct kube_lookup lookup = {.kubeconfig = kubeconfig};
    const struct kube_loop_settings settings = {.name = "bind",
                                                .max_answer_bytes = (size_t)1 << 20};
    int r = kube_target_find(&lookup, &api_server->target, err);
    if (r == 0)
        r = kube_credentials_new(&api_server->target, &api_server->credentials, err);
    if (r == 0)
        r = kube_loop_new(&settings, &api_server->target, api_server->credentials,
                          &api_server->loop, err);
    if (r == 0)
        r = kube_loop_start(api_server->loop, err);
    if (r == 0)
        api_server->sender = kube_loop_sender(api_server->loop);
    return r;
}

static void wait_for_sigterm(void)
{
    sigset_t signals;
    int number = 0;
    (void)sigemptyset(&signals);
    (void)sigaddset(&signals, SIGTERM);
    (void)sigwait(&signals, &number);
}

static int complain(const struct err *err)
{
    (void)fprintf(stderr, "null_extender: %s\n", err->text);
    return 1;
}

int main(int argc, char **argv)
{
    static struct api_server api_server;
    static size_t n_most;
    const bool refuses = argc > 1 && strcmp(argv[1], "refuse") == 0;
    const bool binds = argc > 1 && !refuses;
    const struct route routes[] = {
        {"POST", "/scheduler/filter", LISTEN_VERBS, "filter", refuses ? refuse : filter, &n_most,
         NULL, NULL},
        {"POST", "/scheduler/prioritize", LISTEN_VERBS, "prioritize",
         binds ? no_opinion : prioritize, NULL, NULL, NULL},
        {"POST", "/scheduler/bind", LISTEN_VERBS, "bind", bind_pod, &api_server.sender, NULL, NULL},
        {0},
    };
    const struct server_settings settings = {
        .verbs = "127.0.0.1:0",
        .max_body_bytes = (size_t)64 << 20,
        .max_user_body_bytes = (size_t)64 << 20,
        .max_bodies_bytes = (size_t)256 << 20,
        .max_connections = 1000,
        .idle_timeout_s = 600,
        .request_timeout_s = 30,
    };
    struct server *server = NULL;
    struct err err;
    sigset_t signals;
    n_most = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
    (void)sigfillset(&signals);
    (void)pthread_sigmask(SIG_BLOCK, &signals, NULL);
    if (binds && connect_api_server(&api_server, argv[1], &err) < 0)
        return complain(&err);
    if (server_start(&settings, routes, &server, &err) < 0)
        return complain(&err);
    (void)printf("addr=%s\n", server_address(server, LISTEN_VERBS));
    (void)fflush(stdout);
    wait_for_sigterm();
    return 0;
}
