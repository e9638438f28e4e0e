/* scheduler_profiles: what kube-scheduler's configuration says outside of extenders. */
#include "formats/json_values.h"
#include "scheduler_checks.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Which plugins a profile of kube-scheduler runs.
 *
 * Sources, all of 1.36: mergePlugins() in Kubernetes' pkg/scheduler/apis/config/v1,
 * NewFramework() in pkg/scheduler/framework/runtime, validateCommonQueueSort() and
 * validatePluginConfig() in pkg/scheduler/apis/config/validation. */

#define CHECK "plugins"
#define CONFIG "pluginConfig"
#define SORTER "PrioritySort"
#define VOLUMES "VolumeBinding" /* scores only with the gate StorageCapacityScoring */
#define REFUSED "kube-scheduler does not start: "
#define UNKNOWN_ADVICE                                                                             \
    "correct it, or make sure that your kube-scheduler was built with it: else it does not start"

enum point {
    PRE_ENQUEUE,
    QUEUE_SORT,
    PRE_FILTER,
    FILTER,
    POST_FILTER,
    PRE_SCORE,
    SCORE,
    RESERVE,
    PERMIT,
    PRE_BIND,
    BIND,
    POST_BIND,
    PLACEMENT_GENERATE,
    PLACEMENT_SCORE,
    N_POINTS
};

static const char *const POINTS[N_POINTS] = {
    "preEnqueue", "queueSort", "preFilter",         "filter",        "postFilter",
    "preScore",   "score",     "reserve",           "permit",        "preBind",
    "bind",       "postBind",  "placementGenerate", "placementScore"};

#define AT(POINT) (1U << (POINT))
#define FILTERS (AT(PRE_FILTER) | AT(FILTER))
#define SCORES (AT(PRE_SCORE) | AT(SCORE))

/* kube-scheduler's own plugins. SCHEDULER_PLUGIN_WEIGHTS is the sum of weights of those that
 * score. */
static const struct plugin {
    const char *name;
    unsigned points;
    int64_t weight; /* by default; 0: it is not on by default, or only with a feature gate */
} PLUGINS[] = {
    {"SchedulingGates", AT(PRE_ENQUEUE), 1},
    {SORTER, AT(QUEUE_SORT), 1},
    {"NodeUnschedulable", AT(FILTER), 1},
    {"NodeName", AT(FILTER), 1},
    {"TaintToleration", AT(FILTER) | SCORES, 3},
    {"NodeAffinity", FILTERS | SCORES, 2},
    {"NodePorts", FILTERS, 1},
    {"NodeResourcesFit", FILTERS | SCORES | AT(PLACEMENT_SCORE), 1},
    {"VolumeRestrictions", FILTERS, 1},
    {"NodeVolumeLimits", FILTERS, 1},
    {VOLUMES, FILTERS | SCORES | AT(RESERVE) | AT(PRE_BIND), 1},
    {"VolumeZone", FILTERS, 1},
    {"PodTopologySpread", FILTERS | SCORES, 2},
    {"InterPodAffinity", FILTERS | SCORES, 2},
    {"DynamicResources",
     FILTERS | AT(PRE_ENQUEUE) | AT(POST_FILTER) | AT(SCORE) | AT(RESERVE) | AT(PRE_BIND), 2},
    {"DefaultPreemption", AT(PRE_ENQUEUE) | AT(POST_FILTER), 1},
    {"NodeResourcesBalancedAllocation", SCORES, 1},
    {"ImageLocality", AT(SCORE), 1},
    {"DefaultBinder", AT(BIND), 1},
    {"NodeDeclaredFeatures", FILTERS, 0},
    {"GangScheduling", AT(PRE_ENQUEUE) | AT(PERMIT), 0},
    {"TopologyPlacementGenerator", AT(PLACEMENT_GENERATE), 0},
    {"PodGroupPodsCount", AT(PLACEMENT_SCORE), 0},
};
#define N_PLUGINS (sizeof PLUGINS / sizeof *PLUGINS)

/* Names that it rejects in pluginConfig. */
static const char *const CONFIG_REJECTED[] = {"AzureDiskLimits", "CinderLimits", "EBSLimits",
                                              "GCEPDLimits", "NodeResourcesFitArgs"};

