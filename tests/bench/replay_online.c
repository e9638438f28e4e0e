/* replay_online: see replay.h. */
#include "base/mem.h"
#include "ledger/quarantine.h"
#include "replay_groups.h"
#include "replay_queue.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DAY_S 86400.0
#define WARM_UP_S (6 * DAY_S)
#define END_S (16 * DAY_S)
#define DURATION_MAX_S (3 * DAY_S)
#define LOAD 0.95          /* average share of the cluster's GPUs */
#define LOAD_OF_GROUPS 0.9 /* with groups */
#define GPUS_MAX 64

/* A pod that ends, is rejected by its kubelet, or comes again (node NULL); or a time when something
 * happens to a group; or, without a pod, when groups are planned. */
struct running {
    double ends_s;
    double duration_s;
    struct coming coming;
    const struct node *node;
    bool is_rejected;
    struct group *group;
};

/* Waits of pods that arrived in the measured time, in the order in which they ended. */
struct waits {
    double *items_s;
    size_t n, room;
    double sum_s;
};

struct online {
    struct replay *replay;
    struct running *running; /* a heap, earliest end on top */
    size_t n_running, running_room;
    struct replay_queue queue;
    double now_s;
    double gpu_s; /* GPU seconds used in the measured time */
    int64_t gpus_used;
    struct waits waits, waits_whole; /* of GPU pods; of pods with 8 GPUs */
    struct waits waits_groups;
    struct group *groups; /* that do not run yet, in order of arrival */
    struct group *all;
    struct planner *planner;
    bool ticks;
    uint64_t n_groups, room; /* a number that grows whenever a pod leaves */
    int64_t admitted_gpus;
    int64_t gpus_kept; /* by groups that do not run yet */
    double kept_gpu_s; /* of them in the measured time */
    uint64_t n_waited;
    size_t n_warm_up_services;
    double begin_s, end_s; /* of the measured time */
    uint64_t n_rejected, n_lifted;
};

/* The heap. */

static void push_running(struct online *online, struct running item)
{
    if (online->n_running == online->running_room) {
        online->running_room = 2 * online->running_room + 1024;
        online->running = mem_grow(online->running, online->running_room, sizeof item);
    }
    size_t at = online->n_running++;
    for (size_t up = (at - 1) / 2; at > 0 && online->running[up].ends_s > item.ends_s;
         up = (at - 1) / 2) {
        online->running[at] = online->running[up];
        at = up;
    }
    online->running[at] = item;
}

static struct running pop_running(struct online *online)
{
    const struct running top = online->running[0];
    const struct running item = online->running[--online->n_running];
    size_t at = 0;
    for (size_t down = 1; down < online->n_running; down = 2 * at + 1) {
        if (down + 1 < online->n_running &&
            online->running[down + 1].ends_s < online->running[down].ends_s)
            down++;
        if (online->running[down].ends_s >= item.ends_s)
            break;
        online->running[at] = online->running[down];
        at = down;
    }
    if (online->n_running > 0)
        online->running[at] = item;
    return top;
}

/* A pod without a duration gets that of a random pod with as many GPUs; a day if the trace has
 * none. */

struct durations {
    double *items[GPUS_MAX];
    size_t n[GPUS_MAX];
};

static struct durations known_durations(const struct trace *trace)
{
    struct durations durations = {.n = {0}};
    for (size_t i = 0; i < trace->n_pods; i++) {
        const struct trace_pod *pod = &trace->pods[i];
        if (pod->duration_s < 0)
            continue;
        size_t *n = &durations.n[pod->gpus];
        durations.items[pod->gpus] = mem_grow(durations.items[pod->gpus], *n + 1, sizeof(double));
        durations.items[pod->gpus][(*n)++] =
            pod->duration_s < DURATION_MAX_S ? pod->duration_s : DURATION_MAX_S;
    }
    return durations;
}

