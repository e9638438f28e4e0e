/* gpu_demand: offers and demand, against counts by hand. */
#include "dice.h"
#include "fixture_question.h"
#include "ledger/admit.h"
#include "ledger/gpu_demand.h"
#include "ledger/peer.h"
#include "unit.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define GPU "nvidia.com/gpu"
#define T4 "accelerator=T4"
#define A100 "accelerator=A100"

static const struct gpu_demand *demand_of(struct fixture *fixture, const char *resource)
{
    gpu_demand_settle(fixture->cluster);
    return gpu_demand_find(fixture->cluster, cluster_find_resource(fixture->cluster, resource));
}

/* An empty pool if there is none. */
static const struct model_pool *pool_of(const struct gpu_demand *demand, const char *model)
{
    static const struct model_pool NOTHING = {.index = 0};
    for (size_t i = 0; demand && i < demand->n_pools; i++) {
        if (strcmp(demand->pools[i]->model, model) == 0)
            return demand->pools[i];
    }
    return &NOTHING;
}

static void check_pool(struct fixture *fixture, const char *model, size_t n_nodes, int64_t free)
{
    const struct model_pool *pool = pool_of(demand_of(fixture, GPU), model);
    assert_int_equal(pool->n_nodes, n_nodes);
    assert_int_equal(pool->free, free);
}

/* "2x4 1x8": live pods and their GPUs, in the demand's order. */
static void check_classes(struct fixture *fixture, const char *wanted)
{
    const struct gpu_demand *demand = demand_of(fixture, GPU);
    const char *text = "";
    for (size_t i = 0; i < demand->n_classes; i++)
        text = arena_printf(fixture->arena, "%s%s%dx%d", text, i > 0 ? " " : "",
                            (int)demand->classes[i].n_live, (int)demand->classes[i].gpus);
    assert_string_equal(text, wanted);
}

static void test_free_gpus_are_summed_by_model(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "t4-1", GPU "=4", T4);
    fixture_put_node(fixture, "t4-2", GPU "=4", T4);
    fixture_put_node(fixture, "a100", GPU "=8 cpu=1000", A100);
    fixture_put_node(fixture, "plain", "cpu=1000", "");
    fixture_put_node(fixture, "nameless", GPU "=2", "");
    fixture_put_pod(fixture, "p", "t4-1", GPU "=1");
    check_pool(fixture, "T4", 2, 7);
    check_pool(fixture, "A100", 1, 8);
    check_pool(fixture, "", 1, 2);
    fixture_put_pod(fixture, "q", "", GPU "=3");
    fixture_must_reserve(fixture, "q", "t4-2");
    check_pool(fixture, "T4", 2, 4);
    fixture_put_pod(fixture, "q", "t4-2", GPU "=3");
    check_pool(fixture, "T4", 2, 4);
    fixture_remove_pod(fixture, "q");
    check_pool(fixture, "T4", 2, 7);
}

static void test_an_over_full_node_reduces_no_other_node(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "t4-1", GPU "=4", T4);
    fixture_put_node(fixture, "t4-2", GPU "=4", T4);
    fixture_put_pod(fixture, "p", "t4-1", GPU "=4");
    fixture_put_node(fixture, "t4-1", GPU "=1", T4);
    check_pool(fixture, "T4", 2, 4);
}

static void test_demands_follow_node_events(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "n", GPU "=4", T4);
    check_pool(fixture, "T4", 1, 4);
    fixture_put_node(fixture, "n", GPU "=4", A100);
    check_pool(fixture, "A100", 1, 4);
    assert_int_equal(pool_of(demand_of(fixture, GPU), "T4")->n_nodes, 0);
    struct node_facts cordoned = fixture_node_facts(fixture, "n", GPU "=4", A100);
    cordoned.unschedulable = true;
    fixture_put_node_facts(fixture, &cordoned);
    assert_null(demand_of(fixture, GPU));
    fixture_put_node(fixture, "n", GPU "=4", A100);
    check_pool(fixture, "A100", 1, 4);
    fixture_remove_node(fixture, "n");
    assert_null(demand_of(fixture, GPU));
}

