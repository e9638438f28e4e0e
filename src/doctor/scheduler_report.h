/*
 * scheduler_report: findings about values of kube-scheduler's configuration, and what its checks
 * share.
 */
#ifndef DOCTOR_SCHEDULER_REPORT_H
#define DOCTOR_SCHEDULER_REPORT_H

#include "config/settings.h"
#include "doctor/findings.h"
#include "scheduler_file.h"

#include <stddef.h>

struct scheduler_checks {
    const struct scheduler_file *file;
    const struct settings *settings;
    const char *verbs_address; /* ADDR:PORT */
    struct findings *findings;
    json_t *extenders; /* a list, or NULL */
    size_t index;      /* of ours */
    json_t *ours;      /* this service's extender; NULL: there is none, or several */
};

/* A finding about a member of our extender, with its position (the extender's if it is absent). The
 * check's name is "scheduler." and the key. */
void scheduler_report(const struct scheduler_checks *checks, enum finding_level level,
                      const char *key, const char *advice, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* The same about any value of the file. */
void scheduler_report_at(const struct scheduler_checks *checks, enum finding_level level,
                         const char *key, const struct yaml_value *at, const char *advice,
                         const char *format, ...) __attribute__((format(printf, 6, 7)));

#endif
