/* warned: see warned.h. */
#include "warned.h"

bool warned_is_full(const struct warned *warned)
{
    return warned->list->n_warnings == WORKLOAD_WARNINGS_MAX;
}

void warned_add(const struct warned *warned, const char *path, const char *message)
{
    struct workload_list *list = warned->list;
    if (warned_is_full(warned))
        return;
    if (!list->warnings)
        list->warnings = ARENA_ARRAY(warned->arena, struct manifest_warning, WORKLOAD_WARNINGS_MAX);
    const char *object =
        arena_printf(warned->arena, "%s %s/%s", warned->kind, warned->namespace_, warned->name);
    list->warnings[list->n_warnings++] = (struct manifest_warning){object, path, message};
}
