/*
 * Makes slices, classes, taint rules, claims, a pod and a Deployment of the bytes, the last as a
 * selector, and asks the dry run. Nothing crashes, and each node has a verdict.
 */
#include "api/api.h"
#include "base/mem.h"
#include "byte_dice.h"
#include "fake_exchange.h"
#include "random_objects.h"
#include "require.h"
#include "small_cluster.h"

#include <stdlib.h>
#include <string.h>

#define SLICES 6
#define RULES 2
#define REPLICAS 3

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Takes over the object. */
static void add(json_t *items, const char *version, const char *kind, json_t *object)
{
    (void)json_object_set_new(object, "apiVersion", json_string(version));
    (void)json_object_set_new(object, "kind", json_string(kind));
    (void)json_array_append_new(items, object);
}

static json_t *pod_spec(size_t n_claims, const char *names_by)
{
    json_t *claims = json_array();
    for (size_t i = 0; i < n_claims; i++)
        (void)json_array_append_new(claims, json_pack("{s:o, s:o}", "name", json_sprintf("c%zu", i),
                                                      names_by, json_sprintf("asked-%zu", i)));
    return json_pack("{s:[{s:s}], s:o}", "containers", "name", "main", "resourceClaims", claims);
}

/* The claims of a pod, and those of a template for each replica of a Deployment. */
static void add_workloads(json_t *items, struct dice *dice)
{
    json_t *asked = random_asked(dice);
    const size_t n = json_array_size(asked);
    size_t i = 0;
    json_t *claim = NULL;
    json_array_foreach (asked, i, claim) {
        json_t *template = json_deep_copy(claim);
        json_t *spec = json_incref(json_object_get(template, "spec"));
        (void)json_object_set_new(template, "spec", json_pack("{s:o}", "spec", spec));
        add(items, "resource.k8s.io/v1", "ResourceClaimTemplate", template);
        add(items, "resource.k8s.io/v1", "ResourceClaim", json_incref(claim));
    }
    json_decref(asked);
    add(items, "v1", "Pod",
        json_pack("{s:{s:s, s:s}, s:o}", "metadata", "name", "pod", "namespace", "ml", "spec",
                  pod_spec(n, "resourceClaimName")));
    add(items, "apps/v1", "Deployment",
        json_pack("{s:{s:s, s:s}, s:{s:i, s:{s:o}}}", "metadata", "name", "web", "namespace", "ml",
                  "spec", "replicas", REPLICAS, "template", "spec",
                  pod_spec(n, "resourceClaimTemplateName")));
}

static void add_own_selector(json_t *items, size_t i)
{
    json_t *class = json_array_get(items, i);
    json_t *selectors = json_object_get(json_object_get(class, "spec"), "selectors");
    json_t *text = byte_dice_rest();
    if (text && json_string_length(text) > 0)
        (void)json_array_append_new(selectors, json_pack("{s:{s:O}}", "cel", "expression", text));
    json_decref(text);
}

static char *manifest(struct dice *dice)
{
    json_auto_t *list = json_pack("{s:s, s:s, s:[]}", "apiVersion", "v1", "kind", "List", "items");
    json_t *items = json_object_get(list, "items");
    for (size_t i = 0; i < OBJECTS_CLASSES; i++)
        add(items, "resource.k8s.io/v1", "DeviceClass", random_class(dice, i));
    add_workloads(items, dice);
    for (size_t i = dice_below(dice, RULES + 1); i > 0; i--)
        add(items, "resource.k8s.io/v1beta2", "DeviceTaintRule", random_rule(dice, i));
    for (size_t i = dice_below(dice, SLICES + 1); i > 0; i--)
        add(items, "resource.k8s.io/v1", "ResourceSlice", random_slice(dice, i));
    add_own_selector(items, 0);
    return json_dumps(list, JSON_COMPACT);
}

static void init(struct small_cluster *cluster)
{
    json_auto_t *list = json_pack("{s:s, s:s, s:[]}", "apiVersion", "v1", "kind", "List", "items");
    json_t *items = json_object_get(list, "items");
    for (size_t i = 0; i < OBJECTS_NODES; i++) {
        json_t *node = object_node(i);
        (void)json_object_set_new(node, "status",
                                  json_pack("{s:{s:s, s:s, s:s}, s:[{s:s, s:s}]}", "allocatable",
                                            "cpu", "8", "memory", "64Gi", "pods", "2", "conditions",
                                            "type", "Ready", "status", "True"));
        add(items, "v1", "Node", node);
    }
    add(items, "v1", "Namespace", json_pack("{s:{s:s}}", "metadata", "name", "ml"));
    char *text = json_dumps(list, 0);
    small_cluster_init(cluster, text);
    free(text);
}

static void check(const char *body, size_t len)
{
    json_auto_t *answer = json_loadb(body, len, 0, NULL);
    json_t *workloads = json_object_get(answer, "workloads");
    size_t i = 0, n = 0;
    json_t *workload = NULL, *node = NULL;
    require(json_array_size(workloads) == 2);
    json_array_foreach (workloads, i, workload) {
        json_t *nodes = json_object_get(workload, "nodes");
        require(json_array_size(nodes) == OBJECTS_NODES);
        json_array_foreach (nodes, n, node) {
            const char *reason = json_string_value(json_object_get(node, "reason"));
            require(json_is_true(json_object_get(node, "fits")) == (strcmp(reason, "fits") == 0));
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct small_cluster cluster;
    struct dice dice = {0};
    if (!cluster.inventory)
        init(&cluster);
    byte_dice_start(data, size);
    char *body = manifest(&dice);
    struct api api = {
        .inventory = cluster.inventory,
        .max_object_bytes = 1 << 20,
        .max_object_values = 50000,
        .request_budget = {.max_values = 200000, .max_tree_bytes = 32 << 20, .max_depth = 110},
        .max_replicas = REPLICAS,
    };
    const struct fake_question question = {.body = body, .len = strlen(body)};
    struct fake_answer answer = fake_ask(api_dry_run, &api, &question);
    require(answer.status == 200);
    check(answer.body, answer.len);
    fake_answer_fini(&answer);
    free(body);
    return 0;
}
