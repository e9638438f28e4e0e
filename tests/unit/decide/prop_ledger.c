/*
 * prop_ledger: a million random events, applied to the ledger and to a model too simple to be wrong
 * (plain.c). After each event the ledger must equal the model (twin.c).
 *
 * LEDGER_EVENTS: number of events. LEDGER_SEED: seed of the dice.
 */
#include "dice.h"
#include "plain_facts.h"
#include "twin.h"
#include "unit.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_EVENTS 1000000
#define DEFAULT_SEED 20171115
#define EVENTS_OF_A_LIFE 20000

/* Each life of the ledger has its own number of nodes and pods. */
struct life {
    struct twin *twin;
    struct dice *dice;
    unsigned n_nodes;
    unsigned n_pods;
};

static size_t any_node(const struct life *life)
{
    return dice_below(life->dice, life->n_nodes);
}

static size_t any_pod(const struct life *life)
{
    return dice_below(life->dice, life->n_pods);
}

/* Throws dice one after another: C leaves the order of initializers and arguments open, and a seed
 * must mean the same everywhere. */

static int64_t random_amount(struct dice *dice)
{
    static const int64_t HUGE[] = {INT64_MAX, INT64_MAX - 1, INT64_MAX / 2, INT64_MAX / 2 + 1};
    if (dice_one_in(dice, 60))
        return HUGE[dice_below(dice, 4)];
    return 1 + (int64_t)dice_below(dice, dice_one_in(dice, 10) ? 1000000 : 8);
}

static int64_t random_room(struct dice *dice)
{
    if (dice_one_in(dice, 4))
        return PLAIN_ABSENT;
    if (dice_one_in(dice, 50))
        return -(int64_t)dice_below(dice, 3);
    return dice_one_in(dice, 40) ? INT64_MAX - dice_below(dice, 2) : dice_below(dice, 17);
}

/* A node may report both lists, or either alone. */
static void random_rooms(struct dice *dice, struct plain_node *node)
{
    const unsigned way = dice_below(dice, 6);
    for (size_t r = 0; r < N_PLAIN_RESOURCES; r++) {
        node->capacity[r] = way == 1 ? PLAIN_ABSENT : random_room(dice);
        node->allocatable[r] = node->capacity[r];
        if (way == 0)
            node->allocatable[r] = PLAIN_ABSENT;
        else if (way <= 2)
            node->allocatable[r] = random_room(dice);
    }
}

static struct plain_node random_node(struct dice *dice)
{
    struct plain_node node;
    node.model = dice_below(dice, PLAIN_MODELS);
    node.zone = dice_below(dice, PLAIN_ZONES);
    node.n_taints = dice_one_in(dice, 3) ? dice_below(dice, PLAIN_TAINTS) : 0;
    node.unschedulable = dice_one_in(dice, 8);
    node.ready = !dice_one_in(dice, 8);
    random_rooms(dice, &node);
    return node;
}

static struct plain_shape random_shape(struct dice *dice)
{
    struct plain_shape shape;
    shape.n_tolerations = dice_one_in(dice, 3) ? dice_below(dice, PLAIN_TOLERATIONS) : 0;
    shape.zone = dice_one_in(dice, 4) ? dice_below(dice, PLAIN_ZONES) : 0;
    for (size_t r = 0; r < N_PLAIN_RESOURCES; r++)
        shape.demand[r] = dice_one_in(dice, 3) ? random_amount(dice) : 0;
    if (!dice_one_in(dice, 20))
        shape.demand[PODS] = 1;
    return shape;
}

/* The name of any node, present or not; often none. */
static int64_t random_place(const struct life *life)
{
    return dice_one_in(life->dice, 4) ? PLAIN_NOWHERE : (int64_t)any_node(life);
}

/* Mostly its own name; else another pod's, which it replaces. */
static int64_t random_name(const struct life *life, size_t i)
{
    return dice_one_in(life->dice, 10) ? (int64_t)any_pod(life) : (int64_t)i;
}

static struct plain_pod random_pod(const struct life *life, size_t i)
{
    struct dice *dice = life->dice;
    struct plain_pod pod;
    pod.shape = random_shape(dice);
    pod.node = random_place(life);
    pod.name = random_name(life, i);
    pod.nominated = dice_one_in(dice, 3) ? random_place(life) : PLAIN_NOWHERE;
    pod.refusal = dice_one_in(dice, 10) ? dice_below(dice, PLAIN_REFUSALS) : 0;
    pod.finished = dice_one_in(dice, 8);
    pod.terminating = dice_one_in(dice, 8);
    pod.gated = dice_one_in(dice, 8);
    pod.owner = dice_below(dice, PLAIN_OWNERS);
    pod.priority = dice_below(dice, 3);
    return pod;
}

/* Events. */

static void put_any_node(const struct life *life)
{
    const struct plain_node node = random_node(life->dice);
    twin_put_node(life->twin, any_node(life), &node);
}

static void put_any_pod(const struct life *life)
{
    const size_t i = any_pod(life);
    const struct plain_pod pod = random_pod(life, i);
    twin_put_pod(life->twin, i, &pod);
}

