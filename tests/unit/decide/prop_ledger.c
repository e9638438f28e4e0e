/*
 * prop_ledger: a million random events, applied to the ledger and to a model too simple to be wrong
 * (oracle.c). After each event the ledger must equal the model (oracle_harness.c).
 *
 * LEDGER_EVENTS: number of events. LEDGER_SEED: seed of the dice.
 */
#include "base/mem.h"
#include "dice.h"
#include "oracle_facts.h"
#include "oracle_harness.h"
#include "unit.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_EVENTS 1000000
#define DEFAULT_SEED 20171115
#define EVENTS_OF_A_LIFE 20000
#define MAX_SLICED 4
#define N_POLICIES 2

/* Of all pods. It refuses none. */
static const char *const NAMESPACES[] = {"default"};
static const struct quota_limit LIMITS[] = {{.gpus = INT64_MAX},
                                            {.model = "H100", .gpus = INT64_MAX}};
static const struct quota QUOTA = {
    .name = "all", .namespaces = NAMESPACES, .n_namespaces = 1, .limits = LIMITS, .n_limits = 2};

static const struct quota_limit OTHER_LIMITS[] = {{.model = "A100", .gpus = INT64_MAX},
                                                  {.model = "K80", .gpus = INT64_MAX}};
static const struct quota OTHER_QUOTA = {
    .name = "other", .has_selector = true, .limits = OTHER_LIMITS, .n_limits = 2};

/* Each life of the ledger has its own number of nodes and pods. */
struct life {
    struct oracle_harness *harness;
    struct dice *dice;
    unsigned n_nodes;
    unsigned n_sliced; /* the first nodes, which may have slices */
    unsigned n_pods;
    const struct policy *policies; /* N_POLICIES */
};

static size_t any_node(const struct life *life)
{
    return dice_below(life->dice, life->n_nodes);
}

static size_t any_sliced(const struct life *life)
{
    return dice_below(life->dice, life->n_sliced);
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
        return ORACLE_ABSENT;
    if (dice_one_in(dice, 50))
        return -(int64_t)dice_below(dice, 3);
    return dice_one_in(dice, 40) ? INT64_MAX - dice_below(dice, 2) : dice_below(dice, 17);
}

/* A node may report both lists, or either alone. */
static void random_rooms(struct dice *dice, struct oracle_node *node)
{
    const unsigned way = dice_below(dice, 6);
    for (size_t r = 0; r < N_ORACLE_RESOURCES; r++) {
        node->capacity[r] = way == 1 ? ORACLE_ABSENT : random_room(dice);
        node->allocatable[r] = node->capacity[r];
        if (way == 0)
            node->allocatable[r] = ORACLE_ABSENT;
        else if (way <= 2)
            node->allocatable[r] = random_room(dice);
    }
}

static struct oracle_node random_node(struct dice *dice)
{
    struct oracle_node node;
    node.model = dice_below(dice, ORACLE_MODELS);
    node.zone = dice_below(dice, ORACLE_ZONES);
    node.n_taints = dice_one_in(dice, 3) ? dice_below(dice, ORACLE_TAINTS) : 0;
    node.unschedulable = dice_one_in(dice, 8);
    node.ready = !dice_one_in(dice, 8);
    random_rooms(dice, &node);
    return node;
}

static struct oracle_shape random_shape(struct dice *dice)
{
    struct oracle_shape shape;
    shape.n_tolerations = dice_one_in(dice, 3) ? dice_below(dice, ORACLE_TOLERATIONS) : 0;
    shape.zone = dice_one_in(dice, 4) ? dice_below(dice, ORACLE_ZONES) : 0;
    for (size_t r = 0; r < N_ORACLE_RESOURCES; r++)
        shape.demand[r] = dice_one_in(dice, 3) ? random_amount(dice) : 0;
    if (!dice_one_in(dice, 20))
        shape.demand[PODS] = 1;
    return shape;
}

/* The name of any node, present or not; often none. */
static int64_t random_place(const struct life *life)
{
    return dice_one_in(life->dice, 4) ? ORACLE_NOWHERE : (int64_t)any_node(life);
}

/* Mostly its own name; else another pod's, which it replaces. */
static int64_t random_name(const struct life *life, size_t i)
{
    return dice_one_in(life->dice, 10) ? (int64_t)any_pod(life) : (int64_t)i;
}

