/* allocate: what is not judged, by name, and bounds on hostile claims and slices. */
#include "base/mem.h"
#include "node.h"
#include "unit.h"

#include <string.h>

#define ARENA_MAX (16U << 20)

static void assert_not_judged(struct node *node, const char *what)
{
    const char *answer = node_answer(node);
    assert_int_equal(node->answer.verdict, ALLOCATE_NOT_JUDGED);
    if (!strstr(answer, what))
        fail_msg("%s does not say %s", answer, what);
}

static void what_is_not_judged_is_named(void **state)
{
    (void)state;
    struct node *node CLEANUP(node_free) = node_new();
    struct allocate_slice *slice = node_add_slice(node, "p", "s");
    struct allocate_device *device = node_add_device(node, slice, "x");
    struct allocate_claim *claim = node_add_claim(node);
    struct allocate_want *want = node_add_request(node, claim, 1);
    want->not_judged = "a field that is not known";
    assert_not_judged(node, "request r0: a field that is not known");
    want->not_judged = NULL;
    struct allocate_capacity capacity = {"memory", ALLOCATE_UNKNOWN, 1, NULL};
    device->capacities = &capacity;
    device->n_capacities = 1;
    assert_not_judged(node, "device x: the size of its capacity memory");
    capacity.consumed = 0;
    device->not_judged = "attributes are missing";
    assert_string_equal(node_answer(node), "x");
    node_select(node, want, "true");
    assert_not_judged(node, "device x: attributes are missing");
    device->not_judged = NULL;
    node_select(node, want, "device.driver.format([]) == ''");
    assert_not_judged(node, "claim ns/c0: selector #0: uses format()");
    want->selectors.n = 0;
    (void)node_constrain(node, claim, ALLOCATE_MATCH, "model");
    assert_not_judged(node, "a constraint on model");
    claim->n_constraints = 0;
    want->n_devices = INT64_MAX;
    assert_not_judged(node, "a count of 9223372036854775807");
}

static void what_the_search_does_not_reach_is_no_fault(void **state)
{
    (void)state;
    struct node *node CLEANUP(node_free) = node_new();
    struct allocate_slice *slice = node_add_slice(node, "p", "s");
    node_add_device(node, slice, "x");
    struct allocate_capacity capacity = {"memory", ALLOCATE_UNKNOWN, 1, NULL};
    struct allocate_device *device = node_add_device(node, slice, "y");
    device->capacities = &capacity;
    device->n_capacities = 1;
    struct allocate_claim *claim = node_add_claim(node);
    (void)node_add_request(node, claim, 1);
    assert_string_equal(node_answer(node), "x");
    (void)node_add_request(node, claim, 1);
    assert_not_judged(node, "device y");
}

static void slices_that_disagree_are_not_judged(void **state)
{
    (void)state;
    struct node *node CLEANUP(node_free) = node_new();
    struct allocate_slice *one = node_add_slice(node, "p", "s1");
    struct allocate_slice *other = node_add_slice(node, "p", "s2");
    one->n_slices = 2;
    node_add_device(node, one, "x");
    node_add_device(node, other, "y");
    struct allocate_want *want = node_add_request(node, node_add_claim(node), 1);
    assert_not_judged(node, "slices of pool d/p disagree");
    want->wants_all = true;
    assert_not_judged(node, "slices of pool d/p disagree");
    want->wants_all = false;
    node_add_device(node, node_add_slice(node, "a", "s3"), "z");
    assert_string_equal(node_answer(node), "z");
}

/* 128 devices of 100. */
static void combinations_are_bounded(void **state)
{
    (void)state;
    struct node *node CLEANUP(node_free) = node_new();
    node_add_devices(node, node_add_slice(node, "p", "s"), "x", 100);
    struct allocate_claim *claim = node_add_claim(node);
    for (int i = 0; i < 4; i++)
        (void)node_add_request(node, claim, 8);
    (void)node_add_request(node, node_add_claim(node), 32);
    (void)node_add_request(node, node_add_claim(node), 32);
    (void)node_add_request(node, node_add_claim(node), 32);
    assert_not_judged(node, "too many combinations");
    assert_int_equal(node->answer.steps, ALLOCATE_STEPS_MAX);
    assert_true(arena_bytes(node->arena) < ARENA_MAX);
}

static void work_of_selectors_is_bounded(void **state)
{
    (void)state;
    struct node *node CLEANUP(node_free) = node_new();
    node_add_devices(node, node_add_slice(node, "p", "s"), "x", 100);
    struct allocate_want *want = node_add_request(node, node_add_claim(node), 1);
    node_select(node, want,
                "[1,2,3,4,5,6,7,8,9,10].all(a, [1,2,3,4,5,6,7,8,9,10].all(b, "
                "[1,2,3,4,5,6,7,8,9,10].all(c, a > 0))) && false");
    assert_not_judged(node, "too many combinations");
    assert_true(arena_bytes(node->arena) < ARENA_MAX);
    node->max_steps = 10;
    assert_not_judged(node, "too many combinations");
    assert_int_equal(node->answer.steps, 10);
}

static void claims_and_requests_are_bounded(void **state)
{
    (void)state;
    struct node *node CLEANUP(node_free) = node_new();
    node_add_devices(node, node_add_slice(node, "p", "s"), "x", 100);
    for (size_t i = 0; i < 9; i++) {
        struct allocate_claim *claim = node_add_claim(node);
        for (int j = 0; j < 32; j++)
            (void)node_add_request(node, claim, 1);
    }
    assert_not_judged(node, "too many combinations");
    while (node->n_claims < 12)
        node->claims[node->n_claims++] = node->claims[0];
    assert_not_judged(node, "too many claims and requests");
    while (node->n_claims <= ALLOCATE_CLAIMS_MAX)
        node->claims[node->n_claims++] = node->claims[0];
    assert_not_judged(node, "too many claims");
}

static void more_than_a_claim_can_hold_is_an_error(void **state)
{
    (void)state;
    struct node *node CLEANUP(node_free) = node_new();
    node_add_devices(node, node_add_slice(node, "p", "s"), "x", 40);
    struct allocate_claim *claim = node_add_claim(node);
    struct allocate_want *want = node_add_request(node, claim, 33);
    assert_string_equal(node_answer(node), "claim ns/c0: number of requested devices 33 exceeds "
                                           "the claim limit of 32");
    assert_int_equal(node->answer.verdict, ALLOCATE_ERROR);
    /* An alternative that is too large is passed over. */
    (void)node_add_alternative(node, claim, 1);
    assert_string_equal(node_answer(node), "x0");
    want->n_devices = 32;
    (void)node_add_request(node, claim, 1);
    assert_string_equal(node_answer(node), "x0,x1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_not_judged_is_named),
        cmocka_unit_test(what_the_search_does_not_reach_is_no_fault),
        cmocka_unit_test(slices_that_disagree_are_not_judged),
        cmocka_unit_test(combinations_are_bounded),
        cmocka_unit_test(work_of_selectors_is_bounded),
        cmocka_unit_test(claims_and_requests_are_bounded),
        cmocka_unit_test(more_than_a_claim_can_hold_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