static void test_classes_are_the_shapes_of_live_pods(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "n", GPU "=8", T4);
    fixture_put_pod(fixture, "running", "n", GPU "=2");
    fixture_put_pod(fixture, "pending-1", "", GPU "=2");
    fixture_put_pod(fixture, "pending-2", "", GPU "=2 cpu=1");
    fixture_put_pod(fixture, "cpu", "n", "cpu=1");
    check_classes(fixture, "2x2 1x2");
    struct pod_facts facts = fixture_pod_facts(fixture, "pending-1", "", GPU "=2");
    facts.gated = true;
    fixture_put_pod_facts(fixture, &facts);
    facts = fixture_pod_facts(fixture, "running", "n", GPU "=2");
    facts.finished = true;
    fixture_put_pod_facts(fixture, &facts);
    check_classes(fixture, "1x2");
    facts = fixture_pod_facts(fixture, "pending-2", "", GPU "=2 cpu=1");
    facts.refusal = "no such model";
    fixture_put_pod_facts(fixture, &facts);
    check_classes(fixture, "");
}

static void test_largest_classes_come_first_up_to_the_limit(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "n", GPU "=8", T4);
    for (int i = 0; i < GPU_DEMAND_CLASSES_MAX; i++)
        fixture_put_pod(fixture, arena_printf(fixture->arena, "p%d", i), "",
                        arena_printf(fixture->arena, GPU "=2 cpu=%d", i + 1));
    fixture_put_pod(fixture, "small", "", GPU "=1");
    const struct gpu_demand *demand = demand_of(fixture, GPU);
    assert_int_equal(demand->n_classes, GPU_DEMAND_CLASSES_MAX);
    for (size_t i = 0; i < demand->n_classes; i++)
        assert_int_equal(demand->classes[i].gpus, 2);
    for (int i = 0; i < 2; i++)
        fixture_put_pod(fixture, arena_printf(fixture->arena, "s%d", i), "", GPU "=1");
    demand = demand_of(fixture, GPU);
    assert_int_equal(demand->classes[0].gpus, 1);
    assert_int_equal(demand->classes[0].n_live, 3);
}

static void test_nodes_of_a_class_do_not_depend_on_free_room(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "t4", GPU "=1", T4);
    fixture_put_node(fixture, "a100", GPU "=8", A100);
    fixture_put_pod(fixture, "full", "a100", GPU "=8");
    struct pod_facts facts = fixture_pod_facts(fixture, "p", "", GPU "=2");
    facts.shape.wants.accept = fixture_models(fixture, "A100", &facts.shape.wants.n_accept);
    fixture_put_pod_facts(fixture, &facts);
    const struct gpu_demand *demand = demand_of(fixture, GPU);
    assert_int_equal(demand->n_classes, 2);
    assert_true(demand->classes[0].unconfined);
    assert_false(demand->classes[1].unconfined);
    assert_true(demand->classes[1].admitted[pool_of(demand, "A100")->index]);
    assert_false(demand->classes[1].admitted[pool_of(demand, "T4")->index]);
    fixture_put_node(fixture, "t4", GPU "=1", A100);
    assert_true(demand_of(fixture, GPU)->classes[1].unconfined);
}

/* Pods that fit no node displace no others. */
static void test_pods_larger_than_every_node_form_no_class(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "n", GPU "=8", T4);
    fixture_put_pod(fixture, "p", "", GPU "=1");
    for (int i = 0; i < 2 * GPU_DEMAND_CLASSES_MAX; i++)
        fixture_put_pod(fixture, arena_printf(fixture->arena, "huge-%d", i), "",
                        arena_printf(fixture->arena, GPU "=%d", 1000 + i));
    check_classes(fixture, "1x1");
    fixture_put_node(fixture, "large", GPU "=1000", T4);
    check_classes(fixture, "1x1000 1x1");
}

