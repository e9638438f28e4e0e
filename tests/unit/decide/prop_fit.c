/*
 * prop_fit: properties over random clusters and pods. The predicted number of pods is placed, and
 * freed room or an added node never costs a pod its place.
 *
 * That holds for one workload. With several, a new node may attract the first, and the room it
 * leaves may attract the second to the only place of the third: see the last test. Nor does it hold
 * if a reservation ends whose pod is nominated elsewhere, because its room is then kept there.
 */
#include "decide/quota.h"
#include "decide/rank.h"
#include "decide/what_if.h"
#include "dice.h"
#include "fixture_question.h"
#include "unit.h"

#define GPU "nvidia.com/gpu"
#define MAX_NODES 8
#define MAX_PODS (3 * MAX_NODES)
#define MAX_PLACED 128
#define ROUNDS 100

struct any_node {
    unsigned pods, cpu, nvidia, amd;
    const char *labels;
    bool unschedulable;
};

struct world {
    struct fixture *fixture;
    struct dice *dice;
    struct any_node nodes[MAX_NODES];
    unsigned n_nodes, n_pods;
    int64_t priority; /* of the asking pod */
};

static const char *name_of(const struct world *world, char kind, unsigned i)
{
    return arena_printf(world->fixture->arena, "%c%u", kind, i);
}

static void tell_node(const struct world *world, unsigned i)
{
    const struct any_node *node = &world->nodes[i];
    const char *amounts =
        arena_printf(world->fixture->arena, "pods=%u cpu=%u " GPU "=%u amd.com/gpu=%u", node->pods,
                     node->cpu, node->nvidia, node->amd);
    struct node_facts facts =
        fixture_node_facts(world->fixture, name_of(world, 'n', i), amounts, node->labels);
    facts.unschedulable = node->unschedulable;
    fixture_put_node_facts(world->fixture, &facts);
}

static void add_node(struct world *world)
{
    static const char *const LABELS[] = {"accelerator=A100", "accelerator=H100", "zone=a", ""};
    struct any_node *node = &world->nodes[world->n_nodes];
    node->pods = dice_below(world->dice, 12);
    node->cpu = dice_below(world->dice, 9);
    node->nvidia = dice_below(world->dice, 9);
    node->amd = dice_below(world->dice, 3);
    node->labels = LABELS[dice_below(world->dice, 4)];
    node->unschedulable = dice_one_in(world->dice, 10);
    tell_node(world, world->n_nodes++);
}

/* On any node, present or not; or on none, and then perhaps nominated or reserved. */
static void add_pod(struct world *world)
{
    struct fixture *fixture = world->fixture;
    const char *node = name_of(world, 'n', dice_below(world->dice, MAX_NODES));
    const char *uid = name_of(world, 'p', world->n_pods++);
    const unsigned cpu = 1 + dice_below(world->dice, 3);
    const unsigned gpus = 1 + dice_below(world->dice, 4);
    const char *demand = arena_printf(fixture->arena, "cpu=%u " GPU "=%u", cpu, gpus);
    const unsigned way = dice_below(world->dice, 8);
    struct pod_facts facts = fixture_pod_facts(fixture, uid, way > 1 ? node : "", demand);
    facts.priority = dice_below(world->dice, 2);
    if (way == 0)
        facts.nominated_node = node;
    fixture_put_pod_facts(fixture, &facts);
    if (way == 1 && cluster_find_node(fixture->cluster, node))
        fixture_reserve(fixture, uid, node, NULL);
}

/* For the namespace of all pods. */
static void add_quota(const struct world *world)
{
    struct policy *policy = &world->fixture->policy;
    struct quota_limit limits[] = {
        {.resource = GPU}, {.resource = GPU, .model = "A100"}, {.resource = GPU, .model = "H100"}};
    static const char *const NAMES[] = {"default"};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        limits[i].gpus = dice_below(world->dice, i == 0 ? 50 : 25);
    const struct quota quota = {.name = "all",
                                .namespaces = NAMES,
                                .n_namespaces = 1,
                                .limits = arena_copy(policy->arena, limits, 3, sizeof *limits),
                                .n_limits = 3};
    fixture_add_quota(world->fixture, &quota);
}

static struct world new_world(struct dice *dice, enum placement_policy placement, bool has_quota)
{
    struct world world = {.dice = dice};
    void *state = NULL;
    assert_int_equal(fixture_setup(&state), 0);
    world.fixture = state;
    world.fixture->policy.placement = placement;
    world.priority = dice_below(dice, 3);
    if (has_quota)
        add_quota(&world);
    for (unsigned n = 1 + dice_below(dice, MAX_NODES - 1); n > 0; n--)
        add_node(&world);
    for (unsigned n = dice_below(dice, 3 * world.n_nodes); n > 0; n--)
        add_pod(&world);
    return world;
}

static void end_world(const struct world *world)
{
    void *state = world->fixture;
    assert_int_equal(fixture_teardown(&state), 0);
}