static double duration_of(struct replay *replay, const struct durations *durations,
                          const struct trace_pod *pod)
{
    const size_t n = durations->n[pod->gpus];
    if (pod->duration_s >= 0)
        return pod->duration_s < DURATION_MAX_S ? pod->duration_s : DURATION_MAX_S;
    return n > 0 ? durations->items[pod->gpus][replay_random_below(&replay->arrivals, n)] : DAY_S;
}

static double mean_gpu_s(const struct trace *trace, const struct durations *durations,
                         bool has_groups)
{
    double sum = 0;
    for (size_t i = 0; i < trace->n_pods; i++) {
        const struct trace_pod *pod = &trace->pods[i];
        double duration_s = pod->duration_s < DURATION_MAX_S ? pod->duration_s : DURATION_MAX_S;
        if (pod->duration_s < 0) {
            const size_t n = durations->n[pod->gpus];
            duration_s = n > 0 ? 0 : DAY_S;
            for (size_t k = 0; k < n; k++)
                duration_s += durations->items[pod->gpus][k] / (double)n;
        }
        const bool may_be_group = has_groups && pod->gpus == GROUP_GPUS;
        const double n_pods = may_be_group ? 1 + GROUP_SHARE * (GROUP_PODS_MEAN - 1) : 1;
        sum += n_pods * (double)pod->gpus * duration_s;
    }
    return sum / (double)trace->n_pods;
}

/* Events. */

#define HOUR_S 3600.0
#define HOLE_S (2 * HOUR_S)
#define REJECTED_AFTER_S 2.0
#define COMES_AGAIN_S 10.0

static void pass(struct online *online, double to_s)
{
    struct replay *replay = online->replay;
    const double from_s = online->now_s > online->begin_s ? online->now_s : online->begin_s;
    if (to_s > from_s)
        online->gpu_s += (to_s - from_s) * (double)online->gpus_used;
    if (to_s > from_s)
        online->kept_gpu_s += (to_s - from_s) * (double)online->gpus_kept;
    online->now_s = to_s;
    replay->hole_is_active =
        replay->hole && to_s >= online->begin_s && to_s < online->begin_s + HOLE_S;
    cluster_set_now(replay->cluster, (int64_t)(to_s * 1000));
    (void)quarantine_tick(replay->cluster);
}

static bool rejects(const struct replay *replay, const struct coming *coming,
                    const struct node *node)
{
    return replay->hole_is_active && coming->pod->gpus > 0 &&
           strcmp(node_name(node), replay->hole) == 0;
}

static void add_wait(struct waits *waits, double waited_s)
{
    if (waits->n == waits->room) {
        waits->room = 2 * waits->room + 1024;
        waits->items_s = mem_grow(waits->items_s, waits->room, sizeof(double));
    }
    waits->items_s[waits->n++] = waited_s;
    waits->sum_s += waited_s;
}

static void count_group_wait(struct online *online, const struct group *group, double until_s)
{
    const double waited_s = until_s - group->came_s;
    if (group->came_s < online->begin_s)
        return;
    add_wait(group->size > 1 ? &online->waits_groups : &online->waits, waited_s);
    online->n_waited += group->size == 1 && waited_s > 0;
    if (group->size == 1 && group->pod->gpus >= 8)
        add_wait(&online->waits_whole, waited_s);
}

/* All of its pods are placed. */
static void begin_group(struct online *online, struct group *group)
{
    const int64_t gpus = (int64_t)group->size * group->pod->gpus;
    struct group **at = &online->groups;
    while (*at && *at != group)
        at = &(*at)->next;
    *at = group->next;
    group->runs = true;
    group->ends_s = online->now_s + group->duration_s;
    online->gpus_kept -= gpus;
    online->gpus_used += gpus;
    count_group_wait(online, group, online->now_s);
    push_running(
        online,
        (struct running){.ends_s = group->ends_s, .coming = {.pod = group->pod}, .group = group});
}

