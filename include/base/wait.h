/*
 * wait: waiting until a time of clock_ms() (base/clock.h).
 */
#ifndef BASE_WAIT_H
#define BASE_WAIT_H

#include <pthread.h>
#include <stdint.h>
#include <time.h>

/* A condition for pthread_cond_timedwait() with wait_moment(). */
void wait_condition_init(pthread_cond_t *condition);
/* Converts a time of clock_ms() for pthread_cond_timedwait(), which uses CLOCK_MONOTONIC; a time in
 * the past becomes now. If the host is suspended meanwhile, the wait lasts that much longer. */
struct timespec wait_moment(int64_t at_ms);

#endif
