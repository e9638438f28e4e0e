/*
 * bench_reload: what a reload of the policy costs in a large cluster: CPU time of the longest hold
 * of the ledger's lock, the time of the whole copy, and memory while the ledger is there twice. And
 * the longest holds of a fork, of freeing it, of a copy, which a snapshot and a what-if write, and
 * of the first verb after a node changed or came. CLAIMS_MAX claims on quotas are outstanding, of
 * pods that wait, and N_RESERVED reservations.
 *
 *     scripts/build bench tests/bench/bench_reload
 *     build/bench/tests/bench/bench_reload [NODES PODS]      5,000 and 150,000
 */
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "ledger/claims.h"
#include "live_bench.h"
#include "meter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N_WAITING CLAIMS_MAX
#define N_RESERVED 300
#define N_NAMESPACES 60
#define N_QUOTAS 60
#define N_RELOADS 5
#define TEXT 64
#define NODE "ip-10-%zu.eu-west-1.compute"
#define UID "0b9a3f52-66cf-4f0e-8d1c-%012zu"
#define LATER_MS 1000000

static const struct inventory_limits LIMITS = {
    .max_object_bytes = 1 << 20, .max_nodes = 100000, .max_pods = 1000000};
static size_t n_nodes = 5000;
static size_t n_pods = 150000;

static json_t *make_node(size_t i)
{
    char name[TEXT];
    (void)snprintf(name, sizeof name, NODE, i);
    return json_pack("{s:{s:s, s:{s:s, s:s}}, s:{s:{s:s, s:s, s:s, s:s}, s:[{s:s, s:s}]}}",
                     "metadata", "name", name, "labels", "kubernetes.io/hostname", name,
                     "nvidia.com/gpu.product",
                     i % 2 ? "NVIDIA-A100-SXM4-80GB" : "NVIDIA-H100-80GB-HBM3", "status",
                     "allocatable", "cpu", "96", "memory", "1Ti", "nvidia.com/gpu", "8", "pods",
                     "110", "conditions", "type", "Ready", "status", "True");
}

static json_t *make_namespace(size_t i)
{
    char name[TEXT];
    (void)snprintf(name, sizeof name, "team-%zu", i);
    return json_pack("{s:{s:s, s:{s:s}}}", "metadata", "name", name, "labels", "stage", "prod");
}

/* Each node has 5 with a GPU of 30. The last N_WAITING have one and no node. */
static json_t *make_pod(size_t i)
{
    char uid[TEXT];
    char name[TEXT];
    char namespace_[TEXT];
    char cpu[TEXT];
    char node[TEXT];
    const bool waits = i >= n_pods;
    (void)snprintf(uid, sizeof uid, UID, i);
    (void)snprintf(name, sizeof name, "recommender-%zu", i);
    (void)snprintf(namespace_, sizeof namespace_, "team-%zu", i % N_NAMESPACES);
    (void)snprintf(cpu, sizeof cpu, "%zum", 100 + i % 300);
    (void)snprintf(node, sizeof node, NODE, i % n_nodes);
    json_t *limits = json_pack("{s:s, s:s}", "cpu", cpu, "memory", "1Gi");
    if (waits || i / n_nodes % 6 == 0)
        (void)json_object_set_new(limits, "nvidia.com/gpu", json_string("1"));
    json_t *pod =
        json_pack("{s:{s:s, s:s, s:s}, s:{s:[{s:s, s:{s:o}}]}, s:{s:s}}", "metadata", "name", name,
                  "namespace", namespace_, "uid", uid, "spec", "containers", "name", "main",
                  "resources", "limits", limits, "status", "phase", waits ? "Pending" : "Running");
    if (!waits)
        (void)json_object_set_new(json_object_get(pod, "spec"), "nodeName", json_string(node));
    return pod;
}

