/* binds: answers that are none of the API server's, as those of something in between are: a page
 * for logging in, the last resort of a proxy whose API server is away. They settle nothing. */
#include "bind_stage.h"
#include "unit.h"

#define PAGE "<html>404 page not found</html>"
#define OTHER "{'kind':'Problem'}"

static void check_settled_by_get(struct bind_stage *stage, unsigned caller)
{
    check_waits(stage, caller);
    check_held(stage, 1, "a");
    got(stage, 1, 200, POD_JSON("1", OURS, ",'nodeName':'a'", ""));
    check_bound(stage, caller);
    check_silence(stage);
}

static void test_a_binding_is_confirmed_by_a_status_only(void **state)
{
    static const struct {
        unsigned status;
        const char *body;
    } ROWS[] = {{200, PAGE}, {201, ""}, {202, OTHER}, {204, ""}, {404, PAGE}, {404, ""}};
    struct bind_stage *stage = *state;
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        const unsigned caller = call(stage, 1, "a");
        posted(stage, 1, "a", ROWS[i].status, ROWS[i].body);
        check_settled_by_get(stage, caller);
        ledger_removes(stage, POD_JSON("1", "", "", ""));
        ledger_shows(stage, POD_JSON("1", "", "", ""));
        pass(stage, 1000);
    }
}

/* Room that a binding may have taken is not given to another. */
static void test_a_pod_is_gone_by_a_status_only(void **state)
{
    struct bind_stage *stage = *state;
    const unsigned caller = call(stage, 1, "a");
    posted_failed(stage, 1, "a", KUBE_UNKNOWN);
    got(stage, 1, 404, PAGE);
    check_waits(stage, caller);
    check_held(stage, 1, "a");
    pass(stage, TIMEOUT_MS);
    check_error(stage, caller,
                "the outcome is not known yet: the API server answered the question for the pod "
                "with 404");
    check_held(stage, 1, "a");
    got(stage, 1, 404, STATUS("not found"));
    check_held(stage, 1, NULL);
    check_silence(stage);
}

#define STAGED(test) cmocka_unit_test_setup_teardown((test), bind_stage_setup, bind_stage_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        STAGED(test_a_binding_is_confirmed_by_a_status_only),
        STAGED(test_a_pod_is_gone_by_a_status_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
