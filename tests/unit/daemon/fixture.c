/* fixture: see fixture.h. */
#include "fixture.h"
#include "base/log.h"
#include "base/mem.h"
#include "kube/loop.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NAPS_MAX 600000 /* ten minutes at least */
#define DRAIN_MS 100
#define LEASE                                                                                      \
    "{\"apiVersion\":\"coordination.k8s.io/v1\",\"kind\":\"Lease\",\"metadata\":{\"name\":"        \
    "\"gpu\",\"namespace\":\"ns\",\"resourceVersion\":\"1\"},\"spec\":{\"holderIdentity\":\"\","   \
    "\"leaseDurationSeconds\":60}}"
#define NODE                                                                                       \
    "{\"metadata\":{\"name\":\"a\"},\"status\":{\"capacity\":{\"nvidia.com/gpu\":\"2\"},"          \
    "\"allocatable\":{\"nvidia.com/gpu\":\"2\"}}}"
#define POD                                                                                        \
    "{\"metadata\":{\"name\":\"p\",\"namespace\":\"ml\",\"uid\":\"u\"},\"spec\":{\"containers\":"  \
    "[{\"name\":\"c\",\"resources\":{\"limits\":{\"nvidia.com/gpu\":\"1\"}}}]}}"

void fixture_nap(int n_naps, const char *what)
{
    const struct timespec some = {.tv_nsec = 1000000};
    if (n_naps >= NAPS_MAX)
        fail_msg("waited in vain: %s", what);
    (void)nanosleep(&some, NULL);
}

/* ---- the API server ---- */

/* Takes over the text. */
static void answer(struct exchange *exchange, unsigned status, char *text)
{
    exchange_answer(exchange, status, "application/json", text, strlen(text), 0);
}

static char *list_of(const char *item)
{
    char *text = NULL;
    if (asprintf(&text,
                 "{\"kind\":\"PodList\",\"metadata\":{\"resourceVersion\":\"1\"},\"items\":[%s]}",
                 item) < 0)
        abort();
    return text;
}

static bool ends_with(const char *text, const char *end)
{
    const size_t len = strlen(text);
    return len >= strlen(end) && strcmp(text + len - strlen(end), end) == 0;
}

static void keep_watch(struct fixture *fixture, struct exchange *exchange)
{
    (void)pthread_mutex_lock(&fixture->lock);
    const bool is_kept = !fixture->is_over && fixture->n_watches < FIXTURE_WATCHES_MAX;
    if (is_kept)
        fixture->watches[fixture->n_watches++] = exchange;
    (void)pthread_mutex_unlock(&fixture->lock);
    if (!is_kept)
        exchange_answer_error(exchange, 503, "over");
}

static char *lease_text(struct fixture *fixture)
{
    (void)pthread_mutex_lock(&fixture->lock);
    char *text = json_dumps(fixture->lease, 0);
    (void)pthread_mutex_unlock(&fixture->lock);
    return text;
}

static void handle_get(void *context, struct exchange *exchange)
{
    struct fixture *fixture = context;
    const char *path = exchange_path(exchange);
    char *lease CLEANUP(mem_free_ptr) = lease_text(fixture);
    if (exchange_query(exchange, "watch"))
        keep_watch(fixture, exchange);
    else if (ends_with(path, "/leases/gpu"))
        answer(exchange, 200, mem_strdup(lease));
    else if (ends_with(path, "/leases/kube-scheduler"))
        exchange_answer_error(exchange, 404, "there is none");
    else if (ends_with(path, "/leases"))
        answer(exchange, 200, list_of(lease));
    else
        answer(exchange, 200,
               list_of(ends_with(path, "/nodes")  ? NODE
                       : ends_with(path, "/pods") ? POD
                                                  : ""));
}

/* Under the lock; takes over the object. */
static void set_lease(struct fixture *fixture, json_t *lease)
{
    char version[16];
    (void)snprintf(version, sizeof version, "%d", ++fixture->version);
    (void)json_object_set_new(json_object_get(lease, "metadata"), "resourceVersion",
                              json_string(version));
    json_decref(fixture->lease);
    fixture->lease = lease;
}

static void handle_put(void *context, struct exchange *exchange)
{
    struct fixture *fixture = context;
    (void)pthread_mutex_lock(&fixture->lock);
    set_lease(fixture, json_loads(exchange_body(exchange, NULL), 0, NULL));
    (void)pthread_mutex_unlock(&fixture->lock);
    answer(exchange, 200, lease_text(fixture));
}

