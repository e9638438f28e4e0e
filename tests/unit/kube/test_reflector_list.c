/* What a reflector asks for and takes over by LIST: pages, what is gone, and every way it fails. */
#include "rig.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

static void pages_are_asked_for_one_after_another(void **state)
{
    struct rig rig;
    (void)state;
    rig_init(&rig, "status.phase%21%3DFailed");
    assert_false(rig.status.synced);
    rig_expect_request(&rig, "/api/v1/pods?limit=500&fieldSelector=status.phase%21%3DFailed");
    assert_int_equal(rig.request.timeout_ms, 30000);
    assert_int_equal(rig.request.idle_ms, 30000);
    assert_false(rig.request.fresh);
    assert_int_equal(rig.status.relists[RELIST_START], 1);
    rig_answer_list(&rig, "100", "ab", "a+/=&?c");
    assert_false(rig.status.synced);
    rig_expect_request(&rig, "/api/v1/pods?limit=500&fieldSelector=status.phase%21%3DFailed"
                             "&continue=a%2B%2F%3D%26%3Fc");
    rig.now_ms += 70;
    rig_answer_list(&rig, "100", "c", "");
    assert_true(rig.status.synced);
    assert_string_equal(rig.why, "");
    assert_int_equal(rig.status.fresh_ms, 1070);
    assert_string_equal(rig_names(&rig), "abc");
    assert_int_equal(rig.status.relists[RELIST_START], 1);
    rig_expect_request(&rig, "/api/v1/pods?watch=true&resourceVersion=100&allowWatchBookmarks=true"
                             "&timeoutSeconds=...");
    assert_non_null(strstr(rig.path, "&fieldSelector=status.phase%21%3DFailed"));
    rig_fini(&rig);
}

static void a_watch_lasts_from_five_to_ten_minutes(void **state)
{
    struct rig rig;
    long lasts[2];
    (void)state;
    rig_begin(&rig);
    for (int i = 0; i < 2; i++) {
        const char *at = strstr(rig.path, "timeoutSeconds=");
        assert_non_null(at);
        lasts[i] = at ? strtol(at + strlen("timeoutSeconds="), NULL, 10) : 0;
        assert_in_range(lasts[i], 300, 600);
        rig.now_ms += 5000;
        rig_end(&rig, KUBE_ANSWERED);
        rig_expect_request(&rig, RIG_WATCH("100"));
        assert_in_range(rig.request.timeout_ms, 10000, 30000);
        assert_int_equal(rig.request.idle_ms, 0);
        rig_head(&rig, 200);
    }
    assert_int_not_equal(lasts[0], lasts[1]);
    rig_fini(&rig);
}

static void what_a_relist_does_not_name_is_gone(void **state)
{
    struct rig rig;
    (void)state;
    rig_begin(&rig);
    rig.now_ms += 1000;
    rig_event(&rig, "ADDED", 'c', "101");
    rig_bytes(&rig, "no event");
    rig_expect_cancel(&rig);
    rig_expect_wait(&rig, 800, 1600);
    rig_expect_request(&rig, RIG_LIST);
    rig_answer_list(&rig, "200", "b", "next");
    assert_string_equal(rig_names(&rig), "abc");
    rig_expect_request(&rig, RIG_LIST "&continue=next");
    rig_answer_list(&rig, "200", "d", "");
    assert_string_equal(rig_names(&rig), "bd");
    rig_expect_request(&rig, RIG_WATCH("200"));
    rig_fini(&rig);
}

static void an_empty_list_is_a_list(void **state)
{
    static const char *const EMPTY[] = {
        "{\"kind\":\"PodList\",\"metadata\":{\"resourceVersion\":\"7\"},\"items\":[]}",
        "{\"kind\":\"PodList\",\"metadata\":{\"resourceVersion\":\"7\"},\"items\":null}",
        "{\"items\":[],\"metadata\":{\"resourceVersion\":\"7\"},\"kind\":\"PodList\"}",
    };
    (void)state;
    for (size_t i = 0; i < sizeof EMPTY / sizeof *EMPTY; i++) {
        struct rig rig;
        rig_init(&rig, NULL);
        rig_expect_request(&rig, RIG_LIST);
        rig_answer(&rig, 200, EMPTY[i]);
        assert_true(rig.status.synced);
        rig_expect_request(&rig, RIG_WATCH("7"));
        rig_fini(&rig);
    }
}

