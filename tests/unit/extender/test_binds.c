/* binds: one binding from call to answer; the API server's answers are those of PROTOCOL 3.3.
 * Events after the answer: test_binds_later.c. */
#include "bind_harness.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

static void test_bound(void **state)
{
    struct bind_harness *harness = *state;
    const unsigned caller = call(harness, 1, "a");
    check_waits(harness, caller);
    check_held(harness, 1, "a");
    posted(harness, 1, "a", 201, CREATED);
    check_bound(harness, caller);
    check_held(harness, 1, "a"); /* until the ledger sees it */
    check_silence(harness);
    assert_true(metric(harness, "gpu_extender_binds_total{outcome=\"bound\"} ") == 1);
    assert_true(metric(harness, "gpu_extender_bind_duration_seconds_count ") == 1);
}

/* Two equal calls both succeed with one POST. The second comes before the answer, after it, or when
 * the ledger has seen the pod. */
static void test_a_repeated_call_shares_the_binding(void **state)
{
    struct bind_harness *harness = *state;
    const unsigned first = call(harness, 1, "b");
    const unsigned joined = call(harness, 1, "b");
    posted(harness, 1, "b", 201, CREATED);
    check_bound(harness, first);
    check_bound(harness, joined);
    check_bound(harness, call(harness, 1, "b"));
    ledger_shows(harness, POD_JSON("1", OURS, ",'nodeName':'b'", ""));
    check_held(harness, 1, NULL);
    check_bound(harness, call(harness, 1, "b"));
    check_silence(harness);
    assert_int_equal(harness->server.n_sent, 1);
}

static void test_two_race_for_one_gpu(void **state)
{
    struct bind_harness *harness = *state;
    const unsigned first = call(harness, 1, "a");
    check_error(harness, call(harness, 2, "a"), "the node has too few free GPUs now");
    posted(harness, 1, "a", 201, CREATED);
    check_bound(harness, first);
    check_error(harness, call(harness, 2, "a"), "the node has too few free GPUs now");
    check_silence(harness);
    check_held(harness, 2, NULL);
}

static void test_the_ledger_rejects_the_pod(void **state)
{
    struct bind_harness *harness = *state;
    check_error(harness, call(harness, 1, "c"), "the node has no GPUs of the requested resource");
    check_error(harness, call(harness, 1, "gone"), "the node is not in the inventory");
    ledger_shows(harness, POD_JSON("1", "", ",'nodeName':'b'", ""));
    check_error(harness, call(harness, 1, "a"), "the pod is bound to node b already");
    check_bound(harness, call(harness, 1, "b"));
    ledger_shows(harness, POD_JSON("2", ",'deletionTimestamp':'2026-11-21T10:00:00Z'", "", ""));
    check_error(harness, call(harness, 2, "a"), "the pod has finished or is being deleted");
    ledger_shows(harness, POD_JSON("3", ",'annotations':{'gpu-extender.io/models':'?'}", "", ""));
    check_error(harness, call(harness, 3, "a"), "the pod's request is invalid");
    check_silence(harness);
}

/* Names that would enter a path or body. */
static void test_invalid_names_are_rejected(void **state)
{
    static const struct {
        struct bind_args args;
        const char *error;
    } ROWS[] = {
        {{"u", "ml", "../../nodes/x", "a", NULL},
         "request: PodName: is \"../../nodes/x\", should be a DNS subdomain"},
        {{"u", "ml", "p?timeout=9s", "a", NULL},
         "request: PodName: is \"p?timeout=9s\", should be a DNS subdomain"},
        {{"u", "ml", "p..q", "a", NULL},
         "request: PodName: is \"p..q\", should be a DNS subdomain"},
        {{"u", "ml", "p.-q", "a", NULL},
         "request: PodName: is \"p.-q\", should be a DNS subdomain"},
        {{"u", "ml", "", "a", NULL}, "request: PodName: is \"\", should be a DNS subdomain"},
        {{"u", "m.l", "p", "a", NULL}, "request: PodNamespace: is \"m.l\", should be a DNS label"},
        {{"u", "ML", "p", "a", NULL}, "request: PodNamespace: is \"ML\", should be a DNS label"},
        {{"u", "ml", "p", "a/b", NULL}, "request: Node: is \"a/b\", should be a DNS subdomain"},
        {{"u", "ml", "p", "a.", NULL}, "request: Node: is \"a.\", should be a DNS subdomain"},
        {{"u v", "ml", "p", "a", NULL},
         "request: PodUID: is \"u v\", should be at most 128 visible ASCII characters"},
    };
    struct bind_harness *harness = *state;
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++)
        check_error(harness, call_as(harness, &ROWS[i].args), ROWS[i].error);
    check_silence(harness);
}

