/* A reflector's LIST: pages, deletions, and every way to fail. */
#include "harness.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

static void pages_are_requested_one_after_another(void **state)
{
    struct harness *harness = *state;
    harness_init(harness, "status.phase%21%3DFailed");
    assert_false(harness->status.synced);
    harness_expect_request(harness,
                           "/api/v1/pods?limit=500&fieldSelector=status.phase%21%3DFailed");
    assert_int_equal(harness->request.timeout_ms, 30000);
    assert_int_equal(harness->request.idle_ms, 30000);
    assert_false(harness->request.fresh);
    assert_int_equal(harness->status.relists[RELIST_START], 1);
    harness_answer_list(harness, "100", "ab", "a+/=&?c");
    assert_false(harness->status.synced);
    harness_expect_request(harness, "/api/v1/pods?limit=500&fieldSelector=status.phase%21%3DFailed"
                                    "&continue=a%2B%2F%3D%26%3Fc");
    harness->now_ms += 70;
    harness_answer_list(harness, "100", "c", "");
    assert_true(harness->status.synced);
    assert_string_equal(harness->why, "");
    assert_int_equal(harness->status.fresh_ms, 1070);
    assert_string_equal(harness_names(harness), "abc");
    assert_int_equal(harness->status.relists[RELIST_START], 1);
    harness_expect_request(harness,
                           "/api/v1/pods?watch=true&resourceVersion=100&allowWatchBookmarks=true"
                           "&timeoutSeconds=...");
    assert_non_null(strstr(harness->path, "&fieldSelector=status.phase%21%3DFailed"));
}

static void a_watch_lasts_from_five_to_ten_minutes(void **state)
{
    struct harness *harness = *state;
    long lasts[2];
    harness_begin(harness);
    for (int i = 0; i < 2; i++) {
        const char *at = strstr(harness->path, "timeoutSeconds=");
        assert_non_null(at);
        lasts[i] = at ? strtol(at + strlen("timeoutSeconds="), NULL, 10) : 0;
        assert_in_range(lasts[i], 300, 600);
        harness->now_ms += 5000;
        harness_end(harness, KUBE_ANSWERED);
        harness_expect_request(harness, HARNESS_WATCH("100"));
        assert_in_range(harness->request.timeout_ms, 10000, 30000);
        assert_int_equal(harness->request.idle_ms, 0);
        harness_head(harness, 200);
    }
    assert_int_not_equal(lasts[0], lasts[1]);
}

static void a_relist_removes_absent_objects(void **state)
{
    struct harness *harness = *state;
    harness_begin(harness);
    harness->now_ms += 1000;
    harness_event(harness, "ADDED", 'c', "101");
    harness_bytes(harness, "no event");
    harness_expect_cancel(harness);
    harness_expect_wait(harness, 800, 1600);
    harness_expect_request(harness, HARNESS_LIST);
    harness_answer_list(harness, "200", "b", "next");
    assert_string_equal(harness_names(harness), "abc");
    harness_expect_request(harness, HARNESS_LIST "&continue=next");
    harness_answer_list(harness, "200", "d", "");
    assert_string_equal(harness_names(harness), "bd");
    harness_expect_request(harness, HARNESS_WATCH("200"));
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
        struct harness harness;
        harness_init(&harness, NULL);
        harness_expect_request(&harness, HARNESS_LIST);
        harness_answer(&harness, 200, EMPTY[i]);
        assert_true(harness.status.synced);
        harness_expect_request(&harness, HARNESS_WATCH("7"));
        harness_fini(&harness);
    }
}

static void a_gone_page_restarts_the_list(void **state)
{
    struct harness *harness = *state;
    harness_init(harness, NULL);
    harness_expect_request(harness, HARNESS_LIST);
    harness_answer_list(harness, "100", "ab", "next");
    harness_expect_request(harness, HARNESS_LIST "&continue=next");
    harness_answer(harness, 410, "{\"kind\":\"Status\",\"message\":\"too old\"}");
    harness_expect_wait(harness, 800, 1600);
    harness_expect_request(harness, HARNESS_LIST);
    assert_int_equal(harness->status.relists[RELIST_PAGE_GONE], 1);
    harness_answer_list(harness, "200", "bc", "");
    assert_string_equal(harness_names(harness), "bc");
    harness_expect_request(harness, HARNESS_WATCH("200"));
}

