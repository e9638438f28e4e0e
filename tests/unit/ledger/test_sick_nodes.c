/* sick_nodes: which evidence puts a node in quarantine, for how long, and what it never does. */
#include "base/mem.h"
#include "dice.h"
#include "ledger/sick_nodes.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MINUTE INT64_C(60000)
#define SETTLE_MS (5 * MINUTE)
#define N_NODES 40
/* Nodes come before, and have not changed for long enough at this time. */
#define BEGIN (20 * MINUTE)

struct world {
    struct policy policy;
    struct sick_nodes *sick;
    struct node_mark marks[N_NODES];
    struct sick_node_facts facts[N_NODES];
    char names[N_NODES][8];
    int64_t now;
    unsigned n_pods;
};

static void marked(void *context, const char *node, const struct node_mark *mark)
{
    struct world *world = context;
    const size_t i = strtoul(&node[1], NULL, 10);
    world->marks[i] = mark ? *mark : (struct node_mark){0};
}

static void put(struct world *world, size_t i)
{
    sick_nodes_node(world->sick, &world->facts[i], world->now);
}

static int set_up(void **state)
{
    struct world *world = MEM_NEW(struct world);
    policy_init(&world->policy);
    world->sick = sick_nodes_new(&world->policy, marked, world);
    for (size_t i = 0; i < N_NODES; i++) {
        (void)snprintf(world->names[i], sizeof world->names[i], "n%zu", i);
        world->facts[i] = (struct sick_node_facts){.name = world->names[i],
                                                   .model = "H100",
                                                   .has_gpus = true,
                                                   .is_ready = true,
                                                   .boot_id = 1,
                                                   .allocatable = 8};
        put(world, i);
    }
    world->now = BEGIN;
    *state = world;
    return 0;
}

