/*
 * scheduler_ours: the members of our extender, one by one.
 */
#ifndef DOCTOR_SCHEDULER_OURS_H
#define DOCTOR_SCHEDULER_OURS_H

#include "scheduler_report.h"

void scheduler_ours_check(const struct scheduler_checks *checks);

#endif