static const struct plugin *find_plugin(const char *name)
{
    for (size_t i = 0; i < N_PLUGINS; i++) {
        if (strcmp(PLUGINS[i].name, name) == 0)
            return &PLUGINS[i];
    }
    return NULL;
}

static json_t *enabled(const json_t *profile, const char *point)
{
    return json_member(json_member(json_member(profile, "plugins"), point), "enabled");
}

static json_t *disabled(const json_t *profile, const char *point)
{
    return json_member(json_member(json_member(profile, "plugins"), point), "disabled");
}

/* The index of the last item of the name before end, or end. */
static size_t last_index(const json_t *list, size_t end, const char *name)
{
    for (size_t i = end; i > 0; i--) {
        if (strcmp(scheduler_text(json_array_get(list, i - 1), "name"), name) == 0)
            return i - 1;
    }
    return end;
}

/* The last item of the name. */
static const json_t *item_of(const json_t *list, const char *name)
{
    const size_t n = json_array_size(list);
    return json_array_get(list, last_index(list, n, name));
}

static bool is_disabled(const json_t *profile, const char *point, const char *name)
{
    const json_t *list = disabled(profile, point);
    return item_of(list, name) || item_of(list, "*");
}

static bool is_default(const json_t *profile, const struct plugin *plugin)
{
    return plugin->weight > 0 && !is_disabled(profile, "multiPoint", plugin->name);
}

static bool is_everywhere(const json_t *profile, const struct plugin *plugin)
{
    return item_of(enabled(profile, "multiPoint"), plugin->name) || is_default(profile, plugin);
}

/* By multiPoint. An entry of the point itself wins. */
static bool expands_to(const json_t *profile, const struct plugin *plugin, enum point point)
{
    return (plugin->points & AT(point)) &&
           !item_of(enabled(profile, POINTS[point]), plugin->name) &&
           !is_disabled(profile, POINTS[point], plugin->name);
}

static bool is_needed(const json_t *profile, const char *name)
{
    const struct plugin *plugin = find_plugin(name);
    bool any = plugin && is_everywhere(profile, plugin);
    for (size_t i = 0; i < N_POINTS; i++)
        any = any || item_of(enabled(profile, POINTS[i]), name);
    return any;
}

static size_t count(const json_t *profile, enum point point)
{
    size_t n = json_array_size(enabled(profile, POINTS[point]));
    for (size_t i = 0; i < N_PLUGINS; i++)
        n += is_everywhere(profile, &PLUGINS[i]) && expands_to(profile, &PLUGINS[i], point);
    return n;
}

static int64_t weight_of(const json_t *item, int64_t otherwise)
{
    const json_int_t weight = json_integer_value(json_object_get(item, "weight"));
    if (!item)
        return otherwise;
    return weight <= 0 ? 1 : weight <= INT32_MAX ? weight : INT32_MAX;
}

/* The sum of the weights of all plugins of the profile that score. One of multiPoint that is
 * unknown may not score: then it is more. */
static int64_t scheduler_plugins_weight(const json_t *profile)
{
    const json_t *everywhere = enabled(profile, "multiPoint");
    int64_t sum = 0;
    size_t i = 0;
    const json_t *item = NULL;
    json_array_foreach (enabled(profile, POINTS[SCORE]), i, item)
        sum += weight_of(item, 0);
    json_array_foreach (everywhere, i, item)
        sum += find_plugin(scheduler_text(item, "name")) ? 0 : weight_of(item, 0);
    for (i = 0; i < N_PLUGINS; i++) {
        if (strcmp(PLUGINS[i].name, VOLUMES) != 0 && is_everywhere(profile, &PLUGINS[i]) &&
            expands_to(profile, &PLUGINS[i], SCORE))
            sum += weight_of(item_of(everywhere, PLUGINS[i].name), PLUGINS[i].weight);
    }
    return sum;
}