/* Slightly changes an existing node: labels, count, cordon, condition; or nothing. */
static void change_node(const struct life *life)
{
    struct dice *dice = life->dice;
    const size_t i = any_node(life);
    struct plain_node node = life->twin->plain.nodes[i];
    if (!life->twin->plain.node_there[i])
        return;
    switch (dice_below(dice, 6)) {
    case 0:
        node.model = dice_below(dice, PLAIN_MODELS);
        break;
    case 1: /* it shrinks or grows */
        node.capacity[NVIDIA_GPU] = node.allocatable[NVIDIA_GPU] = dice_below(dice, 9);
        break;
    case 2: /* the device plugin is removed */
        node.capacity[NVIDIA_GPU] = node.allocatable[NVIDIA_GPU] = PLAIN_ABSENT;
        break;
    case 3:
        node.unschedulable = !node.unschedulable;
        break;
    case 4:
        node.ready = !node.ready;
        break;
    default:
        break;
    }
    twin_put_node(life->twin, i, &node);
}

/* Advances an existing pod: bound, moved, resized, terminating, finished; or nothing. */
static void change_pod(const struct life *life)
{
    struct dice *dice = life->dice;
    const size_t i = any_pod(life);
    struct plain_pod pod = life->twin->plain.pods[i];
    if (!life->twin->plain.pod_there[i])
        return;
    switch (dice_below(dice, 8)) {
    case 0:
        pod.node = (int64_t)any_node(life);
        break;
    case 1:
        pod.shape.demand[CPU] = random_amount(dice);
        break;
    case 2:
        pod.terminating = 1;
        break;
    case 3:
        pod.finished = !pod.finished;
        break;
    case 4:
        pod.refusal = dice_below(dice, PLAIN_REFUSALS);
        break;
    case 5: /* many pods share a shape */
        pod.shape = life->twin->plain.pods[any_pod(life)].shape;
        break;
    case 6:
        pod.nominated = random_place(life);
        break;
    default:
        break;
    }
    twin_put_pod(life->twin, i, &pod);
}

static void remove_any_node(const struct life *life)
{
    twin_remove_node(life->twin, any_node(life));
}

static void remove_any_pod(const struct life *life)
{
    twin_remove_pod(life->twin, any_pod(life));
}

/* Reserves for any pod, on any node. Its facts are often exact, sometimes behind or ahead. */
static void reserve_for_any(const struct life *life)
{
    const size_t i = any_pod(life);
    const size_t node = any_node(life);
    struct plain_pod facts = random_pod(life, i);
    const bool has_facts = dice_one_in(life->dice, 3);
    if (dice_one_in(life->dice, 2))
        facts.node = PLAIN_NOWHERE;
    twin_reserve(life->twin, i, node, has_facts ? &facts : NULL);
}

/* The next pod with a reservation, starting anywhere; n_pods: none. */
static size_t any_held(const struct life *life)
{
    const size_t first = any_pod(life);
    for (size_t n = 0; n < life->n_pods; n++) {
        const size_t i = (first + n) % life->n_pods;
        if (life->twin->plain.holds[i].there)
            return i;
    }
    return life->n_pods;
}

static void release_any(const struct life *life)
{
    const size_t i = dice_one_in(life->dice, 4) ? any_pod(life) : any_held(life);
    if (i < life->n_pods && life->twin->serials[i] > 0)
        twin_release(life->twin, i, !dice_one_in(life->dice, 4));
}

/* The watch shows the pod on the requested node, or on another. */
static void confirm_any(const struct life *life)
{
    const size_t i = any_held(life);
    if (i == life->n_pods)
        return;
    const struct plain_hold *hold = &life->twin->plain.holds[i];
    struct plain_pod pod = life->twin->plain.pods[i];
    if (!life->twin->plain.pod_there[i])
        pod = random_pod(life, i);
    pod.shape = hold->shape;
    pod.name = hold->name;
    pod.node = dice_one_in(life->dice, 8) ? (int64_t)any_node(life) : hold->node;
    twin_put_pod(life->twin, i, &pod);
}

/* Reserves again on the node of the reservation. */
static void reserve_again(const struct life *life)
{
    const size_t i = any_held(life);
    if (i < life->n_pods)
        twin_reserve(life->twin, i, (size_t)life->twin->plain.holds[i].node, NULL);
}

/* A list: most objects, slightly changed, in any order; missing ones must be deleted. */
static void list_pods(const struct life *life)
{
    twin_begin(life->twin, CLUSTER_PODS);
    for (size_t i = 0; i < life->n_pods; i++) {
        const struct plain_pod pod = life->twin->plain.pods[i];
        if (dice_one_in(life->dice, 12))
            twin_keep_pod(life->twin, i);
        else if (life->twin->plain.pod_there[i] && !dice_one_in(life->dice, 8))
            twin_put_pod(life->twin, i, &pod);
        else if (dice_one_in(life->dice, 8))
            change_pod(life);
    }
    if (!dice_one_in(life->dice, 4)) /* else it was interrupted */
        twin_end(life->twin, CLUSTER_PODS);
}

