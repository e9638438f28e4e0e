/* wake: when kube-scheduler is told to ask again, and what that costs it. */
#include "base/clock.h"
#include "extender/wake.h"
#include "fake_sender.h"
#include "kube_answers.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BEGIN_MS INT64_C(1000000)
#define SECOND_MS INT64_C(1000)
#define PATH "/apis/storage.k8s.io/v1/namespaces/ours/csistoragecapacities/wakes"

struct fixture {
    struct fake_sender sender;
    struct wake *wake;
    bool decides;
};

static bool may_wake(void *context, int64_t now_ms)
{
    (void)now_ms;
    return *(const bool *)context;
}

static int set_up(void **state)
{
    static struct fixture fixture;
    const struct wake_settings settings = {.namespace_ = "ours",
                                           .name = "wakes",
                                           .seed = 41,
                                           .may_wake = may_wake,
                                           .context = &fixture.decides};
    fixture = (struct fixture){.decides = true};
    fake_sender_init(&fixture.sender);
    fixture.wake = wake_new(&settings, fake_sender_of(&fixture.sender));
    *state = &fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    fake_sender_fini(&fixture->sender);
    wake_free(fixture->wake);
    return 0;
}

/* ---- steps ---- */

static void assert_metric(const struct fixture *fixture, const char *line)
{
    struct buf out;
    buf_init(&out, BUF_UNBOUNDED);
    wake_metrics(fixture->wake, &out);
    if (!strstr(buf_text(&out), line))
        fail_msg("no %s in\n%s", line, buf_text(&out));
    buf_fini(&out);
}

/* False: no wake is sent at that time. */
static bool is_woken_with(struct fixture *fixture, int64_t now_ms, struct kube_answer answer)
{
    (void)wake_tick(fixture->wake, now_ms);
    struct fake_request *request = fake_sender_take(&fixture->sender);
    if (!request)
        return false;
    assert_string_equal(request->method, "PATCH");
    assert_string_equal(request->path, PATH);
    answer.at_ms = now_ms;
    fake_request_answer(request, &answer);
    return true;
}

static bool is_woken(struct fixture *fixture, int64_t now_ms)
{
    return is_woken_with(fixture, now_ms, kube_answered(now_ms, 200, "{}"));
}

static void reject(struct fixture *fixture, size_t n_pods, int64_t attempt_us, int64_t now_ms)
{
    char uid[32];
    int64_t now_us = now_ms * 1000;
    for (size_t i = 0; i < n_pods; i++) {
        (void)snprintf(uid, sizeof uid, "u-%zu", i);
        wake_asked(fixture->wake, now_us);
        wake_rejected(fixture->wake, uid, now_us / 1000);
        now_us += attempt_us;
    }
}

/* ---- tests ---- */

static void test_a_change_wakes_once_and_with_a_new_value(void **state)
{
    struct fixture *fixture = *state;
    reject(fixture, 1, 0, BEGIN_MS);
    assert_false(is_woken(fixture, BEGIN_MS));
    wake_note(fixture->wake, WAKE_POLICY, BEGIN_MS);
    wake_note(fixture->wake, WAKE_NAMESPACE, BEGIN_MS);
    assert_int_equal(wake_tick(fixture->wake, BEGIN_MS), BEGIN_MS + WAKE_SETTLE_MS);
    assert_int_equal(wake_tick(fixture->wake, BEGIN_MS + WAKE_SETTLE_MS), CLOCK_NEVER);
    struct fake_request *request = fake_sender_take(&fixture->sender);
    assert_string_equal(
        request->body,
        "{\"metadata\":{\"annotations\":{\"gpu-extender.io/wake\":\"000000000000002a\"}}}");
    /* Another one waits for the answer, and then for its time. */
    wake_note(fixture->wake, WAKE_CLAIMS, BEGIN_MS);
    assert_int_equal(wake_tick(fixture->wake, BEGIN_MS + 2 * WAKE_LEAST_MS), CLOCK_NEVER);
    const struct kube_answer answer = kube_answered(BEGIN_MS + 2000, 200, "{}");
    fake_request_answer(request, &answer);
    assert_int_equal(wake_tick(fixture->wake, BEGIN_MS + 2000),
                     BEGIN_MS + WAKE_SETTLE_MS + WAKE_LEAST_MS);
    assert_true(is_woken(fixture, BEGIN_MS + WAKE_SETTLE_MS + WAKE_LEAST_MS));
    assert_false(is_woken(fixture, BEGIN_MS + 100 * WAKE_LEAST_MS));
    assert_metric(fixture, "wakes_total{cause=\"policy\"} 1\n");
    assert_metric(fixture, "wakes_total{cause=\"namespace\"} 1\n");
    assert_metric(fixture, "wakes_total{cause=\"claims\"} 1\n");
    assert_metric(fixture, "wakes_total{cause=\"quota_claim\"} 0\n");
}

