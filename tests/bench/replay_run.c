/*
 * replay_run: sends the pods of a trace through the real decisions: fit, ranking as the 0..10 of
 * the wire, and kube-scheduler's arithmetic. tests/bench/replay builds and runs it, and explains
 * the figures.
 *
 *   replay_run FOLDER VARIANT POLICY WEIGHT SEED static|arrivals|online|groups|hole
 * [SPREAD|RULE|MODE|claims]
 *
 * POLICY "kube" and "kube-packing": no extender; kube-scheduler with its defaults, and configured
 * to pack. SPREAD: placement.replicaSpread in thousandths, with replicas of services among the pods
 * (replay_services.h); without it there are none. RULE, of groups (replay_groups.h): alone,
 * session, quota or plan. MODE, of hole: quarantine.mode. "claims": the GPUs are devices of DRA,
 * and the pods claim them; the allocator would give any that are free, as those of a node are
 * equal.
 *
 * Prints one line of JSON; for arrivals, one per pod. replay_static.c and replay_online.c implement
 * the kinds of run.
 */
#include "base/mem.h"
#include "decide/claim_rules.h"
#include "decide/fit.h"
#include "decide/rank.h"
#include "dra/devices.h"
#include "ledger/quarantine.h"
#include "replay_groups.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* splitmix64 (Steele, Lea, Flood 2014) */
static uint64_t next_random(uint64_t *random)
{
    uint64_t z = *random += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

double replay_random(uint64_t *random)
{
    return ((double)(next_random(random) >> 11) + 0.5) * 0x1.0p-53;
}

uint64_t replay_random_below(uint64_t *random, uint64_t n)
{
    return next_random(random) % n;
}

static int64_t used_percent(const struct node_resource *resource, int64_t more)
{
    return (resource->used + more) * 100 / resource->allocatable;
}

/* NodeResourcesFit with LeastAllocated over cpu and memory, the default. */
static int64_t least_allocated(const struct node_resource *cpu, const struct node_resource *memory,
                               const struct trace_pod *pod)
{
    const int64_t cpu_left = cpu->allocatable - cpu->used - pod->milli_cores;
    const int64_t memory_left = memory->allocatable - memory->used - pod->memory_bytes;
    return (cpu_left * 100 / cpu->allocatable + memory_left * 100 / memory->allocatable) / 2;
}

/* NodeResourcesFit with MostAllocated over cpu, memory and GPUs; GPUs count for pods that request
 * some. */
static int64_t most_allocated(const struct node_resource *cpu, const struct node_resource *memory,
                              const struct node_resource *gpus, const struct trace_pod *pod)
{
    const int64_t sum =
        used_percent(cpu, pod->milli_cores) + used_percent(memory, pod->memory_bytes);
    return pod->gpus > 0 ? (sum + used_percent(gpus, pod->gpus)) / 3 : sum / 2;
}

/* The default plugins of kube-scheduler that distinguish nodes here: NodeResourcesFit, and
 * NodeResourcesBalancedAllocation over cpu and memory, weight 1 each. */
static int64_t kube_score(const struct replay *replay, const struct node *node,
                          const struct trace_pod *pod)
{
    const struct node_resource *cpu = node_find_resource(node, replay->cpu);
    const struct node_resource *memory = node_find_resource(node, replay->memory);
    const int64_t fit =
        replay->most_allocated
            ? most_allocated(cpu, memory, node_find_resource(node, replay->gpus), pod)
            : least_allocated(cpu, memory, pod);
    const double cpu_share = (double)(cpu->used + pod->milli_cores) / (double)cpu->allocatable;
    const double memory_share =
        (double)(memory->used + pod->memory_bytes) / (double)memory->allocatable;
    return fit + (int64_t)((1 - fabs(cpu_share - memory_share) / 2) * 100);
}

/* ---- GPUs as devices ---- */

#define DRIVER "gpu.nvidia.com"
#define CLAIMED_MAX 64

struct replay_claims {
    struct arena *arena;
    struct claim_rules *rules;                 /* the ranking is by claims */
    struct claim_takes takes[CLAIMED_MAX + 1]; /* by the number of GPUs */
};

static void put_slice(struct replay *replay, const struct node_facts *node, int64_t n)
{
    struct arena *arena = replay->claims->arena;
    struct device_facts *devices = ARENA_ARRAY(arena, struct device_facts, (size_t)n);
    for (int64_t i = 0; i < n; i++)
        devices[i] = (struct device_facts){.name = arena_printf(arena, "gpu-%" PRId64, i),
                                           .model = node->labels[0].value,
                                           .profile = "",
                                           .physical = "",
                                           .node_name = ""};
    cluster_upsert_slice(replay->cluster, &(struct slice_facts){.name = node->name,
                                                                .driver = DRIVER,
                                                                .pool = node->name,
                                                                .generation = 1,
                                                                .n_slices = 1,
                                                                .node_name = node->name,
                                                                .devices = devices,
                                                                .n_devices = (size_t)n});
}

/* Takes the GPUs out of the amounts. */
static int64_t take_gpus(struct amount *amounts, size_t *n)
{
    for (size_t i = 0; i < *n; i++) {
        const int64_t gpus = amounts[i].amount;
        if (strcmp(amounts[i].resource, "nvidia.com/gpu") != 0)
            continue;
        memmove(&amounts[i], &amounts[i + 1], (--*n - i) * sizeof *amounts);
        return gpus;
    }
    return 0;
}

static void fill_devices(struct replay *replay)
{
    struct trace *trace = &replay->trace;
    static const struct allocate_class ANY = {.name = "any"};
    static const struct allocate_want WANT = {
        .name = "", .class_name = "any", .device_class = &ANY};
    static const struct allocate_request REQUEST = {.name = "gpus", .wants = &WANT, .n_wants = 1};
    static struct pod_claim claim = {.asked = {.requests = &REQUEST, .n_requests = 1}};
    static struct pod_claim *const NAMED[] = {&claim};
    static uint64_t steps;
    const struct claims_of_pod pod = {NAMED, 1, "", 0, true};
    replay->claims->rules = claim_rules_of(&pod, NULL, &steps, replay->claims->arena);
    cluster_upsert_device_class(replay->cluster,
                                &(struct device_class_facts){DRIVER, .resource = "nvidia.com/gpu"});
    for (size_t i = 0; i < trace->n_nodes; i++) {
        struct node_facts *node = &trace->nodes[i];
        const int64_t gpus =
            take_gpus((struct amount *)(uintptr_t)node->capacity, &node->n_capacity);
        cluster_upsert_node(replay->cluster, node);
        put_slice(replay, node, gpus);
    }
    for (size_t i = 0; i < trace->n_pods; i++)
        (void)take_gpus((struct amount *)(uintptr_t)trace->pods[i].shape.demand,
                        &trace->pods[i].shape.n_demand);
    for (size_t n = 1; n <= CLAIMED_MAX; n++)
        replay->claims->takes[n] = (struct claim_takes){
            .items = {{.resource = "nvidia.com/gpu", .gpus = (int64_t)n}}, .n = 1};
}

static int64_t free_devices(const struct node *node)
{
    size_t n = 0;
    const struct node_device_group *groups = node_device_groups(node, &n);
    return n > 0 ? groups[0].free : 0;
}

/* The first that are free, as the allocator gives them. */
static void allocate(struct replay *replay, const struct pod_facts *facts, int64_t gpus)
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    struct claim_result results[CLAIMED_MAX];
    const char *const holders[] = {facts->uid};
    size_t n = 0;
    for (int64_t i = 0; i < CLAIMED_MAX && (int64_t)n < gpus; i++) {
        const char *name = arena_printf(arena, "gpu-%" PRId64, i);
        size_t room = SLICE_CONSUMED_BYTES_MAX;
        if (!devices_status(cluster_devices(replay->cluster), DRIVER, facts->node_name, name, arena,
                            &room)
                 .is_allocated)
            results[n++] = (struct claim_result){DRIVER, .pool = facts->node_name, .device = name};
    }
    cluster_upsert_resource_claim(replay->cluster,
                                  &(struct claim_facts){.namespace_ = facts->namespace_,
                                                        .name = facts->uid,
                                                        .uid = facts->uid,
                                                        .n_devices = gpus,
                                                        .is_allocated = true,
                                                        .results = results,
                                                        .n_results = n,
                                                        .holders = holders,
                                                        .n_holders = 1,
                                                        .n_all_holders = 1,
                                                        .extended_for_uid = ""});
}

