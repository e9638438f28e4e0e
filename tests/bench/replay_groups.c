/* replay_groups: see replay_groups.h. */
#include "replay_groups.h"
#include "base/hash.h"
#include "base/mem.h"
#include "decide/fit.h"
#include "decide/gang_plan.h"
#include "extender/gangs/gang_turns.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIGHTS_MAX GANG_TURNS_MAX
/* Wakes of kube-scheduler (extender/wake.h), and from a wake until all pods of a group are bound.
 */
#define WAKE_SETTLE_S 1.0
#define WAKE_LEAST_S 10.0
#define BINDING_S 2.0

size_t group_draw(const struct trace_pod *pod, uint64_t *random)
{
    static const size_t SIZES[] = {2, 2, 2, 2, 4, 4, 8, 16};
    if (pod->gpus != GROUP_GPUS || replay_random(random) > GROUP_SHARE)
        return 0;
    return SIZES[replay_random_below(random, sizeof SIZES / sizeof *SIZES)];
}

struct coming group_pod(struct group *group, size_t i)
{
    return (struct coming){
        .pod = group->pod, .id = GROUP_FIRST_ID + group->id * GROUP_PODS_MAX + i, .group = group};
}

/* Such pods that have room now; counts no further than to the size. */
static size_t count_room(const struct replay *replay, const struct group *group)
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    const struct fit_question question = {
        .shape = cluster_resolve(replay->cluster, &group->pod->shape, arena), .scope = FIT_ALL};
    size_t n = 0;
    for (const struct node *node = cluster_next_node(replay->cluster, NULL);
         node && n < group->size; node = cluster_next_node(replay->cluster, node))
        n += node_resource_free(node_find_resource(node, replay->gpus)) >= group->pod->gpus &&
             fit_judge(node, &question) == REASON_FITS;
    return n;
}

size_t group_n_free(const struct replay *replay)
{
    size_t n = 0;
    for (const struct node *node = cluster_next_node(replay->cluster, NULL); node;
         node = cluster_next_node(replay->cluster, node))
        n += node_resource_free(node_find_resource(node, replay->gpus)) >= GROUP_GPUS;
    return n;
}

bool group_place_all(struct replay *replay, struct group *group)
{
    if (count_room(replay, group) < group->size)
        return false;
    while (group->n_placed < group->size) {
        const struct coming pod = group_pod(group, group->n_placed);
        group->nodes[group->n_placed++] = replay_arrive(replay, &pod);
    }
    return true;
}

void group_leave(struct replay *replay, struct group *group)
{
    for (size_t i = 0; i < group->size; i++)
        replay_leave(replay, group_pod(group, i).id);
    group->n_placed = 0;
}

/* ---- the product's planner ---- */

struct planner {
    struct gang_turns *turns;
    double woke_s;
};

struct planner *planner_new(void)
{
    struct planner *planner = MEM_NEW(struct planner);
    planner->turns = gang_turns_new();
    planner->woke_s = -WAKE_LEAST_S;
    return planner;
}

void planner_free(struct planner *planner)
{
    gang_turns_free(planner->turns);
    free(planner);
}

static double next_wake_s(const struct planner *planner, double now_s)
{
    const double soon_s = now_s + WAKE_SETTLE_S;
    const double least_s = planner->woke_s + WAKE_LEAST_S;
    return soon_s > least_s ? soon_s : least_s;
}

/* Groups that run are not seen. */
static void see(const struct planner *planner, struct group *waiting, double now_s,
                struct arena *arena)
{
    struct gang_sight *sights = ARENA_ARRAY(arena, struct gang_sight, SIGHTS_MAX);
    size_t n = 0;
    for (const struct group *group = waiting; group && n < SIGHTS_MAX; group = group->next) {
        sights[n++] = (struct gang_sight){
            .key = group->key,
            .namespace_ = arena_printf(arena, "%.*s", (int)strcspn(group->key, "/"), group->key),
            .gang = {.size = group->size,
                     .n_unbound = group->size,
                     .n_planned = group->is_planned ? group->size : 0}};
    }
    gang_turns_see(planner->turns, sights, n, (int64_t)(now_s * 1000));
}

