/*
 * replay_lend: two teams share the GPUs of the openb trace, half each. What is in use with quotas
 * that lend, and without?
 *
 *     replay_lend FOLDER VARIANT SEED
 *
 * Team a asks for 30 % of its half on every other day, and else for all of it. Team b always asks
 * for all of its half, and beyond that for as much again at a low priority. Pods are those of the
 * trace with GPUs. They arrive at random, run for six hours on average, and wait in order of
 * arrival, those of a high priority first. Decisions are those of src/decide; a pod that is evicted
 * for another begins anew. Prints a line of JSON for each kind of quota: two days of warm-up, eight
 * measured. No time of this machine is in it.
 */
#include "base/mem.h"
#include "decide/preempt.h"
#include "decide/quota.h"
#include "decide/rank.h"
#include "trace.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEP_S 600
#define STEPS_A_DAY (86400 / STEP_S)
#define WARM_UP_DAYS INT64_C(2)
#define DAYS 10
#define MEAN_S (6 * 3600.0)
#define HIGH 100
#define PODS_MAX 400000

enum stream { A, B, B_LOW, N_STREAMS };

static const struct {
    const char *namespace_;
    int64_t priority;
} STREAMS[N_STREAMS] = {{"a", HIGH}, {"b", HIGH}, {"b", 0}};

enum state { WAITS, RUNS, ENDED };

struct its {
    char uid[24];
    const struct trace_pod *pod;
    enum stream stream;
    enum state state;
    int64_t came_s, began_s, runs_s, ends_s;
};

struct town {
    struct cluster *cluster;
    const struct trace *trace;
    uint64_t random;
    struct its *pods;
    size_t n_pods;
    int64_t now_s;
    double gpu_steps[N_STREAMS], lost_gpu_s, waited_s[N_STREAMS];
    uint64_t n_started[N_STREAMS], n_evicted;
};

/* Strictly between 0 and 1 (splitmix64). */
static double draw(struct town *town)
{
    uint64_t z = (town->random += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return ((double)((z ^ (z >> 31)) >> 11) + 0.5) / 9007199254740992.0;
}

static struct pod_facts facts_of(const struct its *its, const char *node)
{
    return (struct pod_facts){.uid = its->uid,
                              .namespace_ = STREAMS[its->stream].namespace_,
                              .name = its->uid,
                              .node_name = node,
                              .nominated_node = "",
                              .priority_class = "",
                              .priority = STREAMS[its->stream].priority,
                              .created_s = its->came_s,
                              .started_s = its->began_s,
                              .shape = its->pod->shape};
}

static void show(struct town *town, const struct its *its, const char *node)
{
    const struct pod_facts facts = facts_of(its, node);
    cluster_upsert_pod(town->cluster, &facts);
}

static bool is_measured(const struct town *town)
{
    return town->now_s >= WARM_UP_DAYS * 86400;
}

static void start(struct town *town, struct its *its, const char *node)
{
    its->state = RUNS;
    its->began_s = town->now_s;
    its->ends_s = town->now_s + its->runs_s;
    show(town, its, node);
    if (!is_measured(town))
        return;
    town->n_started[its->stream]++;
    town->waited_s[its->stream] += (double)(town->now_s - its->came_s);
}

static void evict(struct town *town, const char *uid)
{
    struct its *its = &town->pods[strtoul(uid + strlen("pod-"), NULL, 10)];
    if (is_measured(town)) {
        town->n_evicted++;
        town->lost_gpu_s += (double)(its->pod->gpus * (town->now_s - its->began_s));
    }
    its->state = WAITS;
    show(town, its, "");
}

static const struct node *choose(const struct town *town, const struct fit_question *question,
                                 struct arena *arena)
{
    struct best *best =
        best_begin(town->cluster, question, 1, cluster_n_nodes(town->cluster), arena);
    size_t n = 0;
    for (const struct node *node = NULL; (node = cluster_next_node(town->cluster, node));) {
        if (fit_judge(node, question) == REASON_FITS)
            best_add(best, node, NULL, n++);
    }
    struct rank_place *const *found = best_end(best, &n);
    return n > 0 ? found[0]->node : NULL;
}

static bool place(struct town *town, struct its *its)
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    const struct pod *pod = cluster_find_pod(town->cluster, its->uid);
    const struct fit_question wanted = {
        .shape = pod->shape, .scope = FIT_ALL, .asker = asker_from_pod(pod)};
    const struct fit_question question =
        fit_question_of(town->cluster, pod->namespace_, &wanted, QUOTA_NO_CLAIMS, arena);
    gpu_demand_settle(town->cluster);
    const struct node *node = choose(town, &question, arena);
    if (!node && pod->priority == HIGH) {
        const struct eviction eviction = evict_for(town->cluster, town->cluster, &question, arena);
        const char **victims = ARENA_ARRAY(arena, const char *, eviction.n_victims);
        for (size_t i = 0; i < eviction.n_victims; i++)
            victims[i] = arena_strdup(arena, eviction.victims[i]->uid);
        for (size_t i = 0; i < eviction.n_victims; i++)
            evict(town, victims[i]);
        node = eviction.node;
    }
    if (node)
        start(town, its, node_name(node));
    return node;
}

