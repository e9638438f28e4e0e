/* kinds: see kinds.h. */
#include "api/kubernetes/kinds.h"
#include "api/kubernetes/claims.h"
#include "api/kubernetes/decisions.h"
#include "api/kubernetes/dry_runs.h"
#include "api/kubernetes/nodes.h"
#include "api/kubernetes/pods.h"
#include "api/kubernetes/quotas.h"

#include <string.h>

static const char *const OF_VIEWS[] = {"create", "get", NULL};
static const char *const CREATE[] = {"create", NULL};
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
    {.resource = "gpuclaims",
     .singular = "gpuclaim",
     .name = "GPUClaim",
     .description = "A resource claim that holds GPUs.",
     .is_namespaced = true,
     .verbs = READ,
     .field = "node",
     .status = CLAIM_MEMBERS,
     .columns = CLAIM_COLUMNS,
     .find = claims_find_objects},
    {.resource = "gpuquotas",
     .singular = "gpuquota",
     .name = "GPUQuota",
     .description = "A quota that covers the namespace, and how much of it is used.",
     .is_namespaced = true,
     .verbs = READ,
     .status = QUOTA_MEMBERS,
     .columns = QUOTA_COLUMNS,
     .find = quotas_find_objects},
    {.resource = "gpudecisions",
     .singular = "gpudecision",
     .name = "GPUDecision",
     .description = "One of the latest answers to kube-scheduler about a pod.",
     .is_namespaced = true,
     .verbs = READ,
     .field = "pod",
     .status = DECISION_MEMBERS,
     .columns = DECISION_COLUMNS,
     .find = decisions_find_objects},
    {.resource = "dryruns",
     .singular = "dryrun",
     .name = "DryRun",
     .description = "Where the pods of manifests would go now. It is not stored.",
     .is_namespaced = true,
     .verbs = CREATE,
     .spec = DRY_RUN_SPEC,
     .status = DRY_RUN_MEMBERS,
     .create = dry_runs_create},
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
