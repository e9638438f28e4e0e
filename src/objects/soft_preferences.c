/* soft_preferences: see soft_preferences.h. */
#include "soft_preferences.h"

#include "formats/json_get.h"

#include <string.h>

static bool prefers(const json_t *affinity, const char *kind)
{
    return json_array_size(json_member(json_member(affinity, kind),
                                       "preferredDuringSchedulingIgnoredDuringExecution")) > 0;
}

static bool spreads_softly(const json_t *spec)
{
    size_t i = 0;
    json_t *constraint = NULL;
    json_array_foreach (json_member(spec, "topologySpreadConstraints"), i, constraint) {
        const char *what = json_string_value(json_member(constraint, "whenUnsatisfiable"));
        if (what && strcmp(what, "ScheduleAnyway") == 0)
            return true;
    }
    return false;
}

bool soft_preferences_written(const json_t *spec)
{
    const json_t *affinity = json_member(spec, "affinity");
    return prefers(affinity, "nodeAffinity") || prefers(affinity, "podAffinity") ||
           prefers(affinity, "podAntiAffinity") || spreads_softly(spec);
}
