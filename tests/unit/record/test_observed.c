/* record/observed: what is counted, how pods are settled, and the bounds. */
#include "base/mem.h"
#include "record/observed.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int set_up(void **state)
{
    *state = observed_new(1);
    return 0;
}

static int tear_down(void **state)
{
    observed_free(*state);
    return 0;
}

/* A pod of the namespace ml, asked about nodes a, b and c. */
static void judge(struct observed *observed, const char *uid, size_t refusal,
                  const enum reason verdicts[3])
{
    const struct hashed_text nodes[] = {hash_of_text("a"), hash_of_text("b"), hash_of_text("c")};
    const struct observed_judgement judgement = {.namespace_ = "ml",
                                                 .name = uid,
                                                 .uid = uid,
                                                 .names = nodes,
                                                 .verdicts = verdicts,
                                                 .n_names = 3,
                                                 .refusal = refusal};
    observed_judge(observed, &judgement, 1000);
}

#define FITS REASON_FITS
static const enum reason ALL_FIT[] = {FITS, FITS, FITS};
static const enum reason A_FITS[] = {FITS, REASON_QUOTA, REASON_TAINT};
static const enum reason NONE_FITS[] = {REASON_QUOTA, REASON_QUOTA, REASON_TAINT};

static void assert_sums(struct observed *observed, const char *expected)
{
    struct arena *arena = arena_new();
    const struct observed_sums all = observed_report(observed, NULL, arena).all;
    char text[120];
    (void)snprintf(text, sizeof text,
                   "%lld judged, %lld refused, %lld elsewhere, %lld as judged, %lld waiting, %lld "
                   "unknown",
                   (long long)all.judged, (long long)all.refused, (long long)all.elsewhere,
                   (long long)all.as_judged, (long long)all.waiting, (long long)all.unknown);
    assert_string_equal(text, expected);
    arena_free(arena);
}

static int64_t refused_by(struct observed *observed, size_t reason)
{
    struct arena *arena = arena_new();
    const int64_t n = observed_report(observed, NULL, arena).all.refused_by[reason];
    arena_free(arena);
    return n;
}

static void test_a_refusal_counts_once_per_pod_and_reason(void **state)
{
    judge(*state, "1", REASON_QUOTA, NONE_FITS);
    judge(*state, "1", REASON_QUOTA, NONE_FITS);
    judge(*state, "1", OBSERVED_UNUSABLE, NULL);
    judge(*state, "2", REASON_QUOTA, NONE_FITS);
    assert_int_equal(refused_by(*state, REASON_QUOTA), 2);
    assert_int_equal(refused_by(*state, OBSERVED_UNUSABLE), 1);
    assert_sums(*state, "2 judged, 2 refused, 0 elsewhere, 0 as judged, 2 waiting, 0 unknown");
    observed_settle(*state, "1", "a");
    assert_sums(*state, "2 judged, 2 refused, 0 elsewhere, 0 as judged, 1 waiting, 0 unknown");
}

struct settled {
    const enum reason *verdicts;
    const char *best[2];
    size_t n_best;
    const char *node;
    size_t reason; /* REASON_FITS: as judged */
};

static void test_pods_are_settled_by_the_node_of_the_watch(void **state)
{
    static const struct settled CASES[] = {
        {ALL_FIT, {NULL}, 0, "a", FITS},
        {ALL_FIT, {"a", "b"}, 2, "b", FITS},
        {ALL_FIT, {"a", "b"}, 2, "c", OBSERVED_NOT_BEST},
        {A_FITS, {"a"}, 1, "a", FITS},
        {A_FITS, {"a"}, 1, "b", REASON_QUOTA},
        {A_FITS, {NULL}, 0, "c", REASON_TAINT},
    };
    struct arena *arena = arena_new();
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        struct observed *observed = observed_new(1);
        const struct settled *one = &CASES[i];
        judge(observed, "1", FITS, one->verdicts);
        if (one->n_best > 0)
            observed_rank(observed, "1", one->best, one->n_best);
        observed_settle(observed, "1", one->node);
        observed_settle(observed, "1", "elsewhere"); /* a second event changes nothing */
        const struct observed_report report = observed_report(observed, NULL, arena);
        const bool differs = one->reason != FITS;
        assert_int_equal(report.all.as_judged, !differs);
        assert_int_equal(report.all.elsewhere, differs);
        assert_int_equal(report.all.elsewhere_by[one->reason], differs);
        assert_int_equal(report.all.waiting, 0);
        assert_int_equal(report.n_examples, differs);
        if (differs) {
            assert_true(report.examples[0].went_elsewhere);
            assert_int_equal(report.examples[0].reason, one->reason);
            assert_string_equal(report.examples[0].node, one->node);
            assert_string_equal(report.examples[0].best, one->n_best > 0 ? one->best[0] : "");
        }
        observed_free(observed);
    }
    arena_free(arena);
    (void)state;
}

/* A retry after a refusal, or the other way round. */
static void test_the_last_judgement_counts(void **state)
{
    static const char *const BEST[] = {"a"};
    judge(*state, "1", REASON_QUOTA, NONE_FITS);
    judge(*state, "1", FITS, ALL_FIT);
    observed_rank(*state, "1", BEST, 1);
    judge(*state, "1", FITS, ALL_FIT); /* forgets the ranking */
    observed_settle(*state, "1", "b");
    assert_sums(*state, "1 judged, 1 refused, 0 elsewhere, 1 as judged, 0 waiting, 0 unknown");
    judge(*state, "2", FITS, A_FITS);
    judge(*state, "2", REASON_QUOTA, NONE_FITS);
    observed_rank(*state, "2", BEST, 1);
    observed_settle(*state, "2", "b");
    assert_sums(*state, "2 judged, 2 refused, 0 elsewhere, 1 as judged, 0 waiting, 0 unknown");
}

