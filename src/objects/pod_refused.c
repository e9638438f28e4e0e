/* pod_refused: whether a kubelet would not have a pod. See include/objects/pod.h. */
#include "objects/pod.h"

#include "formats/json_get.h"

#include <string.h>

static bool is_there(const json_t *object, const char *member)
{
    const json_t *value = json_member(object, member);
    return value && !json_is_null(value);
}

/* A kubelet that takes a pod tells of its containers before it starts any. */
static bool was_taken(const json_t *status)
{
    return is_there(status, "containerStatuses") || is_there(status, "initContainerStatuses");
}

const char *pod_refused_by(const json_t *last)
{
    const json_t *status = json_member(last, "status");
    const char *phase = json_string_value(json_member(status, "phase"));
    const char *node = json_string_value(json_member(json_member(last, "spec"), "nodeName"));
    if (!node || !node[0] || !phase || strcmp(phase, "Pending") != 0)
        return NULL;
    if (was_taken(status) || is_there(json_member(last, "metadata"), "deletionTimestamp"))
        return NULL;
    return node;
}