/* Of equal pods of a stream, the first that does not fit stands for the others. */
static void place_all(struct town *town, enum stream stream)
{
    static const struct trace_pod *failed[4096];
    size_t n_failed = 0;
    for (size_t i = 0; i < town->n_pods; i++) {
        struct its *its = &town->pods[i];
        size_t k = 0;
        if (its->state != WAITS || its->stream != stream)
            continue;
        while (k < n_failed && (failed[k]->gpus != its->pod->gpus ||
                                strcmp(failed[k]->models, its->pod->models) != 0))
            k++;
        if (k == n_failed && !place(town, its) && n_failed < 4096)
            failed[n_failed++] = its->pod;
    }
}

/* The share of its half that the stream asks for now. */
static double load_of(const struct town *town, enum stream stream)
{
    const int64_t day = town->now_s / 86400;
    return stream == A && day % 2 == 0 ? 0.3 : 1;
}

static void come(struct town *town, enum stream stream, double gpus)
{
    double left = gpus * load_of(town, stream) * STEP_S / MEAN_S;
    while (town->n_pods < PODS_MAX) {
        const struct trace_pod *pod =
            &town->trace->pods[(size_t)(draw(town) * (double)town->trace->n_pods)];
        if (pod->gpus == 0)
            continue;
        if (draw(town) * (double)pod->gpus > left)
            return;
        struct its *its = &town->pods[town->n_pods];
        *its = (struct its){.pod = pod, .stream = stream, .came_s = town->now_s};
        its->runs_s = 1 + (int64_t)(-MEAN_S * log(draw(town)));
        (void)snprintf(its->uid, sizeof its->uid, "pod-%zu", town->n_pods++);
        show(town, its, "");
        left -= (double)pod->gpus;
    }
}

static void step(struct town *town)
{
    for (size_t i = 0; i < town->n_pods; i++) {
        struct its *its = &town->pods[i];
        if (its->state == RUNS && its->ends_s <= town->now_s) {
            its->state = ENDED;
            cluster_delete_pod(town->cluster, its->uid);
        }
    }
    for (enum stream stream = 0; stream < N_STREAMS; stream++)
        come(town, stream, (double)town->trace->n_gpus / 2);
    for (enum stream stream = 0; stream < N_STREAMS; stream++)
        place_all(town, stream);
    for (size_t i = 0; i < town->n_pods && is_measured(town); i++) {
        const struct its *its = &town->pods[i];
        town->gpu_steps[its->stream] += its->state == RUNS ? (double)its->pod->gpus : 0;
    }
    town->now_s += STEP_S;
}

static void report(const struct town *town, const char *kind)
{
    const int64_t n_steps = STEPS_A_DAY * (DAYS - WARM_UP_DAYS);
    const double all = (double)town->trace->n_gpus * (double)n_steps;
    double sum = 0;
    for (enum stream stream = 0; stream < N_STREAMS; stream++)
        sum += town->gpu_steps[stream];
    (void)printf(
        "{\"quotas\":\"%s\",\"inUse\":%.2f,\"a\":%.2f,\"b\":%.2f,\"bLow\":%.2f,"
        "\"lost\":%.2f,\"evicted\":%" PRIu64 ",\"meanWaitOfA\":%.0f,\"startsOfA\":%" PRIu64 "}\n",
        kind, 100 * sum / all, 100 * town->gpu_steps[A] / all, 100 * town->gpu_steps[B] / all,
        100 * town->gpu_steps[B_LOW] / all, 100 * town->lost_gpu_s / STEP_S / all, town->n_evicted,
        town->waited_s[A] / (double)town->n_started[A], town->n_started[A]);
}

static void run(const struct trace *trace, uint64_t seed, bool lends)
{
    static const char *const TEAMS[] = {"a", "b"};
    const int64_t half = trace->n_gpus / 2;
    const struct quota_limit limit = {.gpus = half,
                                      .borrow = {.is_set = lends, .gpus = lends ? half : 0}};
    struct policy policy;
    policy_init(&policy);
    for (size_t i = 0; i < 2; i++)
        (void)policy_add_quota(&policy,
                               &(struct quota){.name = TEAMS[i],
                                               .namespaces = &TEAMS[i],
                                               .n_namespaces = 1,
                                               .limits = &limit,
                                               .n_limits = 1},
                               NULL);
    struct town town = {.cluster = cluster_new(&policy),
                        .trace = trace,
                        .random = seed,
                        .pods = MEM_ARRAY(struct its, PODS_MAX)};
    for (size_t i = 0; i < trace->n_nodes; i++)
        cluster_upsert_node(town.cluster, &trace->nodes[i]);
    for (size_t i = 0; i < (size_t)DAYS * STEPS_A_DAY; i++)
        step(&town);
    report(&town, lends ? "lend" : "keep");
    cluster_free(town.cluster);
    free(town.pods);
    policy_fini(&policy);
}

int main(int argc, char **argv)
{
    struct trace trace;
    struct err err;
    if (argc != 4) {
        (void)fprintf(stderr, "usage: replay_lend FOLDER VARIANT SEED\n");
        return 2;
    }
    struct arena *arena = arena_new();
    if (trace_read(argv[1], argv[2], arena, &trace, &err) < 0) {
        (void)fprintf(stderr, "replay_lend: %s\n", err.text);
        return 1;
    }
    for (int i = 0; i < 2; i++)
        run(&trace, strtoull(argv[3], NULL, 10), i > 0);
    free(trace.nodes);
    free(trace.pods);
    arena_free(arena);
    return 0;
}