static void a_page_that_is_gone_begins_the_list_anew(void **state)
{
    struct rig rig;
    (void)state;
    rig_init(&rig, NULL);
    rig_expect_request(&rig, RIG_LIST);
    rig_answer_list(&rig, "100", "ab", "next");
    rig_expect_request(&rig, RIG_LIST "&continue=next");
    rig_answer(&rig, 410, "{\"kind\":\"Status\",\"message\":\"too old\"}");
    rig_expect_wait(&rig, 800, 1600);
    rig_expect_request(&rig, RIG_LIST);
    assert_int_equal(rig.status.relists[RELIST_PAGE_GONE], 1);
    rig_answer_list(&rig, "200", "bc", "");
    assert_string_equal(rig_names(&rig), "bc");
    rig_expect_request(&rig, RIG_WATCH("200"));
    rig_fini(&rig);
}

/* However long ago the last one was: it is not the watch that is too old. */
static void a_list_that_is_gone_backs_off(void **state)
{
    struct rig rig;
    (void)state;
    rig_init(&rig, NULL);
    rig_expect_request(&rig, RIG_LIST);
    rig.now_ms += 200000;
    rig_answer(&rig, 410, "");
    rig_expect_wait(&rig, 800, 1600);
    rig_expect_request(&rig, RIG_LIST);
    assert_int_equal(rig.status.relists[RELIST_FAILED], 1);
    rig_fini(&rig);
}

static void a_page_that_is_refused_for_now_is_asked_for_again(void **state)
{
    struct rig rig;
    (void)state;
    rig_init(&rig, NULL);
    rig_expect_request(&rig, RIG_LIST);
    rig_answer_list(&rig, "100", "ab", "next");
    rig_expect_request(&rig, RIG_LIST "&continue=next");
    rig_refuse(&rig, 429, 17, "slowly");
    assert_string_equal(rig.why, "GET /api/v1/pods: 429: slowly");
    rig_expect_wait(&rig, 17000, 17000);
    rig_expect_request(&rig, RIG_LIST "&continue=next");
    rig_answer_list(&rig, "100", "c", "");
    assert_string_equal(rig_names(&rig), "abc");
    assert_int_equal(rig.status.relists[RELIST_FAILED], 0);
    rig_fini(&rig);
}

static void a_list_that_is_cut_is_listed_again(void **state)
{
    struct rig rig;
    (void)state;
    rig_init(&rig, NULL);
    rig_expect_request(&rig, RIG_LIST);
    rig_answer_list(&rig, "100", "ab", "next");
    rig_expect_request(&rig, RIG_LIST "&continue=next");
    rig_head(&rig, 200);
    rig_bytes(&rig, "{\"kind\":\"PodList\",\"items\":[{\"metadata\":{\"name\":\"c\"}},{\"meta");
    rig_end(&rig, KUBE_UNKNOWN);
    assert_false(rig.status.synced);
    assert_string_equal(rig.why, "GET /api/v1/pods: connection reset by peer");
    assert_int_equal(rig.status.trouble, TROUBLE_UNREACHABLE);
    rig_expect_wait(&rig, 800, 1600);
    rig_expect_request(&rig, RIG_LIST);
    assert_int_equal(rig.status.relists[RELIST_FAILED], 1);
    rig_answer_list(&rig, "200", "b", "");
    assert_string_equal(rig_names(&rig), "b");
    rig_fini(&rig);
}

/* A whole text is not enough: how the connection ended counts. */
static void a_whole_list_whose_connection_broke_is_cut(void **state)
{
    struct rig rig;
    (void)state;
    rig_init(&rig, NULL);
    rig_expect_request(&rig, RIG_LIST);
    rig_head(&rig, 200);
    rig_bytes(&rig, "{\"kind\":\"PodList\",\"metadata\":{\"resourceVersion\":\"7\"},\"items\":[]}");
    rig_end(&rig, KUBE_UNKNOWN);
    assert_false(rig.status.synced);
    rig_fini(&rig);
}

static void assert_garbage(const char *body, const char *why)
{
    struct rig rig;
    rig_init(&rig, NULL);
    rig_expect_request(&rig, RIG_LIST);
    rig_answer(&rig, 200, body);
    assert_false(rig.status.synced);
    assert_non_null(strstr(rig.why, why));
    assert_int_equal(rig.status.trouble, TROUBLE_FAILED);
    rig_expect_wait(&rig, 800, 1600);
    rig_expect_request(&rig, RIG_LIST);
    assert_int_equal(rig.status.relists[RELIST_GARBAGE], 1);
    rig_fini(&rig);
}