static void test_pods_that_vanish_are_unknown(void **state)
{
    judge(*state, "1", FITS, ALL_FIT);
    observed_settle(*state, "1", NULL);
    observed_settle(*state, "never judged", NULL);
    observed_settle(*state, "never judged", "a");
    assert_sums(*state, "1 judged, 0 refused, 0 elsewhere, 0 as judged, 0 waiting, 1 unknown");
}

static void test_rows_are_bounded_and_sums_stay(void **state)
{
    struct arena *arena = arena_new();
    char uid[20];
    for (size_t i = 0; i < OBSERVED_PODS + 3; i++) {
        (void)snprintf(uid, sizeof uid, "%zu", i);
        judge(*state, uid, REASON_QUOTA, NONE_FITS);
    }
    const struct observed_report report = observed_report(*state, NULL, arena);
    assert_int_equal(report.all.refused, OBSERVED_PODS + 3);
    assert_int_equal(report.all.waiting, OBSERVED_PODS);
    assert_int_equal(report.all.unknown, 3);
    assert_int_equal(report.n_examples, OBSERVED_EXAMPLES);
    assert_string_equal(report.examples[0].uid, uid);
    arena_free(arena);
}

static void judge_in(struct observed *observed, const char *namespace_, const char *uid,
                     size_t refusal)
{
    const struct hashed_text nodes[] = {hash_of_text("a")};
    static const enum reason VERDICTS[] = {REASON_QUOTA};
    const struct observed_judgement judgement = {.namespace_ = namespace_,
                                                 .name = uid,
                                                 .uid = uid,
                                                 .names = nodes,
                                                 .verdicts = VERDICTS,
                                                 .n_names = 1,
                                                 .refusal = refusal};
    observed_judge(observed, &judgement, 1000);
}

static void test_namespaces_are_bounded(void **state)
{
    struct arena *arena = arena_new();
    char name[20];
    for (size_t i = 0; i < OBSERVED_NAMESPACES + 2; i++) {
        (void)snprintf(name, sizeof name, "n-%zu", i);
        judge_in(*state, name, name, REASON_QUOTA);
    }
    const struct observed_report report = observed_report(*state, NULL, arena);
    assert_int_equal(report.n_namespaces, OBSERVED_NAMESPACES);
    assert_int_equal(report.others.refused, 2);
    assert_int_equal(report.all.refused, OBSERVED_NAMESPACES + 2);
    arena_free(arena);
}

static void test_one_namespace_and_the_order_of_all(void **state)
{
    struct arena *arena = arena_new();
    judge_in(*state, "few", "1", REASON_QUOTA);
    judge_in(*state, "many", "2", REASON_QUOTA);
    judge_in(*state, "many", "3", REASON_TAINT);
    judge_in(*state, "none", "4", FITS);
    struct observed_report report = observed_report(*state, NULL, arena);
    assert_int_equal(report.n_namespaces, 3);
    assert_string_equal(report.namespaces[0].name, "many");
    assert_string_equal(report.namespaces[1].name, "few");
    report = observed_report(*state, "many", arena);
    assert_int_equal(report.n_namespaces, 1);
    assert_int_equal(report.all.refused, 2);
    assert_int_equal(report.n_examples, 2);
    assert_string_equal(report.examples[0].uid, "3");
    report = observed_report(*state, "no such", arena);
    assert_int_equal(report.all.judged + (int64_t)report.n_namespaces, 0);
    arena_free(arena);
}

/* What is kept about nodes of the oldest pods gives way, so they settle as unknown. */
static void test_details_are_bounded(void **state)
{
    const size_t n = OBSERVED_DETAIL_BYTES / sizeof(uint64_t) / 2;
    struct hashed_text *names = MEM_ARRAY(struct hashed_text, n);
    enum reason *verdicts = MEM_ARRAY(enum reason, n);
    for (size_t i = 0; i < n; i++) {
        names[i] = hash_of_text("b");
        verdicts[i] = REASON_TAINT;
    }
    verdicts[0] = FITS;
    names[0] = hash_of_text("a");
    static const char *const UIDS[] = {"1", "2", "3"};
    for (size_t i = 0; i < 3; i++) {
        const struct observed_judgement judgement = {.namespace_ = "ml",
                                                     .name = "p",
                                                     .uid = UIDS[i],
                                                     .names = names,
                                                     .verdicts = verdicts,
                                                     .n_names = n,
                                                     .refusal = FITS};
        observed_judge(*state, &judgement, 1);
    }
    observed_rank(*state, "1", &names[0].text, 1); /* too late */
    for (size_t i = 0; i < 3; i++)
        observed_settle(*state, UIDS[i], "b");
    assert_sums(*state, "3 judged, 0 refused, 2 elsewhere, 0 as judged, 0 waiting, 1 unknown");
    free(names);
    free(verdicts);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_refusal_counts_once_per_pod_and_reason),
        TEST(test_pods_are_settled_by_the_node_of_the_watch),
        TEST(test_the_last_judgement_counts),
        TEST(test_pods_that_vanish_are_unknown),
        TEST(test_rows_are_bounded_and_sums_stay),
        TEST(test_namespaces_are_bounded),
        TEST(test_one_namespace_and_the_order_of_all),
        TEST(test_details_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
