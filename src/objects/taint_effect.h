/*
 * taint_effect: the names of taint effects.
 */
#ifndef OBJECTS_TAINT_EFFECT_H
#define OBJECTS_TAINT_EFFECT_H

#include "types/facts.h"

#include <stdbool.h>

#define TAINT_EFFECT_NAMES "NoSchedule, PreferNoSchedule or NoExecute"

/* False: unknown name; ret_effect is unchanged. */
bool taint_effect_from_name(const char *name, enum taint_effect *ret_effect);

const char *taint_effect_name(enum taint_effect effect);

#endif
