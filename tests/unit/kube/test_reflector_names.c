/* The names that metrics and log lines give to what a reflector does: each there, no two alike. */
#include "kube/reflector.h"
#include "unit.h"

static void causes_have_names_of_their_own(void **state)
{
    (void)state;
    for (int i = 0; i < N_RELIST_CAUSES; i++) {
        assert_non_null(reflector_cause_name((enum relist_cause)i));
        for (int j = 0; j < i; j++)
            assert_string_not_equal(reflector_cause_name((enum relist_cause)i),
                                    reflector_cause_name((enum relist_cause)j));
    }
}

static void events_have_names_of_their_own(void **state)
{
    (void)state;
    for (int i = 0; i < N_WATCH_EVENTS; i++) {
        assert_non_null(reflector_event_name((enum watch_event)i));
        for (int j = 0; j < i; j++)
            assert_string_not_equal(reflector_event_name((enum watch_event)i),
                                    reflector_event_name((enum watch_event)j));
    }
}

static void troubles_have_names_of_their_own(void **state)
{
    (void)state;
    for (int i = 0; i < N_TROUBLES; i++) {
        assert_non_null(reflector_trouble_name((enum reflector_trouble)i));
        for (int j = 0; j < i; j++)
            assert_string_not_equal(reflector_trouble_name((enum reflector_trouble)i),
                                    reflector_trouble_name((enum reflector_trouble)j));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(causes_have_names_of_their_own),
        cmocka_unit_test(events_have_names_of_their_own),
        cmocka_unit_test(troubles_have_names_of_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
