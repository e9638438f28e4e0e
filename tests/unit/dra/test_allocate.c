/* allocate: selectors, constraints, access, taints and capacity of what the requests of a pod get
 * on a node. tests/allocate compares the search with kube-scheduler's own allocator. */
#include "base/mem.h"
#include "node.h"
#include "unit.h"

#include <string.h>

static void selectors_of_class_and_request_choose(void **state)
{
    (void)state;
    struct node *node CLEANUP(node_free) = node_new();
    struct allocate_slice *slice = node_add_slice(node, "p", "s");
    node_add_devices(node, slice, "x", 4);
    struct cel_program *program = cel_compile("device.attributes['d'].index > 0", node->arena);
    struct allocate_class class = {"late", {&program, 1}};
    struct allocate_want *want = node_add_request(node, node_add_claim(node), 1);
    want->device_class = &class;
    assert_string_equal(node_answer(node), "x1");
    node_select(node, want, "device.attributes['d'].index != 1");
    assert_string_equal(node_answer(node), "x2");
    node_select(node, want, "device.attributes['d'].none == 1");
    assert_string_equal(node_answer(node),
                        "claim ns/c0: selector #0: CEL runtime error: no such key: none");
    assert_int_equal(node->answer.verdict, ALLOCATE_ERROR);
    node_select(node, want, "device.driver ==");
    assert_non_null(strstr(node_answer(node), "claim ns/c0: selector #0: CEL compile error: "));
    struct cel_program *none = NULL;
    want->selectors.programs = &none;
    assert_string_equal(node_answer(node),
                        "claim ns/c0, request r0, selector #0: CEL expression empty (unsupported "
                        "selector type?)");
    want->selectors.n = 0;
    want->device_class = NULL;
    assert_string_equal(node_answer(node),
                        "claim ns/c0, request r0: could not retrieve device class any");
    want->device_class = &class;
    want->unknown_mode = "Some";
    assert_string_equal(node_answer(node), "claim ns/c0, request r0: unsupported count mode Some");
    want->class_name = "";
    assert_string_equal(
        node_answer(node),
        "claim ns/c0, request r0: missing device class name (unsupported request type?)");
}

static void attributes_match_or_differ(void **state)
{
    (void)state;
    struct node *node CLEANUP(node_free) = node_new();
    struct allocate_slice *slice = node_add_slice(node, "p", "s");
    node_add_model(node, slice, "x", "a");
    node_add_model(node, slice, "y", "b");
    node_add_model(node, slice, "z", "b");
    struct allocate_claim *claim = node_add_claim(node);
    (void)node_add_request(node, claim, 1);
    (void)node_add_request(node, claim, 1);
    (void)node_constrain(node, claim, ALLOCATE_MATCH, "d/model");
    assert_string_equal(node_answer(node), "y,z");
    (void)node_constrain(node, claim, ALLOCATE_DISTINCT, "d/model");
    assert_string_equal(node_answer(node), "x,y");
    (void)node_constrain(node, claim, ALLOCATE_MATCH, "d/none");
    assert_string_equal(node_answer(node), "cannot allocate all claims");
    (void)node_constrain(node, claim, ALLOCATE_NO_CONSTRAINT, "");
    assert_string_equal(
        node_answer(node),
        "claim ns/c0, constraint #0: empty constraint (unsupported constraint type?)");
}

static void a_constraint_holds_for_the_requests_that_it_names(void **state)
{
    (void)state;
    struct node *node CLEANUP(node_free) = node_new();
    struct allocate_slice *slice = node_add_slice(node, "p", "s");
    node_add_model(node, slice, "x", "a");
    node_add_model(node, slice, "y", "b");
    node_add_model(node, slice, "z", "b");
    struct allocate_claim *claim = node_add_claim(node);
    (void)node_add_request(node, claim, 1);
    (void)node_add_request(node, claim, 1);
    (void)node_add_alternative(node, claim, 1);
    const char *names[] = {"r0", "r1/a1"};
    struct allocate_constraint *constraint = node_constrain(node, claim, ALLOCATE_MATCH, "d/model");
    constraint->requests = names;
    constraint->n_requests = 2;
    assert_string_equal(node_answer(node), "x,y");
    names[1] = "r1";
    assert_string_equal(node_answer(node), "y,z");
}

