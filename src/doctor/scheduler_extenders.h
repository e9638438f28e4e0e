/*
 * scheduler_extenders: what kube-scheduler validates of all extenders together, ours and others.
 *
 * Sources: validateExtenders() in Kubernetes' pkg/scheduler/apis/config/validation, 1.36, and
 * TLSConfigFor() in client-go's transport.
 */
#ifndef DOCTOR_SCHEDULER_EXTENDERS_H
#define DOCTOR_SCHEDULER_EXTENDERS_H

#include "scheduler_report.h"

#include <stdbool.h>

/* A fail for each fault with which kube-scheduler does not start. checks->ours is not needed. */
void scheduler_extenders_check(const struct scheduler_checks *checks);

/* Whether kube-scheduler accepts the name in managedResources. */
bool scheduler_extenders_may_manage(const char *resource);

#endif
