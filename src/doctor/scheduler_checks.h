/*
 * scheduler_checks: kube-scheduler's configuration against the policy.
 *
 * kube-scheduler's own validation (pkg/scheduler/apis/config/validation) makes it refuse a file;
 * such faults are a fail, and so is what makes it decide without this service or against it.
 */
#ifndef DOCTOR_SCHEDULER_CHECKS_H
#define DOCTOR_SCHEDULER_CHECKS_H

#include "config/settings.h"
#include "doctor/findings.h"
#include "scheduler_file.h"

/* All checks of the file; finds file->ours. */
void scheduler_checks_run(struct scheduler_file *file, const struct settings *settings,
                          const char *verbs_address, struct findings *findings);

#endif
