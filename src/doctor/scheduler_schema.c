/* scheduler_schema: see scheduler_checks.h. This file walks the file along the table of
 * scheduler_fields.h. */
#include "formats/json_values.h"
#include "scheduler_checks.h"
#include "scheduler_fields.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What kube-scheduler validates of members of plugins' args together.
 *
 * Source: validation_pluginargs.go in Kubernetes' pkg/scheduler/apis/config/validation, 1.36. */

#define RATIO "RequestedToCapacityRatio"

static bool is_zero(const json_t *object, const char *key)
{
    const json_t *value = json_member(object, key);
    return json_is_integer(value) && json_integer_value(value) == 0;
}

static const char *preemption_fault(const json_t *args)
{
    return is_zero(args, "minCandidateNodesPercentage") &&
                   is_zero(args, "minCandidateNodesAbsolute")
               ? "minCandidateNodesPercentage and minCandidateNodesAbsolute are both 0"
               : NULL;
}

/* Whether two items have the same texts under both keys. */
static bool repeats(const json_t *list, const char *key, const char *other_key)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *item = json_array_get(list, i);
        for (size_t k = 0; k < i; k++) {
            const json_t *before = json_array_get(list, k);
            if (strcmp(scheduler_text(item, key), scheduler_text(before, key)) == 0 &&
                strcmp(scheduler_text(item, other_key), scheduler_text(before, other_key)) == 0)
                return true;
        }
    }
    return false;
}

static const char *balanced_fault(const json_t *args)
{
    return repeats(json_member(args, "resources"), "name", "name") ? "lists a resource twice"
                                                                   : NULL;
}

static const char *spread_fault(const json_t *args)
{
    const json_t *constraints = json_member(args, "defaultConstraints");
    if (json_array_size(constraints) > 0 &&
        strcmp(scheduler_text(args, "defaultingType"), "List") != 0)
        return "has defaultConstraints, so defaultingType should be List";
    return repeats(constraints, "topologyKey", "whenUnsatisfiable")
               ? "has two constraints with the same topologyKey and whenUnsatisfiable"
               : NULL;
}

static const char *strategy_fault(const json_t *strategy)
{
    const bool is_ratio = strcmp(scheduler_text(strategy, "type"), RATIO) == 0;
    const bool has_ratio = json_member(strategy, "requestedToCapacityRatio");
    if (is_ratio == has_ratio)
        return NULL;
    return is_ratio ? "has the type " RATIO " and no requestedToCapacityRatio"
                    : "has requestedToCapacityRatio, which is for the type " RATIO " only";
}

static json_int_t utilization(const json_t *shape, size_t i)
{
    return json_integer_value(json_object_get(json_array_get(shape, i), "utilization"));
}

static const char *ratio_fault(const json_t *ratio)
{
    const json_t *shape = json_member(ratio, "shape");
    if (json_array_size(shape) == 0)
        return "has no point in shape";
    for (size_t i = 1; i < json_array_size(shape); i++) {
        if (utilization(shape, i - 1) >= utilization(shape, i))
            return "has a shape whose points do not rise in utilization";
    }
    return NULL;
}

static bool is_integer(const char *text)
{
    char *end = NULL;
    (void)strtoll(text, &end, 10);
    return end != text && *end == '\0';
}

static const char *requirement_fault(const json_t *requirement)
{
    const char *op = scheduler_text(requirement, "operator");
    const json_t *values = json_member(requirement, "values");
    const size_t n = json_array_size(values);
    const char *first = json_string_value(json_array_get(values, 0));
    if (strcmp(op, "In") == 0 || strcmp(op, "NotIn") == 0)
        return n == 0 ? "has no values, which In and NotIn need" : NULL;
    if (strcmp(op, "Gt") == 0 || strcmp(op, "Lt") == 0)
        return n != 1 || !first || !is_integer(first)
                   ? "should have one value, a whole number, for Gt and Lt"
                   : NULL;
    return n > 0 ? "has values, which Exists and DoesNotExist forbid" : NULL;
}

static const char *field_requirement_fault(const json_t *requirement)
{
    return json_array_size(json_member(requirement, "values")) != 1 ? "should have one value"
                                                                    : NULL;
}

static const struct args_rule {
    const char *of;
    const char *(*fault)(const json_t *object);
} RULES[] = {
    {"DefaultPreemptionArgs", preemption_fault},
    {"NodeResourcesBalancedAllocationArgs", balanced_fault},
    {"PodTopologySpreadArgs", spread_fault},
    {"scoringStrategy", strategy_fault},
    {"ratio", ratio_fault},
    {"requirement", requirement_fault},
    {"fieldRequirement", field_requirement_fault},
};

/* NULL, or the fault of an object of this struct (scheduler_fields.h): a literal. */
static const char *scheduler_args_fault(const char *of, const json_t *object)
{
    for (size_t i = 0; i < sizeof RULES / sizeof *RULES; i++) {
        if (strcmp(RULES[i].of, of) == 0)
            return RULES[i].fault(object);
    }
    return NULL;
}

#define PATH_MAX_BYTES 256
#define FIELDS "scheduler.fields"

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
static const char GATE_ADVICE[] =
    "remove it, unless you turn on its feature gate: else kube-scheduler does not start";