static void start(struct online *online, const struct waiting *pod, const struct node *node)
{
    struct group *group = pod->coming.group;
    if (group) {
        group->nodes[pod->coming.id % GROUP_PODS_MAX] = node;
        online->gpus_kept += pod->coming.pod->gpus;
        if (++group->n_placed == group->size)
            begin_group(online, group);
        return;
    }
    const bool is_rejected = rejects(online->replay, &pod->coming, node);
    const double lasts_s = is_rejected ? REJECTED_AFTER_S : pod->duration_s;
    push_running(online, (struct running){.ends_s = online->now_s + lasts_s,
                                          .duration_s = pod->duration_s,
                                          .coming = pod->coming,
                                          .node = node,
                                          .is_rejected = is_rejected});
    online->gpus_used += pod->coming.pod->gpus;
}

static void count_wait(struct online *online, const struct waiting *pod, double until_s)
{
    if (pod->since_s < online->begin_s || pod->coming.pod->gpus == 0 || pod->coming.group)
        return;
    const double waited_s = until_s - pod->since_s;
    add_wait(&online->waits, waited_s);
    online->n_waited += waited_s > 0;
    if (pod->coming.pod->gpus >= 8)
        add_wait(&online->waits_whole, waited_s);
}

/* Tries waiting pods on the node that became freer, longest wait first. */
static void take_waiting(struct online *online, const struct node *node)
{
    const struct replay *replay = online->replay;
    for (struct waiting pod;
         replay_queue_take(&online->queue, node, replay_free_gpus(replay, node), &pod);) {
        replay_bind(online->replay, &pod.coming, node);
        count_wait(online, &pod, online->now_s);
        start(online, &pod, node);
    }
}

static void come(struct online *online, const struct waiting *pod)
{
    const struct node *node = replay_arrive(online->replay, &pod->coming);
    if (!node) {
        replay_queue_add(&online->queue, pod, replay_shape(online->replay, pod->coming.id));
        return;
    }
    count_wait(online, pod, online->now_s);
    start(online, pod, node);
}

/* Groups. */

#define ADMITTED_S 300.0 /* Kueue's waitForPodsReady.timeout, by default */
#define REQUEUE_S 60.0   /* its requeuingStrategy: doubles */
#define REQUEUE_MOST_S 3600.0
#define TICK_S 1.0

static void place_session(struct online *online, struct group *group)
{
    if (!group_place_all(online->replay, group))
        return;
    online->gpus_kept += (int64_t)group->size * group->pod->gpus;
    begin_group(online, group);
}

static void wake_group(struct online *online, struct group *group, double at_s)
{
    push_running(online,
                 (struct running){.ends_s = at_s, .coming = {.pod = group->pod}, .group = group});
}

static void admit(struct online *online, struct group *group)
{
    const int64_t gpus = (int64_t)group->size * group->pod->gpus;
    if (group->is_admitted || group->not_before_s > online->now_s ||
        online->admitted_gpus + gpus > online->replay->trace.n_gpus)
        return;
    online->admitted_gpus += gpus;
    group->is_admitted = true;
    group->check_s = online->now_s + ADMITTED_S;
    wake_group(online, group, group->check_s);
    for (size_t i = 0; i < group->size; i++) {
        const struct waiting pod = {online->now_s, group->duration_s, group_pod(group, i)};
        come(online, &pod);
    }
}

static void tick_later(struct online *online)
{
    if (!online->ticks)
        push_running(online, (struct running){.ends_s = floor(online->now_s) + TICK_S});
    online->ticks = true;
}

