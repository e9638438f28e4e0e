/* reflector_lag: how far the store may be behind the API server. See include/kube/reflector.h. */
#include "reflector_priv.h"

static void set(struct reflector *reflector, int64_t since_ms)
{
    reflector->lag_since_ms = since_ms;
    reflector_lag_tell(reflector);
}

void reflector_lag_tell(const struct reflector *reflector)
{
    if (reflector->store.lags)
        reflector->store.lags(reflector->store.context, reflector->lag_since_ms);
}

void reflector_lag_runs(struct reflector *reflector, int64_t now_ms)
{
    const int64_t since_ms = now_ms - reflector_lag_ms(reflector->lag_since_ms, now_ms);
    set(reflector, since_ms > 0 ? since_ms : 1);
}

void reflector_lag_stands(struct reflector *reflector, int64_t now_ms)
{
    set(reflector, -reflector_lag_ms(reflector->lag_since_ms, now_ms));
}

void reflector_lag_ends(struct reflector *reflector, int64_t now_ms, bool is_first)
{
    set(reflector, is_first ? reflector->listing.began_ms - now_ms : 0);
}

void reflector_lag_drained(struct reflector *reflector, int64_t now_ms)
{
    set(reflector, now_ms);
    if (reflector->has_news && reflector->step == STEP_WATCH && !reflector->status.stale)
        reflector_set_fresh(reflector, now_ms);
    reflector->has_news = false;
}