static int tear_down(void **state)
{
    struct world *world = *state;
    sick_nodes_free(world->sick);
    policy_fini(&world->policy);
    free(world);
    return 0;
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

static struct sick_shape shape_of(unsigned owner, unsigned namespace_)
{
    return (struct sick_shape){.owner = 100 + owner,
                               .namespace_ = namespace_,
                               .qos = QOS_GUARANTEED,
                               .gpus = 1,
                               .milli_cores = 1000,
                               .memory_bytes = 1000};
}

struct loss {
    struct sick_shape shape;
    size_t node;
    enum refusal refusal;
    bool names_node, had_no_room, is_foreign, has_run;
    int64_t after_ms; /* of the binding */
};

static void arrive(struct world *world, const char *uid, const struct loss *loss)
{
    sick_nodes_arrived(world->sick,
                       &(struct sick_arrival){.uid = uid,
                                              .node = world->names[loss->node],
                                              .shape = loss->shape,
                                              .was_waiting = !loss->names_node,
                                              .had_room = !loss->had_no_room},
                       world->now);
}

static void be_lost(struct world *world, const char *uid, const struct loss *loss)
{
    sick_nodes_failed(world->sick,
                      &(struct failed_pod_facts){.uid = uid,
                                                 .refusal = loss->refusal,
                                                 .has_run = loss->has_run,
                                                 .is_bound_by_us = !loss->is_foreign},
                      world->now);
    (void)sick_nodes_tick(world->sick, world->now);
}

/* A pod is bound and lost. */
static void lose(struct world *world, const struct loss *loss)
{
    char uid[16];
    (void)snprintf(uid, sizeof uid, "p%u", world->n_pods++);
    arrive(world, uid, loss);
    world->now += loss->after_ms;
    be_lost(world, uid, loss);
}

static void lose_on(struct world *world, size_t node, unsigned owner, unsigned namespace_)
{
    lose(world, &(struct loss){.node = node,
                               .shape = shape_of(owner, namespace_),
                               .refusal = REFUSAL_DEVICES});
}

static void make_sick(struct world *world, size_t node)
{
    lose_on(world, node, 1, 1);
    lose_on(world, node, 2, 1);
    lose_on(world, node, 3, 2);
}

static void wait_for(struct world *world, int64_t ms)
{
    world->now += ms;
    (void)sick_nodes_tick(world->sick, world->now);
}

static enum quarantine_state state_of(const struct world *world, size_t node)
{
    return world->marks[node].state;
}

static void start_pod(struct world *world, size_t node)
{
    sick_nodes_started(world->sick, "healthy", world->names[node], true);
    (void)sick_nodes_tick(world->sick, world->now);
}

static void test_owners_and_namespaces(void **state)
{
    struct world *world = *state;
    for (unsigned i = 0; i < 50; i++)
        lose_on(world, 0, 1, 1); /* one owner, many pods */
    for (unsigned i = 0; i < 50; i++)
        lose_on(world, 0, i, 1); /* one namespace, many owners */
    assert_int_equal(state_of(world, 0), QUARANTINE_NONE);
    lose_on(world, 0, 90, 2); /* hidden by no flood */
    assert_int_equal(state_of(world, 0), QUARANTINE_CLOSED);
    assert_int_equal(sick_nodes_n_marked(world->sick, REFUSAL_DEVICES), 1);
    lose_on(world, 1, 1, 1);
    lose_on(world, 1, 2, 2); /* two owners in two namespaces */
    assert_int_equal(state_of(world, 1), QUARANTINE_NONE);
}

/* The first tenant's evidence is not displaced by another's flood. */
static void test_flood_hides_nothing(void **state)
{
    struct world *world = *state;
    world->policy.quarantine.namespaces = 3;
    lose_on(world, 0, 1, 1);
    for (unsigned i = 0; i < 200; i++)
        lose_on(world, 0, 1000 + i, 2);
    assert_int_equal(state_of(world, 0), QUARANTINE_NONE);
    lose_on(world, 0, 2, 3);
    assert_int_equal(state_of(world, 0), QUARANTINE_CLOSED);
}

static void test_window(void **state)
{
    struct world *world = *state;
    lose_on(world, 0, 1, 1);
    lose_on(world, 0, 2, 1);
    wait_for(world, 10 * MINUTE);
    lose_on(world, 0, 3, 2);
    assert_int_equal(state_of(world, 0), QUARANTINE_NONE);
}

static void test_a_start_in_between(void **state)
{
    struct world *world = *state;
    lose_on(world, 0, 1, 1);
    lose_on(world, 0, 2, 1);
    start_pod(world, 0);
    lose_on(world, 0, 3, 2);
    assert_int_equal(state_of(world, 0), QUARANTINE_NONE);
}

/* As by a list after a watch has ended: they may be older than the start. */
static void test_failures_seen_after_a_start(void **state)
{
    static const char *const UIDS[] = {"a", "b", "c", "d", "e", "f"};
    struct world *world = *state;
    struct loss losses[6];
    for (unsigned i = 0; i < 6; i++) {
        losses[i] = (struct loss){.shape = shape_of(i, i % 2), .refusal = REFUSAL_DEVICES};
        if (i == 3)
            start_pod(world, 0);
        arrive(world, UIDS[i], &losses[i]);
    }
    for (unsigned i = 0; i < 6; i++) {
        assert_int_equal(state_of(world, 0), QUARANTINE_NONE);
        be_lost(world, UIDS[i], &losses[i]);
    }
    assert_int_equal(state_of(world, 0), QUARANTINE_CLOSED); /* by those that came after it */
}

static void test_no_evidence(void **state)
{
    static const struct loss LOSSES[] = {
        {.refusal = REFUSAL_OTHER},
        {.refusal = REFUSAL_DEVICES, .names_node = true},
        {.refusal = REFUSAL_GPUS, .had_no_room = true},
        {.refusal = REFUSAL_DEVICES, .is_foreign = true},
        {.refusal = REFUSAL_DEVICES, .has_run = true},
        {.refusal = REFUSAL_DEVICES, .after_ms = SICK_FAILS_MS + 1},
    };
    struct world *world = *state;
    for (size_t i = 0; i < sizeof LOSSES / sizeof *LOSSES; i++) {
        for (unsigned owner = 0; owner < 9; owner++) {
            struct loss loss = LOSSES[i];
            loss.node = i;
            loss.shape = shape_of(owner, owner);
            lose(world, &loss);
        }
        assert_int_equal(state_of(world, i), QUARANTINE_NONE);
    }
    struct arena *arena = arena_new();
    struct sick_refused *refused = NULL;
    assert_int_equal(sick_nodes_refused(world->sick, arena, &refused), 4);
    assert_string_equal(refused[1].node, "n1");
    assert_int_equal(refused[0].n[REFUSAL_OTHER], 9);
    assert_int_equal(refused[1].n[REFUSAL_DEVICES], 9);
    arena_free(arena);
}

/* A reboot, a kubelet restart (Ready, allocatable), and what comes soon after. */
static void test_changed_nodes(void **state)
{
    struct world *world = *state;
    for (size_t i = 0; i < 3; i++) {
        lose_on(world, i, 1, 1);
        lose_on(world, i, 2, 1);
        world->facts[i].boot_id += i == 0;
        world->facts[i].is_ready = i != 1;
        world->facts[i].allocatable += i == 2;
        put(world, i);
        wait_for(world, SETTLE_MS - 1);
        lose_on(world, i, 3, 2);
        lose_on(world, i, 4, 3);
        lose_on(world, i, 5, 4);
        assert_int_equal(state_of(world, i), QUARANTINE_NONE);
        wait_for(world, 1);
    }
    make_sick(world, 0);
    assert_int_equal(state_of(world, 0), QUARANTINE_CLOSED);
}

static void test_doubling_and_probation(void **state)
{
    static const int64_t MINUTES[] = {10, 20, 40, 60, 60};
    struct world *world = *state;
    make_sick(world, 0);
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(world->marks[0].until_ms - world->now, MINUTES[i] * MINUTE);
        wait_for(world, MINUTES[i] * MINUTE - 1);
        assert_int_equal(state_of(world, 0), QUARANTINE_CLOSED);
        wait_for(world, 1);
        assert_int_equal(state_of(world, 0), QUARANTINE_PROBATION);
        lose_on(world, 0, 7, 7); /* one pod decides */
        assert_int_equal(state_of(world, 0), QUARANTINE_CLOSED);
    }
    start_pod(world, 0); /* it ends the doubling, not the quarantine */
    assert_int_equal(state_of(world, 0), QUARANTINE_CLOSED);
    wait_for(world, 60 * MINUTE);
    start_pod(world, 0);
    assert_int_equal(state_of(world, 0), QUARANTINE_NONE);
    make_sick(world, 0);
    assert_int_equal(world->marks[0].until_ms - world->now, 10 * MINUTE);
}

