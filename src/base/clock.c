/* clock: see include/base/clock.h and text_time.h. */
#include "base/clock.h"

#include <errno.h>
#include <string.h>
#include <time.h>

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

void clock_condition_init(pthread_cond_t *condition)
{
    pthread_condattr_t attributes;
    (void)pthread_condattr_init(&attributes);
    (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    (void)pthread_cond_init(condition, &attributes);
    (void)pthread_condattr_destroy(&attributes);
}

/* Condition variables support no clock that runs while the host is suspended. */
struct timespec clock_moment(int64_t at_ms)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    const int64_t left_ms = at_ms - clock_ms();
    const int64_t moment_ms =
        (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000 + 1 + (left_ms > 0 ? left_ms : 0);
    return (struct timespec){.tv_sec = (time_t)(moment_ms / 1000),
                             .tv_nsec = (long)(moment_ms % 1000) * 1000000};
}

const char *text_time(int64_t seconds_since_1970, char *text)
{
    const time_t seconds = (time_t)seconds_since_1970;
    struct tm utc;
    text[0] = '\0';
    if (gmtime_r(&seconds, &utc))
        (void)strftime(text, TEXT_TIME_SIZE, "%Y-%m-%dT%H:%M:%SZ", &utc);
    return text;
}

int text_time_read(const char *text, int64_t *ret_seconds_since_1970)
{
    struct tm time = {0};
    const char *rest = strptime(text, "%Y-%m-%dT%H:%M:%S", &time);
    if (!rest)
        return -EINVAL;
    if (*rest == '.')
        rest += 1 + strspn(rest + 1, "0123456789");
    struct tm zone = {0};
    const char *end = strptime(rest, "%z", &zone);
    if (!end || *end != '\0')
        return -EINVAL;
    *ret_seconds_since_1970 = (int64_t)timegm(&time) - zone.tm_gmtoff;
    return 0;
}
