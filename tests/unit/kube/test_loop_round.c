/* /livez asks whether the loop goes round: a stuck task shows. */
#include "base/clock.h"
#include "fake_api.h"
#include "hand_clock.h"

#include <stdatomic.h>
#include <time.h>

#define LONG_MS 60000

struct sticky {
    atomic_bool sticks;
    atomic_uint n_entered, n_left;
};

static void nap(void)
{
    const struct timespec some = {.tv_nsec = 1000000};
    (void)nanosleep(&some, NULL);
}

static int64_t stick(void *context, int64_t now_ms)
{
    struct sticky *sticky = context;
    (void)now_ms;
    atomic_fetch_add(&sticky->n_entered, 1);
    while (atomic_load(&sticky->sticks))
        nap();
    atomic_fetch_add(&sticky->n_left, 1);
    return CLOCK_NEVER;
}

static void a_stuck_loop_is_detected(void **state)
{
    struct sticky sticky = {.sticks = true};
    struct fake_api api;
    (void)state;
    fake_api_open(&api, "http");
    kube_loop_add_task(api.loop, stick, &sticky);
    assert_int_equal(kube_loop_silence_ms(api.loop, clock_ms() + LONG_MS), 0);
    fake_api_start(&api);
    while (atomic_load(&sticky.n_entered) == 0)
        nap();
    const int64_t entered_ms = clock_ms();
    assert_true(kube_loop_silence_ms(api.loop, entered_ms + LONG_MS) >= LONG_MS);
    hand_clock_pass(2);
    atomic_store(&sticky.sticks, false);
    while (atomic_load(&sticky.n_left) < 2) {
        kube_loop_wake(api.loop);
        nap();
    }
    assert_true(kube_loop_silence_ms(api.loop, entered_ms + LONG_MS) < LONG_MS);
    fake_api_close(&api);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_stuck_loop_is_detected)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
