/* scheduler_schema: see scheduler_schema.h. */
#include "scheduler_schema.h"

#include "base/nearest.h"
#include "duration.h"
#include "formats/json_get.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define PATH_MAX_BYTES 256
#define FIELDS "scheduler.fields"
#define API_VERSION "kubescheduler.config.k8s.io/v1"

enum schema_kind {
    TEXT,
    FLAG,
    WHOLE, /* 0 or more */
    POSITIVE,
    PERCENT, /* 0 to 100 */
    NUMBER,  /* also with a fraction */
    DURATION,
    OBJECT,
    LIST, /* of objects */
    ANY,
    N_SCHEMA_KINDS
};

struct scheduler_field {
    const char *of; /* the struct; "": the whole file */
    const char *key;
    enum schema_kind kind;
    const char *type; /* the struct of an OBJECT and of a LIST's items */
};

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
    {"plugin", "weight", WHOLE, NULL},
    {"pluginConfig", "name", TEXT, NULL},
    {"pluginConfig", "args", ANY, NULL},
    {"extender", "urlPrefix", TEXT, NULL},
    {"extender", "filterVerb", TEXT, NULL},
    {"extender", "preemptVerb", TEXT, NULL},
    {"extender", "prioritizeVerb", TEXT, NULL},
    {"extender", "weight", WHOLE, NULL},
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
    {"tlsConfig", "certData", TEXT, NULL},
    {"tlsConfig", "keyData", TEXT, NULL},
    {"tlsConfig", "caData", TEXT, NULL},
    {"managedResource", "name", TEXT, NULL},
    {"managedResource", "ignoredByScheduler", FLAG, NULL},
};
#define N_FIELDS (sizeof FIELDS_KNOWN / sizeof *FIELDS_KNOWN)

struct scheduler_walk {
    const struct yaml_file *yaml;
    struct findings *findings;
    size_t n_faults;
};

static const char ADVICE[] = "kube-scheduler does not start with it: correct the file";
/* Other versions of kube-scheduler may know a key that 1.36 does not; extenders have not changed
 * since 1.22. */
static const char UNKNOWN_ADVICE[] =
    "correct it, or make sure that your kube-scheduler knows it: else it does not start";

static const struct scheduler_field *find_field(const char *of, const char *key)
{
    for (size_t i = 0; i < N_FIELDS; i++) {
        if (strcmp(FIELDS_KNOWN[i].of, of) == 0 && strcmp(FIELDS_KNOWN[i].key, key) == 0)
            return &FIELDS_KNOWN[i];
    }
    return NULL;
}

static const struct scheduler_field *nearest_field(const char *of, const char *key)
{
    const struct scheduler_field *found = NULL;
    struct nearest nearest = {.asked = key, .least = SIZE_MAX};
    for (size_t i = 0; i < N_FIELDS; i++) {
        if (strcmp(FIELDS_KNOWN[i].of, of) == 0 && nearest_try(&nearest, FIELDS_KNOWN[i].key))
            found = &FIELDS_KNOWN[i];
    }
    return found;
}

static void report_unknown(struct scheduler_walk *walk, const char *of, const struct yaml_value *at)
{
    const struct scheduler_field *nearest = nearest_field(of, at->key);
    const struct yaml_value key_only = {at->container, at->key, at->path, NULL};
    struct err what;
    if (nearest)
        (void)yaml_fault(walk->yaml, &key_only, &what, "unknown key; did you mean %s?",
                         nearest->key);
    else
        (void)yaml_fault(walk->yaml, &key_only, &what, "unknown key");
    if (strncmp(at->path, "extenders", strlen("extenders")) == 0)
        findings_add(walk->findings, FINDING_FAIL, FIELDS, ADVICE, "%s", what.text);
    else
        findings_add(walk->findings, FINDING_WARN, FIELDS, UNKNOWN_ADVICE, "%s", what.text);
    walk->n_faults++;
}

static bool is_text(const json_t *value)
{
    return json_is_string(value);
}

static bool is_flag(const json_t *value)
{
    return json_is_boolean(value);
}

static bool is_whole(const json_t *value)
{
    return json_is_integer(value) && json_integer_value(value) >= 0;
}

static bool is_positive(const json_t *value)
{
    return json_is_integer(value) && json_integer_value(value) > 0;
}

static bool is_percent(const json_t *value)
{
    return is_whole(value) && json_integer_value(value) <= 100;
}

