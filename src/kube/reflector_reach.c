/* reflector_reach: the demand that the data be as of now. See include/kube/reflector.h. */
#include "base/clock.h"
#include "reflector_priv.h"
#include "resource_version.h"

/* How long events are waited for: where there are any, they come at once. */
#define REACH_MS 300

static bool is_open(const struct reflector *reflector)
{
    return reflector->reached != reflector->demand;
}

void reflector_reach(struct reflector *reflector, int64_t now_ms, uint64_t number,
                     const char *version)
{
    reflector->demand = number;
    buf_clear(&reflector->demanded);
    if (version)
        (void)buf_add_text(&reflector->demanded, version);
    reflector->demand_ms = reflector->demanded.len > 0 ? now_ms + REACH_MS : now_ms;
    reflector_came_to(reflector);
}

/* A list that was begun before the demand may not show it; one that is to begin will. Where it is
 * known how far to come, the watch after it may do the rest. */
static bool is_helped_by_list(const struct reflector *reflector)
{
    const struct listing *listing = &reflector->listing;
    return reflector->step == STEP_LIST &&
           (!listing->is_counted || listing->meets == reflector->demand ||
            reflector->demanded.len > 0);
}

int64_t reflector_demand_due_ms(const struct reflector *reflector)
{
    return is_open(reflector) && !is_helped_by_list(reflector) ? reflector->demand_ms : CLOCK_NEVER;
}

void reflector_catch_demand(struct reflector *reflector)
{
    reflector_settle(reflector);
    reflector_relist(reflector, RELIST_BEHIND);
}

void reflector_came_to(struct reflector *reflector)
{
    const bool follows = reflector->step == STEP_WATCH || reflector->step == STEP_CATCH_UP;
    if (is_open(reflector) && follows && reflector->demanded.len > 0 &&
        resource_version_reaches(buf_text(&reflector->version), buf_text(&reflector->demanded)))
        reflector->reached = reflector->demand;
}

void reflector_listed(struct reflector *reflector, int64_t now_ms)
{
    if (is_open(reflector) && reflector->listing.meets == reflector->demand)
        reflector->reached = reflector->demand;
    reflector_came_to(reflector);
    reflector->demand_ms = now_ms + REACH_MS;
}

uint64_t reflector_reached(const struct reflector *reflector)
{
    return reflector->reached;
}
