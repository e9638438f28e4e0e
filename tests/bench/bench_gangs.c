/*
 * bench_gangs: processor time of one attempt to plan a group of 512 pods, with the fork.
 *
 *     scripts/build bench tests/bench/bench_gangs
 *     build/bench/tests/bench/bench_gangs NODES KINDS [WISH]     e.g. 5000 1 "require rack"
 *
 * Nodes of 8 GPUs, 16 in a rack, of which all but the last four are in use in each. KINDS: pods
 * that differ.
 */
#include "base/arena.h"
#include "base/mem.h"
#include "decide/gang_plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MEMBERS 512
#define A_RACK 16

static void put_node(struct cluster *cluster, int i)
{
    static const struct amount HAS[] = {{"cpu", 96000}, {"nvidia.com/gpu", 8}, {"pods", 110}};
    char name[32];
    char rack[32];
    (void)snprintf(name, sizeof name, "node-%d", i);
    (void)snprintf(rack, sizeof rack, "rack-%d", i / A_RACK);
    const struct label labels[] = {{"example.com/rack", rack}, {"kubernetes.io/hostname", name}};
    cluster_upsert_node(cluster, &(struct node_facts){.name = name,
                                                      .labels = labels,
                                                      .n_labels = 2,
                                                      .capacity = HAS,
                                                      .n_capacity = 3,
                                                      .allocatable = HAS,
                                                      .n_allocatable = 3,
                                                      .ready = true});
}

static void put_pod(struct cluster *cluster, const char *uid, struct pod_facts facts, int64_t cpu)
{
    const struct amount demand[] = {{"cpu", cpu}, {"nvidia.com/gpu", 1}, {"pods", 1}};
    facts.uid = facts.name = uid;
    facts.namespace_ = "ml";
    facts.nominated_node = facts.priority_class = "";
    facts.shape = (struct shape_facts){.demand = demand, .n_demand = 3};
    cluster_upsert_pod(cluster, &facts);
}

static void fill(struct cluster *cluster, int n_nodes, int n_kinds, const char *wish)
{
    char text[32];
    char node[32];
    for (int i = 0; i < n_nodes; i++) {
        put_node(cluster, i);
        (void)snprintf(text, sizeof text, "running-%d", i);
        (void)snprintf(node, sizeof node, "node-%d", i);
        if (i % 2)
            put_pod(cluster, text, (struct pod_facts){.node_name = node}, 1000);
    }
    for (int i = 0; i < MEMBERS; i++) {
        (void)snprintf(text, sizeof text, "member-%d", i);
        put_pod(cluster, text,
                (struct pod_facts){
                    .node_name = "", .gang = "train", .gang_size = MEMBERS, .domain = wish},
                1000 + i % n_kinds);
    }
}

static bool avoids(const void *context, const char *node)
{
    (void)context;
    (void)node;
    return false;
}

static void attempt(struct cluster *cluster)
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    enum gang_choice choice = GANG_NO_ROOM;
    size_t n = 0;
    const clock_t begin = clock();
    struct gang_plan plan = gang_plan_members(cluster, "ml/train", arena);
    do {
        struct cluster *fork = cluster_fork_with(cluster, PEERS_REPELLING);
        choice = gang_plan_choose(fork, &plan, avoids, NULL, arena);
        cluster_fork_free(fork);
        n++;
    } while (choice != GANG_CHOSEN && plan.has_more);
    printf("%.1f ms of processor time, %zu tries: %s\n",
           (double)(clock() - begin) * 1e3 / CLOCKS_PER_SEC, n,
           choice == GANG_CHOSEN ? "planned" : plan.lacks);
}

int main(int argc, char **argv)
{
    static char level[] = "example.com/rack";
    char *levels[] = {level};
    struct policy policy;
    if (argc < 3)
        return 2;
    policy_init(&policy);
    policy.gangs.mode = GANGS_PLAN;
    policy.topology_levels = levels;
    policy.n_topology_levels = 1;
    struct cluster *cluster = cluster_new(&policy);
    fill(cluster, (int)strtol(argv[1], NULL, 10), (int)strtol(argv[2], NULL, 10),
         argc > 3 ? argv[3] : NULL);
    attempt(cluster);
    attempt(cluster);
    cluster_free(cluster);
    policy.topology_levels = NULL;
    policy.n_topology_levels = 0;
    policy_fini(&policy);
    return 0;
}
