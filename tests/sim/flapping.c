/* flapping: what happens to nodes, and their kubelets. See flapping.h. */
#include "flapping.h"

#include "world.h"

#include <string.h>

#define KUBELET_MS 3000
/* Some are that slow: SICK_FAILS_MS, and what watches are late. */
#define SLOW_KUBELET_MS 60000
#define TOPOLOGY "\"reason\":\"TopologyAffinityError\""
#define OUT_OF_GPUS "\"reason\":\"OutOfnvidia.com/gpu\""
#define NO_DEVICES                                                                                 \
    "\"reason\":\"UnexpectedAdmissionError\",\"message\":\"Allocate failed due to no healthy "     \
    "devices present\""
#define NO_CPUS                                                                                    \
    "\"reason\":\"UnexpectedAdmissionError\",\"message\":\"[cpumanager] not enough cpus\""
#define CRASHED "\"reason\":\"Error\""

int64_t __real_clock_ms(void);
int64_t __wrap_clock_ms(void);

static const struct world *flapping_world;

/* The ledger's time, by which quarantines end, is the simulated one. */
int64_t __wrap_clock_ms(void)
{
    return flapping_world ? world_now(flapping_world) : __real_clock_ms();
}

const char *flapping_owner(const struct truth_state *pod)
{
    return pod->owner ? pod->owner : truth_namespace(pod);
}

static void note(struct world *world, enum flap what, const char *node,
                 const struct truth_state *pod, bool is_late)
{
    struct flap_event *event = ARENA_NEW(world->arena, struct flap_event);
    *event = (struct flap_event){.what = what,
                                 .at_ms = world_now(world),
                                 .node = node,
                                 .is_late = is_late,
                                 .before = world->flapping->last};
    if (pod) {
        event->namespace_ = truth_namespace(pod);
        event->owner = flapping_owner(pod);
        event->gpus = pod->gpus;
        event->uid = pod->uid;
    }
    world->flapping->last = event;
}

void flapping_ended(struct world *world, const struct truth_state *pod)
{
    const struct flap_event *event = world->flapping ? world->flapping->last : NULL;
    while (event && (event->what != FLAP_RUNS || strcmp(event->uid, pod->uid) != 0))
        event = event->before;
    if (event)
        note(world, FLAP_ENDED, pod->node, pod, false);
}

struct flap_node *flapping_node(struct world *world, const char *name)
{
    return &world->flapping->nodes[name[strlen(name) - 1] - '0'];
}

/* ---- kubelets ---- */

struct taking {
    struct world *world;
    const struct truth_object *object;
    const char *uid;
    int64_t bound_ms;
};

/* NULL: it is gone. */
static const struct truth_state *pod_of(const struct taking *taking)
{
    const struct truth_state *state = truth_now(taking->object);
    return state && !state->finished && !state->terminating && strcmp(state->uid, taking->uid) == 0
               ? state
               : NULL;
}

static void put_pod(const struct taking *taking, const struct truth_state *state)
{
    world_tell(taking->world, "truth: %s (%s) on %s %s", taking->object->name, state->uid,
               state->node, state->finished ? state->failure : "starts");
    truth_put(&taking->world->truth, TRUTH_PODS, taking->object->name, state);
}

static bool is_ours(const struct truth_state *state)
{
    return strncmp(state->bound_by, WORLD_US, strlen(WORLD_US)) == 0;
}

static void reject(const struct taking *taking, struct truth_state state, const char *failure)
{
    struct world *world = taking->world;
    const bool is_late = world_now(world) - taking->bound_ms > SICK_FAILS_MS + FLAPPING_LATE_MS;
    const bool is_topology = strcmp(failure, TOPOLOGY) == 0;
    state.finished = true;
    state.failure = failure;
    if (is_ours(&state) && strcmp(failure, NO_CPUS) != 0)
        note(world, is_topology ? FLAP_TRAPPED : FLAP_LOST, state.node, &state, is_late);
    put_pod(taking, &state);
}

static void on_crash(void *context)
{
    const struct taking *taking = context;
    const struct truth_state *before = pod_of(taking);
    if (!before)
        return;
    struct truth_state state = *before;
    state.finished = true;
    state.failure = CRASHED;
    flapping_ended(taking->world, &state);
    put_pod(taking, &state);
}

static void on_running(void *context)
{
    const struct taking *taking = context;
    const struct truth_state *state = pod_of(taking);
    if (state)
        note(taking->world, FLAP_RUNS, state->node, state, false);
}