static bool avoids(const void *context, const char *node)
{
    (void)context;
    (void)node;
    return false;
}

static bool allow(const struct planner *planner, const struct cluster *fork,
                  const struct gang_plan *plan, double now_s, struct arena *arena)
{
    struct gang_model *models = NULL;
    struct gang_kept kept[GANG_MODELS_MAX];
    const size_t n = gang_plan_models(fork, plan, arena, &models);
    for (size_t i = 0; i < n && i < GANG_MODELS_MAX; i++)
        kept[i] =
            (struct gang_kept){hash_text(models[i].model) | 1, models[i].gpus, models[i].total};
    return gang_turns_allow(planner->turns, plan->key, kept, n, (int64_t)(now_s * 1000)) ==
           GANG_WAIT_NONE;
}

/* Its places are in use from now on: nobody else may have them. */
static void keep(struct planner *planner, struct replay *replay, struct group *group,
                 const struct gang_plan *plan, double now_s)
{
    for (size_t i = 0; i < plan->n; i++) {
        const uint64_t id = strtoull(plan->members[i].uid + strlen("pod-"), NULL, 10);
        const struct coming pod = group_pod(group, id % GROUP_PODS_MAX);
        const struct node *node = cluster_find_node(replay->cluster, plan->members[i].node);
        replay_bind(replay, &pod, node);
        group->nodes[id % GROUP_PODS_MAX] = node;
    }
    group->n_placed = group->size;
    group->is_planned = true;
    planner->woke_s = next_wake_s(planner, now_s);
    group->starts_s = planner->woke_s + BINDING_S;
}

static void plan(struct planner *planner, struct replay *replay, struct group *group, double now_s)
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    struct gang_plan plan = gang_plan_members(replay->cluster, group->key, arena);
    struct cluster *fork = cluster_fork_with(replay->cluster, PEERS_REPELLING);
    const bool is_chosen = gang_plan_choose(fork, &plan, avoids, NULL, arena) == GANG_CHOSEN;
    const bool is_allowed = is_chosen && allow(planner, fork, &plan, now_s, arena);
    cluster_fork_free(fork);
    if (is_allowed)
        keep(planner, replay, group, &plan, now_s);
    else if (!is_chosen)
        gang_turns_failed(planner->turns, group->key, GANG_WAIT_ROOM);
}

/* Without more room than at its last attempt, an attempt fails as that one did. */
static void attempt(struct planner *planner, struct replay *replay, struct group *group,
                    uint64_t room, double now_s)
{
    if (group->tried_room != room && count_room(replay, group) >= group->size) {
        plan(planner, replay, group, now_s);
        return;
    }
    group->tried_room = room;
    gang_turns_failed(planner->turns, group->key, GANG_WAIT_ROOM);
}

static bool is_settled(const struct group *waiting, uint64_t room)
{
    const struct group *group = waiting;
    while (group && !group->is_planned && group->tried_room == room)
        group = group->next;
    return !group;
}

bool planner_tick(struct planner *planner, struct replay *replay, struct group *waiting,
                  uint64_t room, double now_s)
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    const int64_t now_ms = (int64_t)(now_s * 1000);
    see(planner, waiting, now_s, arena);
    for (;;) {
        const int64_t wake_ms = (int64_t)(next_wake_s(planner, now_s) * 1000);
        const struct gang_step step = gang_turns_next(planner->turns, now_ms, wake_ms);
        struct group *group = waiting;
        if (step.next == GANG_REST)
            return !is_settled(waiting, room);
        if (step.next != GANG_PLAN)
            continue;
        while (group && strcmp(group->key, step.key) != 0)
            group = group->next;
        if (!group)
            abort();
        attempt(planner, replay, group, room, now_s);
    }
}