static struct oracle_pod random_pod(const struct life *life, size_t i)
{
    struct dice *dice = life->dice;
    struct oracle_pod pod;
    pod.shape = random_shape(dice);
    pod.node = random_place(life);
    pod.name = random_name(life, i);
    pod.nominated = dice_one_in(dice, 3) ? random_place(life) : ORACLE_NOWHERE;
    pod.refusal = dice_one_in(dice, 10) ? dice_below(dice, ORACLE_REFUSALS) : 0;
    pod.finished = dice_one_in(dice, 8);
    pod.terminating = dice_one_in(dice, 8);
    pod.gated = dice_one_in(dice, 8);
    pod.owner = dice_below(dice, ORACLE_OWNERS);
    pod.priority = dice_below(dice, 3);
    pod.claim = dice_one_in(dice, 3) ? 1 + dice_below(dice, ORACLE_CLAIMS) : 0;
    return pod;
}

/* Events. */

static void put_any_node(const struct life *life)
{
    const struct oracle_node node = random_node(life->dice);
    oracle_harness_put_node(life->harness, any_node(life), &node);
}

static void put_any_pod(const struct life *life)
{
    const size_t i = any_pod(life);
    const struct oracle_pod pod = random_pod(life, i);
    oracle_harness_put_pod(life->harness, i, &pod);
}

