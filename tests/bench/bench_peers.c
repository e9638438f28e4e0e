/*
 * bench_peers: what affinity between pods and topology spread cost at 5,000 nodes and 150,000 pods:
 * memory, CPU time of the longest hold of the ledger's lock while a fork is made and freed, and CPU
 * time of a dry run of 1,000 replicas.
 *
 *     scripts/build bench tests/bench/bench_peers && build/bench/tests/bench/bench_peers [LABELS
 * [OWNERS]]
 *
 * LABELS: how many labels each pod has. OWNERS: the pods of one have the same labels; 5,000 unless
 * given. With labels, the pods of every tenth owner have required anti-affinity, by host, to each
 * other.
 */
#include "base/log.h"
#include "base/mem.h"
#include "decide/peer_rules.h"
#include "decide/what_if.h"
#include "live_bench.h"
#include "meter.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N_NODES 5000
#define N_PODS 150000
#define N_NAMESPACES 60
#define N_REPLICAS 1000
#define N_ZONES 3
#define MAX_LABELS 100
#define TEXT 64

static const struct inventory_limits LIMITS = {
    .max_object_bytes = 1 << 20, .max_nodes = 10000, .max_pods = 300000};

static size_t n_labels;
static size_t n_owners = 5000;

static const char *text(char buf[TEXT], const char *prefix, size_t i)
{
    (void)snprintf(buf, TEXT, "%s%zu", prefix, i);
    return buf;
}

/* ---- the cluster ---- */

static json_t *make_namespace(size_t i)
{
    char name[TEXT];
    return json_pack("{s:{s:s}}", "metadata", "name", text(name, "team-", i));
}

static json_t *make_node(size_t i)
{
    char name[TEXT];
    char zone[TEXT];
    text(name, "node-", i);
    return json_pack("{s:{s:s, s:{s:s, s:s, s:s}}, s:{s:{s:s, s:s, s:s, s:s}, s:[{s:s, s:s}]}}",
                     "metadata", "name", name, "labels", "kubernetes.io/hostname", name, "zone",
                     text(zone, "zone-", i % N_ZONES), "nvidia.com/gpu.product",
                     "NVIDIA-H100-80GB-HBM3", "status", "allocatable", "cpu", "96", "memory", "1Ti",
                     "nvidia.com/gpu", "8", "pods", "110", "conditions", "type", "Ready", "status",
                     "True");
}

static json_t *make_labels(size_t owner)
{
    char key[TEXT];
    char value[TEXT];
    json_t *labels = json_object();
    for (size_t i = 0; i < n_labels; i++)
        (void)json_object_set_new(labels, text(key, "app.kubernetes.io/label-", i),
                                  json_string(text(value, "service-", owner)));
    return labels;
}

static json_t *make_anti_affinity(size_t owner)
{
    char value[TEXT];
    return json_pack("{s:{s:[{s:s, s:{s:{s:s}}}]}}", "podAntiAffinity",
                     "requiredDuringSchedulingIgnoredDuringExecution", "topologyKey",
                     "kubernetes.io/hostname", "labelSelector", "matchLabels",
                     "app.kubernetes.io/label-0", text(value, "service-", owner));
}

static json_t *make_pod(size_t i)
{
    char name[TEXT];
    char namespace_[TEXT];
    char node[TEXT];
    const size_t owner = i % n_owners;
    text(name, "recommender-", i);
    json_t *pod = json_pack(
        "{s:{s:s, s:s, s:s, s:o}, s:{s:s, s:[{s:s, s:{s:{s:s, s:s}}}]}, s:{s:s}}", "metadata",
        "name", name, "namespace", text(namespace_, "team-", owner % N_NAMESPACES), "uid", name,
        "labels", make_labels(owner), "spec", "nodeName",
        text(node, "node-", (i + i / N_NODES) % N_NODES), "containers", "name", "main", "resources",
        "limits", "cpu", "100m", "memory", "1Gi", "status", "phase", "Running");
    if (n_labels > 0 && owner % 10 == 0)
        (void)json_object_set_new(json_object_get(pod, "spec"), "affinity",
                                  make_anti_affinity(owner));
    return pod;
}

/* ---- the dry run ---- */

static const char *const OWN[] = {"service-own"};
static const struct requirement IS_OWN = {
    .key = "app.kubernetes.io/label-0", .op = SELECTOR_IN, .values = OWN, .n_values = 1};
static const struct label LABEL = {"app.kubernetes.io/label-0", "service-own"};
static const struct peer_term BY_HOST = {.topology_key = "kubernetes.io/hostname",
                                         .selector = {&IS_OWN, 1}};
static const struct spread_constraint OVER_ZONES = {
    .topology_key = "zone", .selector = {&IS_OWN, 1}, .max_skew = 1, .min_domains = 1};
