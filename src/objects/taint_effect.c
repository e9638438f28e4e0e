/* taint_effect: see taint_effect.h. */
#include "taint_effect.h"

#include <string.h>

static const char *const NAMES[] = {
    [TAINT_NO_SCHEDULE] = "NoSchedule",
    [TAINT_PREFER_NO_SCHEDULE] = "PreferNoSchedule",
    [TAINT_NO_EXECUTE] = "NoExecute",
};

const char *taint_effect_name(enum taint_effect effect)
{
    return NAMES[effect];
}

bool taint_effect_from_name(const char *name, enum taint_effect *ret_effect)
{
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
        if (strcmp(name, NAMES[i]) == 0) {
            *ret_effect = (enum taint_effect)i;
            return true;
        }
    }
    return false;
}