/* Groups that wait, after a pod has left. */
static void try_groups(struct online *online)
{
    struct group *next = NULL;
    const size_t n_free = online->groups ? group_n_free(online->replay) : 0;
    online->room++;
    for (struct group *group = online->groups; group; group = next) {
        next = group->next;
        if (online->replay->groups == GROUPS_SESSION && group->size <= n_free)
            place_session(online, group);
        else if (online->replay->groups == GROUPS_QUOTA)
            admit(online, group);
    }
    if (online->groups && online->replay->groups == GROUPS_PLAN)
        tick_later(online);
}

static void come_group(struct online *online, struct group *group)
{
    struct group **at = &online->groups;
    while (*at)
        at = &(*at)->next;
    *at = group;
    (void)snprintf(group->key, sizeof group->key, "team-%" PRIu64 "/group-%" PRIu64,
                   group->id % REPLAY_TENANTS, group->id);
    for (size_t i = 0; i < group->size && online->replay->groups == GROUPS_PLAN; i++) {
        const struct coming pod = group_pod(group, i);
        replay_put(online->replay, &pod);
    }
    for (size_t i = 0; i < group->size && online->replay->groups == GROUPS_ALONE; i++) {
        const struct waiting pod = {online->now_s, group->duration_s, group_pod(group, i)};
        come(online, &pod);
    }
    if (online->replay->groups == GROUPS_SESSION)
        place_session(online, group);
    else if (online->replay->groups == GROUPS_QUOTA)
        admit(online, group);
    else if (online->replay->groups == GROUPS_PLAN)
        tick_later(online);
}

static void tick(struct online *online)
{
    online->ticks = false;
    const bool goes_on =
        planner_tick(online->planner, online->replay, online->groups, online->room, online->now_s);
    for (struct group *group = online->groups; group; group = group->next) {
        if (!group->is_planned || group->is_admitted)
            continue;
        group->is_admitted = true;
        online->gpus_kept += (int64_t)group->size * group->pod->gpus;
        wake_group(online, group, group->starts_s);
    }
    if (goes_on)
        tick_later(online);
}

/* All of its pods go. */
static void leave_nodes(struct online *online, struct group *group)
{
    const struct node *nodes[GROUP_PODS_MAX];
    memcpy(nodes, group->nodes, sizeof nodes);
    memset(group->nodes, 0, sizeof group->nodes);
    group_leave(online->replay, group);
    if (online->replay->groups == GROUPS_QUOTA)
        online->admitted_gpus -= (int64_t)group->size * group->pod->gpus;
    if (online->replay->groups == GROUPS_SESSION)
        try_groups(online);
    for (size_t i = 0; i < group->size; i++) {
        if (nodes[i])
            take_waiting(online, nodes[i]);
    }
}

static void evict(struct online *online, struct group *group)
{
    double pause_s = REQUEUE_S;
    for (unsigned i = 0; i < group->n_evictions && pause_s < REQUEUE_MOST_S; i++)
        pause_s *= 2;
    group->n_evictions++;
    group->is_admitted = false;
    group->not_before_s = online->now_s + (pause_s < REQUEUE_MOST_S ? pause_s : REQUEUE_MOST_S);
    online->gpus_kept -= (int64_t)group->n_placed * group->pod->gpus;
    replay_queue_remove(&online->queue, group);
    leave_nodes(online, group);
    wake_group(online, group, group->not_before_s);
}

static void visit_group(struct online *online, struct group *group)
{
    if (group->is_over || (group->runs && online->now_s < group->ends_s))
        return;
    if (group->runs) {
        group->is_over = true;
        online->gpus_used -= (int64_t)group->size * group->pod->gpus;
        leave_nodes(online, group);
        try_groups(online);
    } else if (online->replay->groups == GROUPS_PLAN) {
        begin_group(online, group);
    } else if (group->is_admitted && group->check_s <= online->now_s) {
        evict(online, group);
        try_groups(online);
    } else {
        admit(online, group);
    }
}

