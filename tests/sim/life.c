/* life: see life.h. */
#include "life.h"

#include "flapping.h"
#include "world.h"

#include <string.h>

#define KUBELET_MS 1000
#define RELOADS_SALT ((uint64_t)10 << 40)

/* ---- choice of objects ---- */

enum choice { PODS_ALL, PODS_PENDING, PODS_RUNNING, NODES_ALL };

static bool is_choice(const struct truth_object *object, enum choice choice)
{
    const struct truth_state *state = truth_now(object);
    if (!state || (object->kind == TRUTH_NODES) != (choice == NODES_ALL))
        return false;
    if (choice == PODS_PENDING)
        return !state->node[0] && !state->terminating;
    if (choice == PODS_RUNNING)
        return state->node[0] && !state->terminating && !state->finished && !state->is_unstarted;
    return choice == NODES_ALL || !state->terminating;
}

static struct truth_object *choose(struct world *world, enum choice choice)
{
    struct truth_object *chosen = NULL;
    unsigned n = 0;
    for (struct truth_object *object = world->truth.objects; object; object = object->next) {
        if (is_choice(object, choice) && dice_one_in(&world->dice, ++n))
            chosen = object;
    }
    return chosen;
}

/* ---- pods ---- */

static void put(struct world *world, const struct truth_object *object,
                const struct truth_state *state)
{
    truth_put(&world->truth, object->kind, object->name, state);
}

static void make_pod(struct world *world, const char *name)
{
    const struct truth_object *before = truth_find(&world->truth, TRUTH_PODS, name);
    const struct truth_state state = {.uid = truth_new_uid(&world->truth),
                                      .gang = before ? before->last->state.gang : NULL,
                                      .gang_size = before ? before->last->state.gang_size : 0,
                                      .gpus = 1 + dice_below(&world->dice, 2),
                                      .node = "",
                                      .bound_by = "",
                                      .priority =
                                          world->plan.quotas ? dice_below(&world->dice, 2) : 0};
    world_tell(world, "truth: %s (%s) is made, wants %u", name, state.uid, state.gpus);
    truth_put(&world->truth, TRUTH_PODS, name, &state);
}

static void new_pod(struct world *world)
{
    if (world->flapping)
        flapping_new_pod(world);
    else
        make_pod(world, arena_printf(world->arena, "pod-%u", world->truth.n_uids + 1));
}

struct birth {
    struct world *world;
    const char *name;
    struct truth_state state;
};

/* The API server makes no second pod of a name. */
static void on_birth(void *context)
{
    const struct birth *birth = context;
    const struct truth_object *there = truth_find(&birth->world->truth, TRUTH_PODS, birth->name);
    if (there && truth_now(there))
        return;
    world_tell(birth->world, "truth: %s (%s) of %s is made, wants %u", birth->name,
               birth->state.uid, birth->state.gang, birth->state.gpus);
    truth_put(&birth->world->truth, TRUTH_PODS, birth->name, &birth->state);
}

/* Its pods come in any order, mostly at once. One name in four is an old one. */
static void make_group(struct world *world)
{
    const unsigned number = dice_below(&world->dice, 40);
    const char *gang = arena_printf(world->arena, "g%u", number);
    const unsigned size = 2 + dice_below(&world->dice, 4);
    const unsigned gpus = 1 + dice_below(&world->dice, 2);
    const int64_t spread_ms = dice_one_in(&world->dice, 4) ? 8000 : 200;
    for (unsigned i = 0; i < size; i++) {
        struct birth *birth = ARENA_NEW(world->arena, struct birth);
        birth->world = world;
        birth->name = arena_printf(world->arena, "%s-%u", gang, i);
        if (truth_find(&world->truth, TRUTH_PODS, birth->name))
            continue;
        birth->state = (struct truth_state){.uid = truth_new_uid(&world->truth),
                                            .gpus = gpus,
                                            .gang = gang,
                                            .gang_size = size,
                                            .node = "",
                                            .bound_by = ""};
        agenda_in(&world->agenda, world_between(world, 1, spread_ms), on_birth, birth);
    }
}