static struct shape_facts random_shape(const struct world *world)
{
    static const char *const DEMANDS[] = {"cpu=1", GPU "=1", GPU "=3", "cpu=2 " GPU "=2",
                                          "amd.com/gpu=1 " GPU "=1"};
    struct fixture *fixture = world->fixture;
    struct shape_facts facts = fixture_shape_facts(fixture, DEMANDS[dice_below(world->dice, 5)]);
    if (dice_one_in(world->dice, 3))
        facts.wants.accept = fixture_models(fixture, "H100, A100", &facts.wants.n_accept);
    return facts;
}

/* A fork, and the pod's question on it. */
static struct cluster *fork_for(const struct world *world, const struct shape_facts *facts,
                                struct fit_question *question)
{
    gpu_demand_settle(world->fixture->cluster);
    struct cluster *fork = cluster_fork(world->fixture->cluster);
    question->asker.priority = world->priority;
    question->shape = cluster_resolve(fork, facts, world->fixture->arena);
    question->quota = quota_begin(fork, "default", (struct quota_pod){question->shape, 0}, NULL,
                                  world->fixture->arena);
    return fork;
}

/* The predicted number. */

/* The fitting node that rank_nodes() puts first. */
static const struct node *ranked_first(const struct cluster *fork,
                                       const struct fit_question *question)
{
    struct ranked_node ranked[MAX_NODES] = {{.node = NULL}};
    size_t n = 0;
    for (const struct node *node = cluster_next_node(fork, NULL); node;
         node = cluster_next_node(fork, node)) {
        if (fit_judge(node, question) == REASON_FITS)
            ranked[n++].node = node;
    }
    rank_nodes(fork, question, ranked, n);
    assert_true(n == 0 || ranked[0].score == RANK_BEST_SCORE);
    return ranked[0].node;
}

static void check_places(const struct world *world)
{
    const struct shape_facts facts = random_shape(world);
    struct fit_question question = {.scope = FIT_ALL};
    struct cluster *fork = fork_for(world, &facts, &question);
    const struct node *nodes[MAX_PLACED];
    int64_t more = what_if_more(fork, &question).n;
    assert_in_range(more, 0, MAX_PLACED - 1);
    for (int64_t placed = 0; placed <= more; placed++) {
        assert_int_equal(what_if_more(fork, &question).n, more - placed);
        const struct node *best = ranked_first(fork, &question);
        size_t n = what_if_place(fork, &question, 1, &nodes[placed]);
        assert_int_equal(n, placed < more ? 1 : 0);
        assert_ptr_equal(nodes[placed], best);
    }
    struct cluster *again = fork_for(world, &facts, &question);
    const struct node *at_once[MAX_PLACED];
    assert_int_equal(what_if_place(again, &question, MAX_PLACED, at_once), more);
    for (int64_t i = 0; i < more; i++)
        assert_string_equal(node_name(at_once[i]), node_name(nodes[i]));
    cluster_fork_free(again);
    cluster_fork_free(fork);
}

/* At once or one by one, each on the node ranked first. */
static void test_placing_matches_the_predicted_count(void **state)
{
    (void)state;
    struct dice dice = {4711};
    for (unsigned round = 0; round < ROUNDS * N_PLACEMENT_POLICIES; round++) {
        struct world world = new_world(&dice, round % N_PLACEMENT_POLICIES, dice_one_in(&dice, 2));
        check_places(&world);
        end_world(&world);
    }
}

/* More room. */

struct answers {
    enum reason verdicts[MAX_NODES]; /* REASON_NODE_UNKNOWN: no such node */
    int64_t counts[MAX_NODES];
    int64_t more;   /* replicas that fit */
    int64_t placed; /* of five replicas */
    int64_t each;   /* of a DaemonSet */
};

static int64_t count_fits(const enum reason *verdicts, size_t n)
{
    int64_t count = 0;
    for (size_t i = 0; i < n; i++)
        count += verdicts[i] == REASON_FITS;
    return count;
}

static struct answers ask(const struct world *world, const struct shape_facts *facts,
                          enum fit_scope scope)
{
    struct answers answers;
    struct fit_question question = {.scope = scope};
    struct cluster *fork = fork_for(world, facts, &question);
    for (unsigned i = 0; i < MAX_NODES; i++) {
        const struct node *node = cluster_find_node(fork, name_of(world, 'n', i));
        answers.verdicts[i] = fit_judge(node, &question);
        answers.counts[i] = node ? fit_count(node, &question) : 0;
    }
    answers.more = what_if_more(fork, &question).n;
    const struct node *nodes[MAX_NODES];
    answers.placed = (int64_t)what_if_place(fork, &question, 5, nodes);
    cluster_fork_free(fork);
    enum reason verdicts[MAX_NODES];
    fork = fork_for(world, facts, &question);
    answers.each = count_fits(verdicts, what_if_place_each(fork, &question, nodes, verdicts));
    cluster_fork_free(fork);
    return answers;
}

/* The first reason in the enum's order is reported. So with more room the reason is the same or a
 * later one. */
