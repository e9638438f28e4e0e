/* claim_rules: the verdicts of nodes, and what placed pods leave to the next ones. */
#include "base/mem.h"
#include "decide/claim_rules.h"
#include "decide/rank.h"
#include "dice.h"
#include "dra/devices.h"
#include "fixture_devices.h"
#include "fixture_question.h"
#include "unit.h"

#include <string.h>

static const struct allocate_class ANY = {.name = "any"};

/* A pod with one claim, of one request. */
struct asking {
    struct fixture *fixture;
    struct device_copy *copy;
    struct allocate_want want;
    struct allocate_request request;
    struct pod_claim claim;
    struct pod_claim *claims[1];
    uint64_t steps_left;
    int minor;
    struct claim_rules *rules;
};

static void asking_end(struct asking *asking)
{
    device_copy_free(asking->copy);
}

/* n devices, by a template. */
static void ask(struct asking *asking, struct fixture *fixture, int64_t n)
{
    *asking = (struct asking){
        .fixture = fixture,
        .copy = device_copy_new(NULL, 0, NULL, fixture->arena),
        .want = {.name = "", .class_name = "any", .device_class = &ANY, .n_devices = n},
        .request = {.name = "gpus", .n_wants = 1},
        .claim = {.asked = {.namespace_ = "ml", .name = "c", .n_requests = 1},
                  .is_template = true,
                  .fault = REASON_FITS},
        .steps_left = CLAIM_RULES_STEPS_MAX};
    asking->request.wants = &asking->want;
    asking->claim.asked.requests = &asking->request;
    asking->claims[0] = &asking->claim;
}

static enum reason judge(struct asking *asking, const char *node)
{
    const struct claims_of_pod pod = {asking->claims, 1, "", asking->minor, false};
    bool is_read = asking->rules != NULL;
    while (!is_read) {
        device_copy_read_some(asking->copy, cluster_devices(asking->fixture->cluster),
                              cluster_knows(asking->fixture->cluster, CLUSTER_CLAIMS));
        is_read = device_copy_end_step(asking->copy);
    }
    if (!asking->rules)
        asking->rules =
            claim_rules_of(&pod, asking->copy, &asking->steps_left, asking->fixture->arena);
    return claim_rules_judge(asking->rules, fixture_find_node(asking->fixture, node));
}

static void place(struct asking *asking, const char *node)
{
    assert_int_equal(judge(asking, node), REASON_FITS);
    claim_rules_place(asking->rules, fixture_find_node(asking->fixture, node));
}

static const char *cause(const struct asking *asking, const char *node)
{
    return claim_rules_cause(asking->rules, fixture_find_node(asking->fixture, node));
}

/* Two devices on n1, none on n2. */
static struct fixture *two_nodes(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "n1", "cpu=8000", "");
    fixture_put_node(fixture, "n2", "cpu=8000", "");
    fixture_put_slice(fixture, "n1", NVIDIA_DRIVER, "H100, H100");
    return fixture;
}

static void taint(const struct fixture *fixture, const char *device)
{
    const struct device_taint_facts rule = {
        .name = device, .pool = "n1", .device = device, .key = "broken", .effect = "NoSchedule"};
    cluster_upsert_device_taint(fixture->cluster, &rule);
}

static enum reason verdict(struct fixture *fixture, int64_t n, const char *node)
{
    struct asking asking CLEANUP(asking_end);
    ask(&asking, fixture, n);
    return judge(&asking, node);
}

static void test_too_few_devices(void **state)
{
    struct fixture *fixture = two_nodes(state);
    assert_int_equal(verdict(fixture, 2, "n1"), REASON_FITS);
    assert_int_equal(verdict(fixture, 3, "n1"), REASON_CLAIM_TOTAL);
    assert_int_equal(verdict(fixture, 1, "n2"), REASON_CLAIM_TOTAL);
    fixture_put_claim(fixture, "other", "n1", NVIDIA_DRIVER, "gpu-0");
    assert_int_equal(verdict(fixture, 1, "n1"), REASON_FITS);
    assert_int_equal(verdict(fixture, 2, "n1"), REASON_CLAIM_FREE);
}

