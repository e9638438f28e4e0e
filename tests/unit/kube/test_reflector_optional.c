/* A kind that not every API server has: nothing of it is no fault. */
#include "rig.h"
#include "unit.h"

#include <string.h>

static void what_the_server_does_not_know_is_an_empty_list(void **state)
{
    struct rig rig;
    (void)state;
    rig_init_optional(&rig);
    rig_expect_request(&rig, RIG_LIST);
    rig_answer(&rig, 404, "404 page not found\n");
    assert_true(rig.status.synced);
    assert_string_equal(rig.why, "");
    assert_int_equal(rig.status.fresh_ms, rig.now_ms);
    for (int i = 0; i < 5; i++) {
        rig_expect_wait(&rig, RIG_SILENCE_MS / 2, RIG_SILENCE_MS / 2);
        rig_expect_request(&rig, RIG_LIST);
        rig_answer(&rig, 404, "404 page not found\n");
        assert_false(rig.status.stale);
    }
    assert_int_equal(rig.status.relists[RELIST_START], 1);
    rig_expect_wait(&rig, RIG_SILENCE_MS / 2, RIG_SILENCE_MS / 2);
    rig_expect_request(&rig, RIG_LIST);
    rig_answer_list(&rig, "100", "ab", "");
    rig_expect_request(&rig, RIG_WATCH("100"));
    rig_refuse(&rig, 404, -1, "{}");
    assert_string_equal(rig_names(&rig), "");
    rig_fini(&rig);
}

static void only_what_may_be_unknown_is_empty_then(void **state)
{
    struct rig rig;
    (void)state;
    rig_init(&rig, NULL);
    rig_expect_request(&rig, RIG_LIST);
    rig_answer(&rig, 404, "404 page not found\n");
    assert_false(rig.status.synced);
    assert_non_null(strstr(rig.why, "404"));
    rig_fini(&rig);
    rig_init_optional(&rig);
    rig_expect_request(&rig, RIG_LIST);
    rig_answer(&rig, 403, "{}");
    assert_false(rig.status.synced);
    assert_non_null(strstr(rig.why, "403"));
    rig_fini(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_the_server_does_not_know_is_an_empty_list),
        cmocka_unit_test(only_what_may_be_unknown_is_empty_then),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
