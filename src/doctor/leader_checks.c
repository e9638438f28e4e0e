/* leader_checks: see checks.h. */
#include "base/clock.h"
#include "base/mem.h"
#include "checks.h"
#include "formats/json_values.h"
#include "scheduler_checks.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define LEASE "lease"
#define SLICE "endpointSlice"
#define WAKE "wake"
#define PATH_BYTES 1024
/* Rounding, and requests under way. */
#define SLACK_S 3

static void home_of(const struct live_checks *checks, char home[LIVE_NAME_MAX])
{
    const char *named = checks->settings->election.namespace_;
    const char *slash = strchr(checks->account, '/');
    const int len = slash ? (int)(slash - checks->account) : 0;
    if (*named)
        (void)snprintf(home, LIVE_NAME_MAX, "%s", named);
    else
        (void)snprintf(home, LIVE_NAME_MAX, "%.*s", len, checks->account);
}

/* NULL, with a finding: there is none, or it cannot be read. */
static json_t *get(const struct live_checks *checks, const char *check, const char *path,
                   const char *without)
{
    struct api_reply reply;
    api_server_ask(checks->server, path, NULL, &reply);
    if (reply.status == 404)
        findings_add(checks->findings, FINDING_FAIL, check,
                     "start gpu-extender, or correct leaderElection in the policy",
                     "%s: is not there: %s", path, without);
    else if (!reply.object)
        findings_not_checked(checks->findings, check, "", "%s: %s", path, reply.why);
    return reply.object;
}

static void judge_age(const struct live_checks *checks, const char *holder, int64_t renewed_s)
{
    const int64_t now_s = (clock_wall_ms() + checks->behind_ms) / 1000;
    const int64_t age_s = now_s - renewed_s;
    const size_t lease_s = checks->settings->election.lease_s;
    if (!checks->has_clock)
        findings_not_checked(checks->findings, LEASE, "",
                             "%s holds it; its age is unknown, because the API server sent no time",
                             holder);
    else if (age_s > (int64_t)lease_s + SLACK_S)
        findings_add(checks->findings, FINDING_FAIL, LEASE,
                     "see why no replica leads (GET /readyz, their logs)",
                     "%s has not renewed it for %" PRId64 " s (leaseDurationSeconds is %zu): "
                     "no replica decides",
                     holder, age_s, lease_s);
    else
        findings_add(checks->findings, FINDING_OK, LEASE, "", "%s leads", holder);
}

static void check_lease(const struct live_checks *checks)
{
    char home[LIVE_NAME_MAX];
    char path[PATH_BYTES];
    int64_t renewed_s = 0;
    home_of(checks, home);
    (void)snprintf(path, sizeof path, "/apis/coordination.k8s.io/v1/namespaces/%s/leases/%s", home,
                   checks->settings->election.lease_name);
    json_t *lease = get(checks, LEASE, path, "no replica has led yet");
    const json_t *spec = json_member(lease, "spec");
    const char *holder = json_string_value(json_member(spec, "holderIdentity"));
    const char *time = json_string_value(json_member(spec, "renewTime"));
    if (lease && (!holder || !*holder))
        findings_add(checks->findings, FINDING_FAIL, LEASE,
                     "see why no replica leads (GET /readyz, their logs)",
                     "no replica holds it, so none decides");
    else if (lease && (!time || text_time_read(time, &renewed_s) < 0))
        findings_not_checked(checks->findings, LEASE, "", "its renewTime is not a time");
    else if (lease)
        judge_age(checks, holder, renewed_s);
    json_decref(lease);
}

static void judge_slice(const struct live_checks *checks, const json_t *slice)
{
    const json_t *endpoints = json_member(slice, "endpoints");
    const json_t *port = json_array_get(json_member(slice, "ports"), 0);
    const json_int_t number = json_integer_value(json_member(port, "port"));
    const json_t *addresses = json_member(json_array_get(endpoints, 0), "addresses");
    const char *address = json_string_value(json_array_get(addresses, 0));
    char host[SCHEDULER_HOST_MAX];
    long verbs_port = 0;
    scheduler_address_split(checks->settings->listen_verbs, host, &verbs_port);
    if (!address)
        findings_add(checks->findings, FINDING_FAIL, SLICE, "see why no replica leads",
                     "has no address, so kube-scheduler reaches no replica");
    else if (verbs_port != 0 && number != verbs_port)
        findings_add(checks->findings, FINDING_FAIL, SLICE,
                     "give all replicas the same policy, and restart them",
                     "has the port %" PRId64 ", listen.verbs has %ld", (int64_t)number, verbs_port);
    else
        findings_add(checks->findings, FINDING_OK, SLICE, "", "leads to %.64s port %" PRId64,
                     address, (int64_t)number);
}

static void check_slice(const struct live_checks *checks)
{
    char home[LIVE_NAME_MAX];
    char path[PATH_BYTES];
    home_of(checks, home);
    (void)snprintf(path, sizeof path, "/apis/discovery.k8s.io/v1/namespaces/%s/endpointslices/%s",
                   home, checks->settings->election.service_name);
    json_t *slice = get(checks, SLICE, path, "kube-scheduler reaches no replica");
    if (slice)
        judge_slice(checks, slice);
    json_decref(slice);
}

static void check_wake(const struct live_checks *checks)
{
    char home[LIVE_NAME_MAX];
    char path[PATH_BYTES];
    struct api_reply reply CLEANUP(api_reply_fini);
    home_of(checks, home);
    (void)snprintf(path, sizeof path,
                   "/apis/storage.k8s.io/v1/namespaces/%s/csistoragecapacities/%s", home,
                   checks->settings->wake_object);
    api_server_ask(checks->server, path, NULL, &reply);
    if (reply.status == 404)
        findings_add(checks->findings, FINDING_WARN, WAKE,
                     "apply the base or overlay that you use, or correct wake in the policy",
                     "%s: is not there: kube-scheduler is not told to ask again", path);
    else if (!reply.object)
        findings_not_checked(checks->findings, WAKE, "", "%s: %s", path, reply.why);
    else
        findings_add(checks->findings, FINDING_OK, WAKE, "", "%s is there",
                     checks->settings->wake_object);
}

void leader_checks_run(const struct live_checks *checks)
{
    if (*checks->settings->wake_object)
        check_wake(checks);
    if (!checks->settings->election.enabled)
        return;
    check_lease(checks);
    if (*checks->settings->election.service_name)
        check_slice(checks);
}