static void test_taints(void **state)
{
    struct fixture *fixture = two_nodes(state);
    taint(fixture, "gpu-1");
    assert_int_equal(verdict(fixture, 1, "n1"), REASON_FITS);
    assert_int_equal(verdict(fixture, 2, "n1"), REASON_CLAIM_TAINTED);
    assert_int_equal(verdict(fixture, 3, "n1"), REASON_CLAIM_TOTAL);
    struct asking tolerates CLEANUP(asking_end);
    static const struct allocate_toleration BROKEN = {"broken", "Exists", "", ""};
    ask(&tolerates, fixture, 2);
    tolerates.want.tolerations = &BROKEN;
    tolerates.want.n_tolerations = 1;
    assert_int_equal(judge(&tolerates, "n1"), REASON_FITS);
}

/* The verdicts are kept for the next pod with the same claims. */
static void test_an_error_ends_when_another_pod_takes_the_device(void **state)
{
    struct fixture *fixture = two_nodes(state);
    struct asking asking CLEANUP(asking_end);
    ask(&asking, fixture, 1);
    struct cel_program *const fails = cel_compile("device.attributes['x'].y", fixture->arena);
    asking.want.selectors = (struct allocate_selectors){&fails, 1};
    assert_int_equal(judge(&asking, "n1"), REASON_CLAIM_ERROR);
    struct asking other;
    ask(&other, fixture, 2);
    device_copy_free(other.copy);
    other.copy = asking.copy;
    other.rules = claim_rules_of(&(struct claims_of_pod){other.claims, 1, "", 0, false}, other.copy,
                                 &other.steps_left, fixture->arena);
    place(&other, "n1");
    assert_int_equal(judge(&asking, "n1"), REASON_CLAIM_TOTAL);
}

static void test_taints_of_devices_in_use(void **state)
{
    struct fixture *fixture = two_nodes(state);
    fixture_put_claim(fixture, "other", "n1", NVIDIA_DRIVER, "gpu-0");
    taint(fixture, "gpu-0");
    assert_int_equal(verdict(fixture, 2, "n1"), REASON_CLAIM_FREE);
    taint(fixture, "gpu-1");
    assert_int_equal(verdict(fixture, 1, "n1"), REASON_CLAIM_TAINTED);
}

static void test_each_replica_takes_devices_of_its_own(void **state)
{
    struct asking asking CLEANUP(asking_end);
    ask(&asking, two_nodes(state), 1);
    place(&asking, "n1");
    place(&asking, "n1");
    assert_int_equal(judge(&asking, "n1"), REASON_CLAIM_FREE);
}

static void test_a_shared_claim_pins_its_node(void **state)
{
    struct fixture *fixture = two_nodes(state);
    fixture_put_slice(fixture, "n2", NVIDIA_DRIVER, "H100, H100");
    struct asking asking CLEANUP(asking_end);
    ask(&asking, fixture, 2);
    asking.claim.is_template = false;
    assert_int_equal(judge(&asking, "n2"), REASON_FITS);
    place(&asking, "n1");
    assert_int_equal(judge(&asking, "n1"), REASON_FITS);
    assert_int_equal(judge(&asking, "n2"), REASON_CLAIM_ELSEWHERE);
    assert_int_equal(asking.claim.n_holders, 1);
}

static void test_a_claim_that_no_pod_uses_may_lose_its_devices(void **state)
{
    struct fixture *fixture = two_nodes(state);
    for (size_t n_holders = 0; n_holders < 2; n_holders++) {
        struct asking asking CLEANUP(asking_end);
        ask(&asking, fixture, 1);
        asking.claim.is_template = false;
        asking.claim.is_allocated = true;
        asking.claim.nodes = fixture_selector(fixture, "@metadata.name In n1");
        asking.claim.n_holders = n_holders;
        assert_int_equal(judge(&asking, "n1"), REASON_FITS);
        assert_int_equal(judge(&asking, "n2"), REASON_CLAIM_ELSEWHERE);
        assert_int_equal(strstr(cause(&asking, "n2"), "no pod uses") != NULL, n_holders == 0);
    }
}

static void test_a_claim_of_too_many_pods(void **state)
{
    struct asking asking CLEANUP(asking_end);
    ask(&asking, two_nodes(state), 1);
    asking.claim.is_template = false;
    asking.claim.n_holders = CLAIM_RULES_HOLDERS_MAX - 1;
    place(&asking, "n1");
    assert_int_equal(judge(&asking, "n1"), REASON_CLAIM_HOLDERS);
    assert_int_equal(judge(&asking, "n2"), REASON_CLAIM_HOLDERS);
}

