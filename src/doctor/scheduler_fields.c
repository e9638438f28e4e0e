/* scheduler_fields: see scheduler_fields.h. */
#include "scheduler_fields.h"

#include "base/base64.h"
#include "base/mem.h"
#include "base/nearest.h"
#include "config/syntax.h"
#include "duration.h"
#include "formats/json_get.h"
#include "scheduler_file.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define ARGS_OF_ANY "Args"

static const struct scheduler_field FIELDS_KNOWN[] = {
    {"", "apiVersion", TEXT, NULL},
    {"", "kind", TEXT, NULL},
    {"", "parallelism", POSITIVE, NULL},
    {"", "leaderElection", OBJECT, "leaderElection"},
    {"", "clientConnection", OBJECT, "clientConnection"},
    {"", "enableProfiling", FLAG, NULL},
    {"", "enableContentionProfiling", FLAG, NULL},
    {"", "percentageOfNodesToScore", PERCENT, NULL},
    {"", "podInitialBackoffSeconds", POSITIVE, NULL},
    {"", "podMaxBackoffSeconds", POSITIVE, NULL},
    {"", "profiles", LIST, "profile"},
    {"", "extenders", LIST, "extender"},
    {"", "delayCacheUntilActive", FLAG, NULL},
    {"leaderElection", "leaderElect", FLAG, NULL},
    {"leaderElection", "leaseDuration", DURATION, NULL},
    {"leaderElection", "renewDeadline", DURATION, NULL},
    {"leaderElection", "retryPeriod", DURATION, NULL},
    {"leaderElection", "resourceLock", TEXT, NULL},
    {"leaderElection", "resourceName", TEXT, NULL},
    {"leaderElection", "resourceNamespace", TEXT, NULL},
    {"clientConnection", "kubeconfig", TEXT, NULL},
    {"clientConnection", "acceptContentTypes", TEXT, NULL},
    {"clientConnection", "contentType", TEXT, NULL},
    {"clientConnection", "qps", NUMBER, NULL},
    {"clientConnection", "burst", WHOLE, NULL},
    {"profile", "schedulerName", TEXT, NULL},
    {"profile", "percentageOfNodesToScore", PERCENT, NULL},
    {"profile", "plugins", OBJECT, "plugins"},
    {"profile", "pluginConfig", LIST, "pluginConfig"},
    {"plugins", "preEnqueue", OBJECT, "pluginSet"},
    {"plugins", "queueSort", OBJECT, "pluginSet"},
    {"plugins", "preFilter", OBJECT, "pluginSet"},
    {"plugins", "filter", OBJECT, "pluginSet"},
    {"plugins", "postFilter", OBJECT, "pluginSet"},
    {"plugins", "preScore", OBJECT, "pluginSet"},
    {"plugins", "score", OBJECT, "pluginSet"},
    {"plugins", "reserve", OBJECT, "pluginSet"},
    {"plugins", "permit", OBJECT, "pluginSet"},
    {"plugins", "preBind", OBJECT, "pluginSet"},
    {"plugins", "bind", OBJECT, "pluginSet"},
    {"plugins", "postBind", OBJECT, "pluginSet"},
    {"plugins", "multiPoint", OBJECT, "pluginSet"},
    {"plugins", "placementGenerate", OBJECT, "pluginSet"},
    {"plugins", "placementScore", OBJECT, "pluginSet"},
    {"pluginSet", "enabled", LIST, "plugin"},
    {"pluginSet", "disabled", LIST, "plugin"},
    {"plugin", "name", TEXT, NULL},
    {"plugin", "weight", SIGNED, NULL},
    {"pluginConfig", "name", TEXT, NULL},
    {"pluginConfig", "args", ARGS, NULL},
    {"extender", "urlPrefix", TEXT, NULL},
    {"extender", "filterVerb", TEXT, NULL},
    {"extender", "preemptVerb", TEXT, NULL},
    {"extender", "prioritizeVerb", TEXT, NULL},
    {"extender", "weight", LONG, NULL},
    {"extender", "bindVerb", TEXT, NULL},
    {"extender", "enableHTTPS", FLAG, NULL},
    {"extender", "tlsConfig", OBJECT, "tlsConfig"},
    {"extender", "httpTimeout", DURATION, NULL},
    {"extender", "nodeCacheCapable", FLAG, NULL},
    {"extender", "managedResources", LIST, "managedResource"},
    {"extender", "ignorable", FLAG, NULL},
    {"tlsConfig", "insecure", FLAG, NULL},
    {"tlsConfig", "serverName", TEXT, NULL},
    {"tlsConfig", "certFile", TEXT, NULL},
    {"tlsConfig", "keyFile", TEXT, NULL},
    {"tlsConfig", "caFile", TEXT, NULL},
    {"tlsConfig", "certData", BASE64, NULL},
    {"tlsConfig", "keyData", BASE64, NULL},
    {"tlsConfig", "caData", BASE64, NULL},
    {"managedResource", "name", TEXT, NULL},
    {"managedResource", "ignoredByScheduler", FLAG, NULL},
    /* The args of a plugin: its name and "Args". */
    {ARGS_OF_ANY, "apiVersion", VERSION, NULL},
    {ARGS_OF_ANY, "kind", TEXT, NULL},
    {"DefaultPreemptionArgs", "minCandidateNodesPercentage", PERCENT, NULL},
    {"DefaultPreemptionArgs", "minCandidateNodesAbsolute", WHOLE, NULL},
    {"InterPodAffinityArgs", "hardPodAffinityWeight", PERCENT, NULL},
    {"InterPodAffinityArgs", "ignorePreferredTermsOfExistingPods", FLAG, NULL},
    {"NodeAffinityArgs", "addedAffinity", OBJECT, "nodeAffinity"},
    {"nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", OBJECT, "nodeSelector"},
    {"nodeAffinity", "preferredDuringSchedulingIgnoredDuringExecution", LIST, "preferredTerm"},
    {"nodeSelector", "nodeSelectorTerms", LIST, "nodeSelectorTerm"},
    {"preferredTerm", "weight", LONG, NULL},
    {"preferredTerm", "preference", OBJECT, "nodeSelectorTerm"},
    {"nodeSelectorTerm", "matchExpressions", LIST, "requirement"},
    {"nodeSelectorTerm", "matchFields", LIST, "fieldRequirement"},
    {"requirement", "key", LABEL_KEY, NULL},
    {"requirement", "operator", OPERATOR, NULL},
    {"requirement", "values", LABEL_VALUES, NULL},
    {"fieldRequirement", "key", TEXT, NULL},
    {"fieldRequirement", "operator", FIELD_OPERATOR, NULL},
    {"fieldRequirement", "values", TEXTS, NULL},
    {"NodeResourcesBalancedAllocationArgs", "resources", LIST, "balancedResource"},
    {"balancedResource", "name", TEXT, NULL},
    {"balancedResource", "weight", ONE, NULL},
    {"NodeResourcesFitArgs", "ignoredResources", LABEL_KEYS, NULL},
    {"NodeResourcesFitArgs", "ignoredResourceGroups", GROUPS, NULL},
    {"NodeResourcesFitArgs", "scoringStrategy", OBJECT, "scoringStrategy"},
    {"scoringStrategy", "type", SCORING, NULL},
    {"scoringStrategy", "resources", LIST, "scoredResource"},
    {"scoringStrategy", "requestedToCapacityRatio", OBJECT, "ratio"},
    {"scoredResource", "name", TEXT, NULL},
    {"scoredResource", "weight", PERCENT, NULL},
    {"ratio", "shape", LIST, "shapePoint"},
    {"shapePoint", "utilization", PERCENT, NULL},
    {"shapePoint", "score", SCORE, NULL},
    {"PodTopologySpreadArgs", "defaultConstraints", LIST, "spread"},
    {"PodTopologySpreadArgs", "defaultingType", DEFAULTING, NULL},
    {"spread", "maxSkew", SKEW, NULL},
    {"spread", "minDomains", LONG, NULL},
    {"spread", "topologyKey", LABEL_KEY, NULL},
    {"spread", "whenUnsatisfiable", UNSATISFIABLE, NULL},
    {"spread", "labelSelector", NOTHING, NULL},
    {"spread", "matchLabelKeys", TEXTS, NULL},
    {"spread", "nodeAffinityPolicy", TEXT, NULL},
    {"spread", "nodeTaintsPolicy", TEXT, NULL},
    {"VolumeBindingArgs", "bindTimeoutSeconds", WHOLE, NULL},
    {"VolumeBindingArgs", "shape", GATED, NULL},
    {"DynamicResourcesArgs", "filterTimeout", NOT_NEGATIVE, NULL},
    {"DynamicResourcesArgs", "bindingTimeout", A_SECOND, NULL},
};
#define N_FIELDS (sizeof FIELDS_KNOWN / sizeof *FIELDS_KNOWN)

