/* worst_case: see include/config/worst_case.h. */
#include "config/worst_case.h"

#include "config/timing.h"

#include <inttypes.h>

#define SECOND_MS ((int64_t)1000)

void worst_case_report(const struct settings *settings, struct buf *out)
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