/* A pod unknown to the ledger needs a GET first; its result is reserved. */
static void test_new_pod_is_judged_by_a_get(void **state)
{
    struct bind_harness *harness = *state;
    const unsigned fits = call(harness, 7, "a");
    check_held(harness, 7, NULL);
    got(harness, 7, 200, POD_JSON("7", "", "", ""));
    check_held(harness, 7, "a");
    posted(harness, 7, "a", 201, CREATED);
    check_bound(harness, fits);
    const unsigned full = call(harness, 8, "a");
    got(harness, 8, 200, POD_JSON("8", "", "", ""));
    check_error(harness, full, "the node has too few free GPUs now");
    check_silence(harness);
}

/* The first POST's answer is lost and it had no effect. The facts of the GET serve for the second
 * POST. */
static void test_new_pod_is_posted_again_after_a_lost_answer(void **state)
{
    struct bind_harness *harness = *state;
    const unsigned caller = call(harness, 7, "a");
    got(harness, 7, 200, POD_JSON("7", "", "", ""));
    posted_failed(harness, 7, "a", KUBE_UNKNOWN);
    got(harness, 7, 200, POD_JSON("7", "", "", ""));
    pass(harness, 100);
    got(harness, 7, 200, POD_JSON("7", "", "", ""));
    posted(harness, 7, "a", 201, CREATED);
    check_bound(harness, caller);
}

static void test_new_pod_that_cannot_be_bound_is_rejected(void **state)
{
    static const struct {
        unsigned status;
        const char *body;
        const char *error; /* NULL: bound */
    } ROWS[] = {
        {404, STATUS("not found"), "the pod no longer exists"},
        {200, "{'metadata':{'name':'p-7','namespace':'ml','uid':'other'}}",
         "the pod was deleted, and another pod has its name"},
        {200, POD_JSON("7", ",'deletionTimestamp':'2026-11-21T10:00:00Z'", "", ""),
         "the pod is being deleted"},
        {200, POD_JSON("7", "", "", "'phase':'Failed'"), "the pod has finished"},
        {200, POD_JSON("7", "", ",'nodeName':'b'", ""), "the pod is bound to node b already"},
        {200, POD_JSON("7", OURS, ",'nodeName':'a'", ""), NULL},
    };
    struct bind_harness *harness = *state;
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        const unsigned caller = call(harness, 7, "a");
        got(harness, 7, ROWS[i].status, ROWS[i].body);
        if (ROWS[i].error)
            check_error(harness, caller, ROWS[i].error);
        else
            check_bound(harness, caller);
        check_held(harness, 7, NULL);
        check_silence(harness);
    }
}

/* An object other than the pod gives no information. */
static void test_unreadable_pod_is_an_error(void **state)
{
    static const char *const BODIES[] = {"",
                                         "{}",
                                         "[]",
                                         "{'kind':'Pod','metadata':{'name':'p-7'",
                                         "{'metadata':{'name':'p-7','namespace':'ml'}}",
                                         "{'metadata':{'name':'x','namespace':'ml','uid':'u-7'}}"};
    struct bind_harness *harness = *state;
    for (size_t i = 0; i < sizeof BODIES / sizeof *BODIES; i++) {
        const unsigned caller = call(harness, 7, "a");
        got(harness, 7, 200, BODIES[i]);
        check_waits(harness, caller);
        pass(harness, TIMEOUT_MS);
        check_error(harness, caller,
                    "the API server's answer for the pod: is not the requested pod");
        check_silence(harness);
    }
}

