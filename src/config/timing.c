/* timing: see include/config/timing.h. */
#include "config/timing.h"

#include <inttypes.h>

#define SECOND_MS ((int64_t)1000)
/* The part of bindTimeoutSeconds that remains for our answer after the API server has timed the
 * POST out. */
#define ANSWER_MS ((int64_t)1000)

static int64_t least(int64_t a_ms, int64_t b_ms)
{
    return a_ms < b_ms ? a_ms : b_ms;
}

struct timing timing_of(const struct settings *settings)
{
    struct timing timing = {
        .bind_ms = (int64_t)settings->kubernetes.bind_timeout_s * SECOND_MS,
        .unacked_ms = TIMING_UNACKED_MS,
        .lease_ms = (int64_t)settings->election.lease_s * SECOND_MS,
        .renew_ms = (int64_t)settings->election.renew_s * SECOND_MS,
        .retry_ms = (int64_t)settings->election.retry_s * SECOND_MS,
        .http_ms = (int64_t)settings->scheduler.http_timeout_s * SECOND_MS,
    };
    timing.post_life_ms = timing.bind_ms - ANSWER_MS;
    timing.act_ms = TIMING_DELIVERY_MS + timing.post_life_ms + TIMING_SLACK_MS;
    timing.hold_ms = timing.act_ms;
    timing.decide_ms = least(timing.lease_ms - timing.act_ms, timing.renew_ms);
    return timing;
}

size_t timing_least_lease_s(const struct settings *settings)
{
    const struct timing timing = timing_of(settings);
    return (size_t)((timing.act_ms + 2 * timing.retry_ms) / SECOND_MS);
}

int64_t timing_leaderless_ms(const struct timing *timing)
{
    return timing->lease_ms + TIMING_TAKEOVER_MS;
}

int64_t timing_stall_ms(const struct timing *timing)
{
    return timing_leaderless_ms(timing) + timing->http_ms;
}

void timing_report(const struct settings *settings, struct buf *out)
{
    const struct timing timing = timing_of(settings);
    if (!settings->election.enabled)
        return;
    const int64_t takeover_ms = TIMING_TAKEOVER_MS;
    buf_printf(out,
               "a vanished leader delays pods without GPUs by up to %" PRId64
               " s: %zu s leaderElection.leaseDurationSeconds, %" PRId64
               " s takeover, %zu s scheduler.httpTimeoutSeconds\n",
               timing_stall_ms(&timing) / SECOND_MS, settings->election.lease_s,
               takeover_ms / SECOND_MS, settings->scheduler.http_timeout_s);
}
