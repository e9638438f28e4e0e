/* A reflector's LIST: pages, deletions, and every way to fail. */
#include "harness_steps.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

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

static void expect_path_has(struct harness *harness, const char *part)
{
    assert_non_null(strstr(harness->path, part));
}

static void expect_cut_message(struct harness *harness)
{
    assert_int_equal(strlen(harness->why), strlen("GET /api/v1/pods: 404: ") + 200);
}

#define SYNCED(value) IS(status.synced, value)
#define NOT_FAILED "fieldSelector=status.phase%21%3DFailed"
#define EMPTY_LIST "{\"kind\":\"PodList\",\"metadata\":{\"resourceVersion\":\"7\"},\"items\":[]}"
#define IS_EMPTY(body) INIT, LIST, ANSWER(200, body), SYNCED(true), WATCH("7")
#define FAIL(delay_ms) LIST, END(KUBE_NOT_SENT), BACK_OFF(delay_ms)
#define LIST_ON_NEW(connection) LIST, IS(request.fresh, connection)
#define UNKNOWN_KIND LIST, ANSWER(404, "404 page not found\n")
#define STILL_UNKNOWN WAIT(HARNESS_SILENCE_MS / 2), UNKNOWN_KIND, STALE(false)
#define V1BETA2 "/api/v1beta2/pods"
#define V1BETA1 "/api/v1beta1/pods"
#define LIST_OF(collection) REQUEST(collection "?limit=500")
#define WATCH_OF(collection) REQUEST(collection "?watch=true&resourceVersion=...")
#define UNSERVED(collection) LIST_OF(collection), ANSWER(404, "404 page not found\n")
#define LISTED_AS_V1BETA1                                                                          \
    INIT_VERSIONS, UNKNOWN_KIND, UNSERVED(V1BETA2), LIST_OF(V1BETA1), LISTED("100", "ab"),         \
        WATCH_OF(V1BETA1)