static const struct scheduler_field *find(const char *of, const char *key)
{
    for (size_t i = 0; i < N_FIELDS; i++) {
        if (strcmp(FIELDS_KNOWN[i].of, of) == 0 && strcmp(FIELDS_KNOWN[i].key, key) == 0)
            return &FIELDS_KNOWN[i];
    }
    return NULL;
}

static bool is_args(const char *of)
{
    const size_t len = strlen(of);
    return len > strlen(ARGS_OF_ANY) && strcmp(of + len - strlen(ARGS_OF_ANY), ARGS_OF_ANY) == 0;
}

const struct scheduler_field *scheduler_field_find(const char *of, const char *key)
{
    const struct scheduler_field *found = find(of, key);
    return found || !is_args(of) ? found : find(ARGS_OF_ANY, key);
}

const struct scheduler_field *scheduler_field_next(const char *of,
                                                   const struct scheduler_field *previous)
{
    const struct scheduler_field *field = previous ? previous + 1 : FIELDS_KNOWN;
    while (field < FIELDS_KNOWN + N_FIELDS && strcmp(field->of, of) != 0)
        field++;
    return field < FIELDS_KNOWN + N_FIELDS ? field : NULL;
}

const char *scheduler_field_nearest(const char *of, const char *key)
{
    struct nearest nearest = {.asked = key, .least = SIZE_MAX};
    const struct scheduler_field *field = NULL;
    while ((field = scheduler_field_next(of, field)))
        (void)nearest_try(&nearest, field->key);
    return nearest.found;
}