static void handle_post(void *context, struct exchange *exchange)
{
    struct fixture *fixture = context;
    (void)pthread_mutex_lock(&fixture->lock);
    fixture->binding = exchange;
    (void)pthread_mutex_unlock(&fixture->lock);
}

bool fixture_has_binding(struct fixture *fixture)
{
    (void)pthread_mutex_lock(&fixture->lock);
    const bool has_binding = fixture->binding != NULL;
    (void)pthread_mutex_unlock(&fixture->lock);
    return has_binding;
}

void fixture_answer_binding(struct fixture *fixture)
{
    (void)pthread_mutex_lock(&fixture->lock);
    struct exchange *binding = fixture->binding;
    fixture->binding = NULL;
    (void)pthread_mutex_unlock(&fixture->lock);
    answer(binding, 201, mem_strdup("{\"kind\":\"Status\",\"status\":\"Success\",\"code\":201}"));
}

void fixture_set_holder(struct fixture *fixture, const char *holder)
{
    (void)pthread_mutex_lock(&fixture->lock);
    json_t *lease = json_deep_copy(fixture->lease);
    (void)json_object_set_new(json_object_get(lease, "spec"), "holderIdentity",
                              json_string(holder));
    set_lease(fixture, lease);
    (void)pthread_mutex_unlock(&fixture->lock);
}

bool fixture_is_held(struct fixture *fixture)
{
    (void)pthread_mutex_lock(&fixture->lock);
    const char *holder = json_string_value(
        json_object_get(json_object_get(fixture->lease, "spec"), "holderIdentity"));
    const bool is_held = holder && *holder;
    (void)pthread_mutex_unlock(&fixture->lock);
    return is_held;
}

/* ---- the verb ---- */

static void handle_verb(void *context, struct exchange *exchange)
{
    (void)context;
    answer(exchange, 200, mem_strdup("{}"));
}

static enum gate_verdict judge_verb(void *context, struct exchange *exchange)
{
    const struct gate *gate = &((struct fixture *)context)->gates.verbs;
    return gate->judge(gate->context, exchange);
}

static void ask_verb(void *context, struct exchange *exchange)
{
    struct fixture *fixture = context;
    fixture->gates.verbs.ask(fixture->gates.verbs.context, exchange);
    atomic_fetch_add(&fixture->n_judged, 1);
}

/* A call of the verb that is under way. */
struct sent {
    struct fixture *fixture;
    atomic_uint *ret_status;
};

static void take_status(void *context, const struct kube_answer *reply)
{
    struct sent *sent = context;
    atomic_store(sent->ret_status, reply->outcome == KUBE_ANSWERED ? reply->status : 1);
    atomic_fetch_sub(&sent->fixture->n_sent, 1);
    free(sent);
}

void fixture_send(struct fixture *fixture, atomic_uint *ret_status)
{
    const struct kube_request request = {
        .method = "POST", .path = "/verb", .body = "{}", .body_len = 2, .timeout_ms = 20000};
    const struct kube_sender sender = kube_loop_sender(fixture->client);
    struct sent *sent = MEM_NEW(struct sent);
    *sent = (struct sent){fixture, ret_status};
    atomic_store(ret_status, 0);
    atomic_fetch_add(&fixture->n_sent, 1);
    sender.send(sender.sender, &request, take_status, sent);
}

unsigned fixture_ask(struct fixture *fixture)
{
    static atomic_uint status;
    fixture_send(fixture, &status);
    WAIT_FOR(atomic_load(&status) != 0);
    return atomic_load(&status);
}

/* ---- start and stop ---- */

static void check(int r, const struct err *err)
{
    if (r < 0)
        fail_msg("%s", err->text);
}

static struct kube_target target_of(const struct fixture *fixture)
{
    struct kube_target target = {.source = mem_strdup("a test")};
    if (asprintf(&target.server, "http://%s", server_address(fixture->server, LISTEN_VERBS)) < 0)
        abort();
    return target;
}

