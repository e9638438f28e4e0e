/* objects/to_json, objects/snapshot: nodes and the header object of a snapshot, written and read
 * back. */
#include "facts_by_seed.h"
#include "objects/node.h"
#include "objects/snapshot.h"
#include "objects/to_json.h"

static struct node_facts random_node(struct dice *dice)
{
    struct node_facts facts = {
        .name = word(dice), .unschedulable = chance(dice), .ready = chance(dice)};
    struct label *labels = ARENA_ARRAY(dice->arena, struct label, 2);
    labels[0] = (struct label){"a", maybe(dice)};
    labels[1] = (struct label){"b/c", maybe(dice)};
    facts.labels = labels;
    facts.n_labels = roll(dice, 3);
    struct taint *taints = ARENA_ARRAY(dice->arena, struct taint, 3);
    facts.n_taints = roll(dice, 4);
    for (size_t i = 0; i < facts.n_taints; i++)
        taints[i] = (struct taint){word(dice), maybe(dice), (enum taint_effect)roll(dice, 3)};
    facts.taints = taints;
    facts.conditions =
        chance(dice) ? "" : "KernelDeadlock=True Hung: a: b\nKubeletReady=False : \n";
    facts.capacity = random_amounts(dice, &facts.n_capacity);
    facts.allocatable = random_amounts(dice, &facts.n_allocatable);
    return facts;
}

static void assert_amounts_equal(const struct amount *a, size_t n_a, const struct amount *b,
                                 size_t n_b)
{
    assert_int_equal(n_a, n_b);
    for (size_t i = 0; i < n_a; i++) {
        assert_string_equal(a[i].resource, b[i].resource);
        assert_int_equal(a[i].amount, b[i].amount);
    }
}

static void assert_nodes_equal(const struct node_facts *a, const struct node_facts *b)
{
    assert_string_equal(a->name, b->name);
    assert_int_equal(a->unschedulable, b->unschedulable);
    assert_int_equal(a->ready, b->ready);
    assert_int_equal(a->n_labels, b->n_labels);
    for (size_t i = 0; i < a->n_labels; i++) {
        assert_string_equal(a->labels[i].key, b->labels[i].key);
        assert_string_equal(a->labels[i].value, b->labels[i].value);
    }
    assert_string_equal(a->conditions, b->conditions);
    assert_int_equal(a->n_taints, b->n_taints);
    for (size_t i = 0; i < a->n_taints; i++) {
        assert_string_equal(a->taints[i].key, b->taints[i].key);
        assert_string_equal(a->taints[i].value, b->taints[i].value);
        assert_int_equal(a->taints[i].effect, b->taints[i].effect);
    }
    assert_amounts_equal(a->capacity, a->n_capacity, b->capacity, b->n_capacity);
    assert_amounts_equal(a->allocatable, a->n_allocatable, b->allocatable, b->n_allocatable);
}

static void test_any_node_reads_back(void **state)
{
    (void)state;
    struct policy policy;
    policy_init(&policy);
    for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
        struct dice dice = {seed, arena_new()};
        struct err err;
        const struct node_facts facts = random_node(&dice);
        struct node_facts back;
        json_t *object = through_text(node_to_json(&facts));
        if (node_from_json(object, &policy, dice.arena, &back, &err) < 0)
            fail_msg("%s", err.text);
        assert_nodes_equal(&facts, &back);
        json_decref(object);
        arena_free(dice.arena);
    }
    policy_fini(&policy);
}

static void test_the_head_of_a_snapshot_reads_back(void **state)
{
    (void)state;
    struct arena *arena = arena_new();
    struct policy policy;
    struct err err;
    struct snapshot back;
    policy_init(&policy);
    const struct snapshot_problem problems[] = {{"Pod", "ml/a", "is \"odd\""}};
    const struct snapshot snapshot = {.made_s = 1780000000,
                                      .as_of_s = 1780000001,
                                      .source = "https://x",
                                      .problems = problems,
                                      .n_problems = 1,
                                      .n_all_problems = 7,
                                      .claims_known = true,
                                      .claims_uncounted = "claims are not counted: x",
                                      .reckoned = json_pack("{s:i}", "nodes", 3),
                                      .policy = snapshot_policy(&policy)};
    json_t *object = through_text(snapshot_to_json(&snapshot));
    assert_int_equal(snapshot_from_json(object, arena, &back, &err), 0);
    json_decref(object);
    assert_int_equal(back.made_s, snapshot.made_s);
    assert_int_equal(back.as_of_s, snapshot.as_of_s);
    assert_string_equal(back.source, snapshot.source);
    assert_int_equal(back.n_problems, 1);
    assert_int_equal(back.n_all_problems, 7);
    assert_true(back.claims_known);
    assert_string_equal(back.claims_uncounted, "claims are not counted: x");
    assert_string_equal(back.problems[0].kind, "Pod");
    assert_string_equal(back.problems[0].name, "ml/a");
    assert_string_equal(back.problems[0].what, "is \"odd\"");
    json_t *own = snapshot_policy(&policy);
    assert_true(json_equal(back.policy, own));
    json_decref(own);
    json_decref(back.policy);
    json_t *is = json_pack("{s:i}", "nodes", 4);
    assert_string_equal(snapshot_difference(back.reckoned, is, arena),
                        "nodes: the file says 3, the ledger computes 4");
    assert_null(snapshot_difference(back.reckoned, back.reckoned, arena));
    json_t *less = json_object();
    assert_string_equal(snapshot_difference(back.reckoned, less, arena),
                        "nodes: the file says 3, the ledger computes 0");
    json_decref(less);
    json_decref(is);
    json_decref(back.reckoned);
    policy_fini(&policy);
    arena_free(arena);
}