/* A change is forgotten if it helps no pod at its time. */
static void test_nobody_is_woken_in_vain(void **state)
{
    struct fixture *fixture = *state;
    const int64_t at_ms = BEGIN_MS + WAKE_SETTLE_MS;
    wake_note(fixture->wake, WAKE_POLICY, BEGIN_MS);
    assert_false(is_woken(fixture, at_ms));
    reject(fixture, 2, 0, at_ms);
    assert_false(is_woken(fixture, at_ms)); /* forgotten */
    wake_settled(fixture->wake, "u-0");
    wake_settled(fixture->wake, "u-1");
    wake_settled(fixture->wake, "u-2");
    wake_note(fixture->wake, WAKE_POLICY, BEGIN_MS);
    assert_false(is_woken(fixture, at_ms));
    fixture->decides = false;
    reject(fixture, 1, 0, at_ms);
    wake_note(fixture->wake, WAKE_POLICY, BEGIN_MS);
    assert_false(is_woken(fixture, at_ms));
    assert_metric(fixture, "left_out_total{why=\"too_costly\"} 0\n");
}

static void test_an_instance_that_kube_scheduler_left_wakes_nobody(void **state)
{
    struct fixture *fixture = *state;
    reject(fixture, 2, 0, BEGIN_MS);
    wake_rejected(fixture->wake, "u-0", BEGIN_MS + SECOND_MS); /* asked again */
    wake_note(fixture->wake, WAKE_POLICY, BEGIN_MS + WAKE_KEEP_MS - WAKE_SETTLE_MS);
    assert_true(is_woken(fixture, BEGIN_MS + WAKE_KEEP_MS));
    wake_note(fixture->wake, WAKE_POLICY, BEGIN_MS);
    assert_false(is_woken(fixture, BEGIN_MS + WAKE_KEEP_MS + 2 * WAKE_LEAST_MS));
}

static void test_the_first_of_several_times_counts(void **state)
{
    struct fixture *fixture = *state;
    reject(fixture, 1, 0, BEGIN_MS);
    wake_note(fixture->wake, WAKE_QUOTA_CLAIM, BEGIN_MS + 60 * SECOND_MS);
    wake_note(fixture->wake, WAKE_QUOTA_CLAIM, BEGIN_MS + 70 * SECOND_MS);
    assert_int_equal(wake_tick(fixture->wake, BEGIN_MS),
                     BEGIN_MS + 60 * SECOND_MS + WAKE_SETTLE_MS);
    assert_true(is_woken(fixture, BEGIN_MS + 61 * SECOND_MS));
    assert_false(is_woken(fixture, BEGIN_MS + 80 * SECOND_MS));
}

/* A quota flaps each second for an hour. kube-scheduler asks about all pods after each wake, and by
 * itself each five minutes, one after another. Returns the share of its time that wakes cost. */
static double share_of_time(struct fixture *fixture, size_t n_pods, int64_t attempt_us)
{
    const int64_t end_ms = BEGIN_MS + 3600 * SECOND_MS;
    int64_t busy_us = 0;
    reject(fixture, n_pods, attempt_us, BEGIN_MS);
    for (int64_t now_ms = BEGIN_MS + 60 * SECOND_MS; now_ms < end_ms; now_ms += SECOND_MS) {
        wake_note(fixture->wake, WAKE_POLICY, now_ms);
        const bool is_by_wake = is_woken(fixture, now_ms);
        if (is_by_wake || (now_ms - BEGIN_MS) % (300 * SECOND_MS) == 0)
            reject(fixture, n_pods, attempt_us, now_ms);
        busy_us += is_by_wake ? (int64_t)n_pods * attempt_us : 0;
    }
    return (double)busy_us / 1000 / (double)(end_ms - BEGIN_MS);
}

static void test_a_flapping_quota_costs_a_twentieth(void **state)
{
    struct fixture *fixture = *state;
    const double share = share_of_time(fixture, 1000, 5000);
    assert_true(share > 0.04 && share <= 0.05);
    assert_metric(fixture, "left_out_total{why=\"too_costly\"} 0\n");
}

static void test_few_pods_wake_each_ten_seconds(void **state)
{
    const double share = share_of_time(*state, 10, 5000);
    assert_true(share > 0.004 && share <= 0.005);
}

/* As measured at 5,000 nodes: 30 ms each. */
static void test_what_costs_too_much_is_left_out(void **state)
{
    struct fixture *fixture = *state;
    assert_true(share_of_time(fixture, 1000, 30000) == 0);
    assert_metric(fixture, "wakes_total{cause=\"policy\"} 0\n");
    assert_metric(fixture, "left_out_total{why=\"too_costly\"} 1770\n");
}

