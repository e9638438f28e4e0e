/* binds: answers that do not come from the API server but from a proxy: a login page, an error
 * page. They settle nothing. */
#include "bind_harness.h"
#include "unit.h"

#define PAGE "<html>404 page not found</html>"
#define OTHER "{'kind':'Problem'}"

static void check_settled_by_get(struct bind_harness *harness, unsigned caller)
{
    check_waits(harness, caller);
    check_held(harness, 1, "a");
    got(harness, 1, 200, POD_JSON("1", OURS, ",'nodeName':'a'", ""));
    check_bound(harness, caller);
    check_silence(harness);
}

static void test_only_a_status_confirms_a_binding(void **state)
{
    static const struct {
        unsigned status;
        const char *body;
    } ROWS[] = {{200, PAGE}, {201, ""}, {202, OTHER}, {204, ""}, {404, PAGE}, {404, ""}};
    struct bind_harness *harness = *state;
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        const unsigned caller = call(harness, 1, "a");
        posted(harness, 1, "a", ROWS[i].status, ROWS[i].body);
        check_settled_by_get(harness, caller);
        ledger_removes(harness, POD_JSON("1", "", "", ""));
        ledger_shows(harness, POD_JSON("1", "", "", ""));
        pass(harness, 1000);
    }
}

/* GPUs that a binding may have taken are not assigned to another pod. */
static void test_only_a_status_reports_an_absent_pod(void **state)
{
    struct bind_harness *harness = *state;
    const unsigned caller = call(harness, 1, "a");
    posted_failed(harness, 1, "a", KUBE_UNKNOWN);
    got(harness, 1, 404, PAGE);
    check_waits(harness, caller);
    check_held(harness, 1, "a");
    pass(harness, TIMEOUT_MS);
    check_error(harness, caller,
                "the outcome is unknown: the API server answered the read of the pod with 404");
    check_held(harness, 1, "a");
    got(harness, 1, 404, STATUS("not found"));
    check_held(harness, 1, NULL);
    check_silence(harness);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        BIND_TEST(test_only_a_status_confirms_a_binding),
        BIND_TEST(test_only_a_status_reports_an_absent_pod),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