static void test_one_pod_on_probation(void **state)
{
    struct world *world = *state;
    const struct sick_arrival trial = {.uid = "trial", .node = "n0", .was_waiting = true};
    make_sick(world, 0);
    wait_for(world, 10 * MINUTE);
    sick_nodes_arrived(world->sick, &trial, world->now);
    assert_int_equal(state_of(world, 0), QUARANTINE_TRIED);
    wait_for(world, SICK_FAILS_MS); /* its image is large */
    assert_int_equal(state_of(world, 0), QUARANTINE_PROBATION);
    sick_nodes_started(world->sick, "trial", "n0", true);
    assert_int_equal(state_of(world, 0), QUARANTINE_NONE);
}

static void test_what_lifts(void **state)
{
    struct world *world = *state;
    const uint64_t n_lifted = sick_nodes_n_lifted(world->sick);
    make_sick(world, 0);
    world->facts[0].allocatable++;
    put(world, 0);
    assert_int_equal(state_of(world, 0), QUARANTINE_NONE);
    wait_for(world, SETTLE_MS);
    make_sick(world, 0); /* the doubling goes on */
    assert_int_equal(world->marks[0].until_ms - world->now, 20 * MINUTE);
    world->facts[0].lifted = 7;
    put(world, 0);
    assert_int_equal(state_of(world, 0), QUARANTINE_NONE);
    assert_int_equal(sick_nodes_n_lifted(world->sick), n_lifted + 2);
    make_sick(world, 0);
    assert_int_equal(world->marks[0].until_ms - world->now, 10 * MINUTE);
    put(world, 0); /* the same annotation */
    assert_int_equal(state_of(world, 0), QUARANTINE_CLOSED);
}