int64_t replay_free_gpus(const struct replay *replay, const struct node *node)
{
    return replay->claims ? free_devices(node)
                          : node_resource_free(node_find_resource(node, replay->gpus));
}

/* Whether the pod fits. Checks free GPUs first, because most nodes are full. */
static bool fits(const struct replay *replay, const struct node *node,
                 const struct fit_question *question, const struct trace_pod *pod)
{
    return replay_free_gpus(replay, node) >= pod->gpus && fit_judge(node, question) == REASON_FITS;
}

/* The node that kube-scheduler selects, ties at random; NULL: none. */
static const struct node *choose(struct replay *replay, const struct pod_facts *facts,
                                 const struct trace_pod *pod)
{
    struct fit_question question = {.shape = cluster_find_pod(replay->cluster, facts->uid)->shape,
                                    .replica_of = facts->replica_of,
                                    .scope = FIT_ALL};
    const struct claim_takes *takes =
        replay->claims && pod->gpus > 0 ? &replay->claims->takes[pod->gpus] : NULL;
    size_t n = 0;
    for (const struct node *node = cluster_next_node(replay->cluster, NULL); node;
         node = cluster_next_node(replay->cluster, node)) {
        if (fits(replay, node, &question, pod))
            replay->ranked[n++] = (struct ranked_node){.node = node, .takes = takes};
    }
    question.devices = takes ? replay->claims->rules : NULL;
    if (replay->weight > 0) {
        gpu_demand_settle(replay->cluster);
        rank_nodes(replay->cluster, &question, replay->ranked, n);
    }
    const struct node *best = NULL;
    int64_t best_score = -1;
    uint64_t n_equal = 0;
    for (size_t i = 0; i < n; i++) {
        const struct ranked_node *ranked = &replay->ranked[i];
        const int64_t score =
            kube_score(replay, ranked->node, pod) + ranked->score * replay->weight * 10;
        if (score < best_score)
            continue;
        n_equal = score > best_score ? 1 : n_equal + 1;
        best_score = score;
        if (replay_random_below(&replay->ties, n_equal) == 0)
            best = ranked->node;
    }
    return best;
}