/* 0: it is no group. */
static size_t size_of(struct replay *replay, const struct trace_pod *pod)
{
    const size_t size = replay->groups == GROUPS_NONE ? 0 : group_draw(pod, &replay->arrivals);
    return size == 0 && replay->groups == GROUPS_QUOTA && pod->gpus > 0 ? 1 : size;
}

static void reject(struct online *online, struct running gone)
{
    replay_reject(online->replay, &gone.coming);
    online->n_rejected++;
    gone.node = NULL;
    gone.is_rejected = false;
    gone.ends_s += COMES_AGAIN_S;
    push_running(online, gone);
}

static void depart(struct online *online)
{
    const struct running gone = pop_running(online);
    const struct waiting again = {gone.ends_s, gone.duration_s, gone.coming};
    const struct sick_nodes *sick = quarantine_nodes(online->replay->cluster);
    pass(online, gone.ends_s);
    if (gone.group) {
        visit_group(online, gone.group);
    } else if (!gone.coming.pod) {
        tick(online);
    } else if (gone.node) {
        if (gone.is_rejected)
            reject(online, gone);
        else
            replay_leave(online->replay, gone.coming.id);
        online->gpus_used -= gone.coming.pod->gpus;
        if (online->replay->groups == GROUPS_SESSION)
            try_groups(online);
        take_waiting(online, gone.node);
        try_groups(online);
    } else {
        come(online, &again);
    }
    if (!online->replay->hole)
        return;
    if (sick_nodes_n_lifted(sick) != online->n_lifted)
        take_waiting(online, cluster_find_node(online->replay->cluster, online->replay->hole));
    online->n_lifted = sick_nodes_n_lifted(sick);
}

static int compare_waits(const void *a, const void *b)
{
    const double *x = a;
    const double *y = b;
    return (*x > *y) - (*x < *y);
}

static double mean_s(const struct waits *waits)
{
    return waits->n > 0 ? waits->sum_s / (double)waits->n : 0;
}

static double p99_s(struct waits *waits)
{
    if (waits->n == 0)
        return 0;
    qsort(waits->items_s, waits->n, sizeof(double), compare_waits);
    return waits->items_s[waits->n * 99 / 100];
}

/* Pods that still wait have waited until now. */
static int64_t end_waits(struct online *online)
{
    int64_t pending_gpus = 0;
    for (size_t i = 0; i < online->queue.n_lines; i++) {
        const struct replay_line *line = &online->queue.lines[i];
        for (size_t k = line->first; k < line->end; k++) {
            count_wait(online, &line->pods[k], online->end_s);
            pending_gpus += line->pods[k].coming.pod->gpus;
        }
    }
    for (const struct group *group = online->groups; group; group = group->next)
        count_group_wait(online, group, online->end_s);
    return pending_gpus;
}

static void print_groups(struct online *online)
{
    size_t n_waiting = 0;
    for (const struct group *group = online->groups; group; group = group->next)
        n_waiting += group->size > 1;
    (void)printf("\"groups\":%zu,\"groupsWait\":%.0f,\"groupsP99\":%.0f,\"groupsPending\":%zu,"
                 "\"kept\":%.3f,",
                 online->waits_groups.n, mean_s(&online->waits_groups),
                 p99_s(&online->waits_groups), n_waiting,
                 100 * online->kept_gpu_s / (online->end_s - online->begin_s) /
                     (double)online->replay->trace.n_gpus);
}

static void report(struct online *online)
{
    const int64_t pending_gpus = end_waits(online);
    const struct service_counts services =
        services_count(&online->replay->services, online->n_warm_up_services);
    (void)printf("{\"utilised\":%.3f,\"meanWait\":%.1f,\"p99Wait\":%.0f,\"meanWaitOf8\":%.1f,"
                 "\"waited\":%.3f,\"pendingGpus\":%" PRId64 ",\"pods\":%zu,\"rejected\":%" PRIu64
                 ",",
                 100 * online->gpu_s / (online->end_s - online->begin_s) /
                     (double)online->replay->trace.n_gpus,
                 mean_s(&online->waits), p99_s(&online->waits), mean_s(&online->waits_whole),
                 100 * (double)online->n_waited / (double)online->waits.n, pending_gpus,
                 online->waits.n, online->n_rejected);
    if (online->replay->groups != GROUPS_NONE)
        print_groups(online);
    services_print(&services);
    (void)puts("}");
}