/* 5 % of 40 nodes are two. */
static void test_cap(void **state)
{
    struct world *world = *state;
    make_sick(world, 0);
    make_sick(world, 1);
    make_sick(world, 2);
    assert_int_equal(state_of(world, 2), QUARANTINE_NONE);
    assert_true(world->marks[2].is_capped);
    world->facts[0].lifted = 1;
    put(world, 0);
    wait_for(world, 0);
    assert_int_equal(state_of(world, 2), QUARANTINE_CLOSED);
    make_sick(world, 3);
    assert_true(world->marks[3].is_capped);
    wait_for(world, 10 * MINUTE - 1);
    assert_true(world->marks[3].is_capped);
    wait_for(world, 1); /* its evidence is old */
    assert_false(world->marks[3].is_capped);
}

static void be_of_model(struct world *world, size_t i, const char *model)
{
    world->facts[i].model = model;
    put(world, i);
}

static void test_the_last_of_a_model(void **state)
{
    struct world *world = *state;
    be_of_model(world, 0, "A100");
    make_sick(world, 0);
    assert_true(world->marks[0].is_capped);
    assert_int_equal(state_of(world, 0), QUARANTINE_NONE);
    be_of_model(world, 1, "A100");
    wait_for(world, 0);
    assert_int_equal(state_of(world, 0), QUARANTINE_CLOSED); /* one node is allowed */
    world->facts[1].is_cordoned = true;
    put(world, 1);
    assert_int_equal(state_of(world, 0), QUARANTINE_NONE);
}

static void trap(struct world *world, size_t node, struct sick_shape shape)
{
    lose(world, &(struct loss){.node = node, .shape = shape, .refusal = REFUSAL_TOPOLOGY});
}

static bool is_trapped(const struct world *world, size_t node, struct sick_shape shape)
{
    return node_mark_traps(&world->marks[node], &shape);
}

static void test_shape_trap(void **state)
{
    struct world *world = *state;
    struct sick_shape large = shape_of(9, 9);
    large.gpus = 4;
    large.milli_cores = 64000;
    trap(world, 0, large);
    assert_int_equal(state_of(world, 0), QUARANTINE_NONE);
    assert_true(is_trapped(world, 0, large));
    struct sick_shape asked = large;
    asked.milli_cores--;
    assert_false(is_trapped(world, 0, asked));
    asked = large;
    asked.qos = QOS_BURSTABLE;
    assert_false(is_trapped(world, 0, asked));
    asked = large;
    asked.owner = 1;
    assert_false(is_trapped(world, 0, asked)); /* only for its owner */
    struct sick_shape neighbour = large;
    neighbour.owner = 3;
    trap(world, 0, neighbour);
    assert_false(is_trapped(world, 0, asked)); /* two owners of one namespace */
    struct sick_shape second = large;
    second.owner = 2;
    second.namespace_ = 2;
    second.gpus = 2;
    trap(world, 0, second);
    assert_true(is_trapped(world, 0, asked)); /* for all after two namespaces */
    asked.gpus = 3;
    assert_false(is_trapped(world, 0, asked)); /* which lost no such pod */
    sick_nodes_ended(world->sick, "n0");
    assert_false(is_trapped(world, 0, large));
    trap(world, 0, large);
    wait_for(world, SICK_TRAP_MS);
    assert_false(is_trapped(world, 0, large));
    trap(world, 0, large);
    start_pod(world, 0);
    assert_false(is_trapped(world, 0, large));
}

/* A pod that fits no node closes at most a quarter of them to its own owner. */
static void test_cap_of_shape_traps(void **state)
{
    struct world *world = *state;
    size_t n = 0;
    for (size_t i = 0; i < N_NODES; i++)
        trap(world, i, shape_of(1, 1));
    for (size_t i = 0; i < N_NODES; i++) {
        n += world->marks[i].n_traps > 0;
        assert_false(is_trapped(world, i, shape_of(2, 2)));
    }
    assert_int_equal(n, N_NODES / 4);
}

static void test_off(void **state)
{
    struct world *world = *state;
    make_sick(world, 0);
    trap(world, 1, shape_of(1, 1));
    world->policy.quarantine.mode = world->policy.shape_trap.mode = AVOIDANCE_OFF;
    sick_nodes_move(world->sick, &world->policy, world);
    assert_int_equal(state_of(world, 0), QUARANTINE_NONE);
    assert_int_equal(world->marks[1].n_traps, 0);
    make_sick(world, 0);
    trap(world, 1, shape_of(1, 1));
    assert_int_equal(state_of(world, 0), QUARANTINE_NONE);
    assert_int_equal(world->marks[1].n_traps, 0);
}

