/* budgets: what each budget allows, also with many pods. */
#include "extender/budgets.h"
#include "unit.h"

#include <stdio.h>

#define BEGIN_MS 1000

static int set_up(void **state)
{
    *state = budgets_new();
    return 0;
}

static int tear_down(void **state)
{
    budgets_free(*state);
    return 0;
}

static void test_two_errors_per_pod_and_blocking_nomination(void **state)
{
    for (size_t i = 0; i < BUDGETS_KEPT; i++) {
        assert_true(budgets_kept(*state, "u-1", "n-1", "a", BEGIN_MS));
        assert_true(budgets_kept(*state, "u-2", "n-1", "a", BEGIN_MS));
        assert_true(budgets_kept(*state, "u-1", "n-2", "a", BEGIN_MS));
        assert_true(budgets_kept(*state, "u-1", "n-1", "b", BEGIN_MS));
    }
    for (int64_t now_ms = BEGIN_MS; now_ms < 100 * BUDGETS_KEEP_MS; now_ms += BUDGETS_KEEP_MS / 2)
        assert_false(budgets_kept(*state, "u-1", "n-1", "a", now_ms));
    assert_false(budgets_kept(*state, "", "n-1", "a", BEGIN_MS));
}

static void test_one_wait_per_nomination(void **state)
{
    assert_true(budgets_quota_wait(*state, "u-1", "a", BEGIN_MS));
    assert_false(budgets_quota_wait(*state, "u-1", "a", BEGIN_MS));
    assert_true(budgets_quota_wait(*state, "u-1", "b", BEGIN_MS));
    assert_true(budgets_quota_wait(*state, "u-2", "a", BEGIN_MS));
    assert_false(budgets_quota_wait(*state, "", "a", BEGIN_MS));
    assert_true(budgets_kept(*state, "u-1", "a", "a", BEGIN_MS));
}

static void test_only_an_equal_request_is_a_repeat(void **state)
{
    assert_false(budgets_repeat(*state, "u-1", "7", 40, BEGIN_MS));
    assert_false(budgets_repeat(*state, "u-1", "8", 40, BEGIN_MS)); /* the pod changed */
    assert_false(budgets_repeat(*state, "u-1", "8", 41, BEGIN_MS)); /* the ledger changed */
    assert_false(budgets_repeat(*state, "u-2", "8", 41, BEGIN_MS));
    assert_true(budgets_repeat(*state, "u-1", "8", 41, BEGIN_MS));
    assert_true(budgets_repeat(*state, "u-2", "8", 41, BEGIN_MS));
    for (size_t i = 0; i < 3; i++) {
        assert_false(budgets_repeat(*state, "", "7", 40, BEGIN_MS));
        assert_false(budgets_repeat(*state, "u-1", "", 40, BEGIN_MS));
    }
}

/* However many calls there are. */
static void test_a_repeat_per_pod_and_gap(void **state)
{
    const int64_t end_ms = BEGIN_MS + BUDGETS_REPEAT_GAP_MS;
    size_t n = 0;
    for (int64_t now_ms = BEGIN_MS; now_ms < end_ms; now_ms += 500)
        n += budgets_repeat(*state, "u-1", "7", 40, now_ms);
    assert_int_equal(n, 1);
    assert_true(budgets_repeat(*state, "u-1", "7", 40, end_ms + 500));
}

static void test_all_pods_share_a_bucket(void **state)
{
    size_t n = 0;
    for (size_t i = 0; i < (size_t)2 * BUDGETS_TOKENS; i++)
        n += budgets_token(*state, BEGIN_MS);
    assert_int_equal(n, BUDGETS_TOKENS);
    assert_false(budgets_token(*state, BEGIN_MS + BUDGETS_TOKEN_MS - 1));
    assert_true(budgets_token(*state, BEGIN_MS + BUDGETS_TOKEN_MS));
    assert_false(budgets_token(*state, BEGIN_MS + BUDGETS_TOKEN_MS));
    n = 0;
    for (size_t i = 0; i < (size_t)2 * BUDGETS_TOKENS; i++)
        n += budgets_token(*state, BEGIN_MS + 100 * BUDGETS_TOKEN_MS);
    assert_int_equal(n, BUDGETS_TOKENS);
}

/* 500 rejected pods, each woken twice a second for five minutes. One token per second; a pod that
 * found the bucket empty gets a later one. */
static void test_many_pods_are_retried_in_turn(void **state)
{
    enum { N_PODS = 500 };
    static size_t n_of[N_PODS];
    size_t n = 0;
    for (int64_t now_ms = BEGIN_MS; now_ms < BEGIN_MS + 300000; now_ms += 500) {
        for (size_t i = 0; i < N_PODS; i++) {
            char uid[32];
            (void)snprintf(uid, sizeof uid, "u-%zu", i);
            n_of[i] += budgets_repeat(*state, uid, "7", 40, now_ms);
        }
    }
    for (size_t i = 0; i < N_PODS; i++) {
        assert_in_range(n_of[i], 0, 1);
        n += n_of[i];
    }
    assert_in_range(n, 295, 300 + BUDGETS_TOKENS);
}

/* Many new pods cannot evict spent budgets: further pods have no budget. */
static void test_many_new_pods_evict_no_budget(void **state)
{
    char uid[32];
    size_t n = 0;
    for (size_t i = 0; i < BUDGETS_KEPT; i++)
        assert_true(budgets_kept(*state, "u-1", "n-1", "a", BEGIN_MS));
    for (size_t i = 0; i < 16 * BUDGETS_ENTRIES; i++) {
        (void)snprintf(uid, sizeof uid, "other-%zu", i);
        n += budgets_kept(*state, uid, "n-1", "a", BEGIN_MS + 1);
    }
    assert_in_range(n, BUDGETS_ENTRIES / 2, BUDGETS_ENTRIES);
    assert_false(budgets_kept(*state, "u-1", "n-1", "a", BEGIN_MS + 2));
    assert_false(budgets_kept(*state, "u-2", "n-1", "a", BEGIN_MS + 2));
    assert_true(budgets_kept(*state, "u-2", "n-1", "a", BEGIN_MS + 1 + BUDGETS_KEEP_MS));
}

/* Nor can many rejected pods use up the unspent budgets of others. */
static void test_many_rejected_pods_leave_unspent_budgets(void **state)
{
    char uid[32];
    for (size_t i = 0; i < 16 * BUDGETS_ENTRIES; i++) {
        (void)snprintf(uid, sizeof uid, "other-%zu", i);
        (void)budgets_repeat(*state, uid, "7", 40, BEGIN_MS);
    }
    for (size_t i = 0; i < 100; i++) {
        (void)snprintf(uid, sizeof uid, "u-%zu", i);
        assert_true(budgets_kept(*state, uid, "n-1", "a", BEGIN_MS + 1));
        assert_true(budgets_quota_wait(*state, uid, "a", BEGIN_MS + 1));
        assert_false(budgets_quota_wait(*state, uid, "a", BEGIN_MS + 2));
    }
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_two_errors_per_pod_and_blocking_nomination),
        TEST(test_one_wait_per_nomination),
        TEST(test_only_an_equal_request_is_a_repeat),
        TEST(test_a_repeat_per_pod_and_gap),
        TEST(test_all_pods_share_a_bucket),
        TEST(test_many_pods_are_retried_in_turn),
        TEST(test_many_new_pods_evict_no_budget),
        TEST(test_many_rejected_pods_leave_unspent_budgets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
