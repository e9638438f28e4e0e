/* quota_json: see quota_json.h. */
#include "quota_json.h"

static const char *or_all(const char *name)
{
    return name ? name : "";
}

json_t *quota_limits_json(const struct cluster *cluster, const struct quota *quota)
{
    json_t *limits = json_array();
    for (size_t i = 0; i < quota->n_limits; i++) {
        const struct quota_limit *limit = &quota->limits[i];
        (void)json_array_append_new(
            limits, json_pack("{s:s, s:s, s:I, s:I}", "resource", or_all(limit->resource), "model",
                              or_all(limit->model), "limit", (json_int_t)limit->gpus, "used",
                              (json_int_t)quota_used(cluster, quota, limit)));
    }
    return limits;
}

json_t *quota_limits_json_of_nodes(const struct cluster *cluster, const struct quota *quota,
                                   const size_t n_nodes[QUOTA_MODELS_MAX])
{
    json_t *limits = quota_limits_json(cluster, quota);
    for (size_t i = 0; i < quota->n_limits; i++) {
        const struct quota_limit *limit = &quota->limits[i];
        const size_t n = limit->model ? n_nodes[limit->column - 1] : cluster_n_nodes(cluster);
        json_t *json = json_array_get(limits, i);
        (void)json_object_set_new(json, "unknown",
                                  json_integer((json_int_t)quota_unknown(cluster, quota, limit)));
        (void)json_object_set_new(json, "nodes", json_integer((json_int_t)n));
    }
    return limits;
}

static void add_needed(const struct cluster *fork, const struct quota *quota,
                       const struct pod_shape *shape, json_t *list)
{
    size_t i = 0;
    json_t *json = NULL;
    json_t *limits = quota_limits_json(fork, quota);
    json_array_foreach (limits, i, json) {
        if (quota_need(shape, &quota->limits[i]) == 0)
            continue;
        (void)json_object_set_new(json, "quota", json_string(quota->name));
        (void)json_object_set(json, "wouldUse", json_object_get(json, "used"));
        (void)json_array_append(list, json);
    }
    json_decref(limits);
}

json_t *quota_of_workload(const struct cluster *fork, const char *namespace_,
                          const struct pod_shape *shape, struct arena *arena)
{
    const size_t *quotas = NULL;
    const size_t n = quota_find(fork, namespace_, arena, &quotas);
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++)
        add_needed(fork, &cluster_policy(fork)->quotas[quotas[i]], shape, list);
    return list;
}

void quota_of_workload_after(json_t *list, const struct cluster *fork, const char *namespace_,
                             const struct pod_shape *shape, struct arena *arena)
{
    size_t i = 0;
    json_t *json = NULL;
    json_t *after = quota_of_workload(fork, namespace_, shape, arena);
    json_array_foreach (after, i, json)
        (void)json_object_set(json_array_get(list, i), "wouldUse", json_object_get(json, "used"));
    json_decref(after);
}