/* Each covers one namespace: all models, and one. */
static void add_quotas(struct policy *policy, int64_t gpus)
{
    for (size_t i = 0; i < N_QUOTAS; i++) {
        const char **namespaces = ARENA_ARRAY(policy->arena, const char *, 1);
        struct quota_limit *limits = ARENA_ARRAY(policy->arena, struct quota_limit, 2);
        namespaces[0] = arena_printf(policy->arena, "team-%zu", i);
        limits[0] = (struct quota_limit){.gpus = gpus};
        limits[1] = (struct quota_limit){.model = "H100", .gpus = gpus};
        const struct quota quota = {.name = namespaces[0],
                                    .namespaces = namespaces,
                                    .n_namespaces = 1,
                                    .limits = limits,
                                    .n_limits = 2};
        if (policy_add_quota(policy, &quota, NULL) < 0)
            abort();
    }
}

/* Claims for pods that wait, or reservations for pods not seen yet. */

static struct pod_facts facts_of(size_t i, struct arena *arena)
{
    static const struct amount DEMAND[] = {{"nvidia.com/gpu", 1}, {"pods", 1}};
    return (struct pod_facts){.uid = arena_printf(arena, UID, i),
                              .namespace_ = arena_printf(arena, "team-%zu", i % N_NAMESPACES),
                              .name = "recommender",
                              .node_name = "",
                              .nominated_node = "",
                              .priority_class = "",
                              .shape = {.demand = DEMAND, .n_demand = 2}};
}

static uint64_t version_of_claims(struct inventory *inventory)
{
    const struct inventory_view view CLEANUP(inventory_done) = inventory_read(inventory);
    return claims_version(view.cluster);
}

static void claim(struct inventory *inventory, size_t i)
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    const struct pod_facts facts = facts_of(i, arena);
    const struct claim_question question = {.pod = &facts,
                                            .node_name = arena_printf(arena, NODE, i % n_nodes),
                                            .claims_version = version_of_claims(inventory),
                                            .until_ms = LATER_MS};
    if (!inventory_claim(inventory, &question))
        abort();
}

static void reserve(struct inventory *inventory, size_t i)
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    struct reserve_result result;
    const struct pod_facts facts = facts_of(i, arena);
    const struct reserve_question question = {
        .uid = facts.uid, .node_name = arena_printf(arena, NODE, i % n_nodes), .facts = &facts};
    if (inventory_reserve(inventory, &question, arena, &result) != RESERVE_HELD)
        abort();
}

static void fill(struct inventory *inventory)
{
    inventory_go_live(inventory, "https://127.0.0.1:6443");
    live_bench_list(inventory, CLUSTER_NAMESPACES, N_NAMESPACES, make_namespace);
    live_bench_list(inventory, CLUSTER_NODES, n_nodes, make_node);
    live_bench_list(inventory, CLUSTER_PODS, n_pods + N_WAITING, make_pod);
    for (size_t i = n_pods; i < n_pods + N_WAITING; i++)
        claim(inventory, i);
    for (size_t i = 0; i < N_RESERVED; i++)
        reserve(inventory, n_pods + N_WAITING + i);
}

/* What the change left behind must be right, and all claims still there. */
static void check(struct inventory *inventory)
{
    struct err err = {""};
    size_t n = 0;
    const struct inventory_view view CLEANUP(inventory_done) = inventory_read_settled(inventory);
    for (const struct claim *at = claims_next(view.cluster, NULL); at;
         at = claims_next(view.cluster, at))
        n++;
    if (cluster_check_in_place(view.cluster, &err) == 0 && n == N_WAITING)
        return;
    (void)fprintf(stderr, "the ledger is wrong: %zu claims %s\n", n, err.text);
    exit(EXIT_FAILURE);
}

struct cost {
    double hold_ms, write_ms, took_ms, cpu_ms, changed_ms, added_ms, fork_ms, fork_free_ms, own_ms;
    double peak_mib; /* VmHWM, which meter_reset() sets back */
};

static double larger(double a, double b)
{
    return a > b ? a : b;
}

static void reload(struct inventory *inventory, const struct policy *policy, struct cost *most)
{
    const int64_t began_ms = clock_ms();
    const double began_cpu_ms = meter_cpu_ms();
    meter_reset();
    inventory_take_policy(inventory, policy);
    most->cpu_ms = larger(most->cpu_ms, meter_cpu_ms() - began_cpu_ms);
    most->took_ms = larger(most->took_ms, (double)(clock_ms() - began_ms));
    most->hold_ms = larger(most->hold_ms, meter_longest_hold_ms());
    most->write_ms = larger(most->write_ms, meter_longest_write_ms());
    const struct inventory_view view = inventory_read_settled(inventory); /* as a verb does */
    inventory_done(&view);
    most->peak_mib = larger(most->peak_mib, live_bench_status_mib("VmHWM:"));
    inventory_free_replaced(inventory);
}