static void what_is_no_list_is_garbage(void **state)
{
    (void)state;
    assert_garbage("<html>sign in</html>", "GET /api/v1/pods: 1:1: ");
    assert_garbage("", "the text is empty");
    assert_garbage("{\"kind\":\"PodList\",\"metadata\":{\"resourceVersion\":\"7\"},\"items\":[{"
                   "\"metadata\":{\"name\":\"a\"}}",
                   "GET /api/v1/pods: 1:");
    assert_garbage("{\"kind\":\"Status\",\"status\":\"Failure\"}",
                   "kind: is \"Status\", should be that of a list");
    assert_garbage("{\"kind\":\"Pod\",\"metadata\":{\"resourceVersion\":\"7\"},\"items\":[]}",
                   "kind: is \"Pod\"");
    assert_garbage("{\"metadata\":{\"resourceVersion\":\"7\"},\"items\":[]}", "kind: is \"\"");
    assert_garbage("{\"kind\":\"PodList\",\"metadata\":{\"resourceVersion\":\"7\"}}",
                   "items: is missing");
    assert_garbage("{\"kind\":\"PodList\",\"metadata\":{\"resourceVersion\":\"7\"},\"items\":{}}",
                   "items: is missing");
    assert_garbage("{\"kind\":\"PodList\",\"metadata\":{\"resourceVersion\":\"7\"},\"items\":[3]}",
                   "should be an object of the list");
    assert_garbage("{\"kind\":\"PodList\",\"metadata\":{},\"items\":[]}",
                   "metadata.resourceVersion: is missing");
    assert_garbage("{\"kind\":\"PodList\",\"metadata\":{\"resourceVersion\":\"0\"},\"items\":[]}",
                   "metadata.resourceVersion: is missing");
    assert_garbage("{\"kind\":\"PodList\",\"metadata\":{\"resourceVersion\":7},\"items\":[]}",
                   "resourceVersion: is the number 7");
    assert_garbage("{\"kind\":\"PodList\",\"metadata\":{\"resourceVersion\":\"7\"},\"items\":[]}{}",
                   "a second object");
}

static void what_is_no_list_is_dropped_before_its_end(void **state)
{
    struct rig rig;
    (void)state;
    rig_init(&rig, NULL);
    rig_expect_request(&rig, RIG_LIST);
    rig_head(&rig, 200);
    rig_bytes(&rig, "<html>");
    rig_bytes(&rig, "and so on, for ever");
    rig_expect_cancel(&rig);
    rig_expect_wait(&rig, 800, 1600);
    rig_fini(&rig);
}

static void a_page_that_leads_to_itself_is_garbage(void **state)
{
    struct rig rig;
    (void)state;
    rig_init(&rig, NULL);
    rig_expect_request(&rig, RIG_LIST);
    rig_answer_list(&rig, "100", "a", "next");
    rig_expect_request(&rig, RIG_LIST "&continue=next");
    rig_answer_list(&rig, "100", "b", "next");
    rig_expect_wait(&rig, 800, 1600);
    rig_expect_request(&rig, RIG_LIST);
    assert_int_equal(rig.status.relists[RELIST_GARBAGE], 1);
    rig_fini(&rig);
}

static void an_object_that_is_too_large_is_told_by_its_name(void **state)
{
    struct rig rig;
    (void)state;
    rig_init(&rig, NULL);
    rig_expect_request(&rig, RIG_LIST);
    rig_head(&rig, 200);
    rig_bytes(&rig,
              "{\"kind\":\"PodList\",\"metadata\":{\"resourceVersion\":\"7\"},\"items\":["
              "{\"metadata\":{\"name\":\"a\"}},{\"metadata\":{\"name\":\"b\"},\"spec\":{\"x\":\"");
    rig_many_bytes(&rig, 2 * RIG_OBJECT_MAX);
    rig_bytes(&rig, "\"}},{\"metadata\":{\"name\":\"c\"}}]}");
    rig_end(&rig, KUBE_ANSWERED);
    rig_expect_request(&rig, RIG_WATCH("7"));
    assert_string_equal(rig_names(&rig), "abc");
    assert_int_equal(rig.n_too_large, 1);
    rig_fini(&rig);
}

static void what_is_too_large_and_no_object_ends_the_list_and_is_told(void **state)
{
    struct rig rig;
    int64_t before_ms = 0;
    (void)state;
    rig_init(&rig, NULL);
    for (int i = 0; i < 8; i++) {
        rig_expect_request(&rig, RIG_LIST);
        rig_head(&rig, 200);
        rig_bytes(&rig,
                  "{\"kind\":\"PodList\",\"metadata\":{\"resourceVersion\":\"7\"},\"items\":[\"");
        rig_many_bytes(&rig, 2 * RIG_OBJECT_MAX);
        rig_expect_cancel(&rig);
        assert_non_null(strstr(rig.why, "the object that begins here is larger than 2000 bytes"));
        before_ms = rig.now_ms;
        rig_expect_wait(&rig, 800, 60000);
    }
    assert_true(rig.now_ms - before_ms >= 30000);
    rig_fini(&rig);
}