/* One GET settles each, by the present state. */
static const struct {
    const char *pod;
    const char *error; /* NULL: bound */
    bool held;
} SETTLED[] = {
    {POD_JSON("1", OURS, ",'nodeName':'a'", ""), NULL, true},
    {POD_JSON("1", "", ",'nodeName':'a'", ""), NULL, true}, /* bound by another client */
    {POD_JSON("1", OURS ",'deletionTimestamp':'2026-11-21T10:00:00Z'", ",'nodeName':'a'", ""), NULL,
     true},
    {POD_JSON("1", OURS, ",'nodeName':'a'", "'phase':'Succeeded'"), NULL, false},
    {POD_JSON("1", "", ",'nodeName':'b'", ""), "the pod is bound to node b already", false},
    {POD_JSON("1", ",'deletionTimestamp':'2026-11-21T10:00:00Z'", "", ""),
     "the pod is being deleted", false},
    {POD_JSON("1", "", "", "'phase':'Failed'"), "the pod has finished", false},
    {"{'metadata':{'name':'p-1','namespace':'ml','uid':'u-9'}}",
     "the pod was deleted, and another pod has its name", false},
};

static void check_settled(struct bind_harness *harness, unsigned caller, size_t row)
{
    got(harness, 1, 200, SETTLED[row].pod);
    if (SETTLED[row].error)
        check_error(harness, caller, SETTLED[row].error);
    else
        check_bound(harness, caller);
    check_held(harness, 1, SETTLED[row].held ? "a" : NULL);
    check_silence(harness);
    ledger_removes(harness, POD_JSON("1", "", "", ""));
    ledger_shows(harness, POD_JSON("1", "", "", ""));
    pass(harness, 1000);
}

static void test_conflicts(void **state)
{
    struct bind_harness *harness = *state;
    for (size_t i = 0; i < sizeof SETTLED / sizeof *SETTLED; i++) {
        const unsigned caller = call(harness, 1, "a");
        posted(harness, 1, "a", 409, STATUS("pod p-1 is already assigned to node a"));
        check_waits(harness, caller);
        check_settled(harness, caller, i);
    }
    assert_true(metric(harness, "gpu_extender_bind_settled_total{how=\"bound\"} ") == 4);
    assert_true(metric(harness, "gpu_extender_bind_settled_total{how=\"gone\"} ") == 3);
    assert_true(metric(harness, "gpu_extender_bind_settled_total{how=\"elsewhere\"} ") == 1);
}

static void test_lost_answers(void **state)
{
    static const unsigned STATUSES[] = {0, 500, 503, 504, 408, 302};
    struct bind_harness *harness = *state;
    for (size_t i = 0; i < sizeof SETTLED / sizeof *SETTLED; i++) {
        const unsigned status = STATUSES[i % (sizeof STATUSES / sizeof *STATUSES)];
        const unsigned caller = call(harness, 1, "a");
        if (status == 0)
            posted_failed(harness, 1, "a", KUBE_UNKNOWN);
        else
            posted(harness, 1, "a", status, "oops");
        check_waits(harness, caller);
        check_settled(harness, caller, i);
    }
}

/* The pod is gated, or was deleted meanwhile. Its POST was definitely answered, so the GET
 * decides. */
static void test_conflict_without_a_binding_is_an_error(void **state)
{
    struct bind_harness *harness = *state;
    const unsigned caller = call(harness, 1, "a");
    posted(harness, 1, "a", 409, STATUS("pod p-1 has non-empty .spec.schedulingGates"));
    got(harness, 1, 200, POD_JSON("1", "", ",'schedulingGates':[{'name':'g'}]", ""));
    check_error(harness, caller,
                "the API server answered the binding with 409: pod p-1 has non-empty "
                ".spec.schedulingGates");
    check_held(harness, 1, NULL);
    check_silence(harness);
}