static void admin_access_shares_devices_but_not_in_one_claim(void **state)
{
    (void)state;
    struct node *node CLEANUP(node_free) = node_new();
    struct allocate_slice *slice = node_add_slice(node, "p", "s");
    node_add_device(node, slice, "x");
    struct allocate_want *plain = node_add_request(node, node_add_claim(node), 1);
    struct allocate_want *admin = node_add_request(node, node_add_claim(node), 1);
    admin->is_admin = true;
    assert_string_equal(node_answer(node), "x;x");
    /* Upstream keeps a plain claim off devices that admin claims of the same pod got first. */
    admin->is_admin = false;
    plain->is_admin = true;
    assert_string_equal(node_answer(node), "cannot allocate all claims");
    admin->is_admin = true;
    node->devices[0][0].is_allocated = true;
    assert_string_equal(node_answer(node), "x;x");
    node_add_request(node, &node->claims[1], 1)->is_admin = true;
    assert_string_equal(node_answer(node), "cannot allocate all claims");
}

static const char *with_toleration(struct node *node, struct allocate_want *want,
                                   struct allocate_toleration toleration)
{
    want->tolerations = &toleration;
    want->n_tolerations = 1;
    const char *answer = node_answer(node);
    want->n_tolerations = 0;
    return answer;
}

static void taints_keep_off_unless_tolerated(void **state)
{
    (void)state;
    const char *no = "cannot allocate all claims";
    struct node *node CLEANUP(node_free) = node_new();
    struct allocate_device *device = node_add_device(node, node_add_slice(node, "p", "s"), "x");
    struct allocate_taint taint = {"k", "v", "NoSchedule"};
    device->taints = &taint;
    device->n_taints = 1;
    struct allocate_want *want = node_add_request(node, node_add_claim(node), 1);
    assert_string_equal(node_answer(node), no);
    assert_string_equal(with_toleration(node, want, (struct allocate_toleration){"k", "", "v", ""}),
                        "x");
    assert_string_equal(
        with_toleration(node, want, (struct allocate_toleration){"", "Exists", "", "NoSchedule"}),
        "x");
    assert_string_equal(
        with_toleration(node, want, (struct allocate_toleration){"k", "Exists", "", "NoExecute"}),
        no);
    assert_string_equal(
        with_toleration(node, want, (struct allocate_toleration){"k", "Equal", "w", ""}), no);
    assert_string_equal(
        with_toleration(node, want, (struct allocate_toleration){"k", "Other", "v", ""}), no);
    taint.effect = "None";
    assert_string_equal(node_answer(node), "x");
}

static void allocated_claims_keep_the_pod_on_their_nodes(void **state)
{
    (void)state;
    struct node *node CLEANUP(node_free) = node_new();
    struct allocate_claim *claim = node_add_claim(node);
    claim->is_allocated = claim->reaches_node = true;
    assert_string_equal(node_answer(node), "");
    assert_int_equal(node->answer.verdict, ALLOCATE_FITS);
    claim->reaches_node = false;
    assert_string_equal(node_answer(node), "resourceclaim not available on the node");
    assert_int_equal(node->answer.verdict, ALLOCATE_ELSEWHERE);
    node_add_device(node, node_add_slice(node, "p", "s"), "x");
    (void)node_add_request(node, node_add_claim(node), 1);
    assert_int_equal((node_answer(node), node->answer.verdict), ALLOCATE_ELSEWHERE);
    claim->reaches_node = true;
    assert_string_equal(node_answer(node), ";x");
    assert_int_equal(node->answer.results[0].n, 0);
}