const char *scheduler_field_args(const char *plugin)
{
    for (size_t i = 0; i < N_FIELDS; i++) {
        const char *of = FIELDS_KNOWN[i].of;
        const size_t len = strlen(plugin);
        if (is_args(of) && strncmp(of, plugin, len) == 0 && strcmp(of + len, ARGS_OF_ANY) == 0)
            return of;
    }
    return NULL;
}

static bool is_text(const json_t *value)
{
    return json_is_string(value);
}

static bool is_flag(const json_t *value)
{
    return json_is_boolean(value);
}

static bool is_integer(const json_t *value)
{
    return json_is_integer(value);
}

static bool is_within(const json_t *value, json_int_t least, json_int_t most)
{
    return json_is_integer(value) && json_integer_value(value) >= least &&
           json_integer_value(value) <= most;
}

static bool is_signed(const json_t *value)
{
    return is_within(value, INT32_MIN, INT32_MAX);
}

static bool is_whole(const json_t *value)
{
    return is_within(value, 0, INT32_MAX);
}

static bool is_positive(const json_t *value)
{
    return is_within(value, 1, INT32_MAX);
}

static bool is_percent(const json_t *value)
{
    return is_within(value, 0, 100);
}

static bool is_score(const json_t *value)
{
    return is_within(value, 0, 10);
}

/* 0 is replaced by the default. */
static bool is_one(const json_t *value)
{
    return is_within(value, 0, 1);
}

static bool is_number(const json_t *value)
{
    return json_is_number(value);
}

static bool is_longer(const json_t *value, int64_t least_ms)
{
    int64_t ms = 0;
    return json_is_string(value) && duration_parse(json_string_value(value), &ms) && ms >= least_ms;
}

static bool is_duration(const json_t *value)
{
    return is_longer(value, INT64_MIN);
}

static bool is_not_negative(const json_t *value)
{
    return is_longer(value, 0);
}

static bool is_a_second(const json_t *value)
{
    return is_longer(value, 1000);
}

static bool is_object(const json_t *value)
{
    return json_is_object(value);
}

static bool is_list(const json_t *value)
{
    return json_is_array(value);
}

static bool is_base64(const json_t *value)
{
    char *bytes CLEANUP(mem_free_ptr) = NULL;
    size_t len = 0;
    return json_is_string(value) && base64_decode(json_string_value(value), &bytes, &len) == 0;
}

static bool is_never(const json_t *value)
{
    (void)value;
    return false;
}

static bool are_all(const json_t *list, syntax_check *check)
{
    size_t i = 0;
    const json_t *item = NULL;
    json_array_foreach (list, i, item) {
        if (!json_is_string(item) || check(json_string_value(item)))
            return false;
    }
    return json_is_array(list);
}

