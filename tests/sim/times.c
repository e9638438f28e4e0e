/* times: see times.h. */
#include "times.h"

const struct timing *times(void)
{
    static struct timing known;
    if (known.lease_ms > 0)
        return &known;
    struct settings settings;
    settings_init(&settings);
    known = timing_of(&settings);
    settings_fini(&settings);
    return &known;
}
