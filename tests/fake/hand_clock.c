/* hand_clock: see hand_clock.h. */
#include "hand_clock.h"

#include <stdatomic.h>

int64_t __wrap_clock_ms(void);

static _Atomic int64_t now_ms = HAND_CLOCK_BEGIN_MS;

int64_t __wrap_clock_ms(void)
{
    return atomic_load(&now_ms);
}

void hand_clock_pass(int64_t ms)
{
    (void)atomic_fetch_add(&now_ms, ms);
}
