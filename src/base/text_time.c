/* text_time: see include/base/text_time.h. */
#include "base/text_time.h"

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
