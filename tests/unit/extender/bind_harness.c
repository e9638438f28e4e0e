/* bind_harness: see bind_harness.h. */
#include "bind_harness.h"
#include "base/mem.h"
#include "kube_answers.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PREFIX "gpu-extender: "

void ledger_shows(struct bind_harness *harness, const char *pod)
{
    live_upsert(&harness->live, CLUSTER_PODS, pod);
}

void ledger_removes(struct bind_harness *harness, const char *pod)
{
    live_remove(&harness->live, CLUSTER_PODS, pod);
}

static void fill(struct live_cluster *live)
{
    live_list_nothing(live);
    LIST(live, CLUSTER_NODES, NODE("a", "1"), NODE("b", "2"), NODE("c", "0"));
    LIST(live, CLUSTER_PODS, POD_JSON("1", "", "", ""), POD_JSON("2", "", "", ""),
         POD_JSON("3", "", "", ""));
}

static bool may_post(void *context, int64_t now_ms)
{
    const struct bind_harness *harness = context;
    (void)now_ms;
    return !harness->refuses;
}

static int64_t held_until_ms(void *context, int64_t now_ms)
{
    const struct bind_harness *harness = context;
    return harness->held_until_ms > now_ms ? harness->held_until_ms : now_ms;
}

int bind_harness_setup(void **state)
{
    struct bind_harness *harness = MEM_NEW(struct bind_harness);
    const struct binds_settings settings = {.bound_by = BOUND_BY,
                                            .post_life_ms = POST_LIFE_MS,
                                            .timeout_ms = TIMEOUT_MS,
                                            .confirm_ms = CONFIRM_MS,
                                            .seed = 1,
                                            .may_post = may_post,
                                            .may_post_context = harness,
                                            .held_until_ms = held_until_ms,
                                            .held_context = harness};
    live_init(&harness->live);
    policy_init(&harness->next);
    fill(&harness->live);
    fake_sender_init(&harness->server);
    harness->now_ms = 1000000;
    harness->binds =
        binds_new(&settings, harness->live.inventory, fake_sender_of(&harness->server));
    *state = harness;
    return 0;
}

int bind_harness_teardown(void **state)
{
    struct bind_harness *harness = *state;
    binds_stop(harness->binds);
    fake_sender_fini(&harness->server);
    binds_free(harness->binds);
    live_fini(&harness->live);
    policy_fini(&harness->next);
    for (unsigned i = 0; i < harness->n_callers; i++) {
        assert_int_equal(harness->callers[i].n_answers, 1);
        free(harness->callers[i].error);
    }
    free(harness);
    return 0;
}

static void take_answer(void *context, const char *error)
{
    struct caller *caller = context;
    caller->n_answers++;
    free(caller->error);
    caller->error = error ? mem_strdup(error) : NULL;
}

unsigned call_as(struct bind_harness *harness, const struct bind_args *args)
{
    const unsigned caller = harness->n_callers++;
    assert_in_range(caller, 0, sizeof harness->callers / sizeof *harness->callers - 1);
    binds_call(harness->binds, args, harness->now_ms, take_answer, &harness->callers[caller]);
    return caller;
}

unsigned call(struct bind_harness *harness, int pod, const char *node)
{
    char uid[16];
    char name[16];
    (void)snprintf(uid, sizeof uid, "u-%d", pod);
    (void)snprintf(name, sizeof name, "p-%d", pod);
    const struct bind_args args = {.uid = uid, .namespace_ = "ml", .name = name, .node_name = node};
    return call_as(harness, &args);
}

void pass(struct bind_harness *harness, int64_t ms)
{
    harness->now_ms += ms;
    assert_true(binds_tick(harness->binds, harness->now_ms) > harness->now_ms);
}

void check_waits(const struct bind_harness *harness, unsigned caller)
{
    if (harness->callers[caller].n_answers != 0)
        fail_msg("answered: %s",
                 harness->callers[caller].error ? harness->callers[caller].error : "");
}

void check_bound(const struct bind_harness *harness, unsigned caller)
{
    assert_int_equal(harness->callers[caller].n_answers, 1);
    if (harness->callers[caller].error)
        fail_msg("%s", harness->callers[caller].error);
}

void check_error(const struct bind_harness *harness, unsigned caller, const char *text)
{
    const char *error = harness->callers[caller].error;
    assert_int_equal(harness->callers[caller].n_answers, 1);
    assert_non_null(error);
    assert_memory_equal(error, PREFIX, strlen(PREFIX));
    assert_string_equal(error + strlen(PREFIX), text);
}

void check_held(const struct bind_harness *harness, int pod, const char *node)
{
    char uid[16];
    char held[64] = "nowhere";
    (void)snprintf(uid, sizeof uid, "u-%d", pod);
    const struct inventory_view view = inventory_read(harness->live.inventory);
    const struct reservation *reservation = cluster_find_reservation(view.cluster, uid);
    if (reservation)
        (void)snprintf(held, sizeof held, "%s", reservation->node_name);
    inventory_done(&view);
    assert_string_equal(held, node ? node : "nowhere");
}