/* Whatever a tenant writes, settling compares nodes with a few words only. */
static void test_an_oversized_class_may_go_everywhere(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "t4", GPU "=8", T4);
    fixture_put_node(fixture, "a100", GPU "=8", A100);
    const char *values[GPU_DEMAND_COMPARISONS_MAX + 1];
    for (size_t i = 0; i <= GPU_DEMAND_COMPARISONS_MAX; i++)
        values[i] = "A100";
    struct requirement requirement = {
        .key = "accelerator", .op = SELECTOR_IN, .values = values, .n_values = 1};
    const struct selector_term term = {&requirement, 1};
    struct pod_facts facts = fixture_pod_facts(fixture, "p", "", GPU "=1");
    facts.shape.affinity = (struct node_selector){true, &term, 1};
    fixture_put_pod_facts(fixture, &facts);
    assert_false(demand_of(fixture, GPU)->classes[0].unconfined);
    requirement.n_values = GPU_DEMAND_COMPARISONS_MAX + 1;
    fixture_put_pod_facts(fixture, &facts);
    assert_true(demand_of(fixture, GPU)->classes[0].unconfined);
    struct cluster *fork = cluster_fork(fixture->cluster);
    const struct shape_facts one = fixture_shape_facts(fixture, GPU "=1");
    const struct pod_shape *shape = cluster_resolve(fork, &one, fixture->arena);
    gpu_demand_expect(fork, shape, INT64_MAX);
    gpu_demand_expect(fork, shape, INT64_MAX);
    const struct gpu_demand *demand = gpu_demand_find(fork, shape->needs[0].resource);
    assert_int_equal(demand->n_classes, 2);
    assert_true(demand->classes[0].n_live == INT64_MAX);
    cluster_fork_free(fork);
}

static const char *classes_text(struct fixture *fixture, const struct gpu_demand *demand)
{
    const char *text = "";
    for (size_t i = 0; i < demand->n_classes; i++)
        text =
            arena_printf(fixture->arena, "%s%" PRId64 "x%" PRId64 "/%" PRId64 "%s ", text,
                         demand->classes[i].n_live, demand->classes[i].gpus,
                         demand->classes[i].milli_cores, demand->classes[i].unconfined ? "" : "!");
    return text;
}

/* Puts a pod that the demand counted before. */
static void check_before_and_after(struct fixture *fixture, const char *demand_of_pod)
{
    const struct shape_facts facts = fixture_shape_facts(fixture, demand_of_pod);
    const struct pod_shape *shape = cluster_resolve(fixture->cluster, &facts, fixture->arena);
    const struct gpu_demand *before =
        gpu_demand_with(fixture->cluster, demand_of(fixture, GPU), shape, fixture->arena);
    const char *expected = classes_text(fixture, before);
    fixture_put_pod(fixture, arena_printf(fixture->arena, "new %s", demand_of_pod), "",
                    demand_of_pod);
    assert_string_equal(classes_text(fixture, demand_of(fixture, GPU)), expected);
    fixture_remove_pod(fixture, arena_printf(fixture->arena, "new %s", demand_of_pod));
}

/* Whatever the number of shapes, the watch changes no price. */
static void test_a_pod_counts_alike_before_and_after_the_watch_shows_it(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "n", GPU "=8 cpu=64000", T4);
    for (int i = 0; i < GPU_DEMAND_CLASSES_MAX + 4; i++) {
        check_before_and_after(fixture, GPU "=1 cpu=77");
        check_before_and_after(fixture, GPU "=4 cpu=77");
        fixture_put_pod(fixture, arena_printf(fixture->arena, "p-%d", i), "",
                        arena_printf(fixture->arena, GPU "=%d cpu=%d", i % 2 ? 2 : 4, i + 1));
    }
    assert_int_equal(demand_of(fixture, GPU)->n_classes, GPU_DEMAND_CLASSES_MAX);
    for (int i = 0; i < GPU_DEMAND_CLASSES_MAX + 4; i++)
        check_before_and_after(
            fixture, arena_printf(fixture->arena, GPU "=%d cpu=%d", i % 2 ? 2 : 4, i + 1));
    check_before_and_after(fixture, GPU "=1 cpu=77");
    check_before_and_after(fixture, GPU "=2 cpu=77");
    check_before_and_after(fixture, GPU "=8 cpu=77");
}

