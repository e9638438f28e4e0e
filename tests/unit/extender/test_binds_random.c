/*
 * binds against a model of the API server that loses requests and answers, is slow, and lets POSTs
 * take effect after the client gave up. Pods are deleted, recreated and bound by others, and the
 * watch lags. No GPU is assigned twice, "bound" is true, and each call is answered in time. In the
 * end no reservation lacks a cause, no entry remains and the ledger is exact. BINDS_SEEDS: number
 * of runs of a minute each. A failure names its seed; BINDS_FIRST_SEED starts with it.
 */
#include "base/mem.h"
#include "bind_harness.h"
#include "dice.h"
#include "extender/bind/bind_entry.h"
#include "kube_answers.h"

#include <stdlib.h>
#include <utlist.h>

#define STEP_MS 50
#define FAULTS_MS 60000
#define QUIET_MS 150000
#define N_PODS 8
#define N_LIVES 64
#define N_CALLS 1000
/* Other clients bind pods here. We never do: it has no GPUs. */
#define OTHERS_NODE "c"

static const struct {
    const char *name;
    unsigned n_gpus;
} NODES[] = {{"a", 1}, {"b", 2}};

/* Each recreation of a pod has a new UID. */
struct model_pod {
    unsigned life;
    bool exists;
    const char *bound_to[N_LIVES]; /* by life; NULL: unbound */
};

struct model_call {
    struct model *model;
    unsigned pod, life;
    const char *node;
    int64_t deadline_ms;
    bool answered;
};

/* A request in flight, also after the client gave up: then request is NULL. */
struct flight {
    struct fake_request *request;
    char *binding; /* the POST's body; "" for a GET */
    unsigned pod;
    int64_t arrives_ms; /* CLOCK_NEVER: lost */
    int64_t answers_ms; /* CLOCK_NEVER: the answer is lost */
    int64_t ends_ms;    /* the client's timeout */
    unsigned status;    /* 0: not yet answered */
    char body[400];
    struct flight *prev, *next;
};

struct news {
    int64_t at_ms;
    bool removed;
    char object[400];
    struct news *next;
};

struct model {
    struct bind_harness *harness;
    uint64_t random;
    unsigned seed;
    bool faults;
    struct model_pod pods[N_PODS];
    struct model_call calls[N_CALLS];
    unsigned n_calls;
    struct flight *flights;
    struct news *news;
    int64_t last_news_ms;
};

static unsigned dice(struct model *model, unsigned n)
{
    model->random = model->random * 6364136223846793005U + 1442695040888963407U;
    return (unsigned)(model->random >> 33U) % n;
}

