/* scheduler_profiles: what kube-scheduler's configuration says outside of extenders. */
#include "scheduler_profiles.h"
#include "duration.h"
#include "formats/json_get.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define PROFILES "profiles"
#define PERCENTAGE "percentageOfNodesToScore"
#define ALL_NODES 100
#define SCORE_MAX 100
#define EXTENDER_SCALE 10

/* kube-scheduler's default plugins that score; SCHEDULER_PLUGIN_WEIGHTS is their sum. */
static const struct default_plugin {
    const char *name;
    int64_t weight;
} DEFAULTS[] = {{"TaintToleration", 3},   {"NodeAffinity", 2},
                {"PodTopologySpread", 2}, {"InterPodAffinity", 2},
                {"DynamicResources", 2},  {"NodeResourcesFit", 1},
                {"ImageLocality", 1},     {"NodeResourcesBalancedAllocation", 1}};
#define N_DEFAULTS (sizeof DEFAULTS / sizeof *DEFAULTS)

struct weights {
    int64_t defaults[N_DEFAULTS];
    int64_t others;
};

static struct yaml_value at_profile(json_t *profiles, size_t i, char index[24], char path[64])
{
    (void)snprintf(index, 24, "%zu", i);
    (void)snprintf(path, 64, PROFILES "[%zu]", i);
    return (struct yaml_value){profiles, index, path, json_array_get(profiles, i)};
}

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

static const char *name_of(const json_t *profile)
{
    const char *name = json_string_value(json_member(profile, "schedulerName"));
    return name ? name : "default-scheduler";
}

static bool is_repeated(json_t *profiles, size_t i)
{
    for (size_t k = 0; k < i; k++) {
        if (strcmp(name_of(json_array_get(profiles, k)), name_of(json_array_get(profiles, i))) == 0)
            return true;
    }
    return false;
}

static void set_weight(struct weights *weights, const char *name, int64_t weight)
{
    for (size_t i = 0; i < N_DEFAULTS; i++) {
        if (strcmp(DEFAULTS[i].name, name) == 0) {
            weights->defaults[i] = weight > 0 ? weight : DEFAULTS[i].weight;
            return;
        }
    }
    weights->others += weight > 0 ? weight : 1;
}

static void remove_disabled(struct weights *weights, const json_t *set)
{
    size_t i = 0;
    const json_t *plugin = NULL;
    json_array_foreach (json_object_get(set, "disabled"), i, plugin) {
        const char *name = json_string_value(json_object_get(plugin, "name"));
        for (size_t k = 0; name && k < N_DEFAULTS; k++) {
            if (strcmp(name, "*") == 0 || strcmp(name, DEFAULTS[k].name) == 0)
                weights->defaults[k] = 0;
        }
    }
}

static void add_enabled(struct weights *weights, const json_t *set)
{
    size_t i = 0;
    const json_t *plugin = NULL;
    json_array_foreach (json_object_get(set, "enabled"), i, plugin) {
        const char *name = json_string_value(json_object_get(plugin, "name"));
        const json_int_t weight = json_integer_value(json_object_get(plugin, "weight"));
        if (name)
            set_weight(weights, name, weight <= INT32_MAX ? weight : INT32_MAX);
    }
}

/* The least weight of an extender with which one of its points outweighs all plugins of the
 * profile. A plugin of multiPoint may not score: then it is more than needed. */
static int64_t weight_that_decides(const json_t *profile)
{
    const json_t *plugins = json_member(profile, "plugins");
    const json_t *sets[] = {json_member(plugins, "multiPoint"), json_member(plugins, "score")};
    struct weights weights = {.others = 0};
    for (size_t i = 0; i < N_DEFAULTS; i++)
        weights.defaults[i] = DEFAULTS[i].weight;
    for (size_t i = 0; i < 2; i++)
        remove_disabled(&weights, sets[i]);
    for (size_t i = 0; i < 2; i++)
        add_enabled(&weights, sets[i]);
    int64_t sum = weights.others;
    for (size_t i = 0; i < N_DEFAULTS; i++)
        sum += weights.defaults[i];
    return sum * SCORE_MAX / EXTENDER_SCALE + 1;
}

static void check_plugins(const struct scheduler_checks *checks, const struct yaml_value *at)
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
    size_t i = 0;
    json_t *profile = NULL;
    json_array_foreach (profiles, i, profile) {
        char index[24];
        char path[64];
        const struct yaml_value at = at_profile(profiles, i, index, path);
        if (!*name_of(at.value))
            scheduler_report_at(checks, FINDING_FAIL, PROFILES, &at,
                                "kube-scheduler does not start: give it a name",
                                "schedulerName is empty");
        else if (is_repeated(profiles, i))
            scheduler_report_at(checks, FINDING_FAIL, PROFILES, &at,
                                "kube-scheduler does not start: rename one",
                                "schedulerName %s is there twice", name_of(profile));
        check_plugins(checks, &at);
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

static void check_time(const struct scheduler_checks *checks, const char *key, size_t default_s,
                       size_t policy_s)
{
    json_t *election = json_member(checks->file->root, "leaderElection");
    json_t *value = json_member(election, key);
    const struct yaml_value at = {value ? election : checks->file->root,
                                  value ? key : "leaderElection", key, value};
    int64_t ms = (int64_t)default_s * 1000;
    if (value && (!json_is_string(value) || !duration_parse(json_string_value(value), &ms)))
        return;
    if (ms != (int64_t)policy_s * 1000)
        scheduler_report_at(checks, FINDING_FAIL, "leaderElection", &at,
                            "set the same times in the policy (scheduler.leaseDurationSeconds, "
                            "renewDeadlineSeconds)",
                            "is %" PRId64 " ms, the policy has %zu s", ms, policy_s);
}

/* An instance beside each kube-scheduler computes with kube-scheduler's Lease. */
static void check_lease(const struct scheduler_checks *checks)
{
    const struct settings_scheduler *policy = &checks->settings->scheduler;
    json_t *election = json_member(checks->file->root, "leaderElection");
    const struct yaml_value at = {election, "leaderElect", "leaderElection.leaderElect",
                                  json_member(election, "leaderElect")};
    if (!policy->beside)
        return;
    if (json_is_false(at.value))
        scheduler_report_at(checks, FINDING_FAIL, "leaderElection", &at,
                            "remove the line: the default is true",
                            "is false, and scheduler.beside needs kube-schedulers that take turns");
    check_time(checks, "leaseDuration", 15, policy->lease_s);
    check_time(checks, "renewDeadline", 10, policy->renew_s);
}

void scheduler_profiles_check(const struct scheduler_checks *checks)
{
    check_percentage(checks);
    check_profiles(checks);
    check_backoff(checks);
    check_lease(checks);
}
