/* backoff: see pace.h. */
#include "pace.h"

#define FIRST_MS 800
#define LAST_MS 30000
#define CALM_MS 120000

int64_t backoff_next_ms(struct backoff *backoff, int64_t now_ms, uint64_t *random)
{
    if (backoff->step_ms == 0 || now_ms - backoff->last_ms >= CALM_MS)
        backoff->step_ms = FIRST_MS;
    int64_t delay_ms = backoff->step_ms + random_below(random, backoff->step_ms + 1);
    backoff->step_ms = backoff->step_ms * 2 < LAST_MS ? backoff->step_ms * 2 : LAST_MS;
    backoff->last_ms = now_ms;
    return delay_ms;
}
