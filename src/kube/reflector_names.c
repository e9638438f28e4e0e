/* reflector_names: see include/kube/reflector.h. */
#include "kube/reflector.h"

const char *relist_cause_name(enum relist_cause cause)
{
    static const char *const NAMES[N_RELIST_CAUSES] = {
        [RELIST_START] = "start",   [RELIST_GONE] = "gone",     [RELIST_PAGE_GONE] = "page_gone",
        [RELIST_SILENT] = "silent", [RELIST_FAILED] = "failed", [RELIST_GARBAGE] = "garbage",
        [RELIST_BEHIND] = "behind",
    };
    return NAMES[cause];
}

const char *reflector_trouble_name(enum reflector_trouble trouble)
{
    static const char *const NAMES[N_TROUBLES] = {
        [TROUBLE_NONE] = "",
        [TROUBLE_REFUSED] = "refused",
        [TROUBLE_UNREACHABLE] = "unreachable",
        [TROUBLE_FAILED] = "failed",
    };
    return NAMES[trouble];
}

const char *watch_event_name(enum watch_event event)
{
    static const char *const NAMES[N_WATCH_EVENTS] = {
        [WATCH_ADDED] = "added",       [WATCH_MODIFIED] = "modified", [WATCH_DELETED] = "deleted",
        [WATCH_BOOKMARK] = "bookmark", [WATCH_ERROR] = "error",
    };
    return NAMES[event];
}
