/* A loop whose API server has a name that does not resolve: the test replaces the resolver. */
#include "fake_api.h"
#include "fake_credentials.h"

#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define NAME "api.test"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool is_answering; /* guarded by the lock, like these */
static int n_asked;

static void answer_names(bool is)
{
    (void)pthread_mutex_lock(&lock);
    is_answering = is;
    n_asked = 0;
    (void)pthread_cond_broadcast(&changed);
    (void)pthread_mutex_unlock(&lock);
}

static void await_asked(int n)
{
    (void)pthread_mutex_lock(&lock);
    while (n_asked < n)
        (void)pthread_cond_wait(&changed, &lock);
    (void)pthread_mutex_unlock(&lock);
}

struct found {
    struct addrinfo list; /* freed by the caller */
    struct sockaddr_in address;
};

/* Replaces the C library's function. */
int resolve(const char *name, const char *service, const struct addrinfo *hints,
            struct addrinfo **ret_list) __asm__("getaddrinfo");
void forget_resolved(struct addrinfo *list) __asm__("freeaddrinfo");

int resolve(const char *name, const char *service, const struct addrinfo *hints,
            struct addrinfo **ret_list)
{
    (void)name, (void)hints;
    (void)pthread_mutex_lock(&lock);
    n_asked++;
    (void)pthread_cond_broadcast(&changed);
    while (!is_answering)
        (void)pthread_cond_wait(&changed, &lock);
    (void)pthread_mutex_unlock(&lock);
    struct found *found = calloc(1, sizeof *found);
    assert_non_null(found);
    found->address = (struct sockaddr_in){.sin_family = AF_INET,
                                          .sin_port = htons((uint16_t)strtol(service, NULL, 10)),
                                          .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    found->list = (struct addrinfo){.ai_family = AF_INET,
                                    .ai_socktype = SOCK_STREAM,
                                    .ai_addrlen = sizeof found->address,
                                    .ai_addr = (struct sockaddr *)&found->address};
    *ret_list = &found->list;
    return 0;
}

void forget_resolved(struct addrinfo *list)
{
    free(list);
}

static void open_named(struct fake_api *api)
{
    const struct kube_loop_settings settings = {.name = "test", .max_answer_bytes = 100};
    struct err err;
    fake_api_open(api, "http");
    kube_loop_free(api->loop);
    free(api->target.server);
    assert_true(asprintf(&api->target.server, "http://" NAME ":%d", api->port) > 0);
    assert_return_code(kube_loop_new(&settings, &api->target, api->credentials, &api->loop, &err),
                       EIO);
    api->sender = kube_loop_sender(api->loop);
    fake_api_start(api);
}

/* A request abandoned during name resolution delays no others. */
static void an_unresolved_name_delays_no_other_request(void **state)
{
    struct fake_api api;
    struct kube_request fresh = fake_api_get("/fresh"), slow = fake_api_get("/slow");
    (void)state;
    fresh.fresh = true;
    answer_names(true);
    open_named(&api);
    slow.timeout_ms = 2 * FAKE_API_TIMEOUT_MS;
    const struct call call = fake_api_call(&api, slow);
    answer_names(false);
    struct box *late = fake_api_ask(&api, &fresh);
    await_asked(1);
    fake_api_pass(&api, FAKE_API_TIMEOUT_MS);
    fake_api_expect_outcome(late, KUBE_NOT_SENT, FAKE_API_NO_ANSWER);
    fake_api_serve(&call, 200, "s");
    (void)close(call.connection);
    fake_api_close(&api);
    answer_names(true);
}

static void a_stop_does_not_wait_for_a_name(void **state)
{
    struct fake_api api;
    struct kube_request request = fake_api_get("/a");
    (void)state;
    answer_names(false);
    open_named(&api);
    struct box *box = fake_api_ask(&api, &request);
    await_asked(1);
    fake_api_close(&api);
    fake_api_expect_outcome(box, KUBE_NOT_SENT, "the service stops");
    answer_names(true);
}

int main(void)
{
    (void)setenv("no_proxy", "*", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_unresolved_name_delays_no_other_request),
        cmocka_unit_test(a_stop_does_not_wait_for_a_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
