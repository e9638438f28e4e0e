/* managed: see managed.h. */
#include "managed.h"

#include "formats/json_get.h"

static bool has_gpu_key(json_t *amounts, const struct policy *policy)
{
    const char *resource = NULL;
    json_t *amount = NULL;
    json_object_foreach (amounts, resource, amount) {
        if (policy_is_gpu_resource(policy, resource))
            return true;
    }
    return false;
}

static bool names_gpus(const json_t *containers, const struct policy *policy)
{
    for (size_t i = 0; i < json_array_size(containers); i++) {
        const json_t *resources = json_member(json_array_get(containers, i), "resources");
        if (has_gpu_key(json_member(resources, "requests"), policy) ||
            has_gpu_key(json_member(resources, "limits"), policy))
            return true;
    }
    return false;
}

bool managed_by_policy(const json_t *spec, const struct policy *policy)
{
    return policy->all_pods || names_gpus(json_member(spec, "containers"), policy) ||
           names_gpus(json_member(spec, "initContainers"), policy);
}
