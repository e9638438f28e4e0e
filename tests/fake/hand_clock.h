/*
 * hand_clock: the time of base/clock.h in the hand of a test. It stands still until the test lets
 * time pass, so nothing is late on a slow machine, and no test waits for a time-out.
 *
 * The dependency hand_clock redirects clock_ms() of the whole program here. Any thread may call
 * these functions. A loop that sleeps does not notice that time has passed: wake it.
 */
#ifndef HAND_CLOCK_H
#define HAND_CLOCK_H

#include <stdint.h>

/* What clock_ms() returns at first. */
#define HAND_CLOCK_BEGIN_MS ((int64_t)1000000000)

void hand_clock_pass(int64_t ms);

#endif