static void list_nodes(const struct life *life)
{
    twin_begin(life->twin, CLUSTER_NODES);
    for (size_t i = life->n_nodes; i-- > 0;) {
        const struct plain_node node = life->twin->plain.nodes[i];
        if (dice_one_in(life->dice, 12))
            twin_keep_node(life->twin, i);
        else if (life->twin->plain.node_there[i] && !dice_one_in(life->dice, 8))
            twin_put_node(life->twin, i, &node);
        else if (dice_one_in(life->dice, 8))
            change_node(life);
    }
    if (!dice_one_in(life->dice, 4))
        twin_end(life->twin, CLUSTER_NODES);
}

/* Out of order: an end without a begin must delete nothing. */
static void end_any_list(const struct life *life)
{
    twin_end(life->twin, dice_one_in(life->dice, 2) ? CLUSTER_PODS : CLUSTER_NODES);
}

static void place_on_a_fork(const struct life *life)
{
    struct plain_shape shape = random_shape(life->dice);
    shape.demand[PODS] = 1;
    twin_place(life->twin, &shape, dice_below(life->dice, 5));
}

static void drop_the_fork(const struct life *life)
{
    twin_drop_fork(life->twin);
}

typedef void event_function(const struct life *life);

static const struct event_row {
    unsigned weight;
    event_function *act;
} EVENTS[] = {
    {120, put_any_pod},   {60, put_any_node},    {120, change_pod},   {80, change_node},
    {60, remove_any_pod}, {20, remove_any_node}, {4, list_pods},      {6, list_nodes},
    {2, end_any_list},    {10, place_on_a_fork}, {15, drop_the_fork}, {120, reserve_for_any},
    {10, reserve_again},  {20, release_any},     {30, confirm_any},
};

static void any_event(const struct life *life)
{
    unsigned sum = 0;
    for (size_t i = 0; i < sizeof EVENTS / sizeof *EVENTS; i++)
        sum += EVENTS[i].weight;
    unsigned at = dice_below(life->dice, sum);
    size_t i = 0;
    while (at >= EVENTS[i].weight)
        at -= EVENTS[i++].weight;
    EVENTS[i].act(life);
}

/* Lives. */

static void remove_all(const struct life *life)
{
    const bool pods_first = dice_one_in(life->dice, 2);
    for (size_t i = 0; pods_first && i < PLAIN_PODS; i++)
        twin_remove_pod(life->twin, i);
    for (size_t i = 0; i < PLAIN_NODES; i++)
        twin_remove_node(life->twin, i);
    for (size_t i = 0; !pods_first && i < PLAIN_PODS; i++)
        twin_remove_pod(life->twin, i);
}

static void list_nothing(const struct life *life)
{
    twin_begin(life->twin, CLUSTER_PODS);
    twin_end(life->twin, CLUSTER_PODS);
    twin_begin(life->twin, CLUSTER_NODES);
    twin_end(life->twin, CLUSTER_NODES);
    for (size_t i = 0; i < PLAIN_PODS; i++) /* also of pods that the ledger never had */
        twin_release(life->twin, i, true);
}

/* From an empty ledger to an empty one, or to one that is freed as it is. */
static void live(struct twin *twin, struct dice *dice, const struct policy *policy, uint64_t end)
{
    struct life life = {.twin = twin, .dice = dice};
    life.n_nodes = 1 + dice_below(dice, PLAIN_NODES);
    life.n_pods = 1 + dice_below(dice, PLAIN_PODS);
    twin_init(twin, policy);
    while (twin->n_events < end)
        any_event(&life);
    const unsigned way = dice_below(dice, 3);
    if (way == 0)
        remove_all(&life);
    if (way == 1)
        list_nothing(&life);
    if (way != 2)
        twin_check_empty(twin);
    twin_fini(twin);
}

static uint64_t number_from(const char *variable, uint64_t otherwise)
{
    const char *text = getenv(variable);
    return text && *text ? strtoull(text, NULL, 10) : otherwise;
}

static void test_the_ledger_is_what_the_model_says(void **state)
{
    (void)state;
    const uint64_t n_events = number_from("LEDGER_EVENTS", DEFAULT_EVENTS);
    struct policy policy;
    static struct twin twin;
    twin.seed = number_from("LEDGER_SEED", DEFAULT_SEED);
    struct dice dice = {twin.seed};
    print_message("LEDGER_SEED=%" PRIu64 " LEDGER_EVENTS=%" PRIu64 "\n", twin.seed, n_events);
    policy_init(&policy);
    while (twin.n_events < n_events) {
        uint64_t left = n_events - twin.n_events;
        uint64_t more = left < EVENTS_OF_A_LIFE ? left : EVENTS_OF_A_LIFE;
        live(&twin, &dice, &policy, twin.n_events + more);
    }
    policy_fini(&policy);
    assert_true(twin.n_events >= n_events);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_the_ledger_is_what_the_model_says)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
