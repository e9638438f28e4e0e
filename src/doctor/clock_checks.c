/* clock_checks: see live_checks.h. A SelfSubjectReview has the API server's time, to the second. */
#include "base/clock.h"
#include "base/text_time.h"
#include "formats/json_get.h"
#include "live_checks.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define PATH "/apis/authentication.k8s.io/v1/selfsubjectreviews"
#define CLOCK "clock"
#define SECOND_MS 1000
#define MOST_MS (5 * (int64_t)SECOND_MS)

static json_t *review(void)
{
    json_t *body = json_pack("{s:s, s:s}", "apiVersion", "authentication.k8s.io/v1", "kind",
                             "SelfSubjectReview");
    if (!body)
        abort();
    return body;
}

static void note_caller(struct live_checks *checks, const json_t *object)
{
    const json_t *info = json_object_get(json_object_get(object, "status"), "userInfo");
    const char *name = json_string_value(json_object_get(info, "username"));
    (void)snprintf(checks->caller, sizeof checks->caller, "%s", name ? name : "");
}

static void judge(const struct live_checks *checks)
{
    const int64_t ms = checks->behind_ms;
    if (ms > MOST_MS || ms < -MOST_MS)
        findings_add(checks->findings, FINDING_WARN, CLOCK,
                     "set the clock by NTP: ages and certificates are judged by it (the Lease is "
                     "not)",
                     "this machine's clock is %" PRId64 " s %s the API server's",
                     (ms > 0 ? ms : -ms) / SECOND_MS, ms > 0 ? "behind" : "ahead of");
    else
        findings_add(checks->findings, FINDING_OK, CLOCK, "",
                     "agrees with the API server's within %d s", (int)(MOST_MS / SECOND_MS));
}

void clock_checks_run(struct live_checks *checks)
{
    struct api_reply reply CLEANUP(api_reply_fini);
    int64_t server_s = 0;
    const int64_t before_ms = clock_wall_ms();
    api_server_ask(checks->server, PATH, review(), &reply);
    const int64_t middle_ms = before_ms + (clock_wall_ms() - before_ms) / 2;
    const json_t *metadata = json_object_get(reply.object, "metadata");
    const char *time = json_string_value(json_object_get(metadata, "creationTimestamp"));
    note_caller(checks, reply.object);
    if (!time || text_time_read(time, &server_s) < 0 ||
        llabs(server_s) > INT64_MAX / SECOND_MS / 2) {
        findings_not_checked(checks->findings, CLOCK, "", "SelfSubjectReview: %s",
                             reply.object ? "has no creationTimestamp" : reply.why);
        return;
    }
    checks->has_clock = true;
    checks->behind_ms = server_s * SECOND_MS + SECOND_MS / 2 - middle_ms;
    judge(checks);
}