/* The old ledger's marks come to the new one. */
static void test_move(void **state)
{
    struct world *world = *state;
    make_sick(world, 0);
    memset(world->marks, 0, sizeof world->marks);
    sick_nodes_move(world->sick, &world->policy, world);
    assert_int_equal(state_of(world, 0), QUARANTINE_CLOSED);
}

/* Nodes that break and recover at random for a day, and get a pod every ten seconds unless they are
 * closed. However they flap, a closing costs three pods, or one on probation, and lasts as decided.
 */

#define OFFER_MS 10000
#define DAY_MS (INT64_C(24) * 60 * MINUTE)

struct flapping {
    size_t node;
    bool is_broken;
    int64_t changes_at;
    unsigned n_offers, n_closed, n_lost;
    unsigned n_failed; /* in a row */
    unsigned level;    /* closings since a pod started */
    unsigned n_broken; /* offers while it was broken, closed or not */
};

/* The node was open, and is closed now. */
static void check_closing(const struct world *world, struct flapping *flapping, bool was_probation)
{
    const struct node_mark *mark = &world->marks[flapping->node];
    const int64_t minutes = flapping->level < 3 ? 10 << flapping->level : 60;
    assert_int_equal(flapping->n_failed, was_probation ? 1 : 3);
    assert_int_equal(mark->until_ms - world->now, minutes * MINUTE);
    flapping->n_closed++;
    flapping->level++;
    flapping->n_failed = 0;
}

static void offer(struct world *world, struct flapping *flapping)
{
    const enum quarantine_state before = state_of(world, flapping->node);
    const unsigned owner = flapping->n_offers++ % 3;
    flapping->n_broken += flapping->is_broken;
    if (before == QUARANTINE_CLOSED) {
        assert_true(world->now < world->marks[flapping->node].until_ms);
        return;
    }
    if (!flapping->is_broken) {
        start_pod(world, flapping->node);
        flapping->n_failed = flapping->level = 0;
        assert_int_equal(state_of(world, flapping->node), QUARANTINE_NONE);
        return;
    }
    lose_on(world, flapping->node, owner, owner % 2);
    flapping->n_lost++;
    flapping->n_failed++;
    if (state_of(world, flapping->node) == QUARANTINE_CLOSED)
        check_closing(world, flapping, before != QUARANTINE_NONE);
    else
        assert_true(before == QUARANTINE_NONE && flapping->n_failed < 3);
}

static void flap(struct world *world, struct flapping *flapping, struct dice *dice)
{
    if (world->now >= flapping->changes_at) {
        const unsigned most = dice_one_in(dice, 2) ? 60000 : 40 * 60000;
        flapping->is_broken = !flapping->is_broken;
        flapping->changes_at = world->now + dice_below(dice, most);
    }
    offer(world, flapping);
}

static void test_flapping(void **state)
{
    struct world *world = *state;
    struct dice dice = {dice_number_from("SEED", 41)};
    struct flapping nodes[] = {{.node = 0}, {.node = 1}};
    for (const int64_t end = world->now + DAY_MS; world->now < end; wait_for(world, OFFER_MS)) {
        flap(world, &nodes[0], &dice);
        flap(world, &nodes[1], &dice);
    }
    for (size_t i = 0; i < 2; i++) {
        print_message("closed %u times, lost %u pods, otherwise %u\n", nodes[i].n_closed,
                      nodes[i].n_lost, nodes[i].n_broken);
        assert_true(nodes[i].n_closed > 20);
        assert_true(nodes[i].n_lost * 10 < nodes[i].n_broken);
    }
    for (size_t i = 2; i < N_NODES; i++)
        assert_int_equal(state_of(world, i), QUARANTINE_NONE);
}

/* Random events, against the plain record of them. */

struct record {
    int64_t at;
    size_t node;
    unsigned owner, namespace_;
    bool counts; /* evidence; else it ends all earlier evidence of the node */
};
#define RECORDS 4096

struct history {
    struct record items[RECORDS];
    size_t n; /* ever */
};

static void remember(struct history *history, struct record record)
{
    history->items[history->n++ % RECORDS] = record;
}