static void finish_pod(struct world *world)
{
    const struct truth_object *object = choose(world, PODS_RUNNING);
    if (!object)
        return;
    struct truth_state state = *truth_now(object);
    state.finished = true;
    world_tell(world, "truth: %s (%s) has finished", object->name, state.uid);
    flapping_ended(world, &state);
    put(world, object, &state);
}

struct departure {
    struct world *world;
    struct truth_object *object;
    const char *uid;
    bool comes_again;
};

static void on_departure(void *context)
{
    const struct departure *departure = context;
    const struct truth_state *state = truth_now(departure->object);
    if (!state || strcmp(state->uid, departure->uid) != 0)
        return;
    world_tell(departure->world, "truth: %s (%s) is gone", departure->object->name, state->uid);
    truth_delete(&departure->world->truth, departure->object);
    if (departure->comes_again)
        make_pod(departure->world, departure->object->name);
}

/* A running pod's kubelet needs time to end it. */
static void delete_pod(struct world *world, struct truth_object *object)
{
    struct truth_state state = *truth_now(object);
    struct departure *departure = ARENA_NEW(world->arena, struct departure);
    *departure = (struct departure){world, object, state.uid,
                                    dice_one_in(&world->dice, 2) && !world->is_quiet};
    if (!state.node[0] || state.finished || dice_one_in(&world->dice, 4)) {
        on_departure(departure);
        return;
    }
    state.terminating = true;
    put(world, object, &state);
    agenda_in(&world->agenda, world_between(world, 1, KUBELET_MS), on_departure, departure);
}

static void delete_any_pod(struct world *world)
{
    struct truth_object *object = choose(world, PODS_ALL);
    if (object)
        delete_pod(world, object);
}

/* As kubectl delete job does. */
static void delete_group(struct world *world)
{
    const struct truth_object *any = choose(world, PODS_ALL);
    const char *gang = any ? truth_now(any)->gang : NULL;
    for (struct truth_object *object = world->truth.objects; object && gang;
         object = object->next) {
        const struct truth_state *state = truth_now(object);
        if (object->kind == TRUTH_PODS && state && state->gang && strcmp(state->gang, gang) == 0 &&
            !state->terminating)
            delete_pod(world, object);
    }
}

/* Another client binds, with exact knowledge. */
static void bind_elsewhere(struct world *world)
{
    const struct truth_object *pod = choose(world, PODS_PENDING);
    const struct truth_object *node = choose(world, NODES_ALL);
    if (!pod || !node)
        return;
    struct truth_state state = *truth_now(pod);
    if (truth_gpus_used(&world->truth, node->name, NULL) + state.gpus > truth_now(node)->gpus)
        return;
    state.node = node->name;
    state.bound_by = world->flapping ? "" : "somebody";
    state.is_unstarted = world->flapping;
    world_tell(world, "truth: %s (%s) is bound to %s by somebody", pod->name, state.uid,
               node->name);
    put(world, pod, &state);
    if (world->flapping)
        flapping_bound(world, pod);
}

/* ---- nodes ---- */

static void clear_node(struct world *world, const char *name)
{
    for (struct truth_object *object = world->truth.objects; object; object = object->next) {
        const struct truth_state *state = truth_now(object);
        if (object->kind == TRUTH_PODS && state && strcmp(state->node, name) == 0 &&
            dice_one_in(&world->dice, 2))
            delete_pod(world, object);
    }
}

static void put_node(struct world *world, const char *name)
{
    const struct truth_state state = {.uid = truth_new_uid(&world->truth),
                                      .gpus = 1 + dice_below(&world->dice, world->plan.gpus),
                                      .node = "",
                                      .bound_by = "",
                                      .cordoned = dice_one_in(&world->dice, 10)};
    world_tell(world, "truth: %s has %u GPUs%s", name, state.gpus,
               state.cordoned ? ", cordoned" : "");
    truth_put(&world->truth, TRUTH_NODES, name, &state);
}