static void test_gone(void **state)
{
    struct bind_harness *harness = *state;
    const unsigned caller = call(harness, 1, "a");
    posted(harness, 1, "a", 404, STATUS("not found"));
    check_error(harness, caller, "the API server answered the binding with 404: not found");
    check_held(harness, 1, NULL);
    check_silence(harness);
    assert_true(metric(harness, "gpu_extender_binds_total{outcome=\"gone\"} ") == 1);
}

static void test_refused_for_good(void **state)
{
    static const unsigned STATUSES[] = {400, 401, 403, 405, 422};
    struct bind_harness *harness = *state;
    for (size_t i = 0; i < sizeof STATUSES / sizeof *STATUSES; i++) {
        const unsigned caller = call(harness, 1, "a");
        posted(harness, 1, "a", STATUSES[i], STATUS("no, says admission"));
        assert_int_equal(harness->callers[caller].n_answers, 1);
        assert_non_null(strstr(harness->callers[caller].error, ": no, says admission"));
        check_held(harness, 1, NULL);
        check_silence(harness);
    }
}

/* A message's length does not determine the answer's. */
static void test_a_long_message_is_cut(void **state)
{
    struct bind_harness *harness = *state;
    char body[5000];
    (void)snprintf(body, sizeof body, "{'message':'%04900d'}", 0);
    const unsigned caller = call(harness, 1, "a");
    posted(harness, 1, "a", 403, body);
    assert_int_equal(harness->callers[caller].n_answers, 1);
    assert_in_range(strlen(harness->callers[caller].error), 300, 400);
}

/* An old POST that may still take effect keeps the reservation, whatever the new one's outcome. */
static void test_refused_after_a_lost_answer(void **state)
{
    struct bind_harness *harness = *state;
    const unsigned caller = call(harness, 1, "a");
    posted_failed(harness, 1, "a", KUBE_UNKNOWN);
    got(harness, 1, 200, POD_JSON("1", "", "", ""));
    pass(harness, 100);
    posted(harness, 1, "a", 403, STATUS("no"));
    check_waits(harness, caller);
    got(harness, 1, 200, POD_JSON("1", "", "", ""));
    check_error(harness, caller,
                "the outcome is unknown: the API server answered the binding with 403: no");
    check_held(harness, 1, "a");
    pass(harness, POST_LIFE_MS + 1000);
    got(harness, 1, 200, POD_JSON("1", "", "", ""));
    check_held(harness, 1, NULL);
}

static void test_posted_again_after_a_lost_answer(void **state)
{
    struct bind_harness *harness = *state;
    const unsigned caller = call(harness, 1, "a");
    posted_failed(harness, 1, "a", KUBE_UNKNOWN);
    got(harness, 1, 200, POD_JSON("1", "", "", ""));
    check_silence(harness); /* back-off */
    pass(harness, 100);
    posted(harness, 1, "a", 201, CREATED);
    check_bound(harness, caller);
    assert_true(metric(harness, "gpu_extender_bind_settled_total{how=\"unbound\"} ") == 1);
}

/* The first POST took effect after all. */
static void test_the_second_post_meets_the_first(void **state)
{
    struct bind_harness *harness = *state;
    const unsigned caller = call(harness, 1, "a");
    posted_failed(harness, 1, "a", KUBE_UNKNOWN);
    got(harness, 1, 200, POD_JSON("1", "", "", ""));
    pass(harness, 100);
    posted(harness, 1, "a", 409, STATUS("pod p-1 is already assigned to node a"));
    got(harness, 1, 200, POD_JSON("1", OURS, ",'nodeName':'a'", ""));
    check_bound(harness, caller);
}

static void test_too_many_requests(void **state)
{
    struct bind_harness *harness = *state;
    const unsigned caller = call(harness, 1, "a");
    posted_retry(harness, 1, "a", 429, 2);
    pass(harness, 1999);
    check_silence(harness);
    pass(harness, 1);
    posted_retry(harness, 1, "a", 429, 1);
    pass(harness, 999);
    check_silence(harness);
    pass(harness, 1);
    posted_retry(harness, 1, "a", 429, 3); /* longer than the remaining time */
    check_error(harness, caller, "the API server answered the binding with 429");
    check_held(harness, 1, NULL);
    check_silence(harness);
}