/* By rule 1, from the record alone. */
static bool is_proved(const struct history *history, const struct world *world, size_t node)
{
    bool owners[16] = {false};
    bool namespaces[4] = {false};
    size_t n_owners = 0;
    size_t n_namespaces = 0;
    for (size_t i = history->n; i-- > 0 && history->n - i < RECORDS;) {
        const struct record *item = &history->items[i % RECORDS];
        if (item->at + 10 * MINUTE <= world->now || (item->node == node && !item->counts))
            break;
        if (item->node != node)
            continue;
        n_owners += !owners[item->owner];
        n_namespaces += !namespaces[item->namespace_];
        owners[item->owner] = namespaces[item->namespace_] = true;
    }
    return n_owners >= 3 && n_namespaces >= 2;
}

static void check_caps(const struct world *world)
{
    for (size_t model = 0; model < 2; model++) {
        const char *name = model ? "A100" : "H100";
        size_t n = 0;
        size_t n_kept = 0;
        size_t n_spare = 0;
        for (size_t i = 0; i < N_NODES; i++) {
            const struct sick_node_facts *facts = &world->facts[i];
            if (strcmp(facts->model, name) != 0)
                continue;
            const bool is_kept = state_of(world, i) != QUARANTINE_NONE;
            n++;
            n_kept += is_kept;
            n_spare += !is_kept && facts->is_ready && !facts->is_cordoned;
        }
        assert_true(n_kept <= (n / 20 > 1 ? n / 20 : 1));
        assert_true(n_kept == 0 || n_spare > 0 || n == n_kept);
    }
}

static void change_node(struct world *world, struct dice *dice, struct history *history)
{
    const size_t i = dice_below(dice, N_NODES);
    struct sick_node_facts *facts = &world->facts[i];
    facts->boot_id += dice_one_in(dice, 4);
    facts->is_ready = !dice_one_in(dice, 4);
    facts->is_cordoned = dice_one_in(dice, 6);
    facts->lifted += dice_one_in(dice, 8);
    remember(history, (struct record){world->now, i, 0, 0, false});
    put(world, i);
}

static void random_event(struct world *world, struct dice *dice, struct history *history)
{
    const size_t node = dice_one_in(dice, 3) ? 36 : dice_below(dice, N_NODES);
    const unsigned owner = dice_below(dice, 6);
    if (dice_one_in(dice, 40)) {
        change_node(world, dice, history);
    } else if (dice_one_in(dice, 12)) {
        start_pod(world, node);
        remember(history, (struct record){world->now, node, 0, 0, false});
    } else {
        lose_on(world, node, owner, owner / 2);
        remember(history, (struct record){world->now, node, owner, owner / 2, true});
    }
}

static void test_random_events(void **state)
{
    struct world *world = *state;
    struct dice dice = {dice_number_from("SEED", 37)};
    struct history *history = MEM_NEW(struct history);
    for (size_t i = 35; i < N_NODES; i++)
        be_of_model(world, i, "A100");
    for (uint64_t left = dice_number_from("EVENTS", 20000); left > 0; left--) {
        enum quarantine_state before[N_NODES];
        for (size_t i = 0; i < N_NODES; i++)
            before[i] = state_of(world, i);
        random_event(world, &dice, history);
        for (size_t i = 0; i < N_NODES; i++) {
            if (before[i] == QUARANTINE_NONE && state_of(world, i) == QUARANTINE_CLOSED)
                assert_true(is_proved(history, world, i));
        }
        wait_for(world, dice_below(&dice, 40000));
        check_caps(world);
    }
    assert_true(sick_nodes_n_marked(world->sick, REFUSAL_DEVICES) > 20);
    free(history);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_owners_and_namespaces),
        TEST(test_flood_hides_nothing),
        TEST(test_window),
        TEST(test_a_start_in_between),
        TEST(test_failures_seen_after_a_start),
        TEST(test_no_evidence),
        TEST(test_changed_nodes),
        TEST(test_doubling_and_probation),
        TEST(test_one_pod_on_probation),
        TEST(test_what_lifts),
        TEST(test_cap),
        TEST(test_the_last_of_a_model),
        TEST(test_shape_trap),
        TEST(test_cap_of_shape_traps),
        TEST(test_off),
        TEST(test_move),
        TEST(test_flapping),
        TEST(test_random_events),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
