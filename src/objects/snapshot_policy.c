/* snapshot_policy: what of a policy decides, to be compared; laid out as the policy file, but for
 * what is counted in thousandths. See include/objects/snapshot.h. */
#include "objects/snapshot.h"
#include "shape_json.h"

static json_t *names_json(const char *const *names, size_t n)
{
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++)
        (void)json_array_append_new(list, json_string(names[i]));
    return list;
}

static json_t *models_json(const struct policy *policy)
{
    const char *const *labels = (const char *const *)policy->model_labels;
    json_t *aliases = json_object();
    for (size_t i = 0; i < policy->n_aliases; i++)
        (void)json_object_set_new(aliases, policy->aliases[i].from,
                                  json_string(policy->aliases[i].to));
    return json_pack("{s:o, s:o}", "labels", names_json(labels, policy->n_model_labels), "aliases",
                     aliases);
}

static json_t *placement_json(const struct policy *policy)
{
    return json_pack("{s:s, s:s, s:I}", "policy", placement_policy_name(policy->placement),
                     "softPreferences", soft_preferences_name(policy->soft_preferences),
                     "replicaSpreadMilli", (json_int_t)policy->replica_spread_milli);
}

static json_t *slot_price_json(const struct slot_price_policy *numbers)
{
    return json_pack("{s:I, s:I, s:I, s:I}", "pressureWeightMilli",
                     (json_int_t)numbers->pressure_weight_milli, "drainWeightMilli",
                     (json_int_t)numbers->drain_weight_milli, "priorGpusMilli",
                     (json_int_t)numbers->prior_gpus_milli, "priorConfinedMilli",
                     (json_int_t)numbers->prior_confined_milli);
}

/* null where a limit is of all resources, or of all models. */
static json_t *limits_json(const struct quota *quota)
{
    json_t *list = json_array();
    for (size_t i = 0; i < quota->n_limits; i++) {
        const struct quota_limit *limit = &quota->limits[i];
        (void)json_array_append_new(list, json_pack("{s:s?, s:s?, s:I}", "resource",
                                                    limit->resource, "model", limit->model, "gpus",
                                                    (json_int_t)limit->gpus));
    }
    return list;
}

static json_t *quota_json(const struct quota *quota)
{
    json_t *json =
        json_pack("{s:s, s:o, s:o}", "name", quota->name, "namespaces",
                  names_json(quota->namespaces, quota->n_namespaces), "limits", limits_json(quota));
    if (quota->has_selector)
        (void)json_object_set_new(json, "namespaceSelector", term_to_json(&quota->selector));
    return json;
}

static json_t *quotas_json(const struct policy *policy)
{
    json_t *list = json_array();
    for (size_t i = 0; i < policy->n_quotas; i++)
        (void)json_array_append_new(list, quota_json(&policy->quotas[i]));
    return list;
}

json_t *snapshot_policy(const struct policy *policy)
{
    const char *const *gpu_resources = (const char *const *)policy->gpu_resources;
    return json_pack("{s:o, s:o, s:{s:b}, s:{s:b}, s:o, s:o, s:o, s:{s:I, s:I}}", "gpuResources",
                     names_json(gpu_resources, policy->n_gpu_resources), "models",
                     models_json(policy), "admission", "extendedResourceToleration",
                     policy->extended_resource_toleration, "sharing", "allow", policy->allow_shared,
                     "placement", placement_json(policy), "slotPrice",
                     slot_price_json(&policy->slot_price), "quotas", quotas_json(policy), "limits",
                     "podShapeBytes", (json_int_t)policy->pod_shape_bytes, "podShapesBytes",
                     (json_int_t)policy->pod_shapes_bytes);
}