/* However long ago the last list was: the watch is not too old. */
static void a_gone_list_backs_off(void **state)
{
    struct harness *harness = *state;
    harness_init(harness, NULL);
    harness_expect_request(harness, HARNESS_LIST);
    harness->now_ms += 200000;
    harness_answer(harness, 410, "");
    harness_expect_wait(harness, 800, 1600);
    harness_expect_request(harness, HARNESS_LIST);
    assert_int_equal(harness->status.relists[RELIST_FAILED], 1);
}

static void a_temporarily_rejected_page_is_requested_again(void **state)
{
    struct harness *harness = *state;
    harness_init(harness, NULL);
    harness_expect_request(harness, HARNESS_LIST);
    harness_answer_list(harness, "100", "ab", "next");
    harness_expect_request(harness, HARNESS_LIST "&continue=next");
    harness_refuse(harness, 429, 17, "slowly");
    assert_string_equal(harness->why, "GET /api/v1/pods: 429: slowly");
    harness_expect_wait(harness, 17000, 17000);
    harness_expect_request(harness, HARNESS_LIST "&continue=next");
    harness_answer_list(harness, "100", "c", "");
    assert_string_equal(harness_names(harness), "abc");
    assert_int_equal(harness->status.relists[RELIST_FAILED], 0);
}

static void a_cut_list_is_listed_again(void **state)
{
    struct harness *harness = *state;
    harness_init(harness, NULL);
    harness_expect_request(harness, HARNESS_LIST);
    harness_answer_list(harness, "100", "ab", "next");
    harness_expect_request(harness, HARNESS_LIST "&continue=next");
    harness_head(harness, 200);
    harness_bytes(harness,
                  "{\"kind\":\"PodList\",\"items\":[{\"metadata\":{\"name\":\"c\"}},{\"meta");
    harness_end(harness, KUBE_UNKNOWN);
    assert_false(harness->status.synced);
    assert_string_equal(harness->why, "GET /api/v1/pods: connection reset by peer");
    assert_int_equal(harness->status.trouble, TROUBLE_UNREACHABLE);
    harness_expect_wait(harness, 800, 1600);
    harness_expect_request(harness, HARNESS_LIST);
    assert_int_equal(harness->status.relists[RELIST_FAILED], 1);
    harness_answer_list(harness, "200", "b", "");
    assert_string_equal(harness_names(harness), "b");
}

/* A complete text is not enough: the connection's end counts. */
static void a_complete_list_on_a_broken_connection_counts_as_cut(void **state)
{
    struct harness *harness = *state;
    harness_init(harness, NULL);
    harness_expect_request(harness, HARNESS_LIST);
    harness_head(harness, 200);
    harness_bytes(harness,
                  "{\"kind\":\"PodList\",\"metadata\":{\"resourceVersion\":\"7\"},\"items\":[]}");
    harness_end(harness, KUBE_UNKNOWN);
    assert_false(harness->status.synced);
}

static void assert_garbage(const char *body, const char *why)
{
    struct harness harness;
    harness_init(&harness, NULL);
    harness_expect_request(&harness, HARNESS_LIST);
    harness_answer(&harness, 200, body);
    assert_false(harness.status.synced);
    assert_non_null(strstr(harness.why, why));
    assert_int_equal(harness.status.trouble, TROUBLE_FAILED);
    harness_expect_wait(&harness, 800, 1600);
    harness_expect_request(&harness, HARNESS_LIST);
    assert_int_equal(harness.status.relists[RELIST_GARBAGE], 1);
    harness_fini(&harness);
}