static bool is_number(const json_t *value)
{
    return json_is_number(value);
}

static bool is_duration(const json_t *value)
{
    int64_t ms = 0;
    return json_is_string(value) && duration_parse(json_string_value(value), &ms);
}

static bool is_object(const json_t *value)
{
    return json_is_object(value);
}

static bool is_list(const json_t *value)
{
    return json_is_array(value);
}

static const struct scheduler_rule {
    bool (*is_right)(const json_t *value);
    const char *right;
} RULES[N_SCHEMA_KINDS] = {
    [TEXT] = {is_text, "a string"},
    [FLAG] = {is_flag, "true or false"},
    [WHOLE] = {is_whole, "a whole number"},
    [POSITIVE] = {is_positive, "a positive whole number"},
    [PERCENT] = {is_percent, "a whole number from 0 to 100"},
    [NUMBER] = {is_number, "a number"},
    [DURATION] = {is_duration, "a duration, such as 3s"},
    [OBJECT] = {is_object, "a mapping"},
    [LIST] = {is_list, "a list"},
};

static void walk_object(struct scheduler_walk *walk, const char *of, const struct yaml_value *at);

static void report_wrong(struct scheduler_walk *walk, const struct yaml_value *at,
                         const char *right)
{
    struct err what;
    (void)yaml_wrong(walk->yaml, at, right, &what);
    findings_add(walk->findings, FINDING_FAIL, FIELDS, ADVICE, "%s", what.text);
    walk->n_faults++;
}

static void walk_list(struct scheduler_walk *walk, const char *type, const struct yaml_value *list)
{
    size_t i = 0;
    json_t *item = NULL;
    json_array_foreach (list->value, i, item) {
        char index[24];
        char path[PATH_MAX_BYTES];
        (void)snprintf(index, sizeof index, "%zu", i);
        (void)snprintf(path, sizeof path, "%s[%zu]", list->path, i);
        const struct yaml_value at = {list->value, index, path, item};
        if (json_is_object(item))
            walk_object(walk, type, &at);
        else
            report_wrong(walk, &at, "a mapping");
    }
}

static void walk_field(struct scheduler_walk *walk, const struct scheduler_field *field,
                       const struct yaml_value *at)
{
    const struct scheduler_rule *rule = &RULES[field->kind];
    if (json_is_null(at->value) || !rule->is_right)
        return;
    if (!rule->is_right(at->value))
        report_wrong(walk, at, rule->right);
    else if (field->kind == OBJECT)
        walk_object(walk, field->type, at);
    else if (field->kind == LIST)
        walk_list(walk, field->type, at);
}

/* NOLINTNEXTLINE(misc-no-recursion): as deep as the table of fields, which has no cycle. */
static void walk_object(struct scheduler_walk *walk, const char *of, const struct yaml_value *at)
{
    const char *key = NULL;
    json_t *value = NULL;
    json_object_foreach (at->value, key, value) {
        char path[PATH_MAX_BYTES];
        (void)snprintf(path, sizeof path, "%s%s%s", at->path, *at->path ? "." : "", key);
        const struct yaml_value member = {at->value, key, path, value};
        const struct scheduler_field *field = find_field(of, key);
        if (field)
            walk_field(walk, field, &member);
        else
            report_unknown(walk, of, &member);
    }
}

static void check_version(const struct scheduler_file *file, struct findings *findings)
{
    const struct yaml_value at = {file->root, "apiVersion", "apiVersion",
                                  json_member(file->root, "apiVersion")};
    struct err what;
    if (json_is_string(at.value) && strcmp(json_string_value(at.value), API_VERSION) == 0)
        return;
    (void)yaml_wrong(&file->yaml, &at, API_VERSION, &what);
    findings_add(findings, FINDING_WARN, "scheduler.apiVersion",
                 "write it in this version: kube-scheduler reads no older one since 1.29", "%s",
                 what.text);
}

void scheduler_schema_check(const struct scheduler_file *file, struct findings *findings)
{
    check_version(file, findings);
    struct scheduler_walk walk = {.yaml = &file->yaml, .findings = findings};
    const struct yaml_value whole = {.path = "", .value = file->root};
    walk_object(&walk, "", &whole);
    if (walk.n_faults == 0)
        findings_add(findings, FINDING_OK, FIELDS, "", "%s: kube-scheduler knows every key",
                     file->yaml.name);
}