static void write_uid(uint64_t id, char *ret_uid)
{
    (void)snprintf(ret_uid, REPLAY_UID_MAX, "pod-%" PRIu64, id);
}

/* Storage for the facts' UIDs. */
struct uids {
    char pod[REPLAY_UID_MAX];
    char service[REPLAY_UID_MAX];
    char namespace_[REPLAY_UID_MAX];
    char controller[REPLAY_UID_MAX];
    char group[REPLAY_UID_MAX];
};

static void write_namespace(uint64_t id, char *ret_name)
{
    (void)snprintf(ret_name, REPLAY_UID_MAX, "team-%" PRIu64, id % REPLAY_TENANTS);
}

static struct pod_facts facts_of(const struct coming *coming, struct uids *ret_uids)
{
    write_uid(coming->id, ret_uids->pod);
    (void)snprintf(ret_uids->service, REPLAY_UID_MAX, "service-%zu", coming->service);
    write_namespace(coming->id, ret_uids->namespace_);
    (void)snprintf(ret_uids->controller, REPLAY_UID_MAX, "Job/%" PRIu64, coming->id);
    const struct group *group = coming->group;
    if (group) {
        (void)snprintf(ret_uids->namespace_, REPLAY_UID_MAX, "team-%" PRIu64,
                       group->id % REPLAY_TENANTS);
        (void)snprintf(ret_uids->group, REPLAY_UID_MAX, "group-%" PRIu64, group->id);
    }
    return (struct pod_facts){.uid = ret_uids->pod,
                              .namespace_ = ret_uids->namespace_,
                              .controller = ret_uids->controller,
                              .name = ret_uids->pod,
                              .node_name = "",
                              .nominated_node = "",
                              .priority_class = "",
                              .replica_of = coming->service > 0 ? ret_uids->service : NULL,
                              .gang = group ? ret_uids->group : NULL,
                              .gang_size = group ? (int64_t)group->size : 0,
                              .shape = coming->pod->shape};
}

