/*
 * scheduler_profiles: profiles, nodes to score, weights of plugins, and the Lease of
 * kube-scheduler.
 */
#ifndef DOCTOR_SCHEDULER_PROFILES_H
#define DOCTOR_SCHEDULER_PROFILES_H

#include "scheduler_report.h"

void scheduler_profiles_check(const struct scheduler_checks *checks);

#endif
