/* strangers: see strangers.h. */
#include "strangers.h"

#include <assert.h>

/* New reviews of one network: per second, and at once. */
#define PER_S 10
#define BURST 64
#define TICKET_MILLI ((int64_t)1000)
#define BURST_MILLI (BURST * TICKET_MILLI)

static void refill(struct stranger *stranger, int64_t now_ms)
{
    const int64_t passed_ms = now_ms - stranger->seen_ms;
    if (passed_ms <= 0)
        return;
    if (passed_ms * PER_S > BURST_MILLI - stranger->tickets_milli)
        stranger->tickets_milli = BURST_MILLI;
    else
        stranger->tickets_milli += passed_ms * PER_S;
    stranger->seen_ms = now_ms;
}

static bool is_idle(const struct stranger *stranger)
{
    return stranger->n_inquiries == 0 && stranger->n_waiting == 0;
}

struct stranger *strangers_find(struct strangers *strangers, uint64_t network, int64_t now_ms)
{
    struct stranger *oldest = NULL;
    for (size_t i = 0; i < STRANGERS_MAX; i++) {
        struct stranger *stranger = &strangers->all[i];
        if (stranger->network == network && stranger->seen_ms > 0) {
            refill(stranger, now_ms);
            return stranger;
        }
        if (is_idle(stranger) && (!oldest || stranger->seen_ms < oldest->seen_ms))
            oldest = stranger;
    }
    assert(oldest);
    *oldest = (struct stranger){network, now_ms, .tickets_milli = BURST_MILLI};
    return oldest;
}

bool stranger_is_full(const struct stranger *stranger, bool begins)
{
    return stranger->n_waiting >= WAITING_OF_STRANGERS_MAX / 2 ||
           (begins && stranger->n_inquiries >= INQUIRIES_OF_STRANGERS_MAX / 2);
}

bool stranger_has_ticket(const struct stranger *stranger)
{
    return stranger->tickets_milli >= TICKET_MILLI;
}

void stranger_take_ticket(struct stranger *stranger)
{
    stranger->tickets_milli -= TICKET_MILLI;
}