/* Slightly changes an existing node: labels, count, cordon, condition; or nothing. */
static void change_node(const struct life *life)
{
    struct dice *dice = life->dice;
    const size_t i = any_node(life);
    struct oracle_node node = life->harness->oracle.nodes[i];
    if (!life->harness->oracle.node_there[i])
        return;
    switch (dice_below(dice, 6)) {
    case 0:
        node.model = dice_below(dice, ORACLE_MODELS);
        break;
    case 1: /* it shrinks or grows */
        node.capacity[NVIDIA_GPU] = node.allocatable[NVIDIA_GPU] = dice_below(dice, 9);
        break;
    case 2: /* the device plugin is removed */
        node.capacity[NVIDIA_GPU] = node.allocatable[NVIDIA_GPU] = ORACLE_ABSENT;
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
    oracle_harness_put_node(life->harness, i, &node);
}

/* 1 + a claim that says that it is of the pod, if there is one; else 0. */
static int64_t claim_of(const struct life *life, size_t pod)
{
    const size_t first = dice_below(life->dice, ORACLE_CLAIMS);
    for (size_t n = 0; n < ORACLE_CLAIMS; n++) {
        const size_t i = (first + n) % ORACLE_CLAIMS;
        if (life->harness->oracle.claims[i].pod == (int64_t)pod + 1)
            return 1 + (int64_t)i;
    }
    return 0;
}

/* Advances an existing pod: bound, moved, resized, terminating, finished; or nothing. */
static void change_pod(const struct life *life)
{
    struct dice *dice = life->dice;
    const size_t i = any_pod(life);
    struct oracle_pod pod = life->harness->oracle.pods[i];
    if (!life->harness->oracle.pod_there[i])
        return;
    switch (dice_below(dice, 9)) {
    case 7:
        pod.claim = claim_of(life, i);
        break;
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
        pod.refusal = dice_below(dice, ORACLE_REFUSALS);
        break;
    case 5: /* many pods share a shape */
        pod.shape = life->harness->oracle.pods[any_pod(life)].shape;
        break;
    case 6:
        pod.nominated = random_place(life);
        break;
    default:
        break;
    }
    oracle_harness_put_pod(life->harness, i, &pod);
}

static void remove_any_node(const struct life *life)
{
    oracle_harness_remove_node(life->harness, any_node(life));
}

static void remove_any_pod(const struct life *life)
{
    oracle_harness_remove_pod(life->harness, any_pod(life));
}

/* Reserves for any pod, on any node. Its facts are often exact, sometimes behind or ahead. */
static void reserve_for_any(const struct life *life)
{
    const size_t i = any_pod(life);
    const size_t node = any_node(life);
    struct oracle_pod facts = random_pod(life, i);
    const bool has_facts = dice_one_in(life->dice, 3);
    if (dice_one_in(life->dice, 2))
        facts.node = ORACLE_NOWHERE;
    oracle_harness_reserve(life->harness, i, node, has_facts ? &facts : NULL);
}

/* The next pod with a reservation, starting anywhere; n_pods: none. */
static size_t any_held(const struct life *life)
{
    const size_t first = any_pod(life);
    for (size_t n = 0; n < life->n_pods; n++) {
        const size_t i = (first + n) % life->n_pods;
        if (life->harness->oracle.holds[i].there)
            return i;
    }
    return life->n_pods;
}

static void release_any(const struct life *life)
{
    const size_t i = dice_one_in(life->dice, 4) ? any_pod(life) : any_held(life);
    if (i < life->n_pods && life->harness->serials[i] > 0)
        oracle_harness_release(life->harness, i, !dice_one_in(life->dice, 4));
}

/* The watch shows the pod on the requested node, or on another. */
static void confirm_any(const struct life *life)
{
    const size_t i = any_held(life);
    if (i == life->n_pods)
        return;
    const struct oracle_hold *hold = &life->harness->oracle.holds[i];
    struct oracle_pod pod = life->harness->oracle.pods[i];
    if (!life->harness->oracle.pod_there[i])
        pod = random_pod(life, i);
    pod.shape = hold->shape;
    pod.name = hold->name;
    pod.node = dice_one_in(life->dice, 8) ? (int64_t)any_node(life) : hold->node;
    oracle_harness_put_pod(life->harness, i, &pod);
}

/* Reserves again on the node of the reservation. */
static void reserve_again(const struct life *life)
{
    const size_t i = any_held(life);
    if (i < life->n_pods)
        oracle_harness_reserve(life->harness, i, (size_t)life->harness->oracle.holds[i].node, NULL);
}

/* A list: most objects, slightly changed, in any order; missing ones must be deleted. */
static void list_pods(const struct life *life)
{
    oracle_harness_begin(life->harness, CLUSTER_PODS);
    for (size_t i = 0; i < life->n_pods; i++) {
        const struct oracle_pod pod = life->harness->oracle.pods[i];
        if (dice_one_in(life->dice, 12))
            oracle_harness_keep_pod(life->harness, i);
        else if (life->harness->oracle.pod_there[i] && !dice_one_in(life->dice, 8))
            oracle_harness_put_pod(life->harness, i, &pod);
        else if (dice_one_in(life->dice, 8))
            change_pod(life);
    }
    if (!dice_one_in(life->dice, 4)) /* else it was interrupted */
        oracle_harness_end(life->harness, CLUSTER_PODS);
}

static void list_nodes(const struct life *life)
{
    oracle_harness_begin(life->harness, CLUSTER_NODES);
    for (size_t i = life->n_nodes; i-- > 0;) {
        const struct oracle_node node = life->harness->oracle.nodes[i];
        if (dice_one_in(life->dice, 12))
            oracle_harness_keep_node(life->harness, i);
        else if (life->harness->oracle.node_there[i] && !dice_one_in(life->dice, 8))
            oracle_harness_put_node(life->harness, i, &node);
        else if (dice_one_in(life->dice, 8))
            change_node(life);
    }
    if (!dice_one_in(life->dice, 4))
        oracle_harness_end(life->harness, CLUSTER_NODES);
}

/* Slices and claims. */

static struct oracle_slice random_slice(struct dice *dice)
{
    struct oracle_slice slice = {.there = 1};
    slice.n_devices = dice_below(dice, ORACLE_DEVICES + 1);
    for (int64_t i = 0; i < slice.n_devices; i++) {
        slice.models[i] = dice_below(dice, ORACLE_DEVICE_MODELS);
        slice.tainted[i] = dice_one_in(dice, 6);
    }
    return slice;
}

static struct oracle_claim random_claim(const struct life *life)
{
    struct dice *dice = life->dice;
    struct oracle_claim claim = {.there = 1};
    claim.n_results = dice_below(dice, ORACLE_RESULTS + 1);
    claim.pod = dice_one_in(dice, 4) ? 0 : 1 + (int64_t)any_pod(life);
    claim.holder = dice_one_in(dice, 4) ? 0 : 1 + (int64_t)any_pod(life);
    for (int64_t i = 0; i < claim.n_results; i++) {
        struct oracle_claimed_device *used = &claim.results[i];
        used->node = (int64_t)any_sliced(life);
        used->driver = dice_below(dice, N_ORACLE_DRIVERS);
        used->device = dice_below(dice, ORACLE_DEVICES);
        used->is_admin = dice_one_in(dice, 6);
    }
    return claim;
}

static void put_any_slice(const struct life *life)
{
    const struct oracle_slice slice = random_slice(life->dice);
    const size_t node = any_sliced(life);
    oracle_harness_put_slice(life->harness, node, dice_below(life->dice, N_ORACLE_DRIVERS), &slice);
}

static void remove_any_slice(const struct life *life)
{
    const size_t node = any_sliced(life);
    oracle_harness_remove_slice(life->harness, node, dice_below(life->dice, N_ORACLE_DRIVERS));
}

static void put_any_claim(const struct life *life)
{
    const struct oracle_claim claim = random_claim(life);
    oracle_harness_put_claim(life->harness, dice_below(life->dice, ORACLE_CLAIMS), &claim);
}

static void remove_any_claim(const struct life *life)
{
    oracle_harness_remove_claim(life->harness, dice_below(life->dice, ORACLE_CLAIMS));
}

static void list_slice(const struct life *life, size_t node, size_t driver)
{
    struct oracle_harness *harness = life->harness;
    struct oracle_slice slice = harness->oracle.slices[node][driver];
    const bool there = slice.there;
    slice.unreadable = 0;
    if (dice_one_in(life->dice, 8))
        slice = random_slice(life->dice);
    if (dice_one_in(life->dice, 12))
        oracle_harness_keep_slice(harness, node, driver);
    else if (there && !dice_one_in(life->dice, 8))
        oracle_harness_put_slice(harness, node, driver, &slice);
}

static void list_slices(const struct life *life)
{
    oracle_harness_begin(life->harness, CLUSTER_SLICES);
    for (size_t node = life->n_sliced; node-- > 0;) {
        for (size_t driver = 0; driver < N_ORACLE_DRIVERS; driver++)
            list_slice(life, node, driver);
    }
    if (!dice_one_in(life->dice, 4))
        oracle_harness_end(life->harness, CLUSTER_SLICES);
}

static void list_claims(const struct life *life)
{
    oracle_harness_begin(life->harness, CLUSTER_CLAIMS);
    for (size_t i = 0; i < ORACLE_CLAIMS; i++) {
        struct oracle_claim claim = life->harness->oracle.claims[i];
        if (!claim.there || dice_one_in(life->dice, 8))
            continue;
        if (dice_one_in(life->dice, 8))
            claim = random_claim(life);
        if (dice_one_in(life->dice, 8))
            oracle_harness_keep_claim(life->harness, i);
        else
            oracle_harness_put_claim(life->harness, i, &claim);
    }
    if (!dice_one_in(life->dice, 4))
        oracle_harness_end(life->harness, CLUSTER_CLAIMS);
}

/* Device classes. */

/* Often none. */
static int64_t random_driver(struct dice *dice)
{
    return dice_one_in(dice, 2) ? dice_below(dice, 1 + ORACLE_NO_GPUS) : 0;
}

/* They map GPU resources, or nothing. */
static struct oracle_class random_class(struct dice *dice)
{
    static const int64_t MAPPED[] = {0, 1 + AMD_GPU, 1 + NVIDIA_GPU, 1 + NVIDIA_GPU, 1 + MIG};
    const int64_t resource = MAPPED[dice_below(dice, 5)];
    return (struct oracle_class){.there = 1, .resource = resource, .driver = random_driver(dice)};
}

static void put_any_class(const struct life *life)
{
    const struct oracle_class class = random_class(life->dice);
    oracle_harness_put_class(life->harness, dice_below(life->dice, ORACLE_CLASSES), &class);
}

static void remove_any_class(const struct life *life)
{
    oracle_harness_remove_class(life->harness, dice_below(life->dice, ORACLE_CLASSES));
}

static void list_classes(const struct life *life)
{
    oracle_harness_begin(life->harness, CLUSTER_DEVICE_CLASSES);
    for (size_t i = 0; i < ORACLE_CLASSES; i++) {
        struct oracle_class class = life->harness->oracle.classes[i];
        if (!class.there || dice_one_in(life->dice, 4))
            continue;
        if (dice_one_in(life->dice, 4))
            class = random_class(life->dice);
        oracle_harness_put_class(life->harness, i, &class);
    }
    if (!dice_one_in(life->dice, 4))
        oracle_harness_end(life->harness, CLUSTER_DEVICE_CLASSES);
}

/* Claim templates. */

static struct oracle_template random_template(struct dice *dice)
{
    struct oracle_template template = {.there = 1};
    template.n_wants = dice_below(dice, ORACLE_WANTS + 1);
    for (int64_t i = 0; i < template.n_wants; i++) {
        struct oracle_want *want = &template.wants[i];
        want->class = dice_below(dice, ORACLE_CLASSES);
        want->driver = random_driver(dice);
        want->n_devices = 1 + (int64_t)dice_below(dice, 8);
        if (dice_one_in(dice, 10))
            want->n_devices = CLAIM_DEVICES_MAX;
    }
    return template;
}

static size_t any_template(const struct life *life)
{
    return dice_below(life->dice, ORACLE_TEMPLATES);
}

static void put_any_template(const struct life *life)
{
    const struct oracle_template template = random_template(life->dice);
    oracle_harness_put_template(life->harness, any_template(life), &template);
}

/* One member of one want; or nothing. */
static void change_template(const struct life *life)
{
    struct dice *dice = life->dice;
    const size_t i = any_template(life);
    struct oracle_template template = life->harness->oracle.templates[i];
    if (template.n_wants == 0)
        return;
    struct oracle_want *want = &template.wants[dice_below(dice, (unsigned)template.n_wants)];
    switch (dice_below(dice, 4)) {
    case 0:
        want->class = dice_below(dice, ORACLE_CLASSES);
        break;
    case 1:
        want->driver = random_driver(dice);
        break;
    case 2:
        want->n_devices++;
        break;
    default:
        break;
    }
    oracle_harness_put_template(life->harness, i, &template);
}

static void remove_any_template(const struct life *life)
{
    oracle_harness_remove_template(life->harness, any_template(life));
}

static void list_templates(const struct life *life)
{
    oracle_harness_begin(life->harness, CLUSTER_CLAIM_TEMPLATES);
    for (size_t i = 0; i < ORACLE_TEMPLATES; i++) {
        struct oracle_template template = life->harness->oracle.templates[i];
        if (!template.there || dice_one_in(life->dice, 4))
            continue;
        if (dice_one_in(life->dice, 8))
            template = random_template(life->dice);
        if (dice_one_in(life->dice, 8))
            oracle_harness_keep_template(life->harness, i);
        else
            oracle_harness_put_template(life->harness, i, &template);
    }
    if (!dice_one_in(life->dice, 4))
        oracle_harness_end(life->harness, CLUSTER_CLAIM_TEMPLATES);
}

/* Out of order: an end without a begin must delete nothing. */
static void end_any_list(const struct life *life)
{
    static const enum cluster_kind KINDS[] = {CLUSTER_PODS, CLUSTER_NODES, CLUSTER_SLICES,
                                              CLUSTER_CLAIMS, CLUSTER_CLAIM_TEMPLATES};
    oracle_harness_end(life->harness, KINDS[dice_below(life->dice, 5)]);
}

static void place_on_a_fork(const struct life *life)
{
    struct oracle_shape shape = random_shape(life->dice);
    shape.demand[PODS] = 1;
    oracle_harness_place(life->harness, &shape, dice_below(life->dice, 5));
}

static void fork_some(const struct life *life)
{
    oracle_harness_fork_some(life->harness);
}

static void drop_the_fork(const struct life *life)
{
    oracle_harness_drop_fork(life->harness);
}

static void take_any_policy(const struct life *life)
{
    const struct policy *policy = &life->policies[dice_below(life->dice, N_POLICIES)];
    oracle_harness_take_policy(life->harness, policy, 1 + dice_below(life->dice, 12));
}

typedef void event_function(const struct life *life);

static const struct event_row {
    unsigned weight;
    event_function *act;
} EVENTS[] = {
    {120, put_any_pod},    {60, put_any_node},     {120, change_pod},      {80, change_node},
    {60, remove_any_pod},  {20, remove_any_node},  {4, list_pods},         {6, list_nodes},
    {2, end_any_list},     {10, place_on_a_fork},  {15, drop_the_fork},    {120, reserve_for_any},
    {10, reserve_again},   {20, release_any},      {30, confirm_any},      {30, put_any_slice},
    {8, remove_any_slice}, {40, put_any_claim},    {15, remove_any_claim}, {3, list_slices},
    {3, list_claims},      {12, put_any_class},    {8, remove_any_class},  {2, list_classes},
    {2, take_any_policy},  {25, put_any_template}, {20, change_template},  {8, remove_any_template},
    {3, list_templates},   {60, fork_some},
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
    for (size_t i = 0; pods_first && i < ORACLE_PODS; i++)
        oracle_harness_remove_pod(life->harness, i);
    for (size_t i = 0; i < ORACLE_NODES; i++)
        oracle_harness_remove_node(life->harness, i);
    for (size_t i = 0; !pods_first && i < ORACLE_PODS; i++)
        oracle_harness_remove_pod(life->harness, i);
    for (size_t i = 0; i < ORACLE_NODES; i++) {
        for (size_t driver = 0; driver < N_ORACLE_DRIVERS; driver++)
            oracle_harness_remove_slice(life->harness, i, driver);
    }
    for (size_t i = 0; i < ORACLE_CLAIMS; i++)
        oracle_harness_remove_claim(life->harness, i);
    for (size_t i = 0; i < ORACLE_CLASSES; i++)
        oracle_harness_remove_class(life->harness, i);
    for (size_t i = 0; i < ORACLE_TEMPLATES; i++)
        oracle_harness_remove_template(life->harness, i);
}

static void list_nothing(const struct life *life)
{
    oracle_harness_begin(life->harness, CLUSTER_PODS);
    oracle_harness_end(life->harness, CLUSTER_PODS);
    oracle_harness_begin(life->harness, CLUSTER_NODES);
    oracle_harness_end(life->harness, CLUSTER_NODES);
    oracle_harness_begin(life->harness, CLUSTER_SLICES);
    oracle_harness_end(life->harness, CLUSTER_SLICES);
    oracle_harness_begin(life->harness, CLUSTER_CLAIMS);
    oracle_harness_end(life->harness, CLUSTER_CLAIMS);
    oracle_harness_begin(life->harness, CLUSTER_DEVICE_CLASSES);
    oracle_harness_end(life->harness, CLUSTER_DEVICE_CLASSES);
    oracle_harness_begin(life->harness, CLUSTER_CLAIM_TEMPLATES);
    oracle_harness_end(life->harness, CLUSTER_CLAIM_TEMPLATES);
    for (size_t i = 0; i < ORACLE_PODS; i++) /* also of pods that the ledger never had */
        oracle_harness_release(life->harness, i, true);
}

/* From an empty ledger to an empty one, or to one that is freed as it is. */
static void live(struct oracle_harness *harness, struct dice *dice, const struct policy *policies,
                 uint64_t end)
{
    struct life life = {.harness = harness, .dice = dice, .policies = policies};
    life.n_nodes = 1 + dice_below(dice, ORACLE_NODES);
    life.n_sliced = 1 + dice_below(dice, MAX_SLICED);
    life.n_pods = 1 + dice_below(dice, ORACLE_PODS);
    oracle_harness_init(harness, &policies[0]);
    while (harness->n_events < end)
        any_event(&life);
    const unsigned way = dice_below(dice, 3);
    if (way == 0)
        remove_all(&life);
    if (way == 1)
        list_nothing(&life);
    if (way != 2)
        oracle_harness_check_empty(harness);
    oracle_harness_fini(harness);
}

/* The self-check after each event compares the domains. */
static void set_levels(struct policy *policy, const char *outer, const char *inner)
{
    policy->topology_levels = MEM_ARRAY(char *, 2);
    policy->topology_levels[0] = mem_strdup(outer);
    policy->topology_levels[1] = mem_strdup(inner);
    policy->n_topology_levels = 2;
}

static void test_the_ledger_equals_the_oracle(void **state)
{
    (void)state;
    const uint64_t n_events = dice_number_from("LEDGER_EVENTS", DEFAULT_EVENTS);
    struct policy policies[N_POLICIES];
    static struct oracle_harness harness;
    harness.seed = dice_number_from("LEDGER_SEED", DEFAULT_SEED);
    struct dice dice = {harness.seed};
    print_message("LEDGER_SEED=%" PRIu64 " LEDGER_EVENTS=%" PRIu64 "\n", harness.seed, n_events);
    for (size_t i = 0; i < N_POLICIES; i++)
        policy_init(&policies[i]);
    for (size_t i = 0; i < N_POLICIES; i++)
        assert_int_equal(policy_add_quota(&policies[i], &QUOTA, NULL), 0);
    assert_int_equal(policy_add_quota(&policies[1], &OTHER_QUOTA, NULL), 0);
    set_levels(&policies[0], "zone", "accelerator");
    set_levels(&policies[1], "accelerator", "zone");
    while (harness.n_events < n_events) {
        uint64_t left = n_events - harness.n_events;
        uint64_t more = left < EVENTS_OF_A_LIFE ? left : EVENTS_OF_A_LIFE;
        live(&harness, &dice, policies, harness.n_events + more);
    }
    for (size_t i = 0; i < N_POLICIES; i++)
        policy_fini(&policies[i]);
    assert_true(harness.n_events >= n_events);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_the_ledger_equals_the_oracle)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
