/*
 * Sends any text as the body of a dry run. Nothing crashes, and the ledger stays unchanged. An
 * answer is JSON with consistent numbers, or a table.
 */
#include "api/api.h"
#include "base/arena.h"
#include "fake_exchange.h"
#include "formats/json_parse.h"
#include "formats/json_values.h"
#include "require.h"
#include "small_cluster.h"

#include <string.h>

#define MAX_REPLICAS 30
#define N_NODES 4 /* of the small cluster */

/* Beside the small cluster, so that a quota counts the claims of the body. */
#define RESOURCE(kind, metadata, spec)                                                             \
    "- {apiVersion: resource.k8s.io/v1, kind: " kind ", metadata: {" metadata "}, spec: {" spec    \
    "}}\n"
#define DEVICE(name) "{name: " name ", attributes: {productName: {string: NVIDIA H100 80GB HBM3}}}"
#define WANTED "devices: {requests: [{name: r, exactly: {deviceClassName: gpu.nvidia.com}}]}"
/* clang-format off */
static const char CLAIMS[] =
    RESOURCE("DeviceClass", "name: gpu.nvidia.com",
             "selectors: [{cel: {expression: device.driver == 'gpu.nvidia.com'}}]")
    RESOURCE("ResourceSlice", "name: cpu-1",
             "driver: gpu.nvidia.com, nodeName: cpu-1, pool: {name: cpu-1, generation: 1, "
             "resourceSliceCount: 1}, devices: [" DEVICE("gpu-0") ", " DEVICE("gpu-1") "]")
    RESOURCE("ResourceClaim", "name: one, namespace: ml", WANTED)
    RESOURCE("ResourceClaimTemplate", "name: one, namespace: ml", "spec: {" WANTED "}");
/* clang-format on */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static json_int_t number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    require(json_is_integer(value));
    return json_integer_value(value);
}

static void check_nodes(const json_t *workload)
{
    const json_t *nodes = json_object_get(workload, "nodes");
    size_t i = 0;
    json_t *node = NULL;
    require(json_array_size(nodes) == N_NODES);
    json_array_foreach (nodes, i, node) {
        const bool fits = json_is_true(json_object_get(node, "fits"));
        const char *reason = json_string_value(json_object_get(node, "reason"));
        require(fits == (strcmp(reason, "fits") == 0));
        require(fits == json_is_integer(json_object_get(node, "score")));
        require(!fits || json_object_size(json_object_get(node, "lacks")) == 0);
    }
}

static void check_placements(const json_t *workload)
{
    const json_t *placements = json_object_get(workload, "placements");
    size_t i = 0;
    json_int_t n_placed = 0;
    json_t *placement = NULL;
    json_array_foreach (placements, i, placement)
        n_placed += json_is_string(json_object_get(placement, "node"));
    const json_int_t n_replicas = number(workload, "replicas");
    require(n_placed <= number(workload, "placed") && number(workload, "placed") <= n_replicas);
    require(number(workload, "moreReplicas") >= 0);
    require((json_int_t)json_array_size(placements) <= n_replicas);
}

static void check_result(const json_t *result)
{
    size_t i = 0;
    json_t *workload = NULL;
    require(json_is_string(json_object_get(result, "summary")));
    require(json_is_array(json_object_get(result, "skipped")));
    require(json_is_array(json_object_get(result, "notUnderstood")));
    json_array_foreach (json_object_get(result, "workloads"), i, workload) {
        check_nodes(workload);
        check_placements(workload);
    }
}

static unsigned ask_for_json(const struct api *api, struct fake_question question)
{
    struct fake_answer answer = fake_ask(api_dry_run, (void *)(uintptr_t)api, &question);
    json_t *value = NULL;
    require(json_parse(answer.body, answer.len, 0, &JSON_OWN, &value, NULL) == 0);
    if (answer.status == 200)
        check_result(value);
    else
        require(json_is_string(json_object_get(value, "error")));
    json_decref(value);
    const unsigned status = answer.status;
    require(status == 200 || status == 400 || status == 413);
    fake_answer_fini(&answer);
    return status;
}

static unsigned ask_for_table(const struct api *api, struct fake_question question)
{
    question.output = "table";
    struct fake_answer answer = fake_ask(api_dry_run, (void *)(uintptr_t)api, &question);
    require(answer.len > 0 && strlen(answer.body) == answer.len);
    const unsigned status = answer.status;
    fake_answer_fini(&answer);
    return status;
}

static void check_ledger(struct inventory *inventory, uint64_t version)
{
    struct err err;
    const struct inventory_view view CLEANUP(inventory_done) = inventory_read(inventory);
    require(cluster_version(view.cluster) == version &&
            cluster_check_in_place(view.cluster, &err) == 0);
}

static void init(struct small_cluster *cluster)
{
    static const char *const NAMES[] = {"default", "ml"};
    static const struct quota_limit LIMITS[] = {{.gpus = 4}, {.model = "H100", .gpus = 2}};
    static const struct quota QUOTA = {
        .name = "team", .namespaces = NAMES, .n_namespaces = 2, .limits = LIMITS, .n_limits = 2};
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    small_cluster_init(cluster, NULL);
    require(policy_add_quota(&cluster->policy, &QUOTA, NULL) == 0);
    const char *text = arena_printf(arena, "%s%s", SMALL_CLUSTER, CLAIMS);
    require(small_cluster_load(cluster, text, NULL) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct small_cluster cluster;
    if (!cluster.inventory)
        init(&cluster);
    const struct api api = {
        .inventory = cluster.inventory,
        .max_object_bytes = 1 << 16,
        .max_object_values = 50000,
        .request_budget = {.max_values = 200000, .max_tree_bytes = 32 << 20, .max_depth = 110},
        .max_replicas = MAX_REPLICAS,
    };
    const struct fake_question question = {.body = (const char *)data, .len = size};
    const struct inventory_view view = inventory_read(cluster.inventory);
    const uint64_t version = cluster_version(view.cluster);
    inventory_done(&view);
    require(ask_for_json(&api, question) == ask_for_table(&api, question));
    check_ledger(cluster.inventory, version);
    return 0;
}