static void test_a_fault_of_the_claim_rules_out_all_nodes(void **state)
{
    struct asking asking CLEANUP(asking_end);
    ask(&asking, two_nodes(state), 1);
    asking.claim.fault = REASON_CLAIM_MISSING;
    asking.claim.cause = "ResourceClaim ml/c";
    assert_int_equal(judge(&asking, "n1"), REASON_CLAIM_MISSING);
    assert_string_equal(claim_rules_fault(asking.rules), "ResourceClaim ml/c");
}

static void test_an_error_on_one_node_ends_the_search(void **state)
{
    struct fixture *fixture = two_nodes(state);
    struct asking asking CLEANUP(asking_end);
    struct cel_program *program = cel_compile("device.attributes['d'].none == 1", fixture->arena);
    ask(&asking, fixture, 1);
    asking.want.selectors = (struct allocate_selectors){&program, 1};
    assert_int_equal(judge(&asking, "n1"), REASON_CLAIM_ERROR);
    assert_int_equal(judge(&asking, "n2"), REASON_CLAIM_TOTAL);
    claim_rules_abort(asking.rules, fixture_find_node(fixture, "n1"));
    assert_int_equal(judge(&asking, "n2"), REASON_CLAIM_ERROR);
    assert_non_null(strstr(cause(&asking, "n2"), "n1"));
}

static void test_a_trial_gives_back_what_it_took(void **state)
{
    struct fixture *fixture = two_nodes(state);
    const struct node *n1 = fixture_find_node(fixture, "n1");
    struct asking asking CLEANUP(asking_end);
    ask(&asking, fixture, 2);
    assert_int_equal(judge(&asking, "n1"), REASON_FITS);
    struct claim_rules *trial = claim_rules_try(asking.rules, fixture->arena);
    claim_rules_place(trial, n1);
    assert_int_equal(claim_rules_judge(trial, n1), REASON_CLAIM_FREE);
    claim_rules_end_trial(trial);
    place(&asking, "n1");
    assert_int_equal(judge(&asking, "n1"), REASON_CLAIM_FREE);
}

static void test_without_steps_nothing_is_judged(void **state)
{
    struct asking asking CLEANUP(asking_end);
    ask(&asking, two_nodes(state), 1);
    asking.steps_left = 1;
    assert_int_equal(judge(&asking, "n1"), REASON_CLAIM_NOT_JUDGED);
    assert_true(claim_rules_are_cut(asking.rules));
}

/* Two nodes cost more than one pod may spend. */
static void test_a_pod_leaves_steps_to_others(void **state)
{
    struct asking asking CLEANUP(asking_end);
    ask(&asking, two_nodes(state), 1);
    asking.steps_left = 1200;
    assert_int_equal(judge(&asking, "n1"), REASON_FITS);
    assert_int_equal(judge(&asking, "n2"), REASON_CLAIM_NOT_JUDGED);
    assert_true(claim_rules_are_cut(asking.rules));
    assert_true(asking.steps_left > 0);
}

/* All devices, where a slice of the pool is missing. */
static enum reason verdict_beside_incomplete(struct fixture *fixture, int minor)
{
    struct asking asking CLEANUP(asking_end);
    ask(&asking, fixture, 0);
    asking.want.wants_all = true;
    asking.minor = minor;
    return judge(&asking, "n1");
}

static void test_an_incomplete_pool_rejects_all_nodes_by_version(void **state)
{
    struct fixture *fixture = two_nodes(state);
    const struct device_facts device = {
        .name = "gpu-0", .model = "", .profile = "", .physical = "", .node_name = ""};
    const struct slice_facts one_of_two = {.name = "of-two",
                                           .driver = NVIDIA_DRIVER,
                                           .pool = "of-two",
                                           .generation = 1,
                                           .n_slices = 2,
                                           .node_name = "n1",
                                           .devices = &device,
                                           .n_devices = 1};
    cluster_upsert_slice(fixture->cluster, &one_of_two);
    assert_int_equal(verdict_beside_incomplete(fixture, 0), REASON_CLAIM_ERROR);
    assert_int_equal(verdict_beside_incomplete(fixture, 37), REASON_CLAIM_ERROR);
    assert_int_equal(verdict_beside_incomplete(fixture, 38), REASON_CLAIM_TOTAL);
}

#define RANKED 14

