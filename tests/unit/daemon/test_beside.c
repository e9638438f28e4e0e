/* An instance beside a kube-scheduler: after a pause a call passes once the ledger is current. */
#include "base/clock.h"
#include "fixture.h"

#define BESIDE "scheduler: {beside: true}\nkubernetes: {bindTimeoutSeconds: 2}"

/* A predecessor's bindings may take effect for 3 s. A call waits at most 1 s. */
static void a_call_passes_when_the_ledger_is_current(void **state)
{
    const int64_t began_ms = clock_ms();
    struct fixture fixture;
    (void)state;
    fixture_begin(&fixture, BESIDE);
    fixture_start(&fixture);
    const unsigned status = fixture_ask(&fixture);
    assert_true(status == 503 || clock_ms() - began_ms >= 2000); /* or the machine stalled */
    WAIT_FOR(fixture_ask(&fixture) == 200);
    assert_int_equal(fixture_ask(&fixture), 200);
    fixture_end(&fixture);
}

static void the_stop_answers_waiting_calls(void **state)
{
    struct fixture fixture;
    atomic_uint status = 0;
    (void)state;
    const int64_t began_ms = clock_ms();
    fixture_begin(&fixture, BESIDE);
    fixture_start(&fixture);
    fixture_send(&fixture, &status);
    WAIT_FOR(atomic_load(&fixture.n_judged) == 1);
    fixture_end(&fixture);
    assert_true(atomic_load(&status) == 503 || clock_ms() - began_ms >= 2000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_call_passes_when_the_ledger_is_current),
        cmocka_unit_test(the_stop_answers_waiting_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