static void test_not_reached(void **state)
{
    struct bind_harness *harness = *state;
    const unsigned bound = call(harness, 1, "a");
    posted_failed(harness, 1, "a", KUBE_NOT_SENT);
    pass(harness, 100);
    posted(harness, 1, "a", 201, CREATED);
    check_bound(harness, bound);
    const unsigned late = call(harness, 2, "b");
    pass(harness, TIMEOUT_MS - 1);
    posted_failed(harness, 2, "b", KUBE_NOT_SENT);
    check_error(harness, late, "the binding was not sent: connection reset");
    check_held(harness, 2, NULL); /* surely nothing was sent */
    check_silence(harness);
}

static void test_stop(void **state)
{
    struct bind_harness *harness = *state;
    const unsigned first = call(harness, 1, "a");
    const unsigned second = call(harness, 2, "b");
    const unsigned third = call(harness, 2, "b");
    binds_stop(harness->binds);
    check_error(harness, first, "the outcome is unknown: the service is stopping");
    check_error(harness, second, "the outcome is unknown: the service is stopping");
    check_error(harness, third, "the outcome is unknown: the service is stopping");
    check_error(harness, call(harness, 3, "b"), "the service is stopping");
    posted_failed(harness, 1, "a", KUBE_UNKNOWN);
    posted(harness, 2, "b", 201, CREATED);
    check_silence(harness);
    check_held(harness, 1, "a");
    assert_true(binds_tick(harness->binds, harness->now_ms + TIMEOUT_MS) == INT64_MAX);
}

/* For a pod whose namespace has no room for its shape, the ledger has only the demand. Bind gets
 * the other facts from the API server. */
static void test_a_pod_over_the_shape_limits_is_judged_by_a_get(void **state)
{
    struct bind_harness *harness = *state;
    harness->live.policy.pod_shapes_bytes = 0;
    ledger_removes(harness, POD_JSON("1", "", "", ""));
    ledger_removes(harness, POD_JSON("2", "", "", ""));
    ledger_removes(harness, POD_JSON("3", "", "", ""));
    ledger_shows(harness, POD_JSON("1", "", "", ""));
    const unsigned refused = call(harness, 1, "a");
    got(harness, 1, 200, POD_JSON("1", ",'annotations':{'gpu-extender.io/models':'K80'}", "", ""));
    check_held(harness, 1, NULL);
    check_silence(harness);
    check_error(harness, refused, "the node's GPU model is unknown");
    const unsigned bound = call(harness, 1, "a");
    got(harness, 1, 200, POD_JSON("1", "", "", ""));
    check_held(harness, 1, "a");
    posted(harness, 1, "a", 201, CREATED);
    check_bound(harness, bound);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        BIND_TEST(test_a_pod_over_the_shape_limits_is_judged_by_a_get),
        BIND_TEST(test_bound),
        BIND_TEST(test_a_repeated_call_shares_the_binding),
        BIND_TEST(test_two_race_for_one_gpu),
        BIND_TEST(test_the_ledger_rejects_the_pod),
        BIND_TEST(test_invalid_names_are_rejected),
        BIND_TEST(test_new_pod_is_judged_by_a_get),
        BIND_TEST(test_new_pod_is_posted_again_after_a_lost_answer),
        BIND_TEST(test_new_pod_that_cannot_be_bound_is_rejected),
        BIND_TEST(test_unreadable_pod_is_an_error),
        BIND_TEST(test_conflicts),
        BIND_TEST(test_lost_answers),
        BIND_TEST(test_conflict_without_a_binding_is_an_error),
        BIND_TEST(test_gone),
        BIND_TEST(test_refused_for_good),
        BIND_TEST(test_a_long_message_is_cut),
        BIND_TEST(test_refused_after_a_lost_answer),
        BIND_TEST(test_posted_again_after_a_lost_answer),
        BIND_TEST(test_the_second_post_meets_the_first),
        BIND_TEST(test_too_many_requests),
        BIND_TEST(test_not_reached),
        BIND_TEST(test_stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