static void an_invalid_list_is_garbage(void **state)
{
    (void)state;
    assert_garbage("<html>sign in</html>", "GET /api/v1/pods: 1:1: ");
    assert_garbage("", "the text is empty");
    assert_garbage("{\"kind\":\"PodList\",\"metadata\":{\"resourceVersion\":\"7\"},\"items\":[{"
                   "\"metadata\":{\"name\":\"a\"}}",
                   "GET /api/v1/pods: 1:");
    assert_garbage("{\"kind\":\"Status\",\"status\":\"Failure\"}",
                   "kind: is \"Status\", should be a list's kind");
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

static void an_invalid_list_is_cancelled_early(void **state)
{
    struct harness *harness = *state;
    harness_init(harness, NULL);
    harness_expect_request(harness, HARNESS_LIST);
    harness_head(harness, 200);
    harness_bytes(harness, "<html>");
    harness_bytes(harness, "and so on, for ever");
    harness_expect_cancel(harness);
    harness_expect_wait(harness, 800, 1600);
}

static void a_page_that_leads_to_itself_is_garbage(void **state)
{
    struct harness *harness = *state;
    harness_init(harness, NULL);
    harness_expect_request(harness, HARNESS_LIST);
    harness_answer_list(harness, "100", "a", "next");
    harness_expect_request(harness, HARNESS_LIST "&continue=next");
    harness_answer_list(harness, "100", "b", "next");
    harness_expect_wait(harness, 800, 1600);
    harness_expect_request(harness, HARNESS_LIST);
    assert_int_equal(harness->status.relists[RELIST_GARBAGE], 1);
}

static void a_too_large_object_is_reported_by_name(void **state)
{
    struct harness *harness = *state;
    harness_init(harness, NULL);
    harness_expect_request(harness, HARNESS_LIST);
    harness_head(harness, 200);
    harness_bytes(
        harness,
        "{\"kind\":\"PodList\",\"metadata\":{\"resourceVersion\":\"7\"},\"items\":["
        "{\"metadata\":{\"name\":\"a\"}},{\"metadata\":{\"name\":\"b\"},\"spec\":{\"x\":\"");
    harness_many_bytes(harness, 2 * HARNESS_OBJECT_MAX);
    harness_bytes(harness, "\"}},{\"metadata\":{\"name\":\"c\"}}]}");
    harness_end(harness, KUBE_ANSWERED);
    harness_expect_request(harness, HARNESS_WATCH("7"));
    assert_string_equal(harness_names(harness), "abc");
    assert_int_equal(harness->n_too_large, 1);
}

static void a_too_large_non_object_ends_the_list(void **state)
{
    struct harness *harness = *state;
    int64_t before_ms = 0;
    harness_init(harness, NULL);
    for (int i = 0; i < 8; i++) {
        harness_expect_request(harness, HARNESS_LIST);
        harness_head(harness, 200);
        harness_bytes(
            harness,
            "{\"kind\":\"PodList\",\"metadata\":{\"resourceVersion\":\"7\"},\"items\":[\"");
        harness_many_bytes(harness, 2 * HARNESS_OBJECT_MAX);
        harness_expect_cancel(harness);
        assert_non_null(
            strstr(harness->why, "the object that begins here is larger than 2000 bytes"));
        before_ms = harness->now_ms;
        harness_expect_wait(harness, 800, 60000);
    }
    assert_true(harness->now_ms - before_ms >= 30000);
}

static void a_rejection_is_reported_in_one_short_printable_line(void **state)
{
    struct harness *harness = *state;
    harness_init(harness, NULL);
    harness_expect_request(harness, HARNESS_LIST);
    harness_answer(
        harness, 403,
        "{\"kind\":\"Status\",\"code\":403,\"message\":\"pods is forbidden:\\nUser \\\"x\\\" "
        "cannot list\\u0007\"}");
    assert_string_equal(harness->why,
                        "GET /api/v1/pods: 403: pods is forbidden: User \"x\" cannot list?");
    assert_int_equal(harness->status.trouble, TROUBLE_REFUSED);
    harness_expect_wait(harness, 800, 1600);
    harness_expect_request(harness, HARNESS_LIST);
    assert_int_equal(harness->status.relists[RELIST_FAILED], 1);
    harness_answer(harness, 401, "");
    assert_string_equal(harness->why, "GET /api/v1/pods: 401");
    harness_expect_wait(harness, 1600, 3200);
    harness_expect_request(harness, HARNESS_LIST);
    harness_head(harness, 404);
    harness_many_bytes(harness, 1000);
    harness_end(harness, KUBE_ANSWERED);
    assert_int_equal(strlen(harness->why), strlen("GET /api/v1/pods: 404: ") + 200);
    assert_int_equal(harness->status.trouble, TROUBLE_FAILED);
}

static void a_rejected_token_is_reported_before_the_answer(void **state)
{
    struct harness *harness = *state;
    harness_init(harness, NULL);
    harness_expect_request(harness, HARNESS_LIST);
    reflector_refused(harness->reflector, "the API server refused the token of /token");
    assert_string_equal(harness->why,
                        "GET /api/v1/pods: 401: the API server refused the token of /token");
    assert_int_equal(harness->status.trouble, TROUBLE_REFUSED);
    assert_false(harness->status.synced);
    harness_expect_quiet(harness, 10000);
    harness_answer_list(harness, "100", "ab", "");
    assert_true(harness->status.synced);
    assert_null(harness->status.why);
    assert_int_equal(harness->status.trouble, TROUBLE_NONE);
}

static void a_long_error_is_cut_to_its_beginning(void **state)
{
    struct harness *harness = *state;
    struct buf body;
    buf_init(&body, 20000);
    harness_init(harness, NULL);
    harness_expect_request(harness, HARNESS_LIST);
    buf_printf(&body, "overloaded %9000s", "");
    harness_answer(harness, 503, buf_text(&body));
    assert_int_equal(0, strncmp(harness->why, "GET /api/v1/pods: 503: overloaded", 33));
    buf_fini(&body);
}

static void an_endless_error_is_not_read_whole(void **state)
{
    struct harness *harness = *state;
    harness_init(harness, NULL);
    harness_expect_request(harness, HARNESS_LIST);
    harness_head(harness, 500);
    harness_many_bytes(harness, 10000);
    harness_expect_cancel(harness);
    assert_non_null(strstr(harness->why, "500: xxx"));
    harness_expect_wait(harness, 800, 1600);
    harness_expect_request(harness, HARNESS_LIST);
    harness_head(harness, 500);
    harness_expect_wait(harness, 5000, 5000);
    harness_expect_cancel(harness);
    harness_expect_wait(harness, 1600, 3200);
}

static void the_delay_doubles_up_to_half_a_minute_and_resets(void **state)
{
    static const int64_t STEPS_MS[] = {800, 1600, 3200, 6400, 12800, 25600, 30000, 30000};
    struct harness *harness = *state;
    harness_init(harness, NULL);
    for (size_t i = 0; i < sizeof STEPS_MS / sizeof *STEPS_MS; i++) {
        harness_expect_request(harness, HARNESS_LIST);
        harness_end(harness, KUBE_NOT_SENT);
        harness_expect_wait(harness, STEPS_MS[i], 2 * STEPS_MS[i]);
    }
    harness_expect_request(harness, HARNESS_LIST);
    harness->now_ms += 120000;
    harness_end(harness, KUBE_NOT_SENT);
    harness_expect_wait(harness, 800, 1600);
}

/* Reflectors must not all return at the same moment; in a test the time is fixed. */
static void the_delay_follows_from_the_seed(void **state)
{
    static const uint64_t SEEDS[] = {1, 1, 2};
    int64_t waited_ms[3];
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct harness harness;
        harness_init_seeded(&harness, NULL, SEEDS[i]);
        harness_expect_request(&harness, HARNESS_LIST);
        harness_end(&harness, KUBE_NOT_SENT);
        waited_ms[i] = -harness.now_ms;
        harness_expect_wait(&harness, 800, 1600);
        waited_ms[i] += harness.now_ms;
        harness_fini(&harness);
    }
    assert_int_equal(waited_ms[0], waited_ms[1]);
    assert_int_not_equal(waited_ms[0], waited_ms[2]);
}