static bool are_texts(const json_t *value)
{
    return are_all(value, syntax_path);
}

static bool are_label_keys(const json_t *value)
{
    return are_all(value, syntax_label_key);
}

static bool are_label_values(const json_t *value)
{
    return are_all(value, syntax_label_value);
}

static bool are_groups(const json_t *value)
{
    size_t i = 0;
    const json_t *item = NULL;
    bool any_slash = false;
    json_array_foreach (value, i, item)
        any_slash = any_slash || (json_is_string(item) && strchr(json_string_value(item), '/'));
    return are_label_keys(value) && !any_slash;
}

static bool is_label_key(const json_t *value)
{
    return json_is_string(value) && !syntax_label_key(json_string_value(value));
}

static bool is_among(const json_t *value, const char *const names[], size_t n)
{
    for (size_t i = 0; json_is_string(value) && i < n; i++) {
        if (strcmp(json_string_value(value), names[i]) == 0)
            return true;
    }
    return false;
}

static bool is_version(const json_t *value)
{
    static const char *const NAMES[] = {"", SCHEDULER_API_VERSION};
    return is_among(value, NAMES, 2);
}

static bool is_operator(const json_t *value)
{
    static const char *const NAMES[] = {"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"};
    return is_among(value, NAMES, 6);
}

static bool is_field_operator(const json_t *value)
{
    static const char *const NAMES[] = {"In", "NotIn"};
    return is_among(value, NAMES, 2);
}

static bool is_scoring(const json_t *value)
{
    static const char *const NAMES[] = {"LeastAllocated", "MostAllocated",
                                        "RequestedToCapacityRatio"};
    return is_among(value, NAMES, 3);
}

static bool is_defaulting(const json_t *value)
{
    static const char *const NAMES[] = {"", "System", "List"};
    return is_among(value, NAMES, 3);
}

static bool is_unsatisfiable(const json_t *value)
{
    static const char *const NAMES[] = {"DoNotSchedule", "ScheduleAnyway"};
    return is_among(value, NAMES, 2);
}

const struct scheduler_rule SCHEDULER_RULES[N_SCHEDULER_KINDS] = {
    [TEXT] = {is_text, false, "a string"},
    [FLAG] = {is_flag, false, "true or false"},
    [LONG] = {is_integer, false, "a whole number"},
    [SIGNED] = {is_signed, false, "a whole number"},
    [WHOLE] = {is_whole, false, "a whole number"},
    [POSITIVE] = {is_positive, false, "a positive whole number"},
    [PERCENT] = {is_percent, false, "a whole number from 0 to 100"},
    [SCORE] = {is_score, false, "a whole number from 0 to 10"},
    [ONE] = {is_one, false, "1"},
    [SKEW] = {is_positive, true, "a positive whole number"},
    [NUMBER] = {is_number, false, "a number"},
    [DURATION] = {is_duration, false, "a duration, such as 3s"},
    [NOT_NEGATIVE] = {is_not_negative, false, "a duration of 0s or more"},
    [A_SECOND] = {is_a_second, false, "a duration of 1s or more"},
    [OBJECT] = {is_object, false, "a mapping"},
    [ARGS] = {is_object, false, "a mapping"},
    [LIST] = {is_list, false, "a list"},
    [TEXTS] = {are_texts, false, "a list of strings"},
    [BASE64] = {is_base64, false, "the base64 of a PEM text"},
    [LABEL_KEY] = {is_label_key, true, "the key of a label"},
    [LABEL_KEYS] = {are_label_keys, false, "a list of names of resources"},
    [LABEL_VALUES] = {are_label_values, false, "a list of values of labels"},
    [GROUPS] = {are_groups, false, "a list of domains of resources, such as example.com"},
    [VERSION] = {is_version, false, SCHEDULER_API_VERSION},
    [OPERATOR] = {is_operator, true, "In, NotIn, Exists, DoesNotExist, Gt or Lt"},
    [FIELD_OPERATOR] = {is_field_operator, true, "In or NotIn"},
    [SCORING] = {is_scoring, true, "LeastAllocated, MostAllocated or RequestedToCapacityRatio"},
    [DEFAULTING] = {is_defaulting, false, "System or List"},
    [UNSATISFIABLE] = {is_unsatisfiable, true, "DoNotSchedule or ScheduleAnyway"},
    [NOTHING] = {is_never, false, "left out"},
    [GATED] = {is_never, false, "left out, unless a feature gate allows it"},
};
