/* scheduler_profiles: what kube-scheduler's configuration says outside of extenders. */
#include "scheduler_profiles.h"
#include "duration.h"
#include "formats/json_get.h"
#include "scheduler_plugins.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define PROFILES "profiles"
#define PERCENTAGE "percentageOfNodesToScore"
#define ALL_NODES 100
#define SCORE_MAX 100
#define EXTENDER_SCALE 10
#define ELECTION "leaderElection"
#define LEASE_MS 15000 /* by default, as the next two */
#define RENEW_MS 10000
#define RETRY_MS 2000

static json_int_t percentage_of(const json_t *object, json_int_t otherwise)
{
    const json_t *value = json_member(object, PERCENTAGE);
    return json_is_integer(value) ? json_integer_value(value) : otherwise;
}

/* A GPU profile beside a sampling one is enough. */
static bool any_profile_sees_all(const struct scheduler_checks *checks)
{
    const json_t *profiles = json_member(checks->file->root, PROFILES);
    const json_int_t global = percentage_of(checks->file->root, 0);
    size_t i = 0;
    const json_t *profile = NULL;
    bool any = json_array_size(profiles) == 0 && global == ALL_NODES;
    json_array_foreach (profiles, i, profile)
        any = any || percentage_of(profile, global) == ALL_NODES;
    return any;
}

static void check_percentage(const struct scheduler_checks *checks)
{
    json_t *root = checks->file->root;
    const struct yaml_value at = {root, PERCENTAGE, PERCENTAGE, json_member(root, PERCENTAGE)};
    if (any_profile_sees_all(checks))
        scheduler_report_at(checks, FINDING_OK, PERCENTAGE, &at, "",
                            "is 100 for the pods of at least one profile");
    else
        scheduler_report_at(checks, FINDING_WARN, PERCENTAGE, &at,
                            "set it to 100, for all pods or in the profile of GPU pods",
                            "is 100 in no profile: from 100 nodes on, kube-scheduler shows only a "
                            "sample, perhaps none of the right model");
}

/* Only a single profile has a default name. */
static const char *name_of(const json_t *profiles, size_t i)
{
    const char *name = json_string_value(json_member(json_array_get(profiles, i), "schedulerName"));
    if (name)
        return name;
    return json_array_size(profiles) == 1 ? "default-scheduler" : "";
}

static bool is_repeated(const json_t *profiles, size_t i)
{
    for (size_t k = 0; k < i; k++) {
        if (strcmp(name_of(profiles, k), name_of(profiles, i)) == 0)
            return true;
    }
    return false;
}

/* The least weight of an extender with which one of its points outweighs all plugins of the
 * profile. */
static int64_t weight_that_decides(const json_t *profile)
{
    return scheduler_plugins_weight(profile) * SCORE_MAX / EXTENDER_SCALE + 1;
}

static void check_weights(const struct scheduler_checks *checks, const struct yaml_value *at)
{
    const int64_t least = weight_that_decides(at->value);
    const json_int_t weight = json_integer_value(json_object_get(checks->ours, "weight"));
    if (checks->ours && least > SCHEDULER_WEIGHT_THAT_DECIDES && weight < least)
        scheduler_report_at(checks, FINDING_WARN, "plugins", at,
                            "raise the extender's weight, and scheduler.weight of the policy",
                            "further scoring plugins or weights: gpu-extender decides from weight "
                            "%" PRId64 " on, it has %" PRId64,
                            least, (int64_t)weight);
}

static void check_profiles(const struct scheduler_checks *checks)
{
    json_t *profiles = json_member(checks->file->root, PROFILES);
    struct scheduler_item profile;
    for (size_t i = 0; i < json_array_size(profiles); i++) {
        const struct yaml_value *at = &profile.at;
        scheduler_item_place(&profile, profiles, i, PROFILES);
        if (!*name_of(profiles, i))
            scheduler_report_at(checks, FINDING_FAIL, PROFILES, at,
                                "kube-scheduler does not start: give it a name",
                                "schedulerName is empty or missing");
        else if (is_repeated(profiles, i))
            scheduler_report_at(checks, FINDING_FAIL, PROFILES, at,
                                "kube-scheduler does not start: rename one",
                                "schedulerName %s is there twice", name_of(profiles, i));
        check_weights(checks, at);
        scheduler_plugins_check(checks, at, json_array_get(profiles, 0));
    }
}