/* Adds the weight of a plugin that scores at the point. False: the sum was below 0 before. */
static bool add_weight(const struct plugin *plugin, const json_t *item, enum point point,
                       int64_t *sum)
{
    const bool was_negative = *sum < 0;
    const json_int_t weight = json_integer_value(json_object_get(item, "weight"));
    if (!plugin || !(plugin->points & AT(point)))
        return true;
    *sum += weight != 0 ? weight : item ? 1 : plugin->weight;
    return !was_negative;
}

/* Sums as getValidScoreWeights(), which takes a sum below 0 before the last plugin for one that
 * overflows: first the point's own plugins, then the rest of multiPoint, the default ones first. */
static bool can_sum_weights(const json_t *profile, enum point point)
{
    const json_t *own = enabled(profile, POINTS[point]);
    const json_t *everywhere = enabled(profile, "multiPoint");
    int64_t sum = 0;
    bool can = true;
    size_t i = 0;
    const json_t *item = NULL;
    json_array_foreach (own, i, item)
        can = add_weight(find_plugin(scheduler_text(item, "name")), item, point, &sum) && can;
    for (i = 0; i < N_PLUGINS; i++) {
        const char *name = PLUGINS[i].name;
        if (is_default(profile, &PLUGINS[i]) && !item_of(own, name))
            can = add_weight(&PLUGINS[i], item_of(everywhere, name), point, &sum) && can;
    }
    json_array_foreach (everywhere, i, item) {
        const char *name = scheduler_text(item, "name");
        const struct plugin *plugin = find_plugin(name);
        if (plugin && !is_default(profile, plugin) && !item_of(own, name))
            can = add_weight(plugin, item, point, &sum) && can;
    }
    return can;
}

/* The profile under check. */
struct plugins_walk {
    const struct scheduler_checks *checks;
    const struct yaml_value *profile;
};

/* Once for each name. */
static void check_unknown(const struct plugins_walk *walk, const struct yaml_value *at,
                          const char *name, size_t point)
{
    for (size_t i = 0; i < point; i++) {
        if (item_of(enabled(walk->profile->value, POINTS[i]), name))
            return;
    }
    scheduler_report_at(walk->checks, FINDING_WARN, CHECK, at, UNKNOWN_ADVICE,
                        "%s: is no plugin of kube-scheduler 1.36", name);
}

static void check_item(const struct plugins_walk *walk, const struct yaml_value *at, size_t index,
                       enum point point)
{
    const char *name = scheduler_text(at->value, "name");
    const struct plugin *plugin = find_plugin(name);
    if (!plugin)
        check_unknown(walk, at, name, point);
    else if (!(plugin->points & AT(point)))
        scheduler_report_at(walk->checks, FINDING_FAIL, CHECK, at, REFUSED "remove it here",
                            "%s: is no plugin for %s", name, POINTS[point]);
    if (last_index(at->container, index, name) < index)
        scheduler_report_at(walk->checks, FINDING_FAIL, CHECK, at, REFUSED "remove one",
                            "%s: is enabled twice", name);
}

static void check_everywhere(const struct plugins_walk *walk, const struct yaml_value *at,
                             size_t index)
{
    const char *name = scheduler_text(at->value, "name");
    const struct plugin *plugin = find_plugin(name);
    bool expands = false;
    for (size_t i = 0; plugin && i < N_POINTS; i++)
        expands = expands || expands_to(walk->profile->value, plugin, (enum point)i);
    if (!plugin)
        check_unknown(walk, at, name, N_POINTS);
    else if (expands && last_index(at->container, index, name) < index)
        scheduler_report_at(walk->checks, FINDING_FAIL, CHECK, at, REFUSED "remove one",
                            "%s: is enabled twice", name);
}

static void check_enabled(const struct plugins_walk *walk, const char *point_name, size_t point)
{
    json_t *list = enabled(walk->profile->value, point_name);
    struct scheduler_item item;
    for (size_t i = 0; i < json_array_size(list); i++) {
        scheduler_item_place(&item, list, i, "%s.plugins.%s.enabled", walk->profile->path,
                             point_name);
        if (point < N_POINTS)
            check_item(walk, &item.at, i, (enum point)point);
        else
            check_everywhere(walk, &item.at, i);
    }
}

