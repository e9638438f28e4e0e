/* If the API server forbids watching the Lease, the log names the missing right once, however many
 * retries there are. */
#include "followed.h"
#include "kube/watch/object_watch.h"

#define FORBIDDEN "{\"kind\":\"Status\",\"code\":403,\"message\":\"leases is forbidden\"}"
#define LEASES                                                                                     \
    "{\"kind\":\"LeaseList\",\"metadata\":{\"resourceVersion\":\"5\"},\"items\":[{\"metadata\":{"  \
    "\"name\":\"gpu\"}}]}"

struct fixture {
    struct object_watch watch;
    struct followed followed;
};

static int setup(void **state)
{
    static const struct reflector_kind KIND = {.name = "gpu", .path = "/leases"};
    static struct fixture fixture;
    fixture = (struct fixture){0};
    const struct reflector_store store = object_watch_store(&fixture.watch, "leases");
    followed_begin(&fixture.followed, &KIND, &store);
    *state = &fixture;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *fixture = *state;
    followed_end(&fixture->followed);
    object_watch_fini(&fixture->watch);
    return 0;
}

static void answer(struct fixture *fixture, bool is_watch, unsigned status, const char *body)
{
    followed_answer(&fixture->followed, is_watch, status, body);
}

static void assert_said(struct fixture *fixture, const char *expected)
{
    followed_check_log(&fixture->followed, expected);
}

#define SAID(right, request)                                                                       \
    "level=warn mod=leader msg=\"watch forbidden; changes will be noticed late\" kind=leases "     \
    "right=" right " why=\"" request " /leases: 403: leases is forbidden\"\n"

static void a_missing_right_is_logged_once(void **state)
{
    struct fixture *fixture = *state;
    for (int i = 0; i < 3; i++)
        answer(fixture, false, 403, FORBIDDEN);
    assert_said(fixture, SAID("list", "GET"));
    for (int i = 0; i < 3; i++) {
        answer(fixture, false, 200, LEASES);
        answer(fixture, true, 403, FORBIDDEN);
    }
    assert_said(fixture, SAID("watch", "watch"));
}

static void a_right_lost_again_is_logged_again(void **state)
{
    struct fixture *fixture = *state;
    for (int i = 0; i < 2; i++) {
        answer(fixture, false, 403, FORBIDDEN);
        assert_said(fixture, SAID("list", "GET"));
        answer(fixture, false, 200, LEASES);
        answer(fixture, true, 200, "");
        answer(fixture, true, 410, "{}");
        assert_said(fixture, "");
    }
}

static void other_failures_are_not_logged(void **state)
{
    struct fixture *fixture = *state;
    answer(fixture, false, 500, "{}");
    answer(fixture, false, 429, "{}");
    answer(fixture, false, 200, LEASES);
    answer(fixture, true, 500, "{}");
    assert_said(fixture, "");
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_missing_right_is_logged_once),
        TEST(a_right_lost_again_is_logged_again),
        TEST(other_failures_are_not_logged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
