/* repeats: when a pod that was refused is to be asked about once more. */
#include "extender/repeats.h"
#include "unit.h"

#include <stdio.h>

#define BEGIN_MS 1000

static int set_up(void **state)
{
    *state = repeats_new();
    return 0;
}

static int tear_down(void **state)
{
    repeats_free(*state);
    return 0;
}

static void test_the_same_question_to_the_same_ledger(void **state)
{
    assert_false(repeats_is_one(*state, "u-1", "7", 40, BEGIN_MS));
    assert_false(repeats_is_one(*state, "u-1", "8", 40, BEGIN_MS)); /* the pod is another */
    assert_false(repeats_is_one(*state, "u-1", "8", 41, BEGIN_MS)); /* so is the ledger */
    assert_false(repeats_is_one(*state, "u-2", "8", 41, BEGIN_MS));
    assert_true(repeats_is_one(*state, "u-1", "8", 41, BEGIN_MS));
    assert_true(repeats_is_one(*state, "u-2", "8", 41, BEGIN_MS));
}

static void test_who_does_not_say_who_it_is_is_refused(void **state)
{
    for (size_t i = 0; i < 3; i++) {
        assert_false(repeats_is_one(*state, "", "7", 40, BEGIN_MS));
        assert_false(repeats_is_one(*state, "u-1", "", 40, BEGIN_MS));
    }
}

/* Whatever becomes of the pod and of the ledger meanwhile. */
static void test_gaps_grow(void **state)
{
    static const int64_t GAPS_MS[] = {2000,  4000,   8000,   16000,  32000,
                                      64000, 128000, 256000, 300000, 300000};
    int64_t now_ms = BEGIN_MS;
    assert_false(repeats_is_one(*state, "u-1", "7", 40, now_ms));
    assert_true(repeats_is_one(*state, "u-1", "7", 40, now_ms));
    for (size_t i = 0; i < sizeof GAPS_MS / sizeof *GAPS_MS; i++) {
        assert_false(repeats_is_one(*state, "u-1", "8", 41, now_ms));
        assert_false(repeats_is_one(*state, "u-1", "8", 41, now_ms + GAPS_MS[i] - 1));
        now_ms += GAPS_MS[i];
        assert_false(repeats_is_one(*state, "u-1", "9", 41, now_ms));
        assert_true(repeats_is_one(*state, "u-1", "9", 41, now_ms));
    }
}

/* Its place was another's meanwhile, whose gap is not its own. */
static void test_who_was_forgotten_begins_anew(void **state)
{
    assert_false(repeats_is_one(*state, "u-1", "7", 40, BEGIN_MS));
    assert_true(repeats_is_one(*state, "u-1", "7", 40, BEGIN_MS));
    for (size_t i = 0; i < 32 * REPEATS_MAX; i++) {
        char uid[32];
        (void)snprintf(uid, sizeof uid, "other-%zu", i);
        assert_false(repeats_is_one(*state, uid, "7", 40, BEGIN_MS));
    }
    assert_false(repeats_is_one(*state, "u-1", "7", 40, BEGIN_MS));
    assert_true(repeats_is_one(*state, "u-1", "7", 40, BEGIN_MS));
    assert_false(repeats_is_one(*state, "u-1", "7", 40, BEGIN_MS));
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_the_same_question_to_the_same_ledger),
        TEST(test_who_does_not_say_who_it_is_is_refused),
        TEST(test_gaps_grow),
        TEST(test_who_was_forgotten_begins_anew),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