static void report_unknown(struct scheduler_walk *walk, const char *of, const struct yaml_value *at)
{
    const char *nearest = scheduler_field_nearest(of, at->key);
    const struct yaml_value key_only = {at->container, at->key, at->path, NULL};
    struct err what;
    if (nearest)
        (void)yaml_fault(walk->yaml, &key_only, &what, "unknown key; did you mean %s?", nearest);
    else
        (void)yaml_fault(walk->yaml, &key_only, &what, "unknown key");
    if (strncmp(at->path, "extenders", strlen("extenders")) == 0)
        findings_add(walk->findings, FINDING_FAIL, FIELDS, ADVICE, "%s", what.text);
    else
        findings_add(walk->findings, FINDING_WARN, FIELDS, UNKNOWN_ADVICE, "%s", what.text);
    walk->n_faults++;
}

static void walk_object(struct scheduler_walk *walk, const char *of, const struct yaml_value *at);

static void report(struct scheduler_walk *walk, enum finding_level level, const char *advice,
                   const char *seen)
{
    findings_add(walk->findings, level, FIELDS, advice, "%s", seen);
    walk->n_faults++;
}

static void report_wrong(struct scheduler_walk *walk, const struct yaml_value *at,
                         const char *right)
{
    struct err what;
    (void)yaml_wrong(walk->yaml, at, right, &what);
    report(walk, FINDING_FAIL, ADVICE, what.text);
}

static void report_fault(struct scheduler_walk *walk, const struct yaml_value *at,
                         const char *fault)
{
    struct err what;
    (void)yaml_fault(walk->yaml, at, &what, "%s", fault);
    report(walk, FINDING_FAIL, ADVICE, what.text);
}

/* kube-scheduler reads null as an empty item. */
static void walk_list(struct scheduler_walk *walk, const char *type, const struct yaml_value *list)
{
    struct scheduler_item item;
    for (size_t i = 0; i < json_array_size(list->value); i++) {
        scheduler_item_place(&item, list->value, i, "%s", list->path);
        if (json_is_object(item.at.value))
            walk_object(walk, type, &item.at);
        else if (!json_is_null(item.at.value))
            report_wrong(walk, &item.at, "a mapping");
    }
}

static void walk_args(struct scheduler_walk *walk, const char *type, const struct yaml_value *at)
{
    const char *kind = scheduler_text(at->value, "kind");
    walk_object(walk, type, at);
    if (*kind && strcmp(kind, type) != 0)
        report_fault(walk, at, "has the kind of another plugin's args");
}

static void walk_wrong(struct scheduler_walk *walk, const struct scheduler_field *field,
                       const struct yaml_value *at)
{
    struct err what;
    if (field->kind == GATED) {
        (void)yaml_fault(walk->yaml, at, &what, "is set");
        report(walk, FINDING_WARN, GATE_ADVICE, what.text);
    } else if (field->kind == BASE64) {
        report_fault(walk, at, "is not base64");
    } else {
        report_wrong(walk, at, SCHEDULER_RULES[field->kind].right);
    }
}

static void walk_field(struct scheduler_walk *walk, const struct scheduler_field *field,
                       const struct yaml_value *at)
{
    const char *type = field->type;
    if (field->kind == ARGS)
        type = scheduler_field_args(scheduler_text(at->container, "name"));
    if ((json_is_null(at->value) && field->kind != DURATION) || (field->kind == ARGS && !type))
        return;
    if (!scheduler_field_accepts(field->kind, at->value))
        walk_wrong(walk, field, at);
    else if (field->kind == OBJECT)
        walk_object(walk, type, at);
    else if (field->kind == ARGS)
        walk_args(walk, type, at);
    else if (field->kind == LIST)
        walk_list(walk, type, at);
}

/* Reports missing members, and members that contradict each other. */
static void check_whole(struct scheduler_walk *walk, const char *of, const struct yaml_value *at)
{
    const struct scheduler_field *field = NULL;
    char fault[PATH_MAX_BYTES];
    while ((field = scheduler_field_next(of, field))) {
        const struct scheduler_rule *rule = &SCHEDULER_RULES[field->kind];
        if (!rule->is_required || json_member(at->value, field->key))
            continue;
        (void)snprintf(fault, sizeof fault, "has no %s, should be %s", field->key, rule->right);
        report_fault(walk, at, fault);
    }
    const char *together = scheduler_args_fault(of, at->value);
    if (together)
        report_fault(walk, at, together);
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
        const struct scheduler_field *field = scheduler_field_find(of, key);
        if (field)
            walk_field(walk, field, &member);
        else
            report_unknown(walk, of, &member);
    }
    check_whole(walk, of, at);
}

static void check_version(const struct scheduler_file *file, struct findings *findings)
{
    const struct yaml_value at = {file->root, "apiVersion", "apiVersion",
                                  json_member(file->root, "apiVersion")};
    struct err what;
    if (json_is_string(at.value) && strcmp(json_string_value(at.value), SCHEDULER_API_VERSION) == 0)
        return;
    (void)yaml_wrong(&file->yaml, &at, SCHEDULER_API_VERSION, &what);
    findings_add(findings, FINDING_FAIL, "scheduler.apiVersion",
                 "write it in this version: since 1.29 kube-scheduler does not start with another",
                 "%s", what.text);
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
