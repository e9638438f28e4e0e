/* scheduler_schema: see scheduler_schema.h. This file walks the file along the table of
 * scheduler_fields.h. */
#include "scheduler_schema.h"

#include "formats/json_get.h"
#include "scheduler_args.h"
#include "scheduler_fields.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

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
    if (!SCHEDULER_RULES[field->kind].is_right(at->value))
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
