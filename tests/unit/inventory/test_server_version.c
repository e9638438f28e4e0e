/* server_version: the version of the API server, as the ledger has it. */
#include "live_cluster.h"

struct asked {
    struct live_cluster live;
    size_t n;
    kube_done *done;
    void *context;
};

static void take(void *sender, const struct kube_request *request, kube_done *done, void *context)
{
    struct asked *asked = sender;
    assert_string_equal(request->path, "/version");
    asked->n++;
    asked->done = done;
    asked->context = context;
}

static void wake(void *sender)
{
    (void)sender;
}

static void begin(struct asked *asked)
{
    *asked = (struct asked){.n = 0};
    live_init(&asked->live);
    inventory_ask_with(asked->live.inventory,
                       (struct kube_sender){.send = take, .wake = wake, .sender = asked});
}

static void answer(struct asked *asked, unsigned status, const char *body, int64_t at_ms)
{
    asked->done(asked->context, &(struct kube_answer){.outcome = KUBE_ANSWERED,
                                                      .at_ms = at_ms,
                                                      .status = status,
                                                      .body = body,
                                                      .body_len = strlen(body),
                                                      .why = ""});
}

static int minor(const struct asked *asked)
{
    const struct inventory_view view CLEANUP(inventory_done) =
        inventory_read(asked->live.inventory);
    return cluster_minor(view.cluster);
}

static void test_the_version_is_asked_for_again_and_again(void **state)
{
    struct asked asked;
    (void)state;
    begin(&asked);
    assert_int_equal(minor(&asked), 0);
    assert_int_equal(inventory_ask_version(asked.live.inventory, 1), CLOCK_NEVER);
    assert_int_equal(inventory_ask_version(asked.live.inventory, 2), CLOCK_NEVER);
    assert_int_equal(asked.n, 1);
    answer(&asked, 200, "{\"gitVersion\": \"v1.37.2\"}", 10);
    assert_int_equal(minor(&asked), 37);
    const int64_t again_ms = inventory_ask_version(asked.live.inventory, 10);
    assert_int_equal(again_ms, 600010);
    (void)inventory_ask_version(asked.live.inventory, again_ms);
    assert_int_equal(asked.n, 2);
    answer(&asked, 200, "{\"gitVersion\": \"v1.38.0\"}", again_ms);
    assert_int_equal(minor(&asked), 38);
    live_fini(&asked.live);
}

static void test_a_failure_changes_nothing_and_is_tried_again_soon(void **state)
{
    struct asked asked;
    (void)state;
    begin(&asked);
    (void)inventory_ask_version(asked.live.inventory, 1);
    answer(&asked, 200, "{\"gitVersion\": \"v1.38.0\"}", 10);
    (void)inventory_ask_version(asked.live.inventory, 600010);
    answer(&asked, 403, "", 600020);
    assert_int_equal(minor(&asked), 38);
    assert_int_equal(inventory_ask_version(asked.live.inventory, 600020), 630020);
    live_fini(&asked.live);
}

static void test_what_is_no_release_is_unknown(void **state)
{
    static const char *const BODIES[] = {"{\"gitVersion\": \"v0.0.0-master\"}", "{}", "[", ""};
    struct asked asked;
    (void)state;
    for (size_t i = 0; i < sizeof BODIES / sizeof *BODIES; i++) {
        begin(&asked);
        (void)inventory_ask_version(asked.live.inventory, 1);
        answer(&asked, 200, BODIES[i], 10);
        assert_int_equal(minor(&asked), 0);
        live_fini(&asked.live);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_version_is_asked_for_again_and_again),
        cmocka_unit_test(test_a_failure_changes_nothing_and_is_tried_again_soon),
        cmocka_unit_test(test_what_is_no_release_is_unknown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