void check_silence(const struct bind_harness *harness)
{
    if (harness->server.requests)
        fail_msg("%s %s was sent", harness->server.requests->method,
                 harness->server.requests->path);
}

char *quotes(const char *text)
{
    char *copy = mem_strdup(text);
    for (char *at = copy; *at; at++)
        *at = *at == '\'' && strncmp(at, "'s ", 3) != 0 ? '"' : *at;
    return copy;
}

static struct fake_request *next_request(struct bind_harness *harness, const char *method,
                                         const char *path)
{
    struct fake_request *request = fake_sender_take(&harness->server);
    if (!request) {
        fail_msg("nothing was sent, expected %s %s", method, path);
        abort(); /* unreachable */
    }
    assert_string_equal(request->method, method);
    assert_string_equal(request->path, path);
    assert_in_range(request->timeout_ms, 1, 10000);
    return request;
}

static void answer(struct bind_harness *harness, struct fake_request *request, unsigned status,
                   const char *text)
{
    char *body = quotes(text);
    const struct kube_answer reply = kube_answered(harness->now_ms, status, body);
    fake_request_answer(request, &reply);
    free(body);
}

static void answer_nothing(struct bind_harness *harness, struct fake_request *request,
                           enum kube_outcome outcome)
{
    const struct kube_answer reply = kube_unanswered(harness->now_ms, outcome, "connection reset");
    fake_request_answer(request, &reply);
}

static struct fake_request *next_post(struct bind_harness *harness, int pod, const char *node)
{
    char *path = NULL;
    char *text = NULL;
    assert_true(asprintf(&path, "/api/v1/namespaces/ml/pods/p-%d/binding?timeout=4s", pod) > 0);
    assert_true(asprintf(&text,
                         "{'apiVersion':'v1','kind':'Binding','metadata':{'name':'p-%d',"
                         "'namespace':'ml','uid':'u-%d'" OURS "},'target':{'apiVersion':'v1',"
                         "'kind':'Node','name':'%s'}}",
                         pod, pod, node) > 0);
    char *body = quotes(text);
    struct fake_request *request = next_request(harness, "POST", path);
    assert_string_equal(request->body, body);
    free(path);
    free(text);
    free(body);
    return request;
}

static struct fake_request *next_get(struct bind_harness *harness, int pod)
{
    char path[64];
    (void)snprintf(path, sizeof path, "/api/v1/namespaces/ml/pods/p-%d", pod);
    struct fake_request *request = next_request(harness, "GET", path);
    assert_string_equal(request->body, "");
    return request;
}

void posted(struct bind_harness *harness, int pod, const char *node, unsigned status,
            const char *body)
{
    answer(harness, next_post(harness, pod, node), status, body);
}

void posted_in_time(struct bind_harness *harness, int pod, const char *node, unsigned status,
                    const char *body)
{
    struct fake_request *request = next_post(harness, pod, node);
    assert_true(request->may_leave(request->may_leave_context, harness->now_ms));
    answer(harness, request, status, body);
}

void posted_too_late(struct bind_harness *harness, int pod, const char *node)
{
    struct fake_request *request = next_post(harness, pod, node);
    assert_non_null(request->may_leave);
    assert_false(request->may_leave(request->may_leave_context, harness->now_ms));
    answer_nothing(harness, request, KUBE_NOT_SENT);
}

void posted_retry(struct bind_harness *harness, int pod, const char *node, unsigned status,
                  int64_t retry_after_s)
{
    struct kube_answer reply = kube_answered(harness->now_ms, status, "");
    reply.retry_after_s = retry_after_s;
    fake_request_answer(next_post(harness, pod, node), &reply);
}

void posted_failed(struct bind_harness *harness, int pod, const char *node,
                   enum kube_outcome outcome)
{
    answer_nothing(harness, next_post(harness, pod, node), outcome);
}

void got(struct bind_harness *harness, int pod, unsigned status, const char *body)
{
    answer(harness, next_get(harness, pod), status, body);
}

void got_failed(struct bind_harness *harness, int pod)
{
    answer_nothing(harness, next_get(harness, pod), KUBE_UNKNOWN);
}

double metric(struct bind_harness *harness, const char *line)
{
    struct buf text;
    buf_init(&text, 1 << 20);
    binds_metrics(harness->binds, &text);
    const char *at = strstr(buf_text(&text), line);
    while (at && at != buf_text(&text) && at[-1] != '\n')
        at = strstr(at + 1, line);
    if (!at)
        fail_msg("no metric %s", line);
    const double value = at ? strtod(at + strlen(line), NULL) : 0;
    buf_fini(&text);
    return value;
}
