/* exec_pace: see exec_priv.h. */
#include "exec_priv.h"

#include "base/clock.h"

static int64_t wider(int64_t gap_ms)
{
    if (gap_ms == 0)
        return EXEC_PACE_FIRST_MS;
    return gap_ms < EXEC_PACE_LAST_MS / 2 ? gap_ms * 2 : EXEC_PACE_LAST_MS;
}

/* 80 % of the lifetime. */
static int64_t renew_after_ms(int64_t lasts_ms)
{
    int64_t after_ms = lasts_ms > 0 ? lasts_ms - lasts_ms / 5 : 0;
    return after_ms > EXEC_PACE_LEAST_MS ? after_ms : EXEC_PACE_LEAST_MS;
}

void exec_pace_succeeded(struct exec_pace *pace, int64_t now_ms, int64_t lasts_ms)
{
    pace->due_ms = lasts_ms == CLOCK_NEVER ? CLOCK_NEVER : now_ms + renew_after_ms(lasts_ms);
    pace->ran_ms = now_ms;
    if (!pace->asked)
        pace->gap_ms = 0;
    pace->asked = false;
}

void exec_pace_failed(struct exec_pace *pace, int64_t now_ms)
{
    pace->gap_ms = wider(pace->gap_ms);
    pace->due_ms = now_ms + pace->gap_ms;
    pace->ran_ms = now_ms;
}

/* Repeated 401s must not keep the plugin running. */
void exec_pace_ask(struct exec_pace *pace, int64_t now_ms)
{
    if (pace->asked || pace->due_ms <= now_ms)
        return;
    if (now_ms - pace->ran_ms >= INT64_C(2) * EXEC_PACE_LAST_MS)
        pace->gap_ms = 0;
    pace->asked = true;
    int64_t earliest_ms = pace->ran_ms + pace->gap_ms;
    pace->gap_ms = wider(pace->gap_ms);
    int64_t due_ms = earliest_ms > now_ms ? earliest_ms : now_ms;
    if (due_ms < pace->due_ms)
        pace->due_ms = due_ms;
}
