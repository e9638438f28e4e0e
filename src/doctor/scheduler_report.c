/* scheduler_report: see scheduler_report.h. */
#include "scheduler_report.h"

#include <stdarg.h>
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