struct coming replay_next(struct replay *replay)
{
    return services_next(&replay->services, &replay->trace, &replay->arrivals);
}

void replay_put(struct replay *replay, const struct coming *coming)
{
    struct uids uids;
    const struct pod_facts facts = facts_of(coming, &uids);
    cluster_upsert_pod(replay->cluster, &facts);
}

const struct node *replay_arrive(struct replay *replay, const struct coming *coming)
{
    struct uids uids;
    const struct pod_facts facts = facts_of(coming, &uids);
    cluster_upsert_pod(replay->cluster, &facts);
    const struct node *node = choose(replay, &facts, coming->pod);
    if (node)
        replay_bind(replay, coming, node);
    return node;
}

void replay_bind(struct replay *replay, const struct coming *coming, const struct node *node)
{
    struct uids uids;
    struct pod_facts facts = facts_of(coming, &uids);
    facts.node_name = node_name(node);
    facts.unstarted = replay->hole_is_active && coming->pod->gpus > 0 &&
                      strcmp(node_name(node), replay->hole) == 0;
    cluster_upsert_pod(replay->cluster, &facts);
    if (replay->claims && coming->pod->gpus > 0)
        allocate(replay, &facts, coming->pod->gpus);
    services_place(&replay->services, coming, node);
}

void replay_reject(struct replay *replay, const struct coming *coming)
{
    char uid[REPLAY_UID_MAX];
    write_uid(coming->id, uid);
    cluster_delete_pod(replay->cluster, uid);
    quarantine_see_failed(
        replay->cluster,
        &(struct failed_pod_facts){.uid = uid, .refusal = REFUSAL_DEVICES, .is_bound_by_us = true});
}

void replay_leave(struct replay *replay, uint64_t id)
{
    char uid[REPLAY_UID_MAX];
    write_uid(id, uid);
    cluster_delete_pod(replay->cluster, uid);
    if (!replay->claims)
        return;
    char namespace_[REPLAY_UID_MAX];
    write_namespace(id, namespace_);
    cluster_delete_resource_claim(replay->cluster, namespace_, uid);
}

const struct pod_shape *replay_shape(const struct replay *replay, uint64_t id)
{
    char uid[REPLAY_UID_MAX];
    write_uid(id, uid);
    return cluster_find_pod(replay->cluster, uid)->shape;
}

static void fill(struct replay *replay)
{
    replay->cluster = cluster_new(&replay->policy);
    quarantine_begin(replay->cluster);
    for (size_t i = 0; i < replay->trace.n_nodes; i++)
        cluster_upsert_node(replay->cluster, &replay->trace.nodes[i]);
    replay->cpu = cluster_find_resource(replay->cluster, "cpu");
    replay->memory = cluster_find_resource(replay->cluster, "memory");
    replay->gpus = cluster_find_resource(replay->cluster, "nvidia.com/gpu");
    replay->ranked = MEM_ARRAY(struct ranked_node, replay->trace.n_nodes);
}

/* Drops pods of the trace that exceed every node they may use: they show nothing about a policy. */
static void forget_impossible_pods(struct replay *replay)
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    size_t n = 0;
    for (size_t i = 0; i < replay->trace.n_pods; i++) {
        const struct trace_pod *pod = &replay->trace.pods[i];
        const struct fit_question question = {
            .shape = cluster_resolve(replay->cluster, &pod->shape, arena), .scope = FIT_ALL};
        bool fits = false;
        for (const struct node *node = cluster_next_node(replay->cluster, NULL); node && !fits;
             node = cluster_next_node(replay->cluster, node))
            fits = fit_judge(node, &question) == REASON_FITS;
        if (fits)
            replay->trace.pods[n++] = *pod;
    }
    replay->trace.n_pods = n;
}