static bool has_unknown(const json_t *profile)
{
    size_t i = 0;
    const json_t *item = NULL;
    bool any = false;
    json_array_foreach (enabled(profile, "multiPoint"), i, item)
        any = any || !find_plugin(scheduler_text(item, "name"));
    return any;
}

static void check_weights(const struct plugins_walk *walk)
{
    const json_t *profile = walk->profile->value;
    if (!can_sum_weights(profile, SCORE) || !can_sum_weights(profile, PLACEMENT_SCORE))
        scheduler_report_at(walk->checks, FINDING_FAIL, CHECK, walk->profile,
                            REFUSED "write positive weights",
                            "the weights of plugins that score sum to less than 0");
}

/* An unknown plugin of multiPoint may sort or bind. */
static void check_counts(const struct plugins_walk *walk)
{
    const json_t *profile = walk->profile->value;
    const size_t n_sorters = count(profile, QUEUE_SORT);
    if (n_sorters > 1 || (n_sorters == 0 && !has_unknown(profile)))
        scheduler_report_at(walk->checks, FINDING_FAIL, CHECK, walk->profile,
                            REFUSED "enable " SORTER " alone",
                            "%zu plugins for queueSort, should "
                            "be one",
                            n_sorters);
    if (count(profile, BIND) == 0 && !has_unknown(profile))
        scheduler_report_at(walk->checks, FINDING_FAIL, CHECK, walk->profile,
                            REFUSED "enable DefaultBinder", "no plugin for bind is left");
    if (count(profile, PLACEMENT_GENERATE) > 1)
        scheduler_report_at(walk->checks, FINDING_FAIL, CHECK, walk->profile, REFUSED "remove one",
                            "more than one plugin for placementGenerate");
}

/* Same names in the same order, and where with_weight is set, the same weights. */
static bool are_same(const json_t *a, const json_t *b, bool with_weight)
{
    bool same = json_array_size(a) == json_array_size(b);
    for (size_t i = 0; same && i < json_array_size(a); i++) {
        const json_t *left = json_array_get(a, i);
        const json_t *right = json_array_get(b, i);
        same = strcmp(scheduler_text(left, "name"), scheduler_text(right, "name")) == 0 &&
               (!with_weight || json_integer_value(json_object_get(left, "weight")) ==
                                    json_integer_value(json_object_get(right, "weight")));
    }
    return same;
}

/* The args of the profile's plugin that sorts; {} is not the same as none. */
static json_t *sorter_args(const json_t *profile)
{
    const json_t *own = json_array_get(enabled(profile, POINTS[QUEUE_SORT]), 0);
    const char *name = own ? scheduler_text(own, "name") : SORTER;
    return json_member(item_of(json_member(profile, CONFIG), name), "args");
}

static void check_sorter(const struct plugins_walk *walk, const json_t *first)
{
    const json_t *profile = walk->profile->value;
    const char *point = POINTS[QUEUE_SORT];
    json_t *args = sorter_args(profile);
    json_t *first_args = sorter_args(first);
    if (!are_same(enabled(first, point), enabled(profile, point), true) ||
        !are_same(disabled(first, point), disabled(profile, point), false))
        scheduler_report_at(walk->checks, FINDING_FAIL, CHECK, walk->profile,
                            REFUSED "write the same in all profiles",
                            "queueSort differs from that of profiles[0]");
    else if (args != first_args && (!args || !first_args || !json_equal(args, first_args)))
        scheduler_report_at(walk->checks, FINDING_FAIL, CONFIG, walk->profile,
                            REFUSED "write the same in all profiles",
                            "the args of the plugin for queueSort differ from those of "
                            "profiles[0]");
}

static bool is_rejected(const char *name)
{
    bool any = false;
    for (size_t i = 0; i < sizeof CONFIG_REJECTED / sizeof *CONFIG_REJECTED; i++)
        any = any || strcmp(CONFIG_REJECTED[i], name) == 0;
    return any;
}

