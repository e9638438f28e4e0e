/* warned: see warned.h. */
#include "warned.h"

#include <string.h>

bool warned_is_full(const struct warned *warned)
{
    return warned->list->n_warnings == WORKLOAD_WARNINGS_MAX;
}

static bool is_there(const struct workload_list *list, const struct manifest_warning *warning)
{
    for (size_t i = 0; i < list->n_warnings; i++) {
        const struct manifest_warning *other = &list->warnings[i];
        if (strcmp(other->path, warning->path) == 0 &&
            strcmp(other->message, warning->message) == 0 &&
            strcmp(other->object, warning->object) == 0)
            return true;
    }
    return false;
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
    const struct manifest_warning warning = {.object = object, .path = path, .message = message};
    if (!is_there(list, &warning))
        list->warnings[list->n_warnings++] = warning;
}
