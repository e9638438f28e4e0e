/* small_cluster: see small_cluster.h. */
#include "small_cluster.h"
#include "base/log.h"
#include "memory_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NODE(name, labels, spec, cores, gpus)                                                      \
    "- {apiVersion: v1, kind: Node, metadata: {name: " name ", labels: {" labels "}},\n"           \
    "   spec: {" spec "},\n"                                                                       \
    "   status: {conditions: [{type: Ready, status: 'True'}],\n"                                   \
    "     capacity: {cpu: '" cores "', memory: 64Gi, pods: '110'" gpus "},\n"                      \
    "     allocatable: {cpu: '" cores "', memory: 64Gi, pods: '110'" gpus "}}}\n"
#define GPUS(n) ", nvidia.com/gpu: '" n "'"
#define PRODUCT(model) "nvidia.com/gpu.product: " model

/* clang-format off */
const char SMALL_CLUSTER[] =
    "apiVersion: v1\n"
    "kind: List\n"
    "items:\n"
    NODE("a100-1", PRODUCT("NVIDIA-A100-SXM4-80GB"), "", "64", GPUS("8"))
    NODE("a100-2", PRODUCT("NVIDIA-A100-SXM4-80GB"),
         "taints: [{key: dedicated, value: ml, effect: NoSchedule}]", "64", GPUS("8"))
    NODE("t4-1", PRODUCT("Tesla-T4"), "", "4", GPUS("4"))
    NODE("cpu-1", "", "", "16", "")
    "- {apiVersion: v1, kind: Pod, metadata: {name: train-0, namespace: ml, uid: uid-0},\n"
    "   spec: {nodeName: a100-1, containers: [\n"
    "     {name: main, resources: {limits: {cpu: '8', memory: 8Gi, nvidia.com/gpu: '5'}}}]},\n"
    "   status: {phase: Running}}\n"
    "- {apiVersion: v1, kind: Namespace, metadata: {name: default}}\n"
    "- {apiVersion: v1, kind: Namespace, metadata: {name: ml}}\n"
    "- {apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high},\n"
    "   value: 1000}\n";
/* clang-format on */

int small_cluster_load(struct small_cluster *cluster, const char *text, struct err *err)
{
    struct memory_file file;
    memory_file_init(&file, text, strlen(text));
    int r = inventory_load_file(cluster->inventory, file.path, err);
    memory_file_fini(&file);
    return r;
}

void small_cluster_init(struct small_cluster *cluster, const char *text)
{
    static const struct inventory_limits LIMITS = {
        .max_file_bytes = 1 << 20, .max_object_bytes = 1 << 16, .max_nodes = 20, .max_pods = 20};
    struct err err;
    log_configure(LOG_ERROR, LOG_KEY_VALUE);
    policy_init(&cluster->policy);
    cluster->policy.placement = PLACEMENT_BINPACK; /* so that tests can compute scores */
    cluster->inventory = inventory_new(&cluster->policy, &LIMITS);
    if (text && small_cluster_load(cluster, text, &err) < 0) {
        (void)fprintf(stderr, "%s\n", err.text);
        abort();
    }
}

void small_cluster_fini(struct small_cluster *cluster)
{
    inventory_free(cluster->inventory);
    policy_fini(&cluster->policy);
}