static const struct harness_script SCRIPTS[] = {
    {"pages are requested one after another",
     {INIT_SELECTOR("status.phase%21%3DFailed"), SYNCED(false),
      REQUEST(HARNESS_LIST "&" NOT_FAILED), IS(request.timeout_ms, 30000),
      IS(request.idle_ms, 30000), IS(request.fresh, false), RELISTS(RELIST_START, 1),
      PAGE("100", "ab", "a+/=&?c"), SYNCED(false),
      REQUEST(HARNESS_LIST "&" NOT_FAILED "&continue=a%2B%2F%3D%26%3Fc"), SLEEP(70),
      LISTED("100", "c"), SYNCED(true), WHY(""), IS(status.fresh_ms, 1070), NAMES("abc"),
      RELISTS(RELIST_START, 1), WATCH("100"), TEXT(expect_path_has, "&" NOT_FAILED)}},
    {"a relist removes absent objects",
     {BEGIN, SLEEP(1000), ADDED('c', "101"), BYTES("no event"), CANCEL, BACK_OFF(800), LIST,
      PAGE("200", "b", "next"), NAMES("abc"), LIST_NEXT, LISTED("200", "d"), NAMES("bd"),
      WATCH("200")}},
    {"an empty list is a list",
     {IS_EMPTY(EMPTY_LIST), FINI,
      IS_EMPTY("{\"kind\":\"PodList\",\"metadata\":{\"resourceVersion\":\"7\"},\"items\":null}"),
      FINI,
      IS_EMPTY("{\"items\":[],\"metadata\":{\"resourceVersion\":\"7\"},\"kind\":\"PodList\"}")}},
    {"a gone page restarts the list",
     {INIT, LIST, PAGE("100", "ab", "next"), LIST_NEXT,
      ANSWER(410, "{\"kind\":\"Status\",\"message\":\"too old\"}"), BACK_OFF(800), LIST,
      RELISTS(RELIST_PAGE_GONE, 1), LISTED("200", "bc"), NAMES("bc"), WATCH("200")}},
    /* However long ago the last list was: the watch is not too old. */
    {"a gone list backs off",
     {INIT, LIST, SLEEP(200000), ANSWER(410, ""), BACK_OFF(800), LIST, RELISTS(RELIST_FAILED, 1)}},
    {"a temporarily rejected page is requested again",
     {INIT, LIST, PAGE("100", "ab", "next"), LIST_NEXT, REFUSE(429, 17, "slowly"),
      WHY("GET /api/v1/pods: 429: slowly"), WAIT(17000), LIST_NEXT, LISTED("100", "c"),
      NAMES("abc"), RELISTS(RELIST_FAILED, 0)}},
    {"a cut list is listed again",
     {INIT, LIST, PAGE("100", "ab", "next"), LIST_NEXT, HEAD(200),
      BYTES("{\"kind\":\"PodList\",\"items\":[{\"metadata\":{\"name\":\"c\"}},{\"meta"),
      END(KUBE_UNKNOWN), SYNCED(false), WHY("GET /api/v1/pods: connection reset by peer"),
      IS(status.trouble, TROUBLE_UNREACHABLE), BACK_OFF(800), LIST, RELISTS(RELIST_FAILED, 1),
      LISTED("200", "b"), NAMES("b")}},
    /* A complete text is not enough: the connection's end counts. */
    {"a complete list on a broken connection counts as cut",
     {INIT, LIST, HEAD(200), BYTES(EMPTY_LIST), END(KUBE_UNKNOWN), SYNCED(false)}},
    {"an invalid list is cancelled early",
     {INIT, LIST, HEAD(200), BYTES("<html>"), BYTES("and so on, for ever"), CANCEL, BACK_OFF(800)}},
    {"a page that leads to itself is garbage",
     {INIT, LIST, PAGE("100", "a", "next"), LIST_NEXT, PAGE("100", "b", "next"), BACK_OFF(800),
      LIST, RELISTS(RELIST_GARBAGE, 1)}},
    {"a too large object is reported by name",
     {INIT, LIST, HEAD(200),
      BYTES("{\"kind\":\"PodList\",\"metadata\":{\"resourceVersion\":\"7\"},\"items\":["
            "{\"metadata\":{\"name\":\"a\"}},{\"metadata\":{\"name\":\"b\"},\"spec\":{\"x\":\""),
      LARGE, BYTES("\"}},{\"metadata\":{\"name\":\"c\"}}]}"), END(KUBE_ANSWERED), WATCH("7"),
      NAMES("abc"), IS(n_too_large, 1)}},
    {"a rejection is reported in one short printable line",
     {INIT, LIST,
      ANSWER(403, "{\"kind\":\"Status\",\"code\":403,\"message\":\"pods is forbidden:\\nUser "
                  "\\\"x\\\" cannot list\\u0007\"}"),
      WHY("GET /api/v1/pods: 403: pods is forbidden: User \"x\" cannot list?"),
      IS(status.trouble, TROUBLE_REFUSED), BACK_OFF(800), LIST, RELISTS(RELIST_FAILED, 1),
      ANSWER(401, ""), WHY("GET /api/v1/pods: 401"), BACK_OFF(1600), LIST, HEAD(404),
      MANY_BYTES(1000), END(KUBE_ANSWERED), CALL(expect_cut_message),
      IS(status.trouble, TROUBLE_FAILED)}},
    {"an endless error is not read whole",
     {INIT, LIST, HEAD(500), MANY_BYTES(10000), CANCEL, WHY_HAS("500: xxx"), BACK_OFF(800), LIST,
      HEAD(500), WAIT(5000), CANCEL, BACK_OFF(1600)}},
    {"the delay doubles up to half a minute and resets",
     {INIT, FAIL(800), FAIL(1600), FAIL(3200), FAIL(6400), FAIL(12800), FAIL(25600), FAIL(30000),
      FAIL(30000), LIST, SLEEP(120000), END(KUBE_NOT_SENT), BACK_OFF(800)}},
    {"Retry-After is kept unless it is absurd",
     {INIT, LIST, REFUSE(503, 40, ""), WAIT(40000), LIST, REFUSE(503, 1, ""), BACK_OFF(1600), LIST,
      REFUSE(503, INT64_MAX, ""), WAIT(300000)}},
    {"a timeout opens a new connection",
     {INIT, LIST_ON_NEW(false), SLEEP(29999), END(KUBE_UNKNOWN), BACK_OFF(800), LIST_ON_NEW(false),
      SLEEP(30000), END(KUBE_UNKNOWN), BACK_OFF(1600), LIST_ON_NEW(true), HEAD(200), SLEEP(30000),
      END(KUBE_UNKNOWN), BACK_OFF(3200), LIST_ON_NEW(true), END(KUBE_NOT_SENT), BACK_OFF(6400),
      LIST_ON_NEW(false)}},
    /* A kind that some API servers lack. */
    {"an unknown kind is an empty list",
     {INIT_OPTIONAL, UNKNOWN_KIND, SYNCED(true), WHY(""), FRESH_NOW, STILL_UNKNOWN, STILL_UNKNOWN,
      STILL_UNKNOWN, STILL_UNKNOWN, STILL_UNKNOWN, RELISTS(RELIST_START, 1),
      WAIT(HARNESS_SILENCE_MS / 2), LIST, LISTED("100", "ab"), WATCH("100")}},
    {"a kind is emptied with the second look",
     {INIT_OPTIONAL, LIST, LISTED("100", "ab"), WATCH("100"), ANSWER(404, "{}"), NAMES("ab"),
      BACK_OFF(800), UNKNOWN_KIND, NAMES("ab"), STALE(false), WHY_HAS("404"),
      WAIT(HARNESS_SILENCE_MS / 2), UNKNOWN_KIND, NAMES(""), WHY(""), RELISTS(RELIST_FAILED, 1)}},
    {"an older version is read at once if the server lacks the newer ones",
     {INIT_VERSIONS, UNKNOWN_KIND, SYNCED(false), UNSERVED(V1BETA2), SYNCED(false),
      LIST_OF(V1BETA1), RELISTS(RELIST_START, 1), PAGE("100", "ab", "next"),
      REQUEST(V1BETA1 "?limit=500&continue=next"), LISTED("100", "c"), NAMES("abc"), SYNCED(true),
      WATCH_OF(V1BETA1), HEAD(200), ADDED('d', "101"), NAMES("abcd"), WHY(""), IS(n_told, 0)}},
    {"the kind is absent once every version is",
     {LISTED_AS_V1BETA1,
      ANSWER(404, "{}"),
      BACK_OFF(800),
      UNKNOWN_KIND,
      UNSERVED(V1BETA2),
      NAMES("ab"),
      SYNCED(true),
      UNSERVED(V1BETA1),
      NAMES("ab"),
      WAIT(HARNESS_SILENCE_MS / 2),
      LIST_ON_NEW(true),
      ANSWER(404, "{}"),
      UNSERVED(V1BETA2),
      UNSERVED(V1BETA1),
      NAMES(""),
      STALE(false),
      FRESH_NOW,
      RELISTS(RELIST_FAILED, 1),
      WAIT(HARNESS_SILENCE_MS / 2),
      LIST}},
    /* As when two API servers take turns, of which one lacks the kind. */
    {"one look at a server without the kind loses nothing",
     {LISTED_AS_V1BETA1, ANSWER(404, "{}"), BACK_OFF(800), UNKNOWN_KIND, UNSERVED(V1BETA2),
      UNSERVED(V1BETA1), WAIT(HARNESS_SILENCE_MS / 2), LIST, LISTED("200", "ab"), NAMES("ab"),
      WATCH("200"), ANSWER(404, "{}"), BACK_OFF(1600), UNKNOWN_KIND, UNSERVED(V1BETA2),
      UNSERVED(V1BETA1), NAMES("ab")}},
    /* An upgraded server no longer has the version that was read. */
    {"each list begins with the newest version",
     {LISTED_AS_V1BETA1, ANSWER(410, "{}"), BACK_OFF(800), LIST, LISTED("200", "b"), WATCH("200"),
      FINI, LISTED_AS_V1BETA1, ANSWER(404, "{}"), WHY_HAS("watch " V1BETA1 ": 404"), NAMES("ab"),
      BACK_OFF(800), LIST, LISTED("200", "b"), NAMES("b"), WATCH("200")}},
    {"a version that is lost long after the list is sought at once",
     {LISTED_AS_V1BETA1, SLEEP(120000), ANSWER(404, "{}"), NAMES("ab"), LIST, LISTED("200", "b"),
      NAMES("b"), WATCH("200")}},
    {"a version that is lost between two pages is sought anew",
     {INIT_VERSIONS, UNKNOWN_KIND, LIST_OF(V1BETA2), PAGE("100", "ab", "next"),
      REQUEST(V1BETA2 "?limit=500&continue=next"), ANSWER(404, "{}"), NAMES("ab"), BACK_OFF(800),
      LIST, LISTED("200", "b"), NAMES("b")}},
    {"a version that is lost while the watch is silent is sought anew",
     {LISTED_AS_V1BETA1, HEAD(200), WAIT(HARNESS_SILENCE_MS), CANCEL, REQUEST(V1BETA1 "?limit=1"),
      ANSWER(404, "{}"), STALE(true), NAMES("ab"), BACK_OFF(800), LIST, LISTED("200", "b"),
      STALE(false)}},
    {"another failure than 404 does not lead to the next version",
     {INIT_VERSIONS, UNKNOWN_KIND, LIST_OF(V1BETA2), ANSWER(403, "{}"), SYNCED(false),
      WHY_HAS("GET " V1BETA2 ": 403"), BACK_OFF(800), UNKNOWN_KIND, LIST_OF(V1BETA2),
      REFUSE(429, 17, ""), WAIT(17000), LIST_OF(V1BETA2)}},
    {"an unknown kind is empty though the answer never ends",
     {INIT_OPTIONAL, LIST, HEAD(404), WAIT(5000), CANCEL, SYNCED(true), WHY(""),
      WAIT(HARNESS_SILENCE_MS / 2), LIST}},
    {"only optional kinds may be unknown",
     {INIT, UNKNOWN_KIND, SYNCED(false), WHY_HAS("404"), FINI, INIT_OPTIONAL, LIST,
      ANSWER(403, "{}"), SYNCED(false), WHY_HAS("403")}},
};

int main(void)
{
    const struct CMUnitTest tests[] = {
        HARNESS_TEST(a_watch_lasts_from_five_to_ten_minutes),
        cmocka_unit_test(an_invalid_list_is_garbage),
        HARNESS_TEST(a_too_large_non_object_ends_the_list),
        HARNESS_TEST(a_rejected_token_is_reported_before_the_answer),
        HARNESS_TEST(a_long_error_is_cut_to_its_beginning),
        cmocka_unit_test(the_delay_follows_from_the_seed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) +
           harness_run(SCRIPTS, sizeof SCRIPTS / sizeof *SCRIPTS);
}