static void start(struct taking *taking, struct truth_state state)
{
    struct world *world = taking->world;
    state.is_unstarted = false;
    state.was_taken = true;
    note(world, FLAP_STARTED, state.node, NULL, false);
    put_pod(taking, &state);
    agenda_in(&world->agenda, FLAPPING_SEEN_MS, on_running, taking);
    if (dice_one_in(&world->dice, 6))
        agenda_in(&world->agenda, world_between(world, 1, 20000), on_crash, taking);
}

static void on_taking(void *context)
{
    struct taking *taking = context;
    struct world *world = taking->world;
    const struct truth_state *state = pod_of(taking);
    const struct truth_state *node =
        state ? truth_now(truth_find(&world->truth, TRUTH_NODES, state->node)) : NULL;
    if (!node)
        return;
    const struct flap_node *kubelet = flapping_node(world, state->node);
    if (node->is_unready)
        agenda_in(&world->agenda, KUBELET_MS, on_taking, taking);
    else if (truth_gpus_used(&world->truth, state->node, NULL) > node->gpus)
        reject(taking, *state, OUT_OF_GPUS);
    else if (kubelet->rejects)
        reject(taking, *state, dice_one_in(&world->dice, 2) ? NO_DEVICES : OUT_OF_GPUS);
    else if (kubelet->is_narrow && state->gpus > 1)
        reject(taking, *state, TOPOLOGY);
    else if (world_trouble(world, true, 10))
        reject(taking, *state, NO_CPUS);
    else
        start(taking, *state);
}

static void take(struct world *world, const struct truth_object *object)
{
    struct taking *taking = ARENA_NEW(world->arena, struct taking);
    const bool is_slow = world_trouble(world, true, 20);
    *taking = (struct taking){world, object, truth_now(object)->uid, world_now(world)};
    agenda_in(&world->agenda,
              is_slow ? SICK_FAILS_MS + world_between(world, 0, SLOW_KUBELET_MS)
                      : world_between(world, 1, KUBELET_MS),
              on_taking, taking);
}

void flapping_bound(struct world *world, const struct truth_object *object)
{
    if (!world->flapping)
        return;
    if (is_ours(truth_now(object)))
        flapping_took_effect(world, truth_now(object)->node);
    take(world, object);
}

/* ---- pods ---- */

/* Two owners in each namespace. The sixth pod of an owner has no controller. */
void flapping_new_pod(struct world *world)
{
    static const char *const NAMESPACES[] = {"ml", "ai", "hpc"};
    const unsigned owner = dice_below(&world->dice, world->flapping->n_owners);
    const char *node = dice_one_in(&world->dice, 8) ? world->flapping->nodes[0].name : "";
    const struct truth_state state = {
        .uid = truth_new_uid(&world->truth),
        .namespace_ = NAMESPACES[owner / 2],
        .owner = arena_printf(world->arena, "job-%u", owner),
        .gpus = 1 + dice_below(&world->dice, 2),
        .node = node,
        .bound_by = node[0] && dice_one_in(&world->dice, 2) ? "forged" : "",
        .is_unstarted = node[0] != '\0',
    };
    const char *name = arena_printf(world->arena, "pod-%u", world->truth.n_uids);
    world_tell(world, "truth: %s (%s) of %s/%s is made, wants %u%s%s", name, state.uid,
               state.namespace_, state.owner, state.gpus, node[0] ? " on " : "", node);
    truth_put(&world->truth, TRUTH_PODS, name, &state);
    if (node[0])
        take(world, truth_find(&world->truth, TRUTH_PODS, name));
}

/* ---- nodes ---- */

static void put_node(struct world *world, enum flap what, const char *name,
                     const struct truth_state *state)
{
    world_tell(world, "truth: %s: boot %u, %u GPUs%s%s, lifted %u", name, state->boot, state->gpus,
               state->is_unready ? ", not Ready" : "", state->cordoned ? ", cordoned" : "",
               state->lifted);
    note(world, what, name, NULL, false);
    truth_put(&world->truth, TRUTH_NODES, name, state);
}

struct recovery {
    struct world *world;
    struct flap_node *node;
};