static void retry_after_is_kept_unless_it_is_absurd(void **state)
{
    struct harness *harness = *state;
    harness_init(harness, NULL);
    harness_expect_request(harness, HARNESS_LIST);
    harness_refuse(harness, 503, 40, "");
    harness_expect_wait(harness, 40000, 40000);
    harness_expect_request(harness, HARNESS_LIST);
    harness_refuse(harness, 503, 1, "");
    harness_expect_wait(harness, 1600, 3200);
    harness_expect_request(harness, HARNESS_LIST);
    harness_refuse(harness, 503, INT64_MAX, "");
    harness_expect_wait(harness, 300000, 300000);
}

static void a_timeout_opens_a_new_connection(void **state)
{
    struct harness *harness = *state;
    harness_init(harness, NULL);
    harness_expect_request(harness, HARNESS_LIST);
    harness->now_ms += 29999;
    harness_end(harness, KUBE_UNKNOWN);
    harness_expect_wait(harness, 800, 1600);
    harness_expect_request(harness, HARNESS_LIST);
    assert_false(harness->request.fresh);
    harness->now_ms += 30000;
    harness_end(harness, KUBE_UNKNOWN);
    harness_expect_wait(harness, 1600, 3200);
    harness_expect_request(harness, HARNESS_LIST);
    assert_true(harness->request.fresh);
    harness_head(harness, 200);
    harness->now_ms += 30000;
    harness_end(harness, KUBE_UNKNOWN);
    harness_expect_wait(harness, 3200, 6400);
    harness_expect_request(harness, HARNESS_LIST);
    assert_true(harness->request.fresh);
    harness_end(harness, KUBE_NOT_SENT);
    harness_expect_wait(harness, 6400, 12800);
    harness_expect_request(harness, HARNESS_LIST);
    assert_false(harness->request.fresh);
}