/* A request for capacity of a device that is given as a whole is a least size. */
static void capacity_of_a_whole_device_must_be_enough(void **state)
{
    (void)state;
    struct node *node CLEANUP(node_free) = node_new();
    struct allocate_slice *slice = node_add_slice(node, "p", "s");
    node_add_devices(node, slice, "x", 3);
    struct allocate_capacity small = {.name = "memory", .value = 40};
    struct allocate_capacity large = {.name = "memory", .value = 80};
    node->devices[0][1].capacities = &small;
    node->devices[0][2].capacities = &large;
    node->devices[0][1].n_capacities = node->devices[0][2].n_capacities = 1;
    struct allocate_want *want = node_add_request(node, node_add_claim(node), 1);
    assert_string_equal(node_answer(node), "x0");
    struct allocate_amount amount = {"memory", 40};
    want->capacities = &amount;
    want->n_capacities = 1;
    assert_string_equal(node_answer(node), "x1");
    amount.value = 41;
    assert_string_equal(node_answer(node), "x2");
    amount.value = 81;
    assert_string_equal(node_answer(node), "cannot allocate all claims");
}

static void devices_are_shared_as_long_as_there_is_capacity(void **state)
{
    (void)state;
    struct node *node CLEANUP(node_free) = node_new();
    struct allocate_slice *slice = node_add_slice(node, "p", "s");
    struct allocate_device *device = node_add_device(node, slice, "x");
    struct cel_device facts = {.driver = "d", .allows_multiple = true};
    device->facts = &facts;
    struct allocate_policy policy = {
        .fallback = 10, .has_range = true, .min = 10, .max = 60, .step = 10};
    struct allocate_capacity memory = {.name = "memory", .value = 80, .policy = &policy};
    device->capacities = &memory;
    device->n_capacities = 1;
    struct allocate_claim *claim = node_add_claim(node);
    struct allocate_want *one = node_add_request(node, claim, 1);
    (void)node_add_request(node, claim, 1);
    assert_string_equal(node_answer(node), "x,x");
    /* 41 is rounded up to 50, and 50 + 10 + 20 is all there is. */
    struct allocate_amount amount = {"memory", 41};
    one->capacities = &amount;
    one->n_capacities = 1;
    memory.consumed = 20;
    assert_string_equal(node_answer(node), "x,x");
    memory.consumed = 21;
    assert_string_equal(node_answer(node), "cannot allocate all claims");
    memory.consumed = 0;
    amount.value = 61;
    assert_string_equal(node_answer(node), "cannot allocate all claims");
    /* One request never gets a device twice. */
    one->n_capacities = 0;
    one->n_devices = 2;
    assert_string_equal(node_answer(node), "cannot allocate all claims");
}

static void only_the_first_share_takes_counters(void **state)
{
    (void)state;
    struct node *node CLEANUP(node_free) = node_new();
    struct allocate_slice *slice = node_add_slice(node, "p", "s1");
    struct allocate_slice *sets = node_add_slice(node, "p", "s2");
    slice->n_slices = sets->n_slices = 2;
    struct allocate_counter slots = {"slots", 1};
    struct allocate_counter_set set = {"set", &slots, 1};
    sets->shared_counters = &set;
    sets->n_shared_counters = 1;
    struct cel_device facts = {.driver = "d", .allows_multiple = true};
    node_add_devices(node, slice, "x", 2);
    for (size_t i = 0; i < 2; i++) {
        node->devices[0][i].facts = &facts;
        node->devices[0][i].consumes = &set;
        node->devices[0][i].n_consumes = 1;
    }
    struct allocate_claim *claim = node_add_claim(node);
    struct allocate_want *want = node_add_request(node, claim, 1);
    (void)node_add_request(node, claim, 1);
    assert_string_equal(node_answer(node), "x0,x0");
    want->n_devices = 2;
    assert_string_equal(node_answer(node), "cannot allocate all claims");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(selectors_of_class_and_request_choose),
        cmocka_unit_test(attributes_match_or_differ),
        cmocka_unit_test(a_constraint_holds_for_the_requests_that_it_names),
        cmocka_unit_test(admin_access_shares_devices_but_not_in_one_claim),
        cmocka_unit_test(taints_keep_off_unless_tolerated),
        cmocka_unit_test(allocated_claims_keep_the_pod_on_their_nodes),
        cmocka_unit_test(capacity_of_a_whole_device_must_be_enough),
        cmocka_unit_test(devices_are_shared_as_long_as_there_is_capacity),
        cmocka_unit_test(only_the_first_share_takes_counters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
