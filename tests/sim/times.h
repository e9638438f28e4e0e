/*
 * times: timing of a simulated replica: the product's default settings.
 */
#ifndef SIM_TIMES_H
#define SIM_TIMES_H

#include "config/timing.h"

const struct timing *times(void);

#endif