static void check_not_less(const struct answers *before, const struct answers *after)
{
    for (unsigned i = 0; i < MAX_NODES; i++) {
        if (after->verdicts[i] != REASON_FITS) {
            assert_int_not_equal(before->verdicts[i], REASON_FITS);
            assert_true(after->verdicts[i] >= before->verdicts[i]);
        }
        assert_true(after->counts[i] >= before->counts[i]);
    }
    assert_true(after->more >= before->more);
    assert_true(after->placed >= before->placed);
    assert_true(after->each >= before->each);
}

typedef void event(struct world *world);

static void delete_a_pod(struct world *world)
{
    fixture_remove_pod(world->fixture, name_of(world, 'p', dice_below(world->dice, MAX_PODS)));
}

static void finish_a_pod(struct world *world)
{
    const char *uid = name_of(world, 'p', dice_below(world->dice, MAX_PODS));
    const struct pod *pod = cluster_find_pod(world->fixture->cluster, uid);
    if (!pod)
        return;
    const char *node = arena_printf(world->fixture->arena, "%s", pod->node_name);
    struct pod_facts facts = fixture_pod_facts(world->fixture, uid, node, "");
    facts.finished = true;
    fixture_put_pod_facts(world->fixture, &facts);
}

static void grow_a_node(struct world *world)
{
    const unsigned i = dice_below(world->dice, world->n_nodes);
    world->nodes[i].nvidia += dice_below(world->dice, 5);
    world->nodes[i].amd += dice_below(world->dice, 3);
    tell_node(world, i);
}

static void add_a_node(struct world *world)
{
    if (world->n_nodes < MAX_NODES)
        add_node(world);
}

static void release_a_reservation(struct world *world)
{
    struct cluster *cluster = world->fixture->cluster;
    const struct reservation *held = cluster_next_reservation(cluster, NULL);
    if (held)
        reservation_release(cluster, held->uid, held->serial);
}

static void check_event(struct world *world, event *make_room)
{
    const struct shape_facts facts = random_shape(world);
    const struct answers wire = ask(world, &facts, FIT_OURS);
    const struct answers people = ask(world, &facts, FIT_ALL);
    make_room(world);
    const struct answers wire_after = ask(world, &facts, FIT_OURS);
    const struct answers people_after = ask(world, &facts, FIT_ALL);
    check_not_less(&wire, &wire_after);
    check_not_less(&people, &people_after);
}

static void check_room(event *make_room, bool by_quota_too)
{
    struct dice dice = {20171115};
    for (unsigned round = 0; round < ROUNDS * N_PLACEMENT_POLICIES; round++) {
        const bool has_quota = by_quota_too && dice_one_in(&dice, 2);
        struct world world = new_world(&dice, round % N_PLACEMENT_POLICIES, has_quota);
        check_event(&world, make_room);
        end_world(&world);
    }
}

static void test_a_deleted_pod_makes_no_node_unfit(void **state)
{
    (void)state;
    check_room(delete_a_pod, true);
}

static void test_a_finished_pod_makes_no_node_unfit(void **state)
{
    (void)state;
    check_room(finish_a_pod, true);
}

static void test_more_gpus_make_no_node_unfit(void **state)
{
    (void)state;
    check_room(grow_a_node, true);
}

static void test_one_more_node_never_reduces_the_count(void **state)
{
    (void)state;
    check_room(add_a_node, false);
}

static void test_a_released_reservation_makes_no_node_unfit(void **state)
{
    (void)state;
    check_room(release_a_reservation, true);
}

/* Packed one after another: 1 GPU, 4, and 3 in zone a. */
static size_t place_three_workloads(struct fixture *fixture)
{
    struct shape_facts facts[] = {fixture_shape_facts(fixture, GPU "=1"),
                                  fixture_shape_facts(fixture, GPU "=4"),
                                  fixture_shape_facts(fixture, GPU "=3")};
    facts[2].node_selector = fixture_term(fixture, "zone In a");
    struct cluster *fork = cluster_fork(fixture->cluster);
    size_t n_placed = 0;
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
        const struct fit_question question = {
            .shape = cluster_resolve(fork, &facts[i], fixture->arena), .scope = FIT_ALL};
        const struct node *node = NULL;
        n_placed += what_if_place(fork, &question, 1, &node);
    }
    cluster_fork_free(fork);
    return n_placed;
}

static void test_one_more_node_may_admit_fewer_of_several_workloads(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "in-zone", "pods=9 " GPU "=4", "zone=a");
    fixture_put_node(fixture, "large", "pods=9 " GPU "=8", "");
    assert_int_equal(place_three_workloads(fixture), 3);
    fixture_put_node(fixture, "small", "pods=9 " GPU "=1",
                     ""); /* now attracts the first, and ... */
    assert_int_equal(place_three_workloads(fixture), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_placing_matches_the_predicted_count),
        cmocka_unit_test(test_a_deleted_pod_makes_no_node_unfit),
        cmocka_unit_test(test_a_finished_pod_makes_no_node_unfit),
        cmocka_unit_test(test_more_gpus_make_no_node_unfit),
        cmocka_unit_test(test_one_more_node_never_reduces_the_count),
        cmocka_unit_test(test_a_released_reservation_makes_no_node_unfit),
        cmocka_unit_test_setup_teardown(test_one_more_node_may_admit_fewer_of_several_workloads,
                                        fixture_setup, fixture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