/* The longest hold to write of the first verb after it. */
static double settle_ms(struct inventory *inventory, json_t *node)
{
    const struct reflector_store store = inventory_store(inventory, CLUSTER_NODES);
    const struct reflector_status status = {.synced = true, .fresh_ms = clock_ms()};
    store.upsert(store.context, node);
    store.flush(store.context, &status);
    json_decref(node);
    meter_reset();
    const struct inventory_view view = inventory_read_settled(inventory);
    inventory_done(&view);
    return meter_longest_write_ms();
}

static void change_nodes(struct inventory *inventory, size_t i, struct cost *most)
{
    json_t *cordoned = make_node(i);
    (void)json_object_set_new(cordoned, "spec", json_pack("{s:b}", "unschedulable", true));
    most->changed_ms = larger(most->changed_ms, settle_ms(inventory, cordoned));
    most->added_ms = larger(most->added_ms, settle_ms(inventory, make_node(n_nodes + i)));
}

static void fork_and_copy(struct inventory *inventory, struct cost *most)
{
    meter_reset();
    struct cluster *fork = inventory_fork(inventory, PEERS_NONE);
    most->fork_ms = larger(most->fork_ms, meter_longest_hold_ms());
    meter_reset();
    inventory_fork_free(inventory, fork);
    most->fork_free_ms = larger(most->fork_free_ms, meter_longest_hold_ms());
    meter_reset();
    struct inventory *copy = inventory_copy(inventory, NULL);
    most->own_ms = larger(most->own_ms, meter_longest_hold_ms());
    most->peak_mib = larger(most->peak_mib, live_bench_status_mib("VmHWM:"));
    inventory_free(copy);
}

int main(int argc, char **argv)
{
    if (argc == 3) {
        n_nodes = strtoul(argv[1], NULL, 10);
        n_pods = strtoul(argv[2], NULL, 10);
    }
    struct policy policies[1 + N_RELOADS];
    struct cost most = {0};
    log_configure(LOG_ERROR, LOG_KEY_VALUE);
    for (size_t i = 0; i <= N_RELOADS; i++) {
        policy_init(&policies[i]);
        add_quotas(&policies[i], (int64_t)(100000 + i));
    }
    struct inventory *inventory = inventory_new(&policies[0], &LIMITS);
    fill(inventory);
    mem_give_back();
    const double before_mib = live_bench_status_mib("VmRSS:");
    for (size_t i = 1; i <= N_RELOADS; i++) {
        reload(inventory, &policies[i], &most);
        fork_and_copy(inventory, &most);
        change_nodes(inventory, i, &most);
        mem_give_back();
    }
    check(inventory);
    printf("{\"nodes\": %zu, \"pods\": %zu, \"claims\": %d, \"reservations\": %d, \"reloads\": %d, "
           "\"longest_hold_cpu_ms\": %.2f, \"longest_write_cpu_ms\": %.2f, "
           "\"changed_node_cpu_ms\": %.2f, \"new_node_cpu_ms\": %.2f, \"fork_cpu_ms\": %.2f, "
           "\"fork_free_cpu_ms\": %.2f, "
           "\"own_cpu_ms\": %.2f, "
           "\"copy_cpu_ms\": %.1f, \"copy_ms\": %.1f, "
           "\"rss_mib\": %.1f, \"peak_mib\": %.1f, \"rss_after_mib\": %.1f}\n",
           n_nodes, n_pods, N_WAITING, N_RESERVED, N_RELOADS, most.hold_ms, most.write_ms,
           most.changed_ms, most.added_ms, most.fork_ms, most.fork_free_ms, most.own_ms,
           most.cpu_ms, most.took_ms, before_mib, most.peak_mib, live_bench_status_mib("VmRSS:"));
    inventory_free(inventory);
    for (size_t i = 0; i <= N_RELOADS; i++)
        policy_fini(&policies[i]);
    return EXIT_SUCCESS;
}