static void change_node(struct world *world)
{
    struct truth_object *object = choose(world, NODES_ALL);
    if (!object || !dice_one_in(&world->dice, 4)) {
        put_node(world, arena_printf(world->arena, "node-%u",
                                     dice_below(&world->dice, world->plan.n_nodes)));
        return;
    }
    world_tell(world, "truth: %s is gone", object->name);
    truth_delete(&world->truth, object);
    clear_node(world, object->name);
}

/* ---- trouble ---- */

static void restart_server(struct world *world)
{
    world_tell(world, "server: dies");
    server_restart(&world->server, world_between(world, 100, 15000), world_between(world, 0, 4000));
}

static void sicken_server(struct world *world)
{
    const int64_t how_long_ms = world_between(world, 1000, PLAN_BURST_MS);
    world_tell(world, "server: answers 500 for %lld ms", (long long)how_long_ms);
    server_sicken(&world->server, how_long_ms);
}

static void compact(struct world *world)
{
    struct truth *truth = &world->truth;
    truth->compacted_rv = truth_rv(truth) - (int64_t)dice_below(&world->dice, 3);
    world_tell(world, "server: forgets what is before %lld", (long long)truth->compacted_rv);
}

static void on_start(void *context)
{
    service_start(context);
}

static void begin_again(struct service *service)
{
    struct world *world = service->world;
    const bool hurries = world->plan.is_focused && !dice_one_in(&world->dice, 4);
    world->led_ms = world_now(world);
    agenda_in(&world->agenda, world_between(world, 1, hurries ? 200 : 5000), on_start, service);
}

/* Prefers the leader. */
static struct service *victim(struct world *world)
{
    struct service *leader = world->plan.is_focused ? world_leader(world) : NULL;
    return leader ? leader : world_any_service(world);
}

static void kill_service(struct world *world)
{
    struct service *service = victim(world);
    if (!service->is_alive)
        return;
    service_kill(service);
    begin_again(service);
}

static void stop_service(struct world *world)
{
    struct service *service = victim(world);
    if (service->is_alive && !service->is_stopping)
        service_stop(service, begin_again);
}

static void pause_service(struct world *world)
{
    struct service *service = victim(world);
    if (world_now(world) < service->sleeps_until_ms)
        return;
    service_sleep(service, world_now(world) + world_between(world, 100, 25000),
                  world_trouble(world, world->plan.suspensions, 2));
}

/* Like throttling of its own flow only. */
static void lose_lease(struct world *world)
{
    struct service *service = world_leader(world);
    if (!service)
        return;
    const int64_t until_ms = world_now(world) + world_between(world, 1000, 2 * times()->lease_ms);
    world_tell(world, "wire: what service %u asks about the Lease is lost until %lld ms",
               service->number, (long long)until_ms);
    wire_lose_lease(&service->wire, until_ms);
}

/* Not twice within its duration, and not that soon after its creation: documented as dangerous. */
static void end_lease(struct world *world)
{
    if (world_now(world) < world->lease_missed_ms + 2 * times()->lease_ms)
        return;
    world->lease_missed_ms = world_now(world);
    world->led_ms = world_now(world) + times()->lease_ms; /* that long it may be missing */
    server_end_lease(&world->server);
}

/* Longer than another replica may take to lead instead. */
static void blind_service(struct world *world)
{
    struct service *service = world_any_service(world);
    const int64_t until_ms = world_now(world) + world_between(world, 60000, 100000);
    if (wire_is_blind(&service->wire))
        return;
    world_tell(world, "service %u: may neither list nor watch until %lld ms", service->number,
               (long long)until_ms);
    wire_blind(&service->wire, until_ms);
}

static void cut(struct world *world)
{
    wire_cut_one(&world_any_service(world)->wire);
}

