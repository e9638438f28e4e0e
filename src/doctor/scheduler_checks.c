/* scheduler_checks: see scheduler_checks.h. This file finds our extender, looks at the others, and
 * makes findings for all files of scheduler_*. */
#include "scheduler_checks.h"
#include "formats/json_values.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

#define TEXT_MAX 640
#define NAME_MAX_BYTES 64

static void report(const struct scheduler_checks *checks, enum finding_level level, const char *key,
                   const char *advice, const char *seen)
{
    char name[NAME_MAX_BYTES];
    (void)snprintf(name, sizeof name, "scheduler.%s", key);
    findings_add(checks->findings, level, name, advice, "%s", seen);
}

void scheduler_report_at(const struct scheduler_checks *checks, enum finding_level level,
                         const char *key, const struct yaml_value *at, const char *advice,
                         const char *format, ...)
{
    char what[TEXT_MAX];
    struct err seen;
    va_list args;
    va_start(args, format);
    (void)vsnprintf(what, sizeof what, format, args);
    va_end(args);
    (void)yaml_fault(&checks->file->yaml, at, &seen, "%s", what);
    report(checks, level, key, advice, seen.text);
}

void scheduler_report(const struct scheduler_checks *checks, enum finding_level level,
                      const char *key, const char *advice, const char *format, ...)
{
    char what[TEXT_MAX];
    char path[NAME_MAX_BYTES];
    char index[24];
    struct err seen;
    va_list args;
    va_start(args, format);
    (void)vsnprintf(what, sizeof what, format, args);
    va_end(args);
    (void)snprintf(path, sizeof path, "extenders[%zu].%s", checks->index, key);
    (void)snprintf(index, sizeof index, "%zu", checks->index);
    json_t *value = json_object_get(checks->ours, key);
    const struct yaml_value at = {value ? checks->ours : checks->extenders, value ? key : index,
                                  path, value ? value : checks->ours};
    (void)yaml_fault(&checks->file->yaml, &at, &seen, "%s", what);
    report(checks, level, key, advice, seen.text);
}

#define EXTENDERS "extenders"

static struct yaml_value at_extenders(const struct scheduler_checks *checks)
{
    return (struct yaml_value){checks->file->root, EXTENDERS, EXTENDERS, checks->extenders};
}

static void check_others(const struct scheduler_checks *checks)
{
    const bool said = checks->settings->scheduler.other_extenders;
    const struct yaml_value at = at_extenders(checks);
    size_t i = 0;
    size_t n_others = 0;
    json_t *extender = NULL;
    json_array_foreach (checks->extenders, i, extender)
        n_others += i != checks->index && (*scheduler_text(extender, "filterVerb") ||
                                           *scheduler_text(extender, "prioritizeVerb"));
    if (n_others > 0 && !said)
        scheduler_report_at(checks, FINDING_FAIL, "otherExtenders", &at,
                            "set scheduler.otherExtenders: true in the policy, or filter.shortlist "
                            "may cut the nodes that they need",
                            "%zu other extenders filter or prioritize, and the policy says that "
                            "there are none",
                            n_others);
    else if (n_others == 0 && said)
        scheduler_report_at(checks, FINDING_WARN, "otherExtenders", &at,
                            "remove scheduler.otherExtenders from the policy: it switches "
                            "filter.shortlist off",
                            "no other extender filters or prioritizes, and the policy says that "
                            "one does");
}

static bool may_be_ours(const json_t *extender, long port, bool check_port)
{
    struct scheduler_url url;
    const char *text = json_string_value(json_object_get(extender, "urlPrefix"));
    return text && scheduler_url_parse(text, &url) && scheduler_url_is_ours(&url) &&
           (!check_port || url.port == port);
}

static size_t find(struct scheduler_checks *checks, bool check_port)
{
    char host[SCHEDULER_HOST_MAX];
    long port = 0;
    size_t i = 0;
    size_t n = 0;
    json_t *extender = NULL;
    scheduler_address_split(checks->verbs_address, host, &port);
    json_array_foreach (checks->extenders, i, extender) {
        if (!may_be_ours(extender, port, check_port))
            continue;
        checks->index = i;
        checks->ours = extender;
        n++;
    }
    return n;
}

/* By the path of urlPrefix, then by the port of listen.verbs; a single extender is ours in any
 * case. */
static void find_ours(struct scheduler_checks *checks)
{
    const struct yaml_value at = at_extenders(checks);
    const size_t n_extenders = json_array_size(checks->extenders);
    size_t n = find(checks, false);
    if (n > 1)
        n = find(checks, true);
    if (n == 0 && n_extenders == 1 && json_is_object(json_array_get(checks->extenders, 0))) {
        checks->ours = json_array_get(checks->extenders, 0);
        n = 1;
    }
    if (n == 1)
        return;
    checks->ours = NULL;
    scheduler_report_at(checks, FINDING_FAIL, EXTENDERS, &at,
                        "add gpu-extender once: manifests/kube-scheduler-config.yaml has its lines",
                        "%zu of %zu extenders have a urlPrefix that ends in /scheduler%s, should "
                        "be one",
                        n, n_extenders, n_extenders > 1 ? " and the port of listen.verbs" : "");
}

void scheduler_checks_run(struct scheduler_file *file, const struct settings *settings,
                          const char *verbs_address, struct findings *findings)
{
    json_t *extenders = json_object_get(file->root, EXTENDERS);
    struct scheduler_checks checks = {.file = file,
                                      .settings = settings,
                                      .verbs_address = verbs_address,
                                      .findings = findings,
                                      .extenders = json_is_array(extenders) ? extenders : NULL};
    scheduler_schema_check(file, findings);
    scheduler_extenders_check(&checks);
    find_ours(&checks);
    file->ours = checks.ours;
    if (checks.ours) {
        check_others(&checks);
        scheduler_ours_check(&checks);
        scheduler_list_check(&checks);
    }
    scheduler_profiles_check(&checks);
}
