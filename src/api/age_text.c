/* age_text: see age_text.h. */
#include "age_text.h"

#include <inttypes.h>

const char *age_text(int64_t seconds, struct arena *arena)
{
    const int64_t minutes = seconds / 60;
    const int64_t hours = minutes / 60;
    if (minutes == 0)
        return arena_printf(arena, "%" PRId64 "s", seconds);
    if (hours == 0)
        return arena_printf(arena, "%" PRId64 "m", minutes);
    if (hours < 24)
        return arena_printf(arena, "%" PRId64 "h%" PRId64 "m", hours, minutes % 60);
    return arena_printf(arena, "%" PRId64 "d%" PRId64 "h", hours / 24, hours % 24);
}
