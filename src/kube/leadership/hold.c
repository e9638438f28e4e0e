/* hold: see include/kube/catch_up.h. */
#include "kube/catch_up.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "catcher.h"

#include <stdlib.h>

/* Interval at which callers of hold_until_ms() ask again. */
#define LOOK_MS 20
/* There is only one catch-up. */
#define NUMBER 1

struct hold {
    int64_t until_ms;
    struct catcher catcher;
    bool is_over; /* as last logged */
};

struct hold *hold_new(const struct hold_settings *settings, struct kube_sender sender)
{
    struct hold *hold = MEM_NEW(struct hold);
    hold->until_ms = settings->until_ms;
    catcher_init(&hold->catcher, &settings->pods, sender);
    return hold;
}

void hold_free(struct hold *hold)
{
    free(hold);
}

int64_t hold_tick(void *hold_context, int64_t now_ms)
{
    struct hold *hold = hold_context;
    if (now_ms < hold->until_ms)
        return hold->until_ms;
    catcher_work(&hold->catcher, NUMBER);
    if (!hold->is_over && catcher_is_done(&hold->catcher, NUMBER)) {
        hold->is_over = true;
        LOG(LOG_INFO, "main", LOG_MSG("bindings are sent from now on"));
    }
    return CLOCK_NEVER;
}

int64_t hold_until_ms(const struct hold *hold, int64_t now_ms)
{
    if (now_ms < hold->until_ms)
        return hold->until_ms;
    return catcher_is_done(&hold->catcher, NUMBER) ? now_ms : now_ms + LOOK_MS;
}