/* As in the ledger, where its pods would take less than those of the others. */
static void test_a_fork_counts_as_many_classes(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "n", GPU "=8 cpu=64000", T4);
    for (int i = 0; i < GPU_DEMAND_CLASSES_MAX; i++)
        fixture_put_pod(fixture, arena_printf(fixture->arena, "p-%d", i), "",
                        arena_printf(fixture->arena, GPU "=4 cpu=%d", i + 1));
    const char *before = classes_text(fixture, demand_of(fixture, GPU));
    struct cluster *fork = cluster_fork(fixture->cluster);
    const struct shape_facts one = fixture_shape_facts(fixture, GPU "=1 cpu=77");
    const struct pod_shape *shape = cluster_resolve(fork, &one, fixture->arena);
    const struct gpu_demand *demand = gpu_demand_find(fork, shape->needs[0].resource);
    gpu_demand_expect(fork, shape, 3);
    assert_string_equal(classes_text(fixture, demand), before);
    gpu_demand_expect(fork, shape, 5);
    assert_int_equal(demand->n_classes, GPU_DEMAND_CLASSES_MAX);
    assert_int_equal(demand->classes[0].n_live, 5);
    cluster_fork_free(fork);
}

/* Trials expect other pods each: the next one begins where the first did. */
static void test_a_rewound_fork_expects_nothing(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "n", GPU "=8 cpu=64000", T4);
    for (int i = 0; i < GPU_DEMAND_CLASSES_MAX; i++)
        fixture_put_pod(fixture, arena_printf(fixture->arena, "p-%d", i), "",
                        arena_printf(fixture->arena, GPU "=4 cpu=%d", i + 1));
    const char *before = classes_text(fixture, demand_of(fixture, GPU));
    struct cluster *fork = cluster_fork(fixture->cluster);
    const struct shape_facts one = fixture_shape_facts(fixture, GPU "=8 cpu=77");
    const struct pod_shape *shape = cluster_resolve(fork, &one, fixture->arena);
    const struct gpu_demand *demand = gpu_demand_find(fork, shape->needs[0].resource);
    cluster_fork_mark(fork);
    for (int i = 0; i < 2; i++) {
        gpu_demand_expect(fork, shape, 3);
        assert_int_equal(demand->classes[0].gpus, 8);
        cluster_fork_rewind(fork);
        assert_string_equal(classes_text(fixture, demand), before);
    }
    cluster_fork_keep(fork);
    cluster_fork_free(fork);
}

static void test_demands_are_in_the_order_of_their_names(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "n", GPU "=1", "");
    fixture_put_node(fixture, "m", "gpu.intel.com/xe=1", "");
    fixture_put_node(fixture, "o", "amd.com/gpu=1", "");
    const char *text = "";
    for (const struct gpu_demand *demand = gpu_demand_next(fixture->cluster, NULL); demand;
         demand = gpu_demand_next(fixture->cluster, demand))
        text = arena_printf(fixture->arena, "%s%s ", text, demand->resource->name);
    assert_string_equal(text, "amd.com/gpu gpu.intel.com/xe nvidia.com/gpu ");
}

