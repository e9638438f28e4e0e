/*
 * scheduler_schema: the keys of a KubeSchedulerConfiguration and the types of their values.
 *
 * kube-scheduler decodes its file strictly: it does not start with an unknown key or a value of
 * another type. Outside of extenders an unknown key is only a warn, as a later version may know it.
 * Args are read of the plugins that are kube-scheduler's own, and judged as if they were in use.
 */
#ifndef DOCTOR_SCHEDULER_SCHEMA_H
#define DOCTOR_SCHEDULER_SCHEMA_H

#include "doctor/findings.h"
#include "scheduler_file.h"

/* A finding for each unknown key and each value of a wrong type, an ok if there is none. */
void scheduler_schema_check(const struct scheduler_file *file, struct findings *findings);

#endif