/* From here on the GPUs are devices. */
static void claim_all(struct replay *replay, struct arena *arena)
{
    replay->claims = ARENA_NEW(arena, struct replay_claims);
    replay->claims->arena = arena;
    cluster_free(replay->cluster);
    replay->cluster = cluster_new(&replay->policy);
    fill_devices(replay);
    replay->cpu = cluster_find_resource(replay->cluster, "cpu");
    replay->memory = cluster_find_resource(replay->cluster, "memory");
}

static int set_policy(struct replay *replay, const char *name, int64_t weight)
{
    replay->most_allocated = strcmp(name, "kube-packing") == 0;
    if (replay->most_allocated || strcmp(name, "kube") == 0)
        return 0;
    replay->weight = weight;
    for (int i = 0; i < N_PLACEMENT_POLICIES; i++) {
        replay->policy.placement = (enum placement_policy)i;
        if (strcmp(name, placement_policy_name(replay->policy.placement)) == 0)
            return 0;
    }
    return -EINVAL;
}

static enum group_rule rule_of(const char *name)
{
    static const char *const NAMES[N_GROUP_RULES] = {"", "alone", "session", "quota", "plan"};
    enum group_rule rule = GROUPS_PLAN;
    while (rule > GROUPS_NONE && strcmp(name, NAMES[rule]) != 0)
        rule--;
    return rule;
}

typedef void replay_kind(struct replay *replay);

/* NULL: unknown kind. */
static replay_kind *kind_of(const char *name)
{
    const struct {
        const char *name;
        replay_kind *run;
    } kinds[] = {{"static", replay_static},
                 {"arrivals", replay_arrivals},
                 {"online", replay_online},
                 {"groups", replay_online},
                 {"hole", replay_hole}};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strcmp(name, kinds[i].name) == 0)
            return kinds[i].run;
    }
    return NULL;
}

/* The last argument. Returns false if that kind of run has none of the name. */
static bool set_option(struct replay *replay, const char *kind, const char *option)
{
    if (strcmp(option, "claims") == 0)
        return (strcmp(kind, "static") == 0 || strcmp(kind, "online") == 0) &&
               !replay->most_allocated;
    if (strcmp(kind, "hole") == 0) {
        replay->policy.quarantine.mode =
            strcmp(option, "avoid") == 0 ? AVOIDANCE_AVOID : AVOIDANCE_OBSERVE;
    } else if (strcmp(kind, "groups") == 0) {
        replay->groups = rule_of(option);
        replay->policy.gangs.mode = GANGS_PLAN;
    } else {
        replay->services.wanted = true;
        replay->policy.replica_spread_milli = strtoll(option, NULL, 10);
    }
    return true;
}

int main(int argc, char **argv)
{
    if (argc < 7 || argc > 8 || !kind_of(argv[6])) {
        (void)fprintf(stderr, "usage: replay_run FOLDER VARIANT POLICY WEIGHT SEED "
                              "static|arrivals|online|groups|hole [SPREAD|RULE|MODE|claims]\n");
        return 2;
    }
    struct replay replay = {.arrivals = strtoull(argv[5], NULL, 10)};
    replay.ties = ~replay.arrivals;
    struct arena *arena = arena_new();
    struct err err;
    policy_init(&replay.policy);
    if (set_policy(&replay, argv[3], strtoll(argv[4], NULL, 10)) < 0) {
        (void)fprintf(stderr, "replay_run: no policy %s\n", argv[3]);
        return 2;
    }
    const bool by_claims = argc == 8 && strcmp(argv[7], "claims") == 0;
    if (argc == 8 && !set_option(&replay, argv[6], argv[7]))
        return 2;
    if (trace_read(argv[1], argv[2], arena, &replay.trace, &err) < 0) {
        (void)fprintf(stderr, "replay_run: %s\n", err.text);
        return 1;
    }
    fill(&replay);
    forget_impossible_pods(&replay);
    if (by_claims)
        claim_all(&replay, arena);
    kind_of(argv[6])(&replay);
    cluster_free(replay.cluster);
    free(replay.ranked);
    services_fini(&replay.services);
    free(replay.trace.nodes);
    free(replay.trace.pods);
    arena_free(arena);
    policy_fini(&replay.policy);
    return 0;
}