static void black_hole(struct world *world)
{
    struct service *service = world_any_service(world);
    world_tell(world, "wire: the connection of streams of service %u is dead", service->number);
    wire_black_hole(&service->wire);
}

/* ---- schedule ---- */

struct habit {
    struct world *world;
    void (*act)(struct world *world);
    unsigned every_ms;
};

static void on_habit(void *context)
{
    const struct habit *habit = context;
    struct world *world = habit->world;
    if (world->is_quiet)
        return;
    habit->act(world);
    agenda_in(&world->agenda, world_between(world, 1, 2 * (int64_t)habit->every_ms), on_habit,
              context);
}

static void begin_habit(struct world *world, bool planned, void (*act)(struct world *world),
                        unsigned every_ms)
{
    struct habit *habit = ARENA_NEW(world->arena, struct habit);
    *habit = (struct habit){world, act, every_ms};
    if (planned)
        agenda_in(&world->agenda, world_between(world, 1, 2 * (int64_t)every_ms), on_habit, habit);
}

static void on_reload(void *context)
{
    service_reload(context);
}

/* Once in four seeds, and with quotas. The dice are its own, so the other seeds are what they were
 * without it. */
static void begin_reloads(struct world *world)
{
    struct dice dice = {world->seed + RELOADS_SALT};
    if (world->flapping || (!dice_one_in(&dice, 4) && !world->plan.quotas))
        return;
    for (unsigned i = 0; i < SERVICE_POLICIES_MAX * world->plan.n_replicas; i++)
        agenda_in(&world->agenda, 1 + dice_below(&dice, PLAN_BURST_MS), on_reload,
                  &world->services[i % world->plan.n_replicas]);
}

static void begin_nodes(struct world *world)
{
    if (world->plan.flapping) {
        flapping_begin(world);
        return;
    }
    for (unsigned i = 0; i < world->plan.n_nodes; i++)
        put_node(world, arena_printf(world->arena, "node-%u", i));
}

void life_begin(struct world *world)
{
    const struct plan *plan = &world->plan;
    begin_nodes(world);
    begin_habit(world, plan->flapping, flapping_event, 10000);
    begin_habit(world, true, new_pod, plan->pod_every_ms);
    begin_habit(world, true, finish_pod,
                plan->pod_every_ms * (plan->is_focused || plan->flapping ? 1 : 2));
    begin_habit(world, plan->deletions, delete_any_pod, plan->pod_every_ms * 2);
    begin_habit(world, plan->others, bind_elsewhere, plan->pod_every_ms * 2);
    begin_habit(world, plan->node_changes, change_node, 5000);
    begin_habit(world, plan->failovers, scheduler_start, 15000);
    begin_habit(world, plan->restarts, restart_server, 20000);
    begin_habit(world, plan->sickness, sicken_server, 40000);
    begin_habit(world, plan->compactions, compact, 10000);
    begin_habit(world, plan->kills, kill_service,
                plan->is_focused ? 6000 : (unsigned)plan_burst_ms(plan) / 5);
    begin_habit(world, plan->stops, stop_service, plan->is_focused ? 5000 : 15000);
    begin_habit(world, plan->pauses && plan->n_replicas > 1, pause_service,
                plan->is_focused ? 7000 : 20000);
    begin_habit(world, plan->blindness && plan->n_replicas > 1, blind_service, 20000);
    begin_habit(world, plan->lease_ends && plan->n_replicas > 1, end_lease, 20000);
    begin_habit(world, plan->lease_loses && plan->n_replicas > 1, lose_lease,
                plan->is_focused ? 6000 : 10000);
    begin_habit(world, plan->cuts, cut, 4000);
    begin_habit(world, plan->black_holes, black_hole, 20000);
    begin_habit(world, plan->groups, make_group, 5000);
    begin_habit(world, plan->groups, delete_group, 20000);
    begin_reloads(world);
}
