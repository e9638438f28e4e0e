/*
 * scheduler_checks: kube-scheduler's configuration against the policy.
 *
 * kube-scheduler's own validation (pkg/scheduler/apis/config/validation) makes it refuse a file;
 * such faults are a fail, and so is what makes it decide without this service or against it.
 */
#ifndef DOCTOR_SCHEDULER_CHECKS_H
#define DOCTOR_SCHEDULER_CHECKS_H

#include "config/settings.h"
#include "findings.h"
#include "scheduler_file.h"

#include <stdbool.h>
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

/* All checks of the file; finds file->ours. */
void scheduler_checks_run(struct scheduler_file *file, const struct settings *settings,
                          const char *verbs_address, struct findings *findings);

/* Whether pods that ask only for the resource come to our extender: it lists the resource, or has
 * no list. True if there is no such extender, which has a finding of its own. */
bool scheduler_checks_manages(const struct scheduler_file *file, const char *resource);

/* The members of our extender, one by one. */
void scheduler_ours_check(const struct scheduler_checks *checks);
/* Its managedResources. */
void scheduler_list_check(const struct scheduler_checks *checks);
/* Profiles, nodes to score, weights of plugins, and the Lease of kube-scheduler. */
void scheduler_profiles_check(const struct scheduler_checks *checks);

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
