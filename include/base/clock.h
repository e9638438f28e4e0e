/*
 * clock: monotonic time, and waiting until it. Decisions take the time as an argument; only
 * threads' loops and request handlers call these functions.
 */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <pthread.h>
#include <stdint.h>
#include <time.h>

/* Later than any time. */
#define CLOCK_NEVER INT64_MAX

/* Runs while the host is suspended, unlike CLOCK_MONOTONIC: a Lease or a deadline that expired
 * meanwhile is over when the host wakes. In a guest that its hypervisor pauses, both clocks stop.
 * Source: clock_gettime(2). */
#define CLOCK_SOURCE CLOCK_BOOTTIME

/* Monotonic, milliseconds, never 0. */
int64_t clock_ms(void);
/* The same clock in microseconds, for durations. */
int64_t clock_us(void);
/* Milliseconds since 1970; this clock may be set back. */
int64_t clock_wall_ms(void);

/* A condition for pthread_cond_timedwait() with clock_moment(). */
void clock_condition_init(pthread_cond_t *condition);
/* Converts a time of clock_ms() for pthread_cond_timedwait(), which uses CLOCK_MONOTONIC; a time in
 * the past becomes now. If the host is suspended meanwhile, the wait lasts that much longer. */
struct timespec clock_moment(int64_t at_ms);

/* ---- times as RFC 3339 text ---- */

#define TEXT_TIME_SIZE 64

/* "2026-11-21T10:00:00Z", in UTC. text must have TEXT_TIME_SIZE bytes and is returned. */
const char *text_time(int64_t seconds_since_1970, char *text);

/* Accepts any zone; drops fractions of a second. -EINVAL: not such a text. */
int text_time_read(const char *text, int64_t *ret_seconds_since_1970);

#endif
