/* How far behind the API server the store may be: it has caught up when nothing of the watch is
 * unread, and an event alone shows nothing of the kind. */
#include "rig.h"
#include "unit.h"

static int64_t lag_ms(const struct rig *rig)
{
    return reflector_lag_ms(rig->lag_since_ms, rig->now_ms);
}

static void drain(struct rig *rig)
{
    reflector_drained(rig->reflector, rig->now_ms);
}

static void unread_event(struct rig *rig, const char *version)
{
    char text[200];
    (void)snprintf(text, sizeof text,
                   "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"c\","
                   "\"resourceVersion\":\"%s\"}}}\n",
                   version);
    rig_bytes_before_others(rig, text);
}

static void a_flood_makes_it_lag_though_events_are_taken(void **state)
{
    struct rig rig;
    (void)state;
    rig_begin(&rig);
    drain(&rig);
    const int64_t fresh_ms = rig.status.fresh_ms;
    for (int i = 0; i < 20; i++) {
        rig.now_ms += 1000;
        unread_event(&rig, "101");
    }
    assert_int_equal(lag_ms(&rig), 20000);
    assert_int_equal(rig.status.fresh_ms, fresh_ms);
    drain(&rig);
    assert_int_equal(lag_ms(&rig), 0);
    assert_int_equal(rig.status.fresh_ms, rig.now_ms);
    rig_fini(&rig);
}

/* However long: that nothing comes is no lag, and no news either. */
static void a_quiet_watch_does_not_lag(void **state)
{
    struct rig rig;
    (void)state;
    rig_begin(&rig);
    const int64_t fresh_ms = rig.status.fresh_ms;
    for (int i = 0; i < 50; i++) {
        rig.now_ms += 1000;
        drain(&rig);
        assert_int_equal(lag_ms(&rig), 0);
    }
    assert_int_equal(rig.status.fresh_ms, fresh_ms);
    rig_fini(&rig);
}

static void versions_that_do_not_compare_do_not_matter(void **state)
{
    static const char *const VERSIONS[] = {"zz", "10", "x-9", "9"};
    struct rig rig;
    (void)state;
    rig_init(&rig, NULL);
    rig_expect_request(&rig, RIG_LIST);
    rig_answer_list(&rig, "opaque", "ab", "");
    rig_expect_request(&rig, RIG_WATCH("opaque"));
    rig_head(&rig, 200);
    for (size_t i = 0; i < sizeof VERSIONS / sizeof *VERSIONS; i++) {
        rig.now_ms += 5000;
        rig_event(&rig, "ADDED", 'c', VERSIONS[i]);
        assert_int_equal(lag_ms(&rig), 0);
        assert_int_equal(rig.status.fresh_ms, rig.now_ms);
    }
    rig_fini(&rig);
}

/* The socket is empty again and again, but what was begun has not been said. */
static void half_an_event_is_unread(void **state)
{
    struct rig rig;
    (void)state;
    rig_begin(&rig);
    drain(&rig);
    rig_bytes(&rig, "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"");
    for (int i = 0; i < 30; i++) {
        rig.now_ms += 1000;
        rig_bytes(&rig, "c");
    }
    assert_int_equal(lag_ms(&rig), 30000);
    rig_bytes(&rig, "\",\"resourceVersion\":\"101\"}}}");
    assert_int_equal(lag_ms(&rig), 0);
    rig_fini(&rig);
}

static void white_space_is_no_event(void **state)
{
    struct rig rig;
    (void)state;
    rig_begin(&rig);
    for (int i = 0; i < 30; i++) {
        rig.now_ms += 1000;
        rig_bytes(&rig, "\n");
    }
    assert_int_equal(lag_ms(&rig), 0);
    rig_fini(&rig);
}

/* Cutting the watch hides no backlog; and while there is no watch, silence_ms judges. */
static void it_stands_still_while_no_watch_is_open(void **state)
{
    struct rig rig;
    (void)state;
    rig_begin(&rig);
    drain(&rig);
    for (int i = 0; i < 4; i++) {
        rig.now_ms += 1000;
        unread_event(&rig, "101");
    }
    rig_end(&rig, KUBE_ANSWERED);
    rig.now_ms += 9000;
    assert_int_equal(lag_ms(&rig), 4000);
    rig_expect_request(&rig, RIG_WATCH("101"));
    assert_int_equal(lag_ms(&rig), 4000);
    rig_head(&rig, 200);
    rig.now_ms += 1000;
    unread_event(&rig, "102");
    assert_int_equal(lag_ms(&rig), 5000);
    drain(&rig);
    assert_int_equal(lag_ms(&rig), 0);
    rig_fini(&rig);
}

static void listed_in(struct rig *rig, int64_t ms)
{
    rig_expect_request(rig, RIG_LIST);
    rig->now_ms += ms;
    rig_answer_list(rig, "100", "ab", "");
}

static void after_the_first_list_it_is_what_the_list_took(void **state)
{
    struct rig rig;
    (void)state;
    rig_init(&rig, NULL);
    listed_in(&rig, 12000);
    assert_int_equal(lag_ms(&rig), 12000);
    rig_expect_request(&rig, RIG_WATCH("100"));
    rig_head(&rig, 200);
    assert_int_equal(lag_ms(&rig), 12000);
    drain(&rig);
    assert_int_equal(lag_ms(&rig), 0);
    rig_fini(&rig);
}

static void a_later_list_ends_it(void **state)
{
    struct rig rig;
    (void)state;
    rig_begin(&rig);
    drain(&rig);
    rig.now_ms += 5000;
    unread_event(&rig, "101");
    rig_bytes_before_others(&rig, "{\"type\":\"ERROR\",\"object\":{\"code\":410,"
                                  "\"reason\":\"Expired\"}}");
    rig_expect_cancel(&rig);
    rig.now_ms += 30000; /* the last list was long ago, or this one waits */
    listed_in(&rig, 20000);
    assert_int_equal(lag_ms(&rig), 0);
    rig_fini(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_flood_makes_it_lag_though_events_are_taken),
        cmocka_unit_test(a_quiet_watch_does_not_lag),
        cmocka_unit_test(versions_that_do_not_compare_do_not_matter),
        cmocka_unit_test(half_an_event_is_unread),
        cmocka_unit_test(white_space_is_no_event),
        cmocka_unit_test(it_stands_still_while_no_watch_is_open),
        cmocka_unit_test(after_the_first_list_it_is_what_the_list_took),
        cmocka_unit_test(a_later_list_ends_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