static void a_refusal_is_told_in_one_short_printable_line(void **state)
{
    struct rig rig;
    (void)state;
    rig_init(&rig, NULL);
    rig_expect_request(&rig, RIG_LIST);
    rig_answer(
        &rig, 403,
        "{\"kind\":\"Status\",\"code\":403,\"message\":\"pods is forbidden:\\nUser \\\"x\\\" "
        "cannot list\\u0007\"}");
    assert_string_equal(rig.why,
                        "GET /api/v1/pods: 403: pods is forbidden: User \"x\" cannot list?");
    assert_int_equal(rig.status.trouble, TROUBLE_REFUSED);
    rig_expect_wait(&rig, 800, 1600);
    rig_expect_request(&rig, RIG_LIST);
    assert_int_equal(rig.status.relists[RELIST_FAILED], 1);
    rig_answer(&rig, 401, "");
    assert_string_equal(rig.why, "GET /api/v1/pods: 401");
    rig_expect_wait(&rig, 1600, 3200);
    rig_expect_request(&rig, RIG_LIST);
    rig_head(&rig, 404);
    rig_many_bytes(&rig, 1000);
    rig_end(&rig, KUBE_ANSWERED);
    assert_int_equal(strlen(rig.why), strlen("GET /api/v1/pods: 404: ") + 200);
    assert_int_equal(rig.status.trouble, TROUBLE_FAILED);
    rig_fini(&rig);
}

static void a_token_that_is_refused_is_told_before_the_answer(void **state)
{
    struct rig rig;
    (void)state;
    rig_init(&rig, NULL);
    rig_expect_request(&rig, RIG_LIST);
    reflector_refused(rig.reflector, "the API server refused the token of /token");
    assert_string_equal(rig.why,
                        "GET /api/v1/pods: 401: the API server refused the token of /token");
    assert_int_equal(rig.status.trouble, TROUBLE_REFUSED);
    assert_false(rig.status.synced);
    rig_expect_quiet(&rig, 10000);
    rig_answer_list(&rig, "100", "ab", "");
    assert_true(rig.status.synced);
    assert_null(rig.status.why);
    assert_int_equal(rig.status.trouble, TROUBLE_NONE);
    rig_fini(&rig);
}

static void of_a_long_error_the_beginning_is_told(void **state)
{
    struct rig rig;
    struct buf body;
    (void)state;
    buf_init(&body, 20000);
    rig_init(&rig, NULL);
    rig_expect_request(&rig, RIG_LIST);
    buf_printf(&body, "overloaded %9000s", "");
    rig_answer(&rig, 503, buf_text(&body));
    assert_int_equal(0, strncmp(rig.why, "GET /api/v1/pods: 503: overloaded", 33));
    buf_fini(&body);
    rig_fini(&rig);
}

static void an_error_that_never_ends_is_not_read_to_its_end(void **state)
{
    struct rig rig;
    (void)state;
    rig_init(&rig, NULL);
    rig_expect_request(&rig, RIG_LIST);
    rig_head(&rig, 500);
    rig_many_bytes(&rig, 10000);
    rig_expect_cancel(&rig);
    assert_non_null(strstr(rig.why, "500: xxx"));
    rig_expect_wait(&rig, 800, 1600);
    rig_expect_request(&rig, RIG_LIST);
    rig_head(&rig, 500);
    rig_expect_wait(&rig, 5000, 5000);
    rig_expect_cancel(&rig);
    rig_expect_wait(&rig, 1600, 3200);
    rig_fini(&rig);
}

static void waiting_doubles_up_to_half_a_minute_and_is_forgotten(void **state)
{
    static const int64_t STEPS_MS[] = {800, 1600, 3200, 6400, 12800, 25600, 30000, 30000};
    struct rig rig;
    (void)state;
    rig_init(&rig, NULL);
    for (size_t i = 0; i < sizeof STEPS_MS / sizeof *STEPS_MS; i++) {
        rig_expect_request(&rig, RIG_LIST);
        rig_end(&rig, KUBE_NOT_SENT);
        rig_expect_wait(&rig, STEPS_MS[i], 2 * STEPS_MS[i]);
    }
    rig_expect_request(&rig, RIG_LIST);
    rig.now_ms += 120000;
    rig_end(&rig, KUBE_NOT_SENT);
    rig_expect_wait(&rig, 800, 1600);
    rig_fini(&rig);
}