/* Few models, rooms and counts in use: many nodes are alike. */
static void put_random_nodes(struct fixture *fixture, struct dice *dice)
{
    static const char *const MODELS[] = {"H100, H100", "L4, L4, L4", "H100, L4", "L4, H100, H100!"};
    static const char *const ROOMS[] = {"cpu=1500 pods=9", "cpu=9000 pods=9"};
    for (int i = 0; i < RANKED; i++) {
        const char *name = arena_printf(fixture->arena, "n%02d", i);
        fixture_put_node(fixture, name, ROOMS[dice_below(dice, 2)],
                         dice_one_in(dice, 6) ? "nvidia.com/gpu.product=T4" : "");
        fixture_put_slice(fixture, name, NVIDIA_DRIVER, MODELS[dice_below(dice, 4)]);
        if (dice_one_in(dice, 3))
            fixture_put_claim(fixture, name, name, NVIDIA_DRIVER,
                              dice_one_in(dice, 2) ? "gpu-0" : "gpu-1");
    }
}

static void check_ranks_equal(struct asking *asking, const struct ranked_node *nodes, size_t n)
{
    const struct shape_facts facts = fixture_shape_facts(asking->fixture, "cpu=1000");
    struct fit_question question = fixture_question(asking->fixture, &facts);
    struct ranked_node alone[RANKED], shared[RANKED];
    const struct claims_reads none = {0};
    const char *names[RANKED];
    size_t first[RANKED];
    question.devices = asking->rules;
    for (size_t i = 0; i < n; i++)
        names[i] = node_name(nodes[i].node);
    devices_find_alike(cluster_devices(asking->fixture->cluster), names, n, &none, first);
    for (size_t i = 0; i < n; i++) {
        alone[i] = shared[i] = nodes[i];
        shared[i].takes = claim_rules_takes(asking->rules, nodes[first[i]].node);
    }
    rank_nodes(asking->fixture->cluster, &question, alone, n);
    rank_nodes(asking->fixture->cluster, &question, shared, n);
    for (size_t i = 0; i < n; i++) {
        assert_ptr_equal(alone[i].node, shared[i].node);
        assert_int_equal(alone[i].score, shared[i].score);
    }
}

static void test_nodes_with_the_same_takes_rank_as_if_each_were_weighed(void **state)
{
    struct fixture *fixture = *state;
    fixture->policy.placement = PLACEMENT_SLOT_PRICE; /* so that rooms matter */
    cluster_upsert_device_class(fixture->cluster,
                                &(struct device_class_facts){"gpus", .resource = "nvidia.com/gpu"});
    fixture_put_pod(fixture, "waits", "", "nvidia.com/gpu=1 cpu=1000");
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct dice dice = {seed};
        struct ranked_node nodes[RANKED] = {{0}};
        size_t n = 0;
        put_random_nodes(fixture, &dice);
        gpu_demand_settle(fixture->cluster);
        struct asking asking CLEANUP(asking_end);
        ask(&asking, fixture, 1 + dice_below(&dice, 2));
        device_copy_name_drivers(asking.copy, cluster_policy(fixture->cluster), false);
        for (int i = 0; i < RANKED; i++) {
            const char *name = arena_printf(fixture->arena, "n%02d", i);
            if (judge(&asking, name) == REASON_FITS)
                nodes[n++] = (struct ranked_node){.node = fixture_find_node(fixture, name)};
        }
        check_ranks_equal(&asking, nodes, n);
        for (int i = 0; i < RANKED; i++)
            fixture_remove_claim(fixture, arena_printf(fixture->arena, "n%02d", i));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_nodes_with_the_same_takes_rank_as_if_each_were_weighed),
        TEST(test_too_few_devices),
        TEST(test_taints),
        TEST(test_an_error_ends_when_another_pod_takes_the_device),
        TEST(test_taints_of_devices_in_use),
        TEST(test_each_replica_takes_devices_of_its_own),
        TEST(test_a_shared_claim_pins_its_node),
        TEST(test_a_claim_that_no_pod_uses_may_lose_its_devices),
        TEST(test_a_claim_of_too_many_pods),
        TEST(test_a_fault_of_the_claim_rules_out_all_nodes),
        TEST(test_an_error_on_one_node_ends_the_search),
        TEST(test_a_trial_gives_back_what_it_took),
        TEST(test_without_steps_nothing_is_judged),
        TEST(test_a_pod_leaves_steps_to_others),
        TEST(test_an_incomplete_pool_rejects_all_nodes_by_version),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