/* Fewer GPUs are used, and not because many kinds of pods wait. */
static bool is_short(const struct online *online, int64_t filled_gpus)
{
    return online->gpus_used < filled_gpus && online->queue.n_lines < 16;
}

static void free_online(struct online *online)
{
    free(online->running);
    replay_queue_fini(&online->queue);
    free(online->waits.items_s);
    free(online->waits_whole.items_s);
    free(online->waits_groups.items_s);
    planner_free(online->planner);
    while (online->all) {
        struct group *group = online->all;
        online->all = group->all_next;
        free(group);
    }
}

static struct group *new_group(struct online *online, const struct waiting *first, size_t size)
{
    struct group *group = MEM_NEW(struct group);
    *group = (struct group){.id = ++online->n_groups,
                            .pod = first->coming.pod,
                            .size = size,
                            .came_s = first->since_s,
                            .duration_s = first->duration_s,
                            .all_next = online->all};
    online->all = group;
    return group;
}

/* While fewer than filled_gpus are used, the next pod comes at once. */
static void run(struct replay *replay, double begin_s, double end_s, int64_t filled_gpus)
{
    const struct trace *trace = &replay->trace;
    struct durations durations = known_durations(trace);
    const bool has_groups = replay->groups != GROUPS_NONE;
    const double load = has_groups ? LOAD_OF_GROUPS : LOAD;
    const double between_s =
        mean_gpu_s(trace, &durations, has_groups) / (load * (double)replay->trace.n_gpus);
    struct online online = {
        .replay = replay, .begin_s = begin_s, .end_s = end_s, .room = 1, .planner = planner_new()};
    double comes_s = 0;
    double gap_s = 0;
    double duration_s = 0;
    for (;;) {
        if (!is_short(&online, filled_gpus))
            gap_s -= between_s * log(replay_random(&replay->arrivals));
        const struct coming coming = replay_next(replay);
        if (coming.replica == 0) { /* the other replicas arrive with it and run as long */
            comes_s += gap_s;
            gap_s = 0;
            duration_s = duration_of(replay, &durations, coming.pod);
        }
        while (online.n_running > 0 && online.running[0].ends_s <= comes_s &&
               online.running[0].ends_s <= end_s)
            depart(&online);
        if (comes_s > end_s)
            break;
        if (comes_s < begin_s)
            online.n_warm_up_services = replay->services.n;
        const struct waiting pod = {comes_s, duration_s, coming};
        pass(&online, comes_s);
        const size_t size = size_of(replay, coming.pod);
        if (size == 0)
            come(&online, &pod);
        else
            come_group(&online, new_group(&online, &pod, size));
    }
    pass(&online, end_s);
    report(&online);
    for (size_t i = 0; i < GPUS_MAX; i++)
        free(durations.items[i]);
    free_online(&online);
}

void replay_online(struct replay *replay)
{
    run(replay, WARM_UP_S, END_S, 0);
}

/* The first node with the most GPUs. */
void replay_hole(struct replay *replay)
{
    int64_t most = 0;
    for (const struct node *node = cluster_next_node(replay->cluster, NULL); node;
         node = cluster_next_node(replay->cluster, node)) {
        const struct node_resource *gpus = node_find_resource(node, replay->gpus);
        if (gpus && gpus->allocatable > most) {
            most = gpus->allocatable;
            replay->hole = node_name(node);
        }
    }
    run(replay, HOUR_S, 2 * HOUR_S + HOLE_S, replay->trace.n_gpus * 97 / 100);
}