static void test_a_fork_has_its_own_demands(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "n", GPU "=8", T4);
    fixture_put_pod(fixture, "p", "n", GPU "=1");
    gpu_demand_settle(fixture->cluster);
    struct cluster *fork = cluster_fork(fixture->cluster);
    assert_true(gpu_demand_is_settled(fork));
    const struct shape_facts one = fixture_shape_facts(fixture, GPU "=1");
    const struct shape_facts four = fixture_shape_facts(fixture, GPU "=4");
    const struct pod_shape *shapes[] = {cluster_resolve(fork, &one, fixture->arena),
                                        cluster_resolve(fork, &four, fixture->arena)};
    gpu_demand_expect(fork, shapes[0], 2);
    gpu_demand_expect(fork, shapes[1], 5);
    gpu_demand_expect(fork, shapes[1], 5);
    cluster_place(fork, cluster_find_node(fork, "n"), shapes[1], 1);
    const struct gpu_demand *demand = gpu_demand_find(fork, shapes[0]->needs[0].resource);
    assert_int_equal(demand->pools[0]->free, 3);
    assert_int_equal(demand->n_classes, 2);
    assert_int_equal(demand->classes[0].n_live, 10);
    assert_int_equal(demand->classes[1].n_live, 3);
    assert_true(demand->classes[0].unconfined);
    check_pool(fixture, "T4", 1, 7);
    check_classes(fixture, "1x1");
    cluster_fork_free(fork);
}

/* Property: after any history a demand equals a count over the ledger's pods and nodes. */

static bool counts(const struct pod *pod)
{
    return !pod->finished && (pod->node_name[0] || (!pod->gated && !pod->refusal));
}

static int64_t count_live(const struct cluster *cluster, const struct pod_shape *shape)
{
    int64_t n = 0;
    for (const struct pod *pod = cluster_next_pod(cluster, NULL); pod;
         pod = cluster_next_pod(cluster, pod))
        n += pod->shape == shape && counts(pod);
    return n;
}

static bool may_go(const struct cluster *cluster, const struct pod_shape *shape,
                   const struct model_pool *pool)
{
    for (const struct node *node = cluster_next_node(cluster, NULL); node;
         node = cluster_next_node(cluster, node)) {
        char text[128];
        if (strcmp(gpu_model_text(&node_traits(node)->gpus.model, text), pool->model) == 0 &&
            !node_traits(node)->unschedulable && admit_gpus(node, shape))
            return true;
    }
    return false;
}

static void check_demand(const struct cluster *cluster, const struct gpu_demand *demand)
{
    int64_t before = INT64_MAX;
    for (size_t i = 0; i < demand->n_classes; i++) {
        const struct demand_class *class = &demand->classes[i];
        assert_int_equal(class->n_live, count_live(cluster, class->shape));
        assert_true(class->n_live * class->gpus <= before);
        before = class->n_live * class->gpus;
        for (size_t j = 0; j < demand->n_pools; j++)
            assert_int_equal(class->admitted[j], may_go(cluster, class->shape, demand->pools[j]));
    }
    for (const struct pod *pod = cluster_next_pod(cluster, NULL); pod;
         pod = cluster_next_pod(cluster, pod)) {
        bool found = !counts(pod) || pod->shape->n_gpu_needs == 0;
        for (size_t i = 0; i < demand->n_classes; i++)
            found |= demand->classes[i].shape == pod->shape;
        assert_true(found);
    }
}

static void random_event(struct fixture *fixture, struct dice *dice)
{
    static const char *const MODELS[] = {T4, A100, "accelerator=H100", ""};
    static const char *const DEMANDS[] = {GPU "=1", GPU "=2", GPU "=2 cpu=1", "cpu=1"};
    const char *node = arena_printf(fixture->arena, "n%u", dice_below(dice, 5));
    const char *uid = arena_printf(fixture->arena, "p%u", dice_below(dice, 12));
    const unsigned what = dice_below(dice, 10);
    if (what == 0) {
        fixture_remove_node(fixture, node);
    } else if (what == 1) {
        fixture_remove_pod(fixture, uid);
    } else if (what < 5) {
        struct node_facts facts =
            fixture_node_facts(fixture, node, GPU "=4", MODELS[dice_below(dice, 4)]);
        facts.unschedulable = dice_below(dice, 5) == 0;
        fixture_put_node_facts(fixture, &facts);
    } else {
        struct pod_facts facts = fixture_pod_facts(fixture, uid, dice_below(dice, 2) ? node : "",
                                                   DEMANDS[dice_below(dice, 4)]);
        if (dice_below(dice, 2))
            facts.shape.wants.accept =
                fixture_models(fixture, "H100, T4", &facts.shape.wants.n_accept);
        facts.gated = !facts.node_name[0] && dice_below(dice, 4) == 0;
        facts.finished = dice_below(dice, 8) == 0;
        fixture_put_pod_facts(fixture, &facts);
    }
}

