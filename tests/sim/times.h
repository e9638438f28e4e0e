/*
 * times: the times that a replica of the simulator goes by: the product's, of its default settings.
 */
#ifndef SIM_TIMES_H
#define SIM_TIMES_H

#include "config/timing.h"

const struct timing *times(void);

#endif