static void check_configs(const struct plugins_walk *walk)
{
    json_t *list = json_member(walk->profile->value, CONFIG);
    struct scheduler_item item;
    for (size_t i = 0; i < json_array_size(list); i++) {
        scheduler_item_place(&item, list, i, "%s." CONFIG, walk->profile->path);
        const char *name = scheduler_text(item.at.value, "name");
        if (last_index(list, i, name) < i)
            scheduler_report_at(walk->checks, FINDING_FAIL, CONFIG, &item.at, REFUSED "remove one",
                                "%s: is there twice", name);
        if (is_rejected(name))
            scheduler_report_at(walk->checks, FINDING_FAIL, CONFIG, &item.at,
                                REFUSED "write the name of a plugin that it has",
                                "%s: kube-scheduler 1.36 rejects this name", name);
    }
}

static bool any_resource_is_ignored(const struct scheduler_checks *checks)
{
    size_t i = 0;
    size_t k = 0;
    const json_t *extender = NULL;
    const json_t *resource = NULL;
    bool any = false;
    json_array_foreach (checks->extenders, i, extender) {
        json_array_foreach (json_object_get(extender, "managedResources"), k, resource)
            any = any || json_is_true(json_object_get(resource, "ignoredByScheduler"));
    }
    return any;
}

/* buildExtenders() writes them into the args of this plugin. */
static void check_ignored(const struct plugins_walk *walk)
{
    static const char FIT[] = "NodeResourcesFit";
    const json_t *profile = walk->profile->value;
    if (!is_needed(profile, FIT) && !item_of(json_member(profile, CONFIG), FIT) &&
        any_resource_is_ignored(walk->checks))
        scheduler_report_at(walk->checks, FINDING_FAIL, CHECK, walk->profile,
                            REFUSED "enable it, or set ignoredByScheduler to false",
                            "NodeResourcesFit is not enabled, and a managed resource has "
                            "ignoredByScheduler");
}

/* A fail for what keeps kube-scheduler from starting, a warn for plugins that 1.36 does not have.
 * at: the profile. first: the first profile of the file. */
static void scheduler_plugins_check(const struct scheduler_checks *checks,
                                    const struct yaml_value *at, const json_t *first)
{
    const struct plugins_walk walk = {checks, at};
    for (size_t i = 0; i < N_POINTS; i++)
        check_enabled(&walk, POINTS[i], i);
    check_enabled(&walk, "multiPoint", N_POINTS);
    check_counts(&walk);
    check_weights(&walk);
    check_sorter(&walk, first);
    check_configs(&walk);
    check_ignored(&walk);
}

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

static void check_profile_weights(const struct scheduler_checks *checks,
                                  const struct yaml_value *at)
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
        check_profile_weights(checks, at);
        scheduler_plugins_check(checks, at, json_array_get(profiles, 0));
    }
}

/* Pods that borrow are evicted where kube-scheduler looks for victims; a model in an annotation is
 * unknown to it. at: a profile, or the file if it has none. */
static void check_preemption(const struct scheduler_checks *checks, const struct yaml_value *at)
{
    static const char PREEMPTION[] = "DefaultPreemption";
    json_t *args = json_member(item_of(json_member(at->value, CONFIG), PREEMPTION), "args");
    if (json_integer_value(json_member(args, "minCandidateNodesPercentage")) != 100)
        scheduler_report_at(
            checks, FINDING_WARN, "preemption", at,
            "set minCandidateNodesPercentage: 100 in the args of DefaultPreemption, "
            "or give pods of a GPU model a nodeSelector",
            "quotas of the policy lend GPUs, and kube-scheduler looks for pods to "
            "evict on a sample of the nodes");
}

static void check_preemptions(const struct scheduler_checks *checks)
{
    json_t *root = checks->file->root;
    json_t *profiles = json_member(root, PROFILES);
    struct scheduler_item profile;
    const struct yaml_value none = {root, PROFILES, PROFILES, NULL};
    if (checks->settings->policy.n_quota_priorities == 0)
        return;
    for (size_t i = 0; i < json_array_size(profiles); i++) {
        scheduler_item_place(&profile, profiles, i, PROFILES);
        check_preemption(checks, &profile.at);
    }
    if (json_array_size(profiles) == 0)
        check_preemption(checks, &none);
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
    check_preemptions(checks);
    check_backoff(checks);
    check_election(checks);
    check_lease(checks);
}