/* The defaults are 1 and 10 seconds. */
static void check_backoff(const struct scheduler_checks *checks)
{
    json_t *root = checks->file->root;
    const json_t *initial = json_member(root, "podInitialBackoffSeconds");
    json_t *max = json_member(root, "podMaxBackoffSeconds");
    const json_int_t initial_s = initial ? json_integer_value(initial) : 1;
    const json_int_t max_s = max ? json_integer_value(max) : 10;
    const char *key = max ? "podMaxBackoffSeconds" : "podInitialBackoffSeconds";
    const struct yaml_value at = {root, key, key, json_member(root, key)};
    if (initial_s > 0 && max_s > 0 && max_s < initial_s)
        scheduler_report_at(
            checks, FINDING_FAIL, "fields", &at, "kube-scheduler does not start: correct one",
            "podMaxBackoffSeconds (%" JSON_INTEGER_FORMAT
            ") should be at least podInitialBackoffSeconds (%" JSON_INTEGER_FORMAT ")",
            max_s, initial_s);
}

static struct yaml_value at_time(const struct scheduler_checks *checks, const char *key)
{
    json_t *election = json_member(checks->file->root, ELECTION);
    json_t *value = json_member(election, key);
    return (struct yaml_value){value ? election : checks->file->root, value ? key : ELECTION, key,
                               value};
}

/* False: the value is no duration. 0 means the default, too. */
static bool read_time(const json_t *value, int64_t default_ms, int64_t *ret_ms)
{
    int64_t ms = 0;
    if (value && (!json_is_string(value) || !duration_parse(json_string_value(value), &ms)))
        return false;
    *ret_ms = ms == 0 ? default_ms : ms;
    return true;
}

static void check_time(const struct scheduler_checks *checks, const char *key, int64_t default_ms,
                       size_t policy_s)
{
    const struct yaml_value at = at_time(checks, key);
    int64_t ms = 0;
    if (read_time(at.value, default_ms, &ms) && ms != (int64_t)policy_s * 1000)
        scheduler_report_at(checks, FINDING_FAIL, ELECTION, &at,
                            "set the same times in the policy (scheduler.leaseDurationSeconds, "
                            "renewDeadlineSeconds)",
                            "is %" PRId64 " ms, the policy has %zu s", ms, policy_s);
}

static void check_greater(const struct scheduler_checks *checks, const struct yaml_value *at,
                          int64_t ms, int64_t than_ms, const char *what)
{
    if (ms <= than_ms)
        scheduler_report_at(
            checks, FINDING_FAIL, ELECTION, at, "kube-scheduler does not start: correct the times",
            "is %" PRId64 " ms, should be more than %s (%" PRId64 " ms)", ms, what, than_ms);
}

/* Sources: ValidateLeaderElectionConfiguration() of component-base, NewLeaderElector() of
 * client-go. */
static void check_election(const struct scheduler_checks *checks)
{
    const json_t *election = json_member(checks->file->root, ELECTION);
    const struct yaml_value lease = at_time(checks, "leaseDuration");
    const struct yaml_value renew = at_time(checks, "renewDeadline");
    const struct yaml_value retry = at_time(checks, "retryPeriod");
    const struct yaml_value lock = at_time(checks, "resourceLock");
    const char *lock_kind = scheduler_text(election, "resourceLock");
    int64_t lease_ms = 0;
    int64_t renew_ms = 0;
    int64_t retry_ms = 0;
    if (json_is_false(json_member(election, "leaderElect")))
        return;
    if (*lock_kind && strcmp(lock_kind, "leases") != 0)
        scheduler_report_at(checks, FINDING_FAIL, ELECTION, &lock,
                            "kube-scheduler does not start: remove the line",
                            "is %s, should be leases", lock_kind);
    if (!read_time(lease.value, LEASE_MS, &lease_ms) ||
        !read_time(renew.value, RENEW_MS, &renew_ms) ||
        !read_time(retry.value, RETRY_MS, &retry_ms))
        return;
    check_greater(checks, &retry, retry_ms, 0, "0");
    check_greater(checks, &renew, renew_ms, retry_ms > 0 ? retry_ms + retry_ms / 5 : 0,
                  "1.2 times retryPeriod");
    check_greater(checks, &lease, lease_ms, renew_ms > 0 ? renew_ms : 0, "renewDeadline");
}

/* An instance beside each kube-scheduler computes with kube-scheduler's Lease. */
static void check_lease(const struct scheduler_checks *checks)
{
    const struct settings_scheduler *policy = &checks->settings->scheduler;
    json_t *election = json_member(checks->file->root, ELECTION);
    const struct yaml_value at = {election, "leaderElect", ELECTION ".leaderElect",
                                  json_member(election, "leaderElect")};
    if (!policy->beside)
        return;
    if (json_is_false(at.value))
        scheduler_report_at(checks, FINDING_FAIL, ELECTION, &at,
                            "remove the line: the default is true",
                            "is false, and scheduler.beside needs kube-schedulers that take turns");
    check_time(checks, "leaseDuration", LEASE_MS, policy->lease_s);
    check_time(checks, "renewDeadline", RENEW_MS, policy->renew_s);
}

void scheduler_profiles_check(const struct scheduler_checks *checks)
{
    check_percentage(checks);
    check_profiles(checks);
    check_backoff(checks);
    check_election(checks);
    check_lease(checks);
}