/* ---- a kind that some API servers lack ---- */

static void an_unknown_kind_is_an_empty_list(void **state)
{
    struct harness *harness = *state;
    harness_init_optional(harness);
    harness_expect_request(harness, HARNESS_LIST);
    harness_answer(harness, 404, "404 page not found\n");
    assert_true(harness->status.synced);
    assert_string_equal(harness->why, "");
    assert_int_equal(harness->status.fresh_ms, harness->now_ms);
    for (int i = 0; i < 5; i++) {
        harness_expect_wait(harness, HARNESS_SILENCE_MS / 2, HARNESS_SILENCE_MS / 2);
        harness_expect_request(harness, HARNESS_LIST);
        harness_answer(harness, 404, "404 page not found\n");
        assert_false(harness->status.stale);
    }
    assert_int_equal(harness->status.relists[RELIST_START], 1);
    harness_expect_wait(harness, HARNESS_SILENCE_MS / 2, HARNESS_SILENCE_MS / 2);
    harness_expect_request(harness, HARNESS_LIST);
    harness_answer_list(harness, "100", "ab", "");
    harness_expect_request(harness, HARNESS_WATCH("100"));
    harness_refuse(harness, 404, -1, "{}");
    assert_string_equal(harness_names(harness), "");
}

static void an_unknown_kind_is_empty_though_the_answer_never_ends(void **state)
{
    struct harness *harness = *state;
    harness_init_optional(harness);
    harness_expect_request(harness, HARNESS_LIST);
    harness_head(harness, 404);
    harness_expect_wait(harness, 5000, 5000);
    harness_expect_cancel(harness);
    assert_true(harness->status.synced);
    assert_string_equal(harness->why, "");
    harness_expect_wait(harness, HARNESS_SILENCE_MS / 2, HARNESS_SILENCE_MS / 2);
    harness_expect_request(harness, HARNESS_LIST);
}

static void only_optional_kinds_may_be_unknown(void **state)
{
    struct harness harness;
    (void)state;
    harness_init(&harness, NULL);
    harness_expect_request(&harness, HARNESS_LIST);
    harness_answer(&harness, 404, "404 page not found\n");
    assert_false(harness.status.synced);
    assert_non_null(strstr(harness.why, "404"));
    harness_fini(&harness);
    harness_init_optional(&harness);
    harness_expect_request(&harness, HARNESS_LIST);
    harness_answer(&harness, 403, "{}");
    assert_false(harness.status.synced);
    assert_non_null(strstr(harness.why, "403"));
    harness_fini(&harness);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        HARNESS_TEST(pages_are_requested_one_after_another),
        HARNESS_TEST(a_watch_lasts_from_five_to_ten_minutes),
        HARNESS_TEST(a_relist_removes_absent_objects),
        cmocka_unit_test(an_empty_list_is_a_list),
        HARNESS_TEST(a_gone_page_restarts_the_list),
        HARNESS_TEST(a_gone_list_backs_off),
        HARNESS_TEST(a_temporarily_rejected_page_is_requested_again),
        HARNESS_TEST(a_cut_list_is_listed_again),
        HARNESS_TEST(a_complete_list_on_a_broken_connection_counts_as_cut),
        cmocka_unit_test(an_invalid_list_is_garbage),
        HARNESS_TEST(an_invalid_list_is_cancelled_early),
        HARNESS_TEST(a_page_that_leads_to_itself_is_garbage),
        HARNESS_TEST(a_too_large_object_is_reported_by_name),
        HARNESS_TEST(a_too_large_non_object_ends_the_list),
        HARNESS_TEST(a_rejection_is_reported_in_one_short_printable_line),
        HARNESS_TEST(a_rejected_token_is_reported_before_the_answer),
        HARNESS_TEST(a_long_error_is_cut_to_its_beginning),
        HARNESS_TEST(an_endless_error_is_not_read_whole),
        HARNESS_TEST(the_delay_doubles_up_to_half_a_minute_and_resets),
        cmocka_unit_test(the_delay_follows_from_the_seed),
        HARNESS_TEST(retry_after_is_kept_unless_it_is_absurd),
        HARNESS_TEST(a_timeout_opens_a_new_connection),
        HARNESS_TEST(an_unknown_kind_is_an_empty_list),
        HARNESS_TEST(an_unknown_kind_is_empty_though_the_answer_never_ends),
        cmocka_unit_test(only_optional_kinds_may_be_unknown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
