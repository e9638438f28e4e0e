/*
 * clock: time that only goes forward. What decides takes the time as an argument; only threads'
 * loops and request handlers ask here.
 */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Later than any moment: "never". */
#define CLOCK_NEVER INT64_MAX

/* Goes on while the host is suspended, unlike CLOCK_MONOTONIC: a Lease or a deadline that expired
 * meanwhile is over when the host wakes. In a guest that its hypervisor pauses, neither clock goes
 * on. Source: clock_gettime(2). */
#define CLOCK_SOURCE CLOCK_BOOTTIME

/* Monotonic, milliseconds, never 0. */
int64_t clock_ms(void);
/* The same clock, microseconds: for how long something took. */
int64_t clock_us(void);
/* What people call the time: milliseconds since 1970; it may be set back. */
int64_t clock_wall_ms(void);

#endif