static struct cluster *fork_of_a_node(struct fixture *fixture)
{
    fixture_put_node(fixture, "n", GPU "=8", T4);
    fixture_put_node(fixture, "m", GPU "=8", T4);
    struct cluster *fork = cluster_fork_begin(fixture->cluster, PEERS_NONE);
    assert_int_equal(cluster_fork_some(fork, fixture->cluster, 1), FORK_GOES_ON);
    return fork;
}

static void test_a_fork_in_steps_is_that_of_its_last_step(void **state)
{
    struct fixture *fixture = *state;
    struct cluster *fork = fork_of_a_node(fixture);
    fixture_put_pod(fixture, "p", "n", GPU "=1");
    fixture_put_pod(fixture, "q", "m", GPU "=1");
    fixture_put_pod(fixture, "r", "", GPU "=3");
    assert_int_equal(cluster_fork_some(fork, fixture->cluster, SIZE_MAX), FORK_IS_COMPLETE);
    const struct gpu_demand *demand = gpu_demand_next(fork, NULL);
    assert_int_equal(demand->pools[0]->free, 14);
    assert_string_equal(classes_text(fixture, demand),
                        classes_text(fixture, demand_of(fixture, GPU)));
    size_t n_rows = 0;
    const struct node_resource *rows = node_resources(cluster_find_node(fork, "n"), &n_rows);
    assert_ptr_equal(rows[0].pool, demand->pools[0]);
    cluster_fork_free(fork);
}

static void test_a_fork_in_steps_is_outdated_by_nodes_or_many_changes(void **state)
{
    struct fixture *fixture = *state;
    struct cluster *fork = fork_of_a_node(fixture);
    fixture_put_node(fixture, "o", GPU "=8", T4);
    assert_int_equal(cluster_fork_some(fork, fixture->cluster, 1), FORK_IS_OUTDATED);
    cluster_fork_free(fork);
    fork = fork_of_a_node(fixture);
    for (int i = 0; i < 600; i++)
        fixture_put_pod(fixture, arena_printf(fixture->arena, "p-%d", i), "n", "cpu=1");
    assert_int_equal(cluster_fork_some(fork, fixture->cluster, 1), FORK_IS_OUTDATED);
    cluster_fork_free(fork);
}

static void test_demands_equal_a_full_count(void **state)
{
    struct fixture *fixture = *state;
    struct dice dice = {20171211};
    size_t n_checked = 0;
    for (int i = 0; i < 4000; i++) {
        random_event(fixture, &dice);
        if (dice_below(&dice, 3) > 0)
            continue;
        const struct gpu_demand *demand = demand_of(fixture, GPU);
        if (demand)
            check_demand(fixture->cluster, demand);
        n_checked += demand != NULL;
    }
    assert_true(n_checked > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_free_gpus_are_summed_by_model),
        TEST(test_an_over_full_node_reduces_no_other_node),
        TEST(test_demands_follow_node_events),
        TEST(test_classes_are_the_shapes_of_live_pods),
        TEST(test_largest_classes_come_first_up_to_the_limit),
        TEST(test_nodes_of_a_class_do_not_depend_on_free_room),
        TEST(test_pods_larger_than_every_node_form_no_class),
        TEST(test_an_oversized_class_may_go_everywhere),
        TEST(test_a_pod_counts_alike_before_and_after_the_watch_shows_it),
        TEST(test_a_fork_counts_as_many_classes),
        TEST(test_a_rewound_fork_expects_nothing),
        TEST(test_demands_are_in_the_order_of_their_names),
        TEST(test_a_fork_has_its_own_demands),
        TEST(test_a_fork_in_steps_is_that_of_its_last_step),
        TEST(test_a_fork_in_steps_is_outdated_by_nodes_or_many_changes),
        TEST(test_demands_equal_a_full_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
