/*
 * scheduler_list: managedResources of our extender, which decide which pods come.
 */
#ifndef DOCTOR_SCHEDULER_LIST_H
#define DOCTOR_SCHEDULER_LIST_H

#include "scheduler_report.h"

#include <stdbool.h>

void scheduler_list_check(const struct scheduler_checks *checks);

/* Whether pods that ask only for the resource come to our extender: it lists the resource, or has
 * no list. True if there is no such extender, which has a finding of its own. */
bool scheduler_list_manages(const struct scheduler_file *file, const char *resource);

#endif