static void start_server(struct fixture *fixture)
{
    static struct route routes[6];
    const struct route rows[] = {
        {"GET", "/api/", LISTEN_VERBS, "get", handle_get, fixture, NULL, NULL},
        {"GET", "/apis/", LISTEN_VERBS, "get", handle_get, fixture, NULL, NULL},
        {"PUT", "/apis/", LISTEN_VERBS, "put", handle_put, fixture, NULL, NULL},
        {"POST", "/api/", LISTEN_VERBS, "post", handle_post, fixture, NULL, NULL},
        {"POST", "/verb", LISTEN_VERBS, "verb", handle_verb, fixture, &fixture->verb_gate, NULL},
        {0},
    };
    const struct server_settings settings = {.verbs = "127.0.0.1:0",
                                             .max_body_bytes = 1 << 20,
                                             .max_user_body_bytes = 1 << 20,
                                             .max_bodies_bytes = 1 << 22,
                                             .max_connections = 200,
                                             .idle_timeout_s = 600,
                                             .request_timeout_s = 60};
    struct err err;
    memcpy(routes, rows, sizeof routes);
    check(server_start(&settings, routes, &fixture->server, &err), &err);
}

static void start_client(struct fixture *fixture)
{
    const struct kube_loop_settings settings = {.name = "client", .max_answer_bytes = 1000};
    struct err err;
    fixture->target = target_of(fixture);
    check(kube_credentials_new(&fixture->target, &fixture->credentials, &err), &err);
    check(kube_loop_new(&settings, &fixture->target, fixture->credentials, &fixture->client, &err),
          &err);
    check(kube_loop_start(fixture->client, &err), &err);
}

static void read_policy(struct settings *ret_settings, const char *policy)
{
    char text[400];
    struct err err;
    const int len =
        snprintf(text, sizeof text,
                 "apiVersion: gpu-extender.io/v1alpha1\nkind: SchedulerPolicy\n%s\n", policy);
    settings_init(ret_settings);
    check(settings_read_text(ret_settings, "test", text, (size_t)len, &err), &err);
}

void fixture_begin(struct fixture *fixture, const char *policy)
{
    static const struct inventory_limits LIMITS = {
        .max_object_bytes = 1 << 16, .max_nodes = 20, .max_pods = 20};
    struct kube_target target;
    struct err err;
    log_configure(LOG_ERROR, LOG_KEY_VALUE);
    *fixture = (struct fixture){.lease = json_loads(LEASE, 0, NULL), .version = 1};
    (void)pthread_mutex_init(&fixture->lock, NULL);
    fixture->verb_gate = (struct gate){.judge = judge_verb, .ask = ask_verb, .context = fixture};
    read_policy(&fixture->settings, policy);
    start_server(fixture);
    start_client(fixture);
    fixture->inventory = inventory_new(&fixture->settings.policy, &LIMITS);
    target = target_of(fixture);
    check(live_mode_new(&fixture->settings, fixture->inventory, &target, &fixture->live, &err),
          &err);
    gates_init(&fixture->gates, &fixture->settings, false, live_mode_reviewer(fixture->live),
               live_mode_election(fixture->live), live_mode_beside(fixture->live));
    fixture->extender = (struct extender){.inventory = fixture->inventory};
    fixture->gates.extender = &fixture->extender;
}

void fixture_start(struct fixture *fixture)
{
    struct err err;
    check(live_mode_start(fixture->live, &err), &err);
}

bool fixture_is_usable(const struct fixture *fixture)
{
    struct err err;
    return inventory_usable(fixture->inventory, &err);
}

void fixture_end(struct fixture *fixture)
{
    live_mode_stop(fixture->live);
    (void)pthread_mutex_lock(&fixture->lock);
    fixture->is_over = true;
    (void)pthread_mutex_unlock(&fixture->lock);
    for (size_t i = 0; i < fixture->n_watches; i++)
        exchange_answer_error(fixture->watches[i], 503, "over");
    server_stop(fixture->server, DRAIN_MS);
    gates_fini(&fixture->gates);
    live_mode_free(fixture->live);
    WAIT_FOR(atomic_load(&fixture->n_sent) == 0); /* the answers are sent, maybe not yet read */
    kube_loop_stop(fixture->client);
    kube_loop_free(fixture->client);
    kube_credentials_free(fixture->credentials);
    kube_target_fini(&fixture->target);
    inventory_free(fixture->inventory);
    settings_fini(&fixture->settings);
    json_decref(fixture->lease);
    (void)pthread_mutex_destroy(&fixture->lock);
}
