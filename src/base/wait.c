/* wait: see include/base/wait.h. */
#include "base/wait.h"

#include "base/clock.h"

void wait_condition_init(pthread_cond_t *condition)
{
    pthread_condattr_t attributes;
    (void)pthread_condattr_init(&attributes);
    (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    (void)pthread_cond_init(condition, &attributes);
    (void)pthread_condattr_destroy(&attributes);
}

/* Condition variables support no clock that runs while the host is suspended. */
struct timespec wait_moment(int64_t at_ms)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    const int64_t left_ms = at_ms - clock_ms();
    const int64_t moment_ms =
        (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000 + 1 + (left_ms > 0 ? left_ms : 0);
    return (struct timespec){.tv_sec = (time_t)(moment_ms / 1000),
                             .tv_nsec = (long)(moment_ms % 1000) * 1000000};
}
