/* clock: see include/base/clock.h. */
#include "base/clock.h"

int64_t clock_us(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_SOURCE, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

int64_t clock_wall_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int64_t clock_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_SOURCE, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000 + 1;
}
