/* What is said where the API server does not let the Lease be followed: which right is missing, and
 * that once, however often it is tried. */
#include "followed.h"
#include "kube/watch/object_watch.h"

#define FORBIDDEN "{\"kind\":\"Status\",\"code\":403,\"message\":\"leases is forbidden\"}"
#define LEASES                                                                                     \
    "{\"kind\":\"LeaseList\",\"metadata\":{\"resourceVersion\":\"5\"},\"items\":[{\"metadata\":{"  \
    "\"name\":\"gpu\"}}]}"

struct stage {
    struct object_watch watch;
    struct followed followed;
};

static void begin(struct stage *stage)
{
    static const struct reflector_kind KIND = {.name = "gpu", .path = "/leases"};
    *stage = (struct stage){0};
    const struct reflector_store store = object_watch_store(&stage->watch, "leases");
    followed_begin(&stage->followed, &KIND, &store);
}

static void end(struct stage *stage)
{
    followed_end(&stage->followed);
    object_watch_fini(&stage->watch);
}

static void answer(struct stage *stage, bool is_watch, unsigned status, const char *body)
{
    followed_answer(&stage->followed, is_watch, status, body);
}

static void assert_said(struct stage *stage, const char *expected)
{
    followed_check_log(&stage->followed, expected);
}

#define SAID(right, request)                                                                       \
    "level=warn mod=leader msg=\"the API server does not let this be followed: its changes are "   \
    "seen late\" kind=leases right=" right " why=\"" request                                       \
    " /leases: 403: leases is forbidden\"\n"

static void a_right_that_is_missing_is_told_once(void **state)
{
    struct stage stage;
    (void)state;
    begin(&stage);
    for (int i = 0; i < 3; i++)
        answer(&stage, false, 403, FORBIDDEN);
    assert_said(&stage, SAID("list", "GET"));
    for (int i = 0; i < 3; i++) {
        answer(&stage, false, 200, LEASES);
        answer(&stage, true, 403, FORBIDDEN);
    }
    assert_said(&stage, SAID("watch", "watch"));
    end(&stage);
}

static void one_that_is_given_and_taken_is_told_again(void **state)
{
    struct stage stage;
    (void)state;
    begin(&stage);
    for (int i = 0; i < 2; i++) {
        answer(&stage, false, 403, FORBIDDEN);
        assert_said(&stage, SAID("list", "GET"));
        answer(&stage, false, 200, LEASES);
        answer(&stage, true, 200, "");
        answer(&stage, true, 410, "{}");
        assert_said(&stage, "");
    }
    end(&stage);
}

static void what_is_no_refusal_is_not_told(void **state)
{
    struct stage stage;
    (void)state;
    begin(&stage);
    answer(&stage, false, 500, "{}");
    answer(&stage, false, 429, "{}");
    answer(&stage, false, 200, LEASES);
    answer(&stage, true, 500, "{}");
    assert_said(&stage, "");
    end(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_right_that_is_missing_is_told_once),
        cmocka_unit_test(one_that_is_given_and_taken_is_told_again),
        cmocka_unit_test(what_is_no_refusal_is_not_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
