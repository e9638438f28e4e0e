/* groups: see groups.h. */
#include "groups.h"

#include "ledger/gangs.h"
#include "world.h"

#include <string.h>

static size_t count_bound(const struct world *world, const char *gang)
{
    size_t n = 0;
    for (const struct truth_object *object = world->truth.objects; object; object = object->next) {
        const struct truth_state *state = truth_now(object);
        n += object->kind == TRUTH_PODS && state && state->gang && state->node[0] &&
             !state->finished && !state->terminating && strcmp(state->gang, gang) == 0;
    }
    return n;
}

/* NULL: it is gone. */
static const char *uid_in(const struct world *world, const char *body)
{
    for (const struct truth_object *object = world->truth.objects; object; object = object->next) {
        const struct truth_state *state = truth_now(object);
        if (object->kind == TRUTH_PODS && state &&
            strstr(body, arena_printf(world->arena, "\"%s\"", state->uid)))
            return state->uid;
    }
    return NULL;
}

void groups_posted(struct service *service, const char *body)
{
    struct world *world = service->world;
    const char *uid = world->plan.groups ? uid_in(world, body) : NULL;
    if (!uid)
        return;
    const struct inventory_view view CLEANUP(inventory_done) = inventory_read(service->inventory);
    const struct pod *pod = cluster_find_pod(view.cluster, uid);
    const struct gang gang =
        pod && pod->gang ? gangs_find(view.cluster, "ml", pod->gang) : (struct gang){0};
    if (gang.size == 0 || gang.n_placed > 0 || count_bound(world, pod->gang) > 0 ||
        gang.treatment == GANG_ORDINARY)
        return;
    if (gang.n_bound != 1)
        world_fail(world, "service %u binds %zu pods of %s at once, and none is bound",
                   service->number, gang.n_bound, pod->gang);
    if (gang.n_bound + gang.n_planned < gang.size)
        world_fail(world, "service %u binds %s, and only %zu of %zu pods of %s have a place",
                   service->number, uid, gang.n_planned, gang.size - 1, pod->gang);
}

/* The longest plan, and a check of its end. */
#define PLAN_MOST_MS 125000

/* A plan that is made again keeps its time, and after its end nothing is kept for a while. It ends
 * later while nothing can be decided. */
static void check_time(struct service *service, const char *key, const struct gang *gang)
{
    struct world *world = service->world;
    struct plan_time **at = &service->plan_times;
    while (*at && strcmp((*at)->key, key) != 0)
        at = &(*at)->next;
    if (!*at) {
        *at = ARENA_NEW(world->arena, struct plan_time);
        **at = (struct plan_time){.key = arena_strdup(world->arena, key)};
    }
    if (gang->n_planned == 0 || gang_state_of(gang) == GANG_RUNNING ||
        !service_could_decide(service))
        (*at)->since_ms = 0;
    else if ((*at)->since_ms == 0)
        (*at)->since_ms = world_now(world);
    else if (world_now(world) - (*at)->since_ms > PLAN_MOST_MS)
        world_fail(world, "service %u keeps places for %s since %lld ms", service->number, key,
                   (long long)(*at)->since_ms);
}

/* The tick after the end of a plan may come late. */
#define LATE_MS 3000

void groups_check(struct service *service)
{
    struct world *world = service->world;
    struct arena *arena = arena_new();
    struct waiting_group *rows = NULL;
    struct gang gang = {0};
    if (!world->plan.groups || world_now(world) < service->sleeps_until_ms + LATE_MS) {
        arena_free(arena);
        return;
    }
    const size_t n = groups_list(service->groups, NULL, arena, &rows);
    for (size_t i = 0; i < n; i++)
        world_tell(world, "service %u: %s is %s, %zu of %zu bound, %zu planned %s", service->number,
                   rows[i].name, rows[i].state, rows[i].n_bound, rows[i].size, rows[i].n_planned,
                   arena_printf(arena, "%s (%s)", rows[i].why, rows[i].lacks));
    const struct inventory_view view = inventory_read(service->inventory);
    for (const char *key = gangs_next(view.cluster, NULL, &gang); key;
         key = gangs_next(view.cluster, key, &gang)) {
        size_t i = 0;
        check_time(service, key, &gang);
        while (i < n && strcmp(rows[i].name, strchr(key, '/') + 1) != 0)
            i++;
        if (gang.n_planned > 0 && (i == n || rows[i].plan_ends_ms == 0) &&
            gang_state_of(&gang) != GANG_RUNNING)
            world_fail(world, "service %u keeps %zu places for %s, which has no plan",
                       service->number, gang.n_planned, key);
    }
    inventory_done(&view);
    arena_free(arena);
}

struct waiting {
    const char *gang;
    size_t size, n_bound, n_waiting;
    unsigned gpus;
};

static struct waiting count(const struct world *world, const char *gang)
{
    struct waiting waiting = {.gang = gang};
    for (const struct truth_object *object = world->truth.objects; object; object = object->next) {
        const struct truth_state *state = truth_now(object);
        if (object->kind != TRUTH_PODS || !state || !state->gang || state->finished ||
            state->terminating || strcmp(state->gang, gang) != 0)
            continue;
        waiting.size = state->gang_size > waiting.size ? state->gang_size : waiting.size;
        waiting.n_bound += state->node[0] != '\0';
        waiting.n_waiting += state->node[0] == '\0';
        waiting.gpus = state->gpus > waiting.gpus ? state->gpus : waiting.gpus;
    }
    return waiting;
}

static size_t room_for(const struct world *world, unsigned gpus)
{
    size_t n = 0;
    for (const struct truth_object *object = world->truth.objects; object; object = object->next) {
        const struct truth_state *state = truth_now(object);
        if (object->kind != TRUTH_NODES || !state || state->cordoned)
            continue;
        const unsigned used = truth_gpus_used(&world->truth, object->name, NULL);
        n += gpus > 0 && used < state->gpus ? (state->gpus - used) / gpus : 0;
    }
    return n;
}

/* Its namespace has kept too much without use, or its last plan was not used lately. */
static bool is_excused(struct world *world, const char *gang)
{
    struct service *leader = world_leader(world);
    struct waiting_group *rows = NULL;
    const size_t n = groups_list(leader->groups, NULL, world->arena, &rows);
    for (size_t i = 0; i < n; i++) {
        if (strcmp(rows[i].name, gang) == 0)
            return strcmp(rows[i].why, "charged") == 0 || strcmp(rows[i].why, "pause") == 0 ||
                   strcmp(rows[i].why, "share") == 0;
    }
    return false;
}

const char *groups_fault(struct world *world)
{
    for (const struct truth_object *object = world->truth.objects; object; object = object->next) {
        const struct truth_state *state = truth_now(object);
        if (object->kind != TRUTH_PODS || !state || !state->gang)
            continue;
        const struct waiting group = count(world, state->gang);
        const size_t missing = group.n_bound < group.size ? group.size - group.n_bound : 0;
        if (missing > 0 && group.n_waiting >= missing && !is_excused(world, group.gang) &&
            room_for(world, group.gpus) >= missing)
            return arena_printf(world->arena, "the group %s waits, and fits", group.gang);
    }
    return NULL;
}
