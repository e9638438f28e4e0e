/*
 * Sends any text as the body of a what-if over a small cluster with controllers, budgets, quotas,
 * slices and claims. Nothing crashes, and the ledger stays unchanged. An answer is JSON with
 * consistent numbers, or a table.
 */
#include "api/api.h"
#include "base/arena.h"
#include "config/settings.h"
#include "fake_exchange.h"
#include "formats/json_parse.h"
#include "formats/json_values.h"
#include "require.h"
#include "small_cluster.h"

#include <string.h>

#define MAX_REPLICAS 10

#define POD(name, kind, gpus, on)                                                                  \
    "- {kind: Pod, metadata: {name: " name ", namespace: ml, uid: u-" name                         \
    ", labels: {app: web}, ownerReferences: [{kind: " kind ", name: web, uid: o, controller: "     \
    "true}]}, spec: {" on "containers: [{name: c, resources: {limits: {nvidia.com/gpu: " gpus      \
    "}}}]}, status: {phase: Running, conditions: [{type: Ready, status: 'True'}]}}\n"
#define BUDGET(name, selector)                                                                     \
    "- {apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: " name                  \
    ", namespace: ml}, spec: {selector: {" selector "}}, status: {disruptionsAllowed: 1}}\n"
/* clang-format off */
static const char MORE[] =
    POD("web-0", "ReplicaSet", "1", "nodeName: a100-1, ") POD("web-1", "Job", "2", "nodeName: t4-1, ")
    POD("agent", "DaemonSet", "0", "nodeName: t4-1, ") POD("waits", "Job", "8", "")
    BUDGET("web", "matchLabels: {app: web}") BUDGET("all", "") BUDGET("bad", "matchLabels: 1")
    "- {apiVersion: resource.k8s.io/v1, kind: ResourceSlice, metadata: {name: s}, spec: {driver: "
    "gpu.nvidia.com, nodeName: cpu-1, pool: {name: cpu-1, generation: 1, resourceSliceCount: 1}, "
    "devices: [{name: gpu-0, attributes: {productName: {string: NVIDIA H100 80GB HBM3}}}]}}\n"
    "- {apiVersion: resource.k8s.io/v1, kind: ResourceSlice, metadata: {name: t}, spec: {driver: "
    "nic.example.com, nodeName: cpu-1, pool: {name: nics, generation: 1, resourceSliceCount: 1}}}\n";
/* clang-format on */
static const char POLICY[] = "apiVersion: gpu-extender.io/v1alpha1\nkind: SchedulerPolicy\nquotas: "
                             "[{name: team, namespaces: [ml], limits: [{total: 9}]}]\n";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static json_int_t number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    require(json_is_integer(value) && json_integer_value(value) >= 0);
    return json_integer_value(value);
}

static bool is_text(const json_t *object, const char *key)
{
    return json_is_string(json_object_get(object, key));
}

/* A place, or the reason for none. */
static void check_pods(const json_t *pods)
{
    size_t i = 0;
    json_t *pod = NULL;
    require(json_is_array(pods));
    json_array_foreach (pods, i, pod)
        require(is_text(pod, "node") != is_text(pod, "reason"));
}

static void check_counts(const json_t *counts)
{
    require(number(counts, "fit") + number(counts, "notJudged") <= number(counts, "pods"));
}

static void check_budgets(const json_t *budgets)
{
    const bool is_checked = json_is_true(json_object_get(budgets, "checked"));
    require(is_checked != is_text(budgets, "notCheckedBecause"));
    require(!is_checked || json_array_size(json_object_get(budgets, "notJudged")) == 0);
}

static void check_result(const json_t *result)
{
    const json_t *pending = json_object_get(result, "pending");
    const json_t *displaced = json_object_get(result, "displaced");
    const json_t *counts = json_object_get(result, "displacedCounts");
    require(is_text(result, "summary"));
    require(json_is_array(json_object_get(result, "changes")));
    require((json_int_t)json_array_size(displaced) == number(counts, "pods"));
    require(number(counts, "fit") <= number(counts, "pods"));
    check_pods(displaced);
    check_pods(json_object_get(pending, "nowRun"));
    check_counts(json_object_get(pending, "before"));
    check_counts(json_object_get(pending, "after"));
    check_budgets(json_object_get(result, "disruptionBudgets"));
}

static unsigned ask_for_json(struct api *api, struct fake_question question)
{
    struct fake_answer answer = fake_ask(api_what_if, api, &question);
    json_t *value = NULL;
    require(json_parse(answer.body, answer.len, 0, &JSON_OWN, &value, NULL) == 0);
    if (answer.status == 200)
        check_result(value);
    else
        require(is_text(value, "error"));
    json_decref(value);
    const unsigned status = answer.status;
    require(status == 200 || status == 400 || status == 404 || status == 413);
    fake_answer_fini(&answer);
    return status;
}

static unsigned ask_for_table(struct api *api, struct fake_question question)
{
    question.output = "table";
    struct fake_answer answer = fake_ask(api_what_if, api, &question);
    require(answer.len > 0 && strlen(answer.body) == answer.len);
    const unsigned status = answer.status;
    fake_answer_fini(&answer);
    return status;
}

static struct api init(void)
{
    static const struct inventory_limits LIMITS = {
        .max_file_bytes = 1 << 20, .max_object_bytes = 1 << 16, .max_nodes = 20, .max_pods = 20};
    static struct settings settings;
    static struct small_cluster cluster;
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    struct err err;
    small_cluster_init(&cluster, NULL);
    inventory_free(cluster.inventory);
    settings_init(&settings);
    require(settings_read_text(&settings, "policy", POLICY, strlen(POLICY), &err) == 0);
    cluster.inventory = inventory_new(&settings.policy, &LIMITS);
    const char *text = arena_printf(arena, "%s%s", SMALL_CLUSTER, MORE);
    require(small_cluster_load(&cluster, text, &err) == 0);
    return (struct api){
        .inventory = cluster.inventory,
        .max_object_bytes = 1 << 16,
        .max_object_values = 50000,
        .request_budget = {.max_values = 200000, .max_tree_bytes = 32 << 20, .max_depth = 110},
        .max_replicas = MAX_REPLICAS,
        .policy = settings_policy_text,
        .policy_context = &settings,
        .read_policy = settings_read_policy};
}

static uint64_t version_of(struct inventory *inventory)
{
    const struct inventory_view view CLEANUP(inventory_done) = inventory_read(inventory);
    return cluster_version(view.cluster);
}

static void check_ledger(struct inventory *inventory)
{
    struct err err;
    const struct inventory_view view CLEANUP(inventory_done) = inventory_read(inventory);
    require(cluster_check_in_place(view.cluster, &err) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct api api;
    if (!api.inventory)
        api = init();
    const struct fake_question question = {.body = (const char *)data, .len = size};
    const uint64_t version = version_of(api.inventory);
    require(ask_for_json(&api, question) == ask_for_table(&api, question));
    require(version_of(api.inventory) == version);
    check_ledger(api.inventory);
    return 0;
}
