/* scheduler_fields: see scheduler_fields.h. */
#include "scheduler_fields.h"

#include "base/base64.h"
#include "base/mem.h"
#include "base/nearest.h"
#include "config/syntax.h"
#include "formats/json_values.h"
#include "scheduler_checks.h"

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

static bool is_longer(const struct scheduler_rule *rule, const json_t *value)
{
    int64_t ms = 0;
    return duration_parse(json_string_value(value), &ms) && ms >= rule->least;
}

static bool is_base64(const struct scheduler_rule *rule, const json_t *value)
{
    char *bytes CLEANUP(mem_free_ptr) = NULL;
    size_t len = 0;
    (void)rule;
    return base64_decode(json_string_value(value), &bytes, &len) == 0;
}

static bool passes(const struct scheduler_rule *rule, const json_t *text)
{
    return json_is_string(text) && !rule->check(json_string_value(text));
}

static bool all_pass(const struct scheduler_rule *rule, const json_t *list)
{
    size_t i = 0;
    const json_t *item = NULL;
    bool all = true;
    json_array_foreach (list, i, item)
        all = all && passes(rule, item);
    return all;
}

static const char *check_group(const char *text)
{
    return strchr(text, '/') ? "a domain" : syntax_label_key(text);
}

static bool is_among(const struct scheduler_rule *rule, const json_t *text)
{
    const char *const *word = rule->words;
    while (*word && strcmp(json_string_value(text), *word) != 0)
        word++;
    return *word;
}

#define OF(TYPE) (1U << (JSON_##TYPE))
#define WORDS(...)                                                                                 \
    .words = (const char *const[])                                                                 \
    {                                                                                              \
        __VA_ARGS__, NULL                                                                          \
    }

const struct scheduler_rule SCHEDULER_RULES[N_SCHEDULER_KINDS] = {
    [TEXT] = {.right = "a string", .types = OF(STRING)},
    [FLAG] = {.right = "true or false", .types = OF(TRUE) | OF(FALSE)},
    [LONG] = {.right = "a whole number", .types = OF(INTEGER)},
    [SIGNED] = {.right = "a whole number",
                .types = OF(INTEGER),
                .least = INT32_MIN,
                .most = INT32_MAX},
    [WHOLE] = {.right = "a whole number", .types = OF(INTEGER), .most = INT32_MAX},
    [POSITIVE] = {.right = "a positive whole number",
                  .types = OF(INTEGER),
                  .least = 1,
                  .most = INT32_MAX},
    [PERCENT] = {.right = "a whole number from 0 to 100", .types = OF(INTEGER), .most = 100},
    [SCORE] = {.right = "a whole number from 0 to 10", .types = OF(INTEGER), .most = 10},
    [ONE] = {.right = "1", .types = OF(INTEGER), .most = 1}, /* 0 is replaced by the default */
    [SKEW] = {.right = "a positive whole number",
              .types = OF(INTEGER),
              .is_required = true,
              .least = 1,
              .most = INT32_MAX},
    [NUMBER] = {.right = "a number", .types = OF(INTEGER) | OF(REAL)},
    [DURATION] = {.right = "a duration, such as 3s",
                  .types = OF(STRING),
                  .is_right = is_longer,
                  .least = INT64_MIN},
    [NOT_NEGATIVE] = {.right = "a duration of 0s or more",
                      .types = OF(STRING),
                      .is_right = is_longer},
    [A_SECOND] = {.right = "a duration of 1s or more",
                  .types = OF(STRING),
                  .is_right = is_longer,
                  .least = 1000},
    [OBJECT] = {.right = "a mapping", .types = OF(OBJECT)},
    [ARGS] = {.right = "a mapping", .types = OF(OBJECT)},
    [LIST] = {.right = "a list", .types = OF(ARRAY)},
    [TEXTS] = {.right = "a list of strings",
               .types = OF(ARRAY),
               .is_right = all_pass,
               .check = syntax_path},
    [BASE64] = {.right = "the base64 of a PEM text", .types = OF(STRING), .is_right = is_base64},
    [LABEL_KEY] = {.right = "the key of a label",
                   .types = OF(STRING),
                   .is_required = true,
                   .is_right = passes,
                   .check = syntax_label_key},
    [LABEL_KEYS] = {.right = "a list of names of resources",
                    .types = OF(ARRAY),
                    .is_right = all_pass,
                    .check = syntax_label_key},
    [LABEL_VALUES] = {.right = "a list of values of labels",
                      .types = OF(ARRAY),
                      .is_right = all_pass,
                      .check = syntax_label_value},
    [GROUPS] = {.right = "a list of domains of resources, such as example.com",
                .types = OF(ARRAY),
                .is_right = all_pass,
                .check = check_group},
    [VERSION] = {.right = SCHEDULER_API_VERSION,
                 .types = OF(STRING),
                 .is_right = is_among,
                 WORDS("", SCHEDULER_API_VERSION)},
    [OPERATOR] = {.right = "In, NotIn, Exists, DoesNotExist, Gt or Lt",
                  .types = OF(STRING),
                  .is_required = true,
                  .is_right = is_among,
                  WORDS("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt")},
    [FIELD_OPERATOR] = {.right = "In or NotIn",
                        .types = OF(STRING),
                        .is_required = true,
                        .is_right = is_among,
                        WORDS("In", "NotIn")},
    [SCORING] = {.right = "LeastAllocated, MostAllocated or RequestedToCapacityRatio",
                 .types = OF(STRING),
                 .is_required = true,
                 .is_right = is_among,
                 WORDS("LeastAllocated", "MostAllocated", "RequestedToCapacityRatio")},
    [DEFAULTING] = {.right = "System or List",
                    .types = OF(STRING),
                    .is_right = is_among,
                    WORDS("", "System", "List")},
    [UNSATISFIABLE] = {.right = "DoNotSchedule or ScheduleAnyway",
                       .types = OF(STRING),
                       .is_required = true,
                       .is_right = is_among,
                       WORDS("DoNotSchedule", "ScheduleAnyway")},
    [NOTHING] = {.right = "left out"},
    [GATED] = {.right = "left out, unless a feature gate allows it"},
};

bool scheduler_field_accepts(enum scheduler_kind kind, const json_t *value)
{
    const struct scheduler_rule *rule = &SCHEDULER_RULES[kind];
    if (!(rule->types & (1U << json_typeof(value))))
        return false;
    if (json_is_integer(value) && rule->most > 0)
        return json_integer_value(value) >= rule->least && json_integer_value(value) <= rule->most;
    return !rule->is_right || rule->is_right(rule, value);
}
