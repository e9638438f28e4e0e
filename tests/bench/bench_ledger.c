/*
 * bench_ledger: memory of a large cluster's ledger; time to fill it, to relist it unchanged and to
 * check its sums; and time to decide on a pod, with few pods and with many.
 *
 *     scripts/build bench tests/bench/bench_ledger && build/bench/tests/bench/bench_ledger
 *
 * The cluster consists of facts: names and labels of realistic length, 36-character UIDs, several
 * pod shapes. Nothing is decoded: this measures the ledger alone.
 */
#include "base/arena.h"
#include "base/mem.h"
#include "decide/rank.h"
#include "decide/reserve.h"
#include "ledger/gpu_demand.h"

#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define N_NODES 5000
#define N_PODS 150000
#define N_FEW_PODS 10000
#define N_SHAPES 300
#define N_NAMESPACES 60
#define N_LABELS 24
#define ROUNDS 5
#define DECISIONS 50
/* Nodes returned of those that fit. */
#define N_BEST 100

static double now_s(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* After the allocator has returned free memory. */
static double resident_bytes(void)
{
    char line[128] = "";
    char *at = NULL;
    mem_give_back();
    FILE *file = fopen("/proc/self/statm", "re");
    if (!file || !fgets(line, sizeof line, file))
        abort();
    (void)fclose(file);
    (void)strtol(line, &at, 10); /* skips the pages of address space; then come resident pages */
    return strtod(at, NULL) * (double)sysconf(_SC_PAGESIZE);
}

/* Deterministic, well distributed numbers (splitmix64). */
static uint64_t scramble(uint64_t number)
{
    number += UINT64_C(0x9e3779b97f4a7c15);
    number = (number ^ (number >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    number = (number ^ (number >> 27)) * UINT64_C(0x94d049bb133111eb);
    return number ^ (number >> 31);
}

/* Storage for the strings of facts. */
struct texts {
    char name[64];
    char namespace_[32];
    char node[48];
    char uid[40];
    char own[6];
    char keys[N_LABELS][64];
    char values[N_LABELS][64];
};

static void write_node_name(char *text, size_t size, uint64_t i)
{
    (void)snprintf(text, size, "ip-10-%" PRIu64 "-%" PRIu64 "-%" PRIu64 ".eu-west-1.compute",
                   i / 250, i % 250, scramble(i) % 250);
}

static size_t write_labels(struct texts *texts, uint64_t i, struct label *labels)
{
    for (size_t l = 0; l < N_LABELS; l++) {
        (void)snprintf(texts->keys[l], sizeof texts->keys[l],
                       "feature.node.kubernetes.io/cpu-cpuid.%02zu", l);
        (void)snprintf(texts->values[l], sizeof texts->values[l], "%s",
                       l % 2 ? "true" : "standard-8-zone-b");
        labels[l] = (struct label){texts->keys[l], texts->values[l]};
    }
    (void)snprintf(texts->keys[0], sizeof texts->keys[0], "kubernetes.io/hostname");
    (void)snprintf(texts->values[0], sizeof texts->values[0], "%s", texts->node);
    (void)snprintf(texts->keys[1], sizeof texts->keys[1], "nvidia.com/gpu.product");
    (void)snprintf(texts->values[1], sizeof texts->values[1], "%s",
                   i % 2 ? "NVIDIA-A100-SXM4-80GB" : "NVIDIA-H100-80GB-HBM3");
    return N_LABELS;
}

static void put_node(struct cluster *cluster, uint64_t i)
{
    static const struct amount HAS[] = {
        {"cpu", 96000},
        {"ephemeral-storage", INT64_C(1) << 41},
        {"hugepages-1Gi", 0},
        {"hugepages-2Mi", 0},
        {"memory", INT64_C(1) << 40},
        {"nvidia.com/gpu", 8},
        {"pods", 110},
    };
    struct texts texts;
    struct label labels[N_LABELS];
    write_node_name(texts.node, sizeof texts.node, i);
    const struct node_facts facts = {
        .name = texts.node,
        .labels = labels,
        .n_labels = write_labels(&texts, i, labels),
        .capacity = HAS,
        .n_capacity = sizeof HAS / sizeof *HAS,
        .allocatable = HAS,
        .n_allocatable = sizeof HAS / sizeof *HAS,
        .ready = true,
    };
    cluster_upsert_node(cluster, &facts);
}

static void write_uid(char *text, size_t size, uint64_t i)
{
    const uint64_t a = scramble(i);
    const uint64_t b = scramble(a);
    (void)snprintf(text, size, "%08x-%04x-4%03x-8%03x-%012" PRIx64, (unsigned)(a & 0xffffffff),
                   (unsigned)(a >> 48), (unsigned)(a >> 36) & 0xfff, (unsigned)(b >> 52),
                   b & UINT64_C(0xffffffffffff));
}

/* Five letters, different for each pod: 27^5 and the factor are coprime. */
static void write_own(char *text, uint64_t i)
{
    static const char ALPHABET[] = "bcdfghjklmnpqrstvwxz2456789";
    const size_t base = sizeof ALPHABET - 1;
    uint64_t number = i * 7919 % (base * base * base * base * base);
    for (size_t c = 0; c < 5; c++, number /= base)
        text[c] = ALPHABET[number % base];
    text[5] = '\0';
}

/* Pods of Deployments: name, hash of the ReplicaSet, own suffix. */
static void put_pod(struct cluster *cluster, uint64_t i)
{
    static const struct toleration TOLERATIONS[] = {
        {.key = "node.kubernetes.io/not-ready",
         .value = "",
         .op = TOLERATION_EXISTS,
         .effect = TAINT_NO_EXECUTE},
        {.key = "node.kubernetes.io/unreachable",
         .value = "",
         .op = TOLERATION_EXISTS,
         .effect = TAINT_NO_EXECUTE},
    };
    struct texts texts;
    const uint64_t shape = scramble(i) % N_SHAPES;
    write_own(texts.own, i);
    (void)snprintf(texts.name, sizeof texts.name, "recommender-%03u-%08x-%s", (unsigned)shape,
                   (unsigned)(scramble(shape) & 0xfffffff), texts.own);
    (void)snprintf(texts.namespace_, sizeof texts.namespace_, "team-ranking-%02u",
                   (unsigned)(shape % N_NAMESPACES));
    write_node_name(texts.node, sizeof texts.node, i % N_NODES);
    write_uid(texts.uid, sizeof texts.uid, i);
    const struct amount demand[] = {
        {"cpu", 100 + (int64_t)shape}, {"memory", INT64_C(1) << 30}, {"pods", 1}};
    const struct pod_facts facts = {
        .uid = texts.uid,
        .namespace_ = texts.namespace_,
        .name = texts.name,
        .node_name = texts.node,
        .nominated_node = "",
        .priority_class = shape % 3 ? "" : "production-high",
        .priority = shape % 3 ? 0 : 100000,
        .created_s = INT64_C(1760000000) + (int64_t)i,
        .shape = {.demand = demand,
                  .n_demand = sizeof demand / sizeof *demand,
                  .tolerations = TOLERATIONS,
                  .n_tolerations = 2},
    };
    cluster_upsert_pod(cluster, &facts);
}

static void put_nodes(struct cluster *cluster)
{
    for (uint64_t i = 0; i < N_NODES; i++)
        put_node(cluster, i);
}

static void put_pods(struct cluster *cluster)
{
    for (uint64_t i = 0; i < N_PODS; i++)
        put_pod(cluster, i);
}

static void relist(struct cluster *cluster)
{
    cluster_relist_begin(cluster, CLUSTER_NODES);
    put_nodes(cluster);
    cluster_relist_end(cluster, CLUSTER_NODES);
    cluster_relist_begin(cluster, CLUSTER_PODS);
    put_pods(cluster);
    cluster_relist_end(cluster, CLUSTER_PODS);
}

static void check(struct cluster *cluster)
{
    struct err err = {""};
    if (cluster_check_in_place(cluster, &err) != 0 || cluster_n_pods(cluster) != N_PODS) {
        (void)fprintf(stderr, "the ledger is wrong: %s\n", err.text);
        exit(1);
    }
}

/* Pending GPU pods that only the last node admits, so that all nodes are examined: the most
 * expensive classes. */
static void put_confined_pods(struct cluster *cluster)
{
    for (uint64_t i = 0; i < GPU_DEMAND_CLASSES_MAX; i++) {
        struct texts texts;
        write_uid(texts.uid, sizeof texts.uid, N_PODS + i);
        write_node_name(texts.node, sizeof texts.node, N_NODES - 1);
        const char *const values[] = {texts.node};
        const struct requirement requirement = {
            .key = "kubernetes.io/hostname", .op = SELECTOR_IN, .values = values, .n_values = 1};
        const struct selector_term term = {&requirement, 1};
        const struct amount demand[] = {
            {"cpu", 1000 + (int64_t)i}, {"nvidia.com/gpu", 1}, {"pods", 1}};
        const struct pod_facts facts = {
            .uid = texts.uid,
            .namespace_ = "team",
            .name = texts.uid,
            .node_name = "",
            .nominated_node = "",
            .priority_class = "",
            .shape = {.demand = demand, .n_demand = 3, .affinity = {true, &term, 1}},
        };
        cluster_upsert_pod(cluster, &facts);
    }
}

static void settle_after_a_node(struct cluster *cluster)
{
    const struct node_facts cordoned = {.name = "a-node", .ready = true, .unschedulable = true};
    cluster_upsert_node(cluster, &cordoned);
    cluster_delete_node(cluster, "a-node");
    gpu_demand_settle(cluster);
}

static void put_a_pod(struct cluster *cluster)
{
    const struct amount demand[] = {{"nvidia.com/gpu", 8}, {"pods", 1}};
    const struct pod_facts facts = {.uid = "a-pod",
                                    .namespace_ = "team",
                                    .name = "a-pod",
                                    .node_name = "",
                                    .nominated_node = "",
                                    .priority_class = "",
                                    .shape = {.demand = demand, .n_demand = 2}};
    cluster_upsert_pod(cluster, &facts);
    gpu_demand_settle(cluster);
}

static void settle_after_a_pod(struct cluster *cluster)
{
    put_a_pod(cluster);
    cluster_delete_pod(cluster, "a-pod");
    gpu_demand_settle(cluster);
}

/* The minimum of several rounds, in milliseconds. */
static double time_ms(void (*act)(struct cluster *cluster), struct cluster *cluster, int n_rounds)
{
    double least_s = 1e9;
    for (int i = 0; i < n_rounds; i++) {
        const double begin_s = now_s();
        act(cluster);
        const double took_s = now_s() - begin_s;
        least_s = took_s < least_s ? took_s : least_s;
    }
    return least_s * 1e3;
}

/* Like filter for a pod that fits everywhere: judges and ranks all nodes. */
static void decide(struct cluster *cluster)
{
    struct arena *arena = arena_new();
    const struct pod *pod = cluster_find_pod(cluster, "a-pod");
    const struct fit_question question = {.shape = pod->shape, .asker = asker_from_pod(pod)};
    struct best *best = best_begin(cluster, &question, N_BEST, cluster_n_nodes(cluster), arena);
    size_t n = 0;
    for (const struct node *node = cluster_next_node(cluster, NULL); node;
         node = cluster_next_node(cluster, node)) {
        if (fit_judge(node, &question) == REASON_FITS)
            best_add(best, node, NULL, n++);
    }
    (void)best_end(best, &n);
    if (n != N_BEST)
        abort();
    arena_free(arena);
}

/* With the most expensive classes and n_pods running pods. */
static double decide_ms(const struct policy *policy, uint64_t n_pods)
{
    struct cluster *cluster = cluster_new(policy);
    put_nodes(cluster);
    for (uint64_t i = 0; i < n_pods; i++)
        put_pod(cluster, i);
    put_confined_pods(cluster);
    put_a_pod(cluster);
    const double ms = time_ms(decide, cluster, DECISIONS);
    cluster_free(cluster);
    return ms;
}

int main(void)
{
    struct policy policy;
    policy_init(&policy);
    struct cluster *cluster = cluster_new(&policy);
    const double begin = resident_bytes();
    const double nodes_ms = time_ms(put_nodes, cluster, 1);
    const double with_nodes = resident_bytes();
    const double pods_ms = time_ms(put_pods, cluster, 1);
    const double with_pods = resident_bytes();
    const double relist_ms = time_ms(relist, cluster, ROUNDS);
    const double check_ms = time_ms(check, cluster, ROUNDS);
    put_confined_pods(cluster);
    gpu_demand_settle(cluster);
    const double node_settle_ms = time_ms(settle_after_a_node, cluster, ROUNDS);
    const double pod_settle_ms = time_ms(settle_after_a_pod, cluster, ROUNDS) / 2;
    printf("{\"nodes\": %d, \"pods\": %d, \"bytes_a_node\": %.0f, \"bytes_a_pod\": %.0f, "
           "\"ledger_bytes\": %.0f, \"fill_nodes_ms\": %.1f, \"fill_pods_ms\": %.1f, "
           "\"relist_ms\": %.1f, \"check_ms\": %.1f, "
           "\"settle_after_a_node_ms\": %.1f, \"settle_after_a_pod_ms\": %.3f, ",
           N_NODES, N_PODS, (with_nodes - begin) / N_NODES, (with_pods - with_nodes) / N_PODS,
           with_pods - begin, nodes_ms, pods_ms, relist_ms, check_ms, node_settle_ms,
           pod_settle_ms);
    cluster_free(cluster);
    printf("\"few_pods\": %d, \"decide_of_few_ms\": %.3f, \"decide_ms\": %.3f}\n", N_FEW_PODS,
           decide_ms(&policy, N_FEW_PODS), decide_ms(&policy, N_PODS));
    policy_fini(&policy);
    return 0;
}