static void recover(struct world *world, const struct flap_node *node)
{
    struct truth_state state = *truth_now(truth_find(&world->truth, TRUTH_NODES, node->name));
    const bool is_changed = state.gpus != node->gpus;
    if (!is_changed && !state.is_unready && !state.cordoned)
        return;
    state.gpus = node->gpus;
    state.is_unready = state.cordoned = false;
    put_node(world, is_changed ? FLAP_CHANGED : FLAP_OTHER, node->name, &state);
}

static void on_recovery(void *context)
{
    const struct recovery *recovery = context;
    recover(recovery->world, recovery->node);
}

static enum flap disturb(struct world *world, struct truth_state *state, struct flap_node *node)
{
    switch (dice_below(&world->dice, 7)) {
    case 0: /* as after a restart of the kubelet, before the device plugin registers */
        state->gpus = 0;
        return FLAP_CHANGED;
    case 1:
        state->gpus -= state->gpus > 0;
        return FLAP_CHANGED;
    case 2:
        state->boot++;
        state->is_unready = true;
        node->rejects = false;
        return FLAP_CHANGED;
    case 3:
        state->lifted++;
        return FLAP_LIFTED;
    case 4:
        state->cordoned = true;
        return FLAP_OTHER;
    default:
        state->is_unready = true;
        return FLAP_OTHER;
    }
}

void flapping_event(struct world *world)
{
    struct recovery *recovery = ARENA_NEW(world->arena, struct recovery);
    struct flap_node *node = &world->flapping->nodes[dice_below(&world->dice, world->plan.n_nodes)];
    const unsigned kind = dice_below(&world->dice, 8);
    if (kind < 3) {
        node->rejects = !node->rejects;
        world_tell(world, "truth: the kubelet of %s %s", node->name,
                   node->rejects ? "rejects all pods" : "takes pods again");
    } else if (kind == 3) {
        node->is_narrow = !node->is_narrow;
        world_tell(world, "truth: %s %s two GPUs of one NUMA node", node->name,
                   node->is_narrow ? "lacks" : "has");
    } else {
        const struct truth_object *object = truth_find(&world->truth, TRUTH_NODES, node->name);
        struct truth_state state = *truth_now(object);
        const unsigned before = state.gpus;
        const enum flap what = disturb(world, &state, node);
        *recovery = (struct recovery){world, node};
        put_node(world,
                 what == FLAP_CHANGED && state.boot == truth_now(object)->boot &&
                         state.gpus == before
                     ? FLAP_OTHER
                     : what,
                 node->name, &state);
        agenda_in(&world->agenda, world_between(world, 1000, 60000), on_recovery, recovery);
    }
}

void flapping_heal(struct world *world)
{
    for (unsigned i = 0; world->flapping && i < world->plan.n_nodes; i++) {
        struct flap_node *node = &world->flapping->nodes[i];
        node->rejects = node->is_narrow = false;
        recover(world, node);
    }
}

/* ---- begin ---- */

void flapping_set(struct policy *policy, const struct world *world)
{
    const struct flapping *flapping = world->flapping;
    policy->quarantine = (struct quarantine_policy){.mode = flapping->mode,
                                                    .owners = 3,
                                                    .namespaces = 2,
                                                    .window_s = 120,
                                                    .settle_s = 60,
                                                    .first_min = 1,
                                                    .longest_min = 4,
                                                    .cap = {flapping->cap_milli, 1}};
    policy->shape_trap = (struct shape_trap_policy){flapping->mode, {flapping->cap_milli, 1}};
}

void flapping_end(void)
{
    flapping_world = NULL;
}

void flapping_begin(struct world *world)
{
    struct flapping *flapping = ARENA_NEW(world->arena, struct flapping);
    flapping->mode = dice_one_in(&world->dice, 4) ? AVOIDANCE_OBSERVE : AVOIDANCE_AVOID;
    flapping->cap_milli = (int64_t)dice_below(&world->dice, 3) * 300;
    flapping->n_owners = 2 + dice_below(&world->dice, 5);
    world->flapping = flapping;
    flapping_world = world;
    for (unsigned i = 0; i < world->plan.n_nodes; i++) {
        const struct truth_state state = {.uid = truth_new_uid(&world->truth),
                                          .gpus = 4 + dice_below(&world->dice, 5),
                                          .node = "",
                                          .bound_by = "",
                                          .boot = 1};
        flapping->nodes[i].name = arena_printf(world->arena, "node-%u", i);
        flapping->nodes[i].gpus = state.gpus;
        put_node(world, FLAP_OTHER, flapping->nodes[i].name, &state);
    }
}
