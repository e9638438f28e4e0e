/*
 * wait: threads that wait until a moment of the clock that only goes forward (base/clock.h).
 */
#ifndef BASE_WAIT_H
#define BASE_WAIT_H

#include <pthread.h>
#include <stdint.h>
#include <time.h>

/* A condition whose timed waits go by that clock. */
void wait_condition_init(pthread_cond_t *condition);
/* A time of clock_ms() as pthread_cond_timedwait() takes it, by CLOCK_MONOTONIC; of what is past,
 * now. A wait that the host's suspension interrupts lasts as much longer. */
struct timespec wait_moment(int64_t at_ms);

#endif
