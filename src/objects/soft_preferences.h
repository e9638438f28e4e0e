/*
 * soft_preferences: does the pod say where it would rather be, in words that kube-scheduler knows?
 */
#ifndef OBJECTS_SOFT_PREFERENCES_H
#define OBJECTS_SOFT_PREFERENCES_H

#include <jansson.h>
#include <stdbool.h>

/* spec is pod.spec: preferred affinity to nodes, preferred affinity or anti-affinity to pods, or a
 * topology spread constraint with whenUnsatisfiable ScheduleAnyway. What is of a wrong type is
 * none. */
bool soft_preferences_written(const json_t *spec);

#endif
