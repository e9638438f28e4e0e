/* recount: whether the numbers of devices are those of their slices, claims and rules. */
#ifndef TESTS_DEVICES_RECOUNT_H
#define TESTS_DEVICES_RECOUNT_H

#include "dra/devices.h"

/* Computes everything again. Returns the number of differences (0: correct), and describes the
 * first in err. All changed nodes must have been taken. */
size_t devices_recount(const struct devices *devices, struct err *err);

#endif