/* Pods that come one a minute take no time; neither does a clock that another thread read later. */
static void test_idle_time_is_no_attempt(void **state)
{
    struct fixture *fixture = *state;
    reject(fixture, 20, INT64_C(60000000), BEGIN_MS);
    const int64_t end_ms = BEGIN_MS + 1200 * SECOND_MS;
    wake_asked(fixture->wake, BEGIN_MS * 1000);
    for (int64_t now_ms = end_ms; now_ms < end_ms + 4 * WAKE_LEAST_MS; now_ms += WAKE_LEAST_MS) {
        reject(fixture, 20, 0, end_ms);
        wake_note(fixture->wake, WAKE_POLICY, now_ms - WAKE_SETTLE_MS);
        assert_true(is_woken(fixture, now_ms));
    }
}

static void test_without_object_or_right_it_is_tried_once(void **state)
{
    static const unsigned STATUSES[] = {403, 404};
    struct fixture *fixture = *state;
    int64_t now_ms = BEGIN_MS;
    reject(fixture, 1, 0, BEGIN_MS);
    for (size_t i = 0; i < 2; i++, now_ms += 2 * WAKE_LEAST_MS) {
        wake_note(fixture->wake, WAKE_POLICY, now_ms - WAKE_SETTLE_MS);
        assert_true(is_woken_with(fixture, now_ms, kube_answered(0, STATUSES[i], "")));
        assert_false(is_woken(fixture, now_ms + WAKE_LEAST_MS));
    }
    assert_metric(fixture, "left_out_total{why=\"403\"} 1\n");
    assert_metric(fixture, "left_out_total{why=\"404\"} 1\n");
    assert_metric(fixture, "wakes_total{cause=\"policy\"} 0\n");
}

static void test_other_failures_are_tried_again(void **state)
{
    struct fixture *fixture = *state;
    struct kube_answer slow = kube_answered(0, 429, "");
    const struct kube_answer answers[] = {kube_answered(0, 409, ""), kube_answered(0, 500, ""),
                                          kube_unanswered(0, KUBE_UNKNOWN, "cut off")};
    int64_t now_ms = BEGIN_MS;
    reject(fixture, 1, 0, BEGIN_MS);
    wake_note(fixture->wake, WAKE_POLICY, now_ms - WAKE_SETTLE_MS);
    for (size_t i = 0; i < 3; i++, now_ms += WAKE_LEAST_MS)
        assert_true(is_woken_with(fixture, now_ms, answers[i]));
    slow.retry_after_s = 30;
    assert_true(is_woken_with(fixture, now_ms, slow));
    assert_false(is_woken(fixture, now_ms + 30 * SECOND_MS - 1));
    assert_true(is_woken(fixture, now_ms + 30 * SECOND_MS));
    assert_false(is_woken(fixture, now_ms + 60 * SECOND_MS));
    assert_metric(fixture, "left_out_total{why=\"409\"} 1\n");
    assert_metric(fixture, "left_out_total{why=\"429\"} 1\n");
    assert_metric(fixture, "left_out_total{why=\"other\"} 2\n");
    assert_metric(fixture, "wakes_total{cause=\"policy\"} 1\n");
}

static void test_pods_are_bounded(void **state)
{
    struct fixture *fixture = *state;
    reject(fixture, WAKE_PODS_MAX + 10, 1000, BEGIN_MS);
    wake_note(fixture->wake, WAKE_POLICY, BEGIN_MS);
    assert_false(is_woken(fixture, BEGIN_MS + 20 * SECOND_MS));
    assert_metric(fixture, "left_out_total{why=\"too_costly\"} 1\n");
}

static void test_without_wake_nothing_happens(void **state)
{
    struct fixture nobody = {.wake = NULL};
    (void)state;
    wake_asked(NULL, 1);
    wake_rejected(NULL, "u", 1);
    wake_settled(NULL, "u");
    wake_note(NULL, WAKE_POLICY, 1);
    assert_metric(&nobody, "wakes_total{cause=\"policy\"} 0\n");
    wake_free(NULL);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_change_wakes_once_and_with_a_new_value),
        TEST(test_nobody_is_woken_in_vain),
        TEST(test_an_instance_that_kube_scheduler_left_wakes_nobody),
        TEST(test_the_first_of_several_times_counts),
        TEST(test_a_flapping_quota_costs_a_twentieth),
        TEST(test_few_pods_wake_each_ten_seconds),
        TEST(test_what_costs_too_much_is_left_out),
        TEST(test_idle_time_is_no_attempt),
        TEST(test_without_object_or_right_it_is_tried_once),
        TEST(test_other_failures_are_tried_again),
        TEST(test_pods_are_bounded),
        TEST(test_without_wake_nothing_happens),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