/* The comparison must notice each change. */
static void assert_differs(const struct policy *changed)
{
    struct policy policy;
    policy_init(&policy);
    json_auto_t *as_it_is = snapshot_policy(&policy);
    json_auto_t *as_changed = snapshot_policy(changed);
    assert_non_null(as_it_is);
    assert_non_null(as_changed);
    assert_false(json_equal(as_it_is, as_changed));
    policy_fini(&policy);
}

static void test_any_changed_number_makes_the_policy_differ(void **state)
{
    (void)state;
    struct policy policy;
    policy_init(&policy);
    int64_t *const numbers[] = {
        &policy.slot_price.pressure_weight_milli, &policy.slot_price.drain_weight_milli,
        &policy.slot_price.prior_gpus_milli, &policy.slot_price.prior_confined_milli,
        &policy.replica_spread_milli};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        ++*numbers[i];
        assert_differs(&policy);
        --*numbers[i];
    }
    policy.pod_shape_bytes++;
    assert_differs(&policy);
    policy.pod_shape_bytes--;
    policy.pod_shapes_bytes++;
    assert_differs(&policy);
    policy_fini(&policy);
}

static void test_any_changed_choice_makes_the_policy_differ(void **state)
{
    (void)state;
    struct policy policy;
    policy_init(&policy);
    policy.placement = PLACEMENT_FGD;
    assert_differs(&policy);
    policy.placement = PLACEMENT_SLOT_PRICE;
    policy.soft_preferences = SOFT_PREFERENCES_OVERRIDE;
    assert_differs(&policy);
    policy.soft_preferences = SOFT_PREFERENCES_DEFER;
    char *levels[] = {(char[]){"rack"}};
    policy.topology_levels = levels;
    policy.n_topology_levels = 1;
    assert_differs(&policy);
    policy.topology_levels = NULL;
    policy.n_topology_levels = 0;
    policy.n_device_drivers--;
    assert_differs(&policy);
    policy.n_device_drivers++;
    bool *const switches[] = {&policy.allow_shared, &policy.extended_resource_toleration};
    for (size_t i = 0; i < sizeof switches / sizeof *switches; i++) {
        *switches[i] = !*switches[i];
        assert_differs(&policy);
        *switches[i] = !*switches[i];
    }
    policy_fini(&policy);
}

static json_t *policy_with_quota(const struct quota *quota)
{
    struct policy policy;
    struct err err;
    policy_init(&policy);
    assert_int_equal(policy_add_quota(&policy, quota, &err), 0);
    json_t *json = snapshot_policy(&policy);
    policy_fini(&policy);
    return json;
}

static void test_any_changed_quota_makes_the_policy_differ(void **state)
{
    (void)state;
    static const char *const NAMES[] = {"ml", "web"};
    static const struct quota_limit LIMITS[] = {{.gpus = 3},
                                                {.gpus = 4},
                                                {.gpus = 3, .resource = "nvidia.com/gpu"},
                                                {.gpus = 3, .model = "A100"},
                                                {.gpus = 3, .borrow = {.is_set = true}},
                                                {.gpus = 3, .borrow = {.is_set = true, .gpus = 1}}};
    static const struct requirement TEAM = {
        .key = "team", .op = SELECTOR_IN, .values = NAMES, .n_values = 1};
    const struct quota quotas[] = {
        {.name = "a", .namespaces = NAMES, .n_namespaces = 1, .limits = &LIMITS[0], .n_limits = 1},
        {.name = "b", .namespaces = NAMES, .n_namespaces = 1, .limits = &LIMITS[0], .n_limits = 1},
        {.name = "a", .namespaces = NAMES, .n_namespaces = 2, .limits = &LIMITS[0], .n_limits = 1},
        {.name = "a",
         .namespaces = NAMES,
         .n_namespaces = 1,
         .has_selector = true,
         .limits = &LIMITS[0],
         .n_limits = 1},
        {.name = "a",
         .namespaces = NAMES,
         .n_namespaces = 1,
         .has_selector = true,
         .selector = {&TEAM, 1},
         .limits = &LIMITS[0],
         .n_limits = 1},
        {.name = "a", .namespaces = NAMES, .n_namespaces = 1, .limits = &LIMITS[1], .n_limits = 1},
        {.name = "a", .namespaces = NAMES, .n_namespaces = 1, .limits = &LIMITS[2], .n_limits = 1},
        {.name = "a", .namespaces = NAMES, .n_namespaces = 1, .limits = &LIMITS[3], .n_limits = 1},
        {.name = "a", .namespaces = NAMES, .n_namespaces = 1, .limits = &LIMITS[4], .n_limits = 1},
        {.name = "a", .namespaces = NAMES, .n_namespaces = 1, .limits = &LIMITS[5], .n_limits = 1},
        {.name = "a", .namespaces = NAMES, .n_namespaces = 1, .limits = &LIMITS[0], .n_limits = 2},
    };
    const size_t n = sizeof quotas / sizeof *quotas;
    for (size_t i = 0; i < n * n; i++) {
        json_auto_t *left = policy_with_quota(&quotas[i / n]);
        json_auto_t *right = policy_with_quota(&quotas[i % n]);
        assert_int_equal(json_equal(left, right), i / n == i % n);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any_node_reads_back),
        cmocka_unit_test(test_the_head_of_a_snapshot_reads_back),
        cmocka_unit_test(test_any_changed_number_makes_the_policy_differ),
        cmocka_unit_test(test_any_changed_choice_makes_the_policy_differ),
        cmocka_unit_test(test_any_changed_quota_makes_the_policy_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