static const struct spread_constraint OVER_HOSTS = {.topology_key = "kubernetes.io/hostname",
                                                    .selector = {&IS_OWN, 1},
                                                    .max_skew = 1,
                                                    .min_domains = 1};

static const struct asked {
    const char *name;
    struct peer_facts facts;
} ASKED[] = {
    {"plain", {.labels = &LABEL, .n_labels = 1}},
    {"anti_affinity",
     {.labels = &LABEL, .n_labels = 1, .anti_affinity = &BY_HOST, .n_anti_affinity = 1}},
    {"spread_zones", {.labels = &LABEL, .n_labels = 1, .spread = &OVER_ZONES, .n_spread = 1}},
    {"spread_hosts", {.labels = &LABEL, .n_labels = 1, .spread = &OVER_HOSTS, .n_spread = 1}},
};

static size_t place(struct cluster *fork, const struct peer_facts *facts, struct arena *arena)
{
    static const struct amount DEMAND[] = {{"cpu", 1000}, {"nvidia.com/gpu", 1}, {"pods", 1}};
    static const struct shape_facts SHAPE = {.demand = DEMAND, .n_demand = 3};
    const struct node *nodes[N_REPLICAS];
    const struct peer_pod pod = {"team-0", facts, peer_facts_have_terms(facts) ? facts : NULL};
    struct fit_question question = {
        .shape = cluster_resolve(fork, &SHAPE, arena), .scope = FIT_ALL, .peer = &pod};
    question.peers = peer_rules_of(fork, &pod, question.shape, arena);
    const size_t n = what_if_place(fork, &question, N_REPLICAS, nodes);
    (void)what_if_more(fork, &question);
    return n;
}

static void dry_run(struct inventory *inventory, const struct asked *asked)
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    const bool has_terms = peer_facts_have_terms(&asked->facts);
    meter_reset();
    const double began_ms = meter_cpu_ms();
    struct cluster *fork = inventory_fork(inventory, has_terms ? PEERS_ALL : PEERS_REPELLING);
    const double forked_ms = meter_cpu_ms();
    const size_t n = place(fork, &asked->facts, arena);
    const double placed_ms = meter_cpu_ms();
    inventory_fork_free(inventory, fork);
    printf("{\"labels\": %zu, \"asked\": \"%s\", \"placed\": %zu, \"longest_write_cpu_ms\": %.2f, "
           "\"fork_cpu_ms\": %.1f, \"place_cpu_ms\": %.1f, \"free_cpu_ms\": %.1f}\n",
           n_labels, asked->name, n, meter_longest_write_ms(), forked_ms - began_ms,
           placed_ms - forked_ms, meter_cpu_ms() - placed_ms);
}

/* Whether the text is a number within the bounds. */
static bool read_number(const char *given, size_t least, size_t most, size_t *ret_number)
{
    char *end = NULL;
    const unsigned long number = strtoul(given, &end, 10);
    if (!isdigit((unsigned char)given[0]) || *end != '\0' || number < least || number > most)
        return false;
    *ret_number = number;
    return true;
}

static bool read_arguments(int argc, char **argv)
{
    return argc <= 3 && (argc <= 1 || read_number(argv[1], 0, MAX_LABELS, &n_labels)) &&
           (argc <= 2 || read_number(argv[2], 1, N_PODS, &n_owners));
}

int main(int argc, char **argv)
{
    struct policy policy;
    if (!read_arguments(argc, argv)) {
        (void)fprintf(stderr,
                      "usage: bench_peers [LABELS [OWNERS]]: 0 to %d labels, 1 to %d owners\n",
                      MAX_LABELS, N_PODS);
        return EXIT_FAILURE;
    }
    log_configure(LOG_ERROR, LOG_KEY_VALUE);
    policy_init(&policy);
    struct inventory *inventory = inventory_new(&policy, &LIMITS);
    inventory_go_live(inventory, "https://127.0.0.1:6443");
    live_bench_list(inventory, CLUSTER_NAMESPACES, N_NAMESPACES, make_namespace);
    live_bench_list(inventory, CLUSTER_NODES, N_NODES, make_node);
    live_bench_list(inventory, CLUSTER_PODS, N_PODS, make_pod);
    mem_give_back();
    printf("{\"nodes\": %d, \"pods\": %d, \"labels\": %zu, \"rss_mib\": %.1f}\n", N_NODES, N_PODS,
           n_labels, live_bench_status_mib("VmRSS:"));
    for (size_t i = 0; i < sizeof ASKED / sizeof *ASKED; i++)
        dry_run(inventory, &ASKED[i]);
    inventory_free(inventory);
    policy_fini(&policy);
    return EXIT_SUCCESS;
}