#define CHECK(model, condition)                                                                    \
    do {                                                                                           \
        if (!(condition))                                                                          \
            fail_msg("seed %u at %lld ms: %s", (model)->seed, (long long)(model)->harness->now_ms, \
                     #condition);                                                                  \
    } while (0)

static void write_pod(const struct model *model, unsigned pod, char *text, size_t size)
{
    const struct model_pod *its = &model->pods[pod];
    const char *node = its->bound_to[its->life];
    (void)snprintf(text, size,
                   "{'metadata':{'name':'p-%u','namespace':'ml','uid':'u-%u-%u'},'spec':{"
                   "'nodeName':'%s','containers':[{'name':'c','resources':{'limits':"
                   "{'nvidia.com/gpu':'1'}}}]}}",
                   pod, pod, its->life, node ? node : "");
}

/* The watch delivers it later, in order. */
static void tell_watch(struct model *model, unsigned pod, bool removed)
{
    struct news *news = MEM_NEW(struct news);
    const int64_t at_ms = model->harness->now_ms + dice(model, model->faults ? 5000 : 100);
    model->last_news_ms = at_ms > model->last_news_ms ? at_ms : model->last_news_ms;
    news->at_ms = model->last_news_ms;
    news->removed = removed;
    write_pod(model, pod, news->object, sizeof news->object);
    LL_APPEND(model->news, news);
}

static void deliver_news(struct model *model)
{
    while (model->news && model->news->at_ms <= model->harness->now_ms) {
        struct news *news = model->news;
        LL_DELETE(model->news, news);
        if (news->removed)
            ledger_removes(model->harness, news->object);
        else
            ledger_shows(model->harness, news->object);
        free(news);
    }
}

static void make_pod(struct model *model, unsigned pod)
{
    struct model_pod *its = &model->pods[pod];
    if (its->life + 1 == N_LIVES)
        return;
    its->life++;
    its->exists = true;
    tell_watch(model, pod, false);
}

static void delete_pod(struct model *model, unsigned pod)
{
    model->pods[pod].exists = false;
    tell_watch(model, pod, true);
}

static void check_no_gpu_is_given_twice(struct model *model)
{
    for (size_t i = 0; i < sizeof NODES / sizeof *NODES; i++) {
        unsigned n = 0;
        for (unsigned pod = 0; pod < N_PODS; pod++) {
            const struct model_pod *its = &model->pods[pod];
            const char *node = its->exists ? its->bound_to[its->life] : NULL;
            n += node && strcmp(node, NODES[i].name) == 0;
        }
        CHECK(model, n <= NODES[i].n_gpus);
    }
}

static unsigned bind_pod(struct model *model, unsigned pod, const char *body)
{
    struct model_pod *its = &model->pods[pod];
    char uid[40];
    (void)snprintf(uid, sizeof uid, "\"uid\":\"u-%u-%u\"", pod, its->life);
    if (!its->exists)
        return 404;
    if (!strstr(body, uid) || its->bound_to[its->life])
        return 409;
    for (size_t i = 0; i < sizeof NODES / sizeof *NODES; i++) {
        char target[40];
        (void)snprintf(target, sizeof target, "\"Node\",\"name\":\"%s\"", NODES[i].name);
        if (strstr(body, target))
            its->bound_to[its->life] = NODES[i].name;
    }
    CHECK(model, its->bound_to[its->life]);
    check_no_gpu_is_given_twice(model);
    tell_watch(model, pod, false);
    return 201;
}

/* Sometimes without effect: overload, or a proxy's error page. */
static void arrive(struct model *model, struct flight *flight)
{
    static const unsigned IN_VAIN[] = {503, 429, 404};
    flight->arrives_ms = CLOCK_NEVER;
    if (model->faults && dice(model, 10) == 0) {
        flight->status = IN_VAIN[dice(model, 3)];
        return;
    }
    if (*flight->binding)
        flight->status = bind_pod(model, flight->pod, flight->binding);
    else
        flight->status = model->pods[flight->pod].exists ? 200 : 404;
    if (flight->status == 200)
        write_pod(model, flight->pod, flight->body, sizeof flight->body);
    else
        (void)snprintf(flight->body, sizeof flight->body, "{'kind':'Status'}");
}

/* A request sent before the client's timeout takes effect within the POST's life, or never. */
static void take_off(struct model *model, struct fake_request *request)
{
    struct flight *flight = MEM_NEW(struct flight);
    const int64_t now_ms = model->harness->now_ms;
    const unsigned fate = model->faults ? dice(model, 10) : 9;
    flight->request = request;
    flight->binding = mem_strdup(request->body);
    flight->pod = (unsigned)(strstr(request->path, "/p-")[3] - '0');
    flight->ends_ms = now_ms + request->timeout_ms;
    flight->arrives_ms = now_ms + dice(model, 50);
    if (fate == 0)
        flight->arrives_ms = CLOCK_NEVER;
    else if (fate < 4)
        flight->arrives_ms = now_ms + dice(model, POST_LIFE_MS + (unsigned)request->timeout_ms);
    flight->answers_ms = fate == 0 || fate == 5 ? CLOCK_NEVER : flight->arrives_ms;
    if (fate == 6)
        flight->ends_ms = now_ms + dice(model, 100); /* cut off */
    DL_APPEND(model->flights, flight);
}

static void land(struct model *model, struct flight *flight, enum kube_outcome outcome)
{
    char *body = quotes(flight->body);
    const int64_t now_ms = model->harness->now_ms;
    struct kube_answer answer = outcome == KUBE_ANSWERED
                                    ? kube_answered(now_ms, flight->status, body)
                                    : kube_unanswered(now_ms, outcome, "lost");
    if (flight->status == 429)
        answer.retry_after_s = 1;
    flight->ends_ms = CLOCK_NEVER;
    flight->answers_ms = CLOCK_NEVER;
    fake_request_answer(flight->request, &answer);
    flight->request = NULL;
    free(body);
}

static void fly(struct model *model)
{
    const int64_t now_ms = model->harness->now_ms;
    struct flight *flight = NULL;
    struct flight *next = NULL;
    DL_FOREACH_SAFE (model->flights, flight, next) {
        if (flight->arrives_ms <= now_ms)
            arrive(model, flight);
        if (flight->answers_ms <= now_ms && flight->status != 0)
            land(model, flight, KUBE_ANSWERED);
        else if (flight->ends_ms <= now_ms)
            land(model, flight, KUBE_UNKNOWN);
        if (flight->ends_ms != CLOCK_NEVER || flight->arrives_ms != CLOCK_NEVER)
            continue;
        DL_DELETE(model->flights, flight);
        free(flight->binding);
        free(flight);
    }
}

static void take_answer(void *context, const char *error)
{
    struct model_call *its = context;
    const struct model *model = its->model;
    const char *node = model->pods[its->pod].bound_to[its->life];
    CHECK(model, !its->answered);
    CHECK(model, model->harness->now_ms <= its->deadline_ms + STEP_MS);
    CHECK(model, error || (node && strcmp(node, its->node) == 0));
    its->answered = true;
}

static void call_bind(struct model *model, unsigned pod)
{
    struct model_call *its = &model->calls[model->n_calls++];
    char uid[32];
    char name[16];
    *its = (struct model_call){.model = model,
                               .pod = pod,
                               .life = model->pods[pod].life,
                               .node = NODES[dice(model, 2)].name,
                               .deadline_ms = model->harness->now_ms + TIMEOUT_MS};
    (void)snprintf(uid, sizeof uid, "u-%u-%u", pod, its->life);
    (void)snprintf(name, sizeof name, "p-%u", pod);
    const struct bind_args args = {
        .uid = uid, .namespace_ = "ml", .name = name, .node_name = its->node};
    binds_call(model->harness->binds, &args, model->harness->now_ms, take_answer, its);
}

static void bind_by_others(struct model *model, unsigned pod)
{
    struct model_pod *its = &model->pods[pod];
    its->bound_to[its->life] = OTHERS_NODE;
    tell_watch(model, pod, false);
}

static void disturb(struct model *model)
{
    const unsigned pod = dice(model, N_PODS);
    const struct model_pod *its = &model->pods[pod];
    if (!its->exists)
        make_pod(model, pod);
    else if (dice(model, its->bound_to[its->life] ? 2 : 12) == 0)
        delete_pod(model, pod);
    else if (!its->bound_to[its->life] && dice(model, 30) == 0)
        bind_by_others(model, pod);
    else if (model->n_calls < N_CALLS)
        call_bind(model, pod);
}

static void run_for(struct model *model, int64_t ms)
{
    const int64_t end_ms = model->harness->now_ms + ms;
    struct fake_request *request = NULL;
    while (model->harness->now_ms < end_ms) {
        if (model->faults && dice(model, 8) == 0)
            disturb(model);
        while ((request = fake_sender_take(&model->harness->server)))
            take_off(model, request);
        fly(model);
        deliver_news(model);
        pass(model->harness, STEP_MS);
    }
}

static bool ledger_has(const struct model *model, const struct cluster *cluster, unsigned pod)
{
    const struct model_pod *its = &model->pods[pod];
    const char *node = its->bound_to[its->life] ? its->bound_to[its->life] : "";
    char uid[32];
    (void)snprintf(uid, sizeof uid, "u-%u-%u", pod, its->life);
    const struct pod *known = cluster_find_pod(cluster, uid);
    return its->exists ? known && strcmp(known->node_name, node) == 0 : !known;
}

static void check_ledger(struct model *model)
{
    struct err err = {""};
    const struct inventory_view view CLEANUP(inventory_done) =
        inventory_read(model->harness->live.inventory);
    if (cluster_check_in_place(view.cluster, &err) != 0)
        fail_msg("seed %u: %s", model->seed, err.text);
    for (unsigned pod = 0; pod < N_PODS; pod++)
        CHECK(model, ledger_has(model, view.cluster, pod));
}

static void check_quiet(struct model *model)
{
    CHECK(model, !model->flights && !model->news);
    for (unsigned i = 0; i < model->n_calls; i++)
        CHECK(model, model->calls[i].answered);
    CHECK(model, metric(model->harness, "gpu_extender_bind_attempts_open ") == 0);
    CHECK(model, metric(model->harness, "gpu_extender_reservations_open ") == 0);
    CHECK(model, HASH_COUNT(model->harness->binds->entries) == 0);
    check_ledger(model);
}

/* Events that must occur, or the run proves nothing. */
static const char *const EVENTS[] = {
    "gpu_extender_binds_total{outcome=\"bound\"} ",
    "gpu_extender_binds_total{outcome=\"already_bound\"} ",
    "gpu_extender_binds_total{outcome=\"refused\"} ",
    "gpu_extender_binds_total{outcome=\"conflict\"} ",
    "gpu_extender_binds_total{outcome=\"gone\"} ",
    "gpu_extender_binds_total{outcome=\"failed\"} ",
    "gpu_extender_binds_total{outcome=\"unknown\"} ",
    "gpu_extender_bind_settled_total{how=\"bound\"} ",
    "gpu_extender_bind_settled_total{how=\"elsewhere\"} ",
    "gpu_extender_bind_settled_total{how=\"gone\"} ",
    "gpu_extender_bind_settled_total{how=\"unbound\"} ",
    "gpu_extender_bind_settled_total{how=\"ledger\"} ",
};
#define N_EVENTS (sizeof EVENTS / sizeof *EVENTS)

static void run_seed(unsigned seed, double *n_events)
{
    static struct model model;
    void *state = NULL;
    assert_int_equal(bind_harness_setup(&state), 0);
    struct bind_harness *harness = state;
    model = (struct model){.harness = harness, .seed = seed, .random = seed, .faults = true};
    run_for(&model, FAULTS_MS);
    model.faults = false;
    run_for(&model, QUIET_MS);
    check_quiet(&model);
    for (size_t i = 0; i < N_EVENTS; i++)
        n_events[i] += metric(harness, EVENTS[i]);
    (void)bind_harness_teardown(&state);
}

static void test_random_events_keep_the_invariants(void **state)
{
    (void)state;
    const unsigned first = (unsigned)dice_number_from("BINDS_FIRST_SEED", 1);
    const unsigned n = (unsigned)dice_number_from("BINDS_SEEDS", 100);
    double n_events[N_EVENTS] = {0};
    for (unsigned i = 0; i < n; i++)
        run_seed(first + i, n_events);
    for (size_t i = 0; i < N_EVENTS && n >= 100; i++) {
        if (n_events[i] < n / 10.0)
            fail_msg("%s%.0f in %u runs", EVENTS[i], n_events[i], n);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_events_keep_the_invariants)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
