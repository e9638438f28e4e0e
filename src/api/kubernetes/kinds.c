/* kinds: see kinds.h. */
#include "api/kubernetes/kinds.h"
#include "api/kubernetes/nodes.h"
#include "api/kubernetes/pods.h"

#include <string.h>

static const char *const OF_VIEWS[] = {"create", "get", NULL};
static const char *const READ[] = {"get", "list", NULL};

const struct object_kind KUBERNETES_KINDS[] = {
    {.resource = "views",
     .singular = "view",
     .name = "View",
     .description = "An answer of gpu-extender's path /v1/X as the view X: kubectl get --raw "
                    "/apis/" KUBERNETES_API_VERSION "/views/inventory",
     .verbs = OF_VIEWS},
    {.resource = "gpunodes",
     .singular = "gpunode",
     .name = "GPUNode",
     .description = "The GPUs of a node: how many it has, and how many are in use and free.",
     .verbs = READ,
     .status = NODE_MEMBERS,
     .columns = NODE_COLUMNS,
     .find = nodes_find},
    {.resource = "gpupods",
     .singular = "gpupod",
     .name = "GPUPod",
     .description = "A pod that holds GPUs on a node.",
     .is_namespaced = true,
     .verbs = READ,
     .explained_kind = "GPUPodExplanation",
     .field = "node",
     .status = HOLDER_MEMBERS,
     .columns = HOLDER_COLUMNS,
     .find = pods_find_holders},
    {.resource = "gpupending",
     .singular = "gpupending",
     .name = "GPUPending",
     .description = "A pod that waits for GPUs, and why.",
     .is_namespaced = true,
     .verbs = READ,
     .status = PENDING_MEMBERS,
     .columns = PENDING_COLUMNS,
     .find = pods_find_pending},
    {0},
};

const struct object_kind *kind_find(const char *resource, size_t len)
{
    for (const struct object_kind *kind = KUBERNETES_KINDS; kind->resource; kind++) {
        if (strlen(kind->resource) == len && strncmp(kind->resource, resource, len) == 0)
            return kind;
    }
    return NULL;
}

bool kind_has_verb(const struct object_kind *kind, const char *verb)
{
    for (const char *const *has = kind->verbs; *has; has++) {
        if (strcmp(*has, verb) == 0)
            return true;
    }
    return false;
}
