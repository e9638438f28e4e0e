/* text_time: see include/base/text_time.h. */
#include "base/text_time.h"

#include <errno.h>
#include <string.h>
#include <time.h>

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