/* Not all reflectors of the world come back at the same moment; a test's always does. */
static void how_long_it_waits_follows_from_the_seed(void **state)
{
    static const uint64_t SEEDS[] = {1, 1, 2};
    int64_t waited_ms[3];
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct rig rig;
        rig_init_seeded(&rig, NULL, SEEDS[i]);
        rig_expect_request(&rig, RIG_LIST);
        rig_end(&rig, KUBE_NOT_SENT);
        waited_ms[i] = -rig.now_ms;
        rig_expect_wait(&rig, 800, 1600);
        waited_ms[i] += rig.now_ms;
        rig_fini(&rig);
    }
    assert_int_equal(waited_ms[0], waited_ms[1]);
    assert_int_not_equal(waited_ms[0], waited_ms[2]);
}

static void retry_after_is_kept_unless_it_is_absurd(void **state)
{
    struct rig rig;
    (void)state;
    rig_init(&rig, NULL);
    rig_expect_request(&rig, RIG_LIST);
    rig_refuse(&rig, 503, 40, "");
    rig_expect_wait(&rig, 40000, 40000);
    rig_expect_request(&rig, RIG_LIST);
    rig_refuse(&rig, 503, 1, "");
    rig_expect_wait(&rig, 1600, 3200);
    rig_expect_request(&rig, RIG_LIST);
    rig_refuse(&rig, 503, INT64_MAX, "");
    rig_expect_wait(&rig, 300000, 300000);
    rig_fini(&rig);
}

static void after_a_time_out_the_connection_is_another(void **state)
{
    struct rig rig;
    (void)state;
    rig_init(&rig, NULL);
    rig_expect_request(&rig, RIG_LIST);
    rig.now_ms += 29999;
    rig_end(&rig, KUBE_UNKNOWN);
    rig_expect_wait(&rig, 800, 1600);
    rig_expect_request(&rig, RIG_LIST);
    assert_false(rig.request.fresh);
    rig.now_ms += 30000;
    rig_end(&rig, KUBE_UNKNOWN);
    rig_expect_wait(&rig, 1600, 3200);
    rig_expect_request(&rig, RIG_LIST);
    assert_true(rig.request.fresh);
    rig_head(&rig, 200);
    rig.now_ms += 30000;
    rig_end(&rig, KUBE_UNKNOWN);
    rig_expect_wait(&rig, 3200, 6400);
    rig_expect_request(&rig, RIG_LIST);
    assert_true(rig.request.fresh);
    rig_end(&rig, KUBE_NOT_SENT);
    rig_expect_wait(&rig, 6400, 12800);
    rig_expect_request(&rig, RIG_LIST);
    assert_false(rig.request.fresh);
    rig_fini(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pages_are_asked_for_one_after_another),
        cmocka_unit_test(a_watch_lasts_from_five_to_ten_minutes),
        cmocka_unit_test(what_a_relist_does_not_name_is_gone),
        cmocka_unit_test(an_empty_list_is_a_list),
        cmocka_unit_test(a_page_that_is_gone_begins_the_list_anew),
        cmocka_unit_test(a_list_that_is_gone_backs_off),
        cmocka_unit_test(a_page_that_is_refused_for_now_is_asked_for_again),
        cmocka_unit_test(a_list_that_is_cut_is_listed_again),
        cmocka_unit_test(a_whole_list_whose_connection_broke_is_cut),
        cmocka_unit_test(what_is_no_list_is_garbage),
        cmocka_unit_test(what_is_no_list_is_dropped_before_its_end),
        cmocka_unit_test(a_page_that_leads_to_itself_is_garbage),
        cmocka_unit_test(an_object_that_is_too_large_is_told_by_its_name),
        cmocka_unit_test(what_is_too_large_and_no_object_ends_the_list_and_is_told),
        cmocka_unit_test(a_refusal_is_told_in_one_short_printable_line),
        cmocka_unit_test(a_token_that_is_refused_is_told_before_the_answer),
        cmocka_unit_test(of_a_long_error_the_beginning_is_told),
        cmocka_unit_test(an_error_that_never_ends_is_not_read_to_its_end),
        cmocka_unit_test(waiting_doubles_up_to_half_a_minute_and_is_forgotten),
        cmocka_unit_test(how_long_it_waits_follows_from_the_seed),
        cmocka_unit_test(retry_after_is_kept_unless_it_is_absurd),
        cmocka_unit_test(after_a_time_out_the_connection_is_another),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
