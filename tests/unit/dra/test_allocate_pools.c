/* allocate: which pools a node has, in which order, and which of them give devices. */
#include "base/mem.h"
#include "node.h"
#include "unit.h"

#include <string.h>

static void pools_come_by_name_and_slices_by_name(void **state)
{
    (void)state;
    struct node *node CLEANUP(node_free) = node_new();
    node_add_device(node, node_add_slice(node, "q", "s0"), "q");
    struct allocate_slice *second = node_add_slice(node, "p", "s2");
    struct allocate_slice *first = node_add_slice(node, "p", "s1");
    first->n_slices = second->n_slices = 2;
    node_add_device(node, second, "a");
    node_add_device(node, first, "z");
    node_add_device(node, first, "b");
    (void)node_add_request(node, node_add_claim(node), 4);
    assert_string_equal(node_answer(node), "z b a q");
    /* Pools with binding conditions come last. */
    node->devices[1][0].binding_conditions = "ready";
    assert_string_equal(node_answer(node), "q z b a");
}

static void only_what_reaches_the_node_counts(void **state)
{
    (void)state;
    struct node *node CLEANUP(node_free) = node_new();
    struct allocate_slice *near = node_add_slice(node, "p", "s1");
    struct allocate_slice *far = node_add_slice(node, "p", "s2");
    near->n_slices = far->n_slices = 2;
    node_add_devices(node, near, "x", 2);
    node_add_device(node, far, "far");
    far->reaches_node = false;
    (void)node_add_request(node, node_add_claim(node), 2);
    assert_string_equal(node_answer(node), "x0 x1");
    bool reach[] = {false, true};
    near->devices_reach = reach;
    assert_string_equal(node_answer(node), "cannot allocate all claims");
    far->devices_reach = &reach[1];
    assert_string_equal(node_answer(node), "x1 far");
}

static void only_the_newest_generation_counts(void **state)
{
    (void)state;
    struct node *node CLEANUP(node_free) = node_new();
    struct allocate_slice *old = node_add_slice(node, "p", "s1");
    node_add_devices(node, old, "old", 2);
    struct allocate_slice *new = node_add_slice(node, "p", "s2");
    new->generation = 2;
    node_add_device(node, new, "new");
    struct allocate_want *want = node_add_request(node, node_add_claim(node), 1);
    assert_string_equal(node_answer(node), "new");
    new->n_slices = 2;
    assert_string_equal(node_answer(node), "cannot allocate all claims");
    want->wants_all = true;
    assert_string_equal(node_answer(node), "claim ns/c0, request r0: asks for all devices, but "
                                           "resource pool d/p is currently being updated");
    assert_int_equal(node->answer.verdict, ALLOCATE_ERROR);
    want->wants_all = false;
    /* The newer one is elsewhere. The old one is complete here, and counts. */
    new->reaches_node = false;
    assert_string_equal(node_answer(node), "old0");
    old->n_slices = 2;
    assert_string_equal(node_answer(node), "cannot allocate all claims");
    want->wants_all = true;
    assert_string_equal(node_answer(node), "cannot allocate all claims");
}

static void a_pool_that_contradicts_itself_gives_nothing(void **state)
{
    (void)state;
    struct node *node CLEANUP(node_free) = node_new();
    struct allocate_slice *bad = node_add_slice(node, "p", "s1");
    node_add_device(node, bad, "x");
    node_add_device(node, bad, "x");
    struct allocate_want *want = node_add_request(node, node_add_claim(node), 1);
    assert_string_equal(node_answer(node), "invalid resource pools were encountered");
    assert_int_equal(node->answer.verdict, ALLOCATE_INVALID_POOLS);
    node_add_device(node, node_add_slice(node, "q", "s2"), "y");
    assert_string_equal(node_answer(node), "y");
    want->wants_all = true;
    assert_string_equal(node_answer(node), "claim ns/c0, request r0: asks for all devices, but "
                                           "resource pool d/p is currently invalid");
}

static void counters_must_be_published(void **state)
{
    (void)state;
    struct node *node CLEANUP(node_free) = node_new();
    struct allocate_slice *slice = node_add_slice(node, "p", "s1");
    struct allocate_device *device = node_add_device(node, slice, "x");
    struct allocate_slice *sets = node_add_slice(node, "p", "s2");
    slice->n_slices = sets->n_slices = 2;
    sets->reaches_node = false;
    struct allocate_counter counter = {"slots", 1}, other = {"memory", 1};
    struct allocate_counter_set published[] = {{"set", &counter, 1}, {"set", &counter, 1}};
    struct allocate_counter_set consumed = {"set", &other, 1};
    sets->shared_counters = published;
    sets->n_shared_counters = 1;
    (void)node_add_request(node, node_add_claim(node), 1);
    assert_string_equal(node_answer(node), "x");
    device->consumes = &consumed;
    device->n_consumes = 1;
    assert_int_equal((node_answer(node), node->answer.verdict), ALLOCATE_INVALID_POOLS);
    consumed.counters = &counter;
    consumed.name = "none";
    assert_int_equal((node_answer(node), node->answer.verdict), ALLOCATE_INVALID_POOLS);
    device->n_consumes = 0;
    sets->n_shared_counters = 2;
    assert_int_equal((node_answer(node), node->answer.verdict), ALLOCATE_INVALID_POOLS);
}

/* A GPU and its halves. */
static void overlapping_devices_share_counters(void **state)
{
    (void)state;
    struct node *node CLEANUP(node_free) = node_new();
    struct allocate_slice *slice = node_add_slice(node, "p", "s1");
    struct allocate_slice *sets = node_add_slice(node, "p", "s2");
    slice->n_slices = sets->n_slices = 2;
    struct allocate_counter whole = {"slots", 2}, half = {"slots", 1};
    struct allocate_counter_set published = {"set", &whole, 1}, all = {"set", &whole, 1},
                                part = {"set", &half, 1};
    sets->shared_counters = &published;
    sets->n_shared_counters = 1;
    node_add_devices(node, slice, "x", 4);
    for (size_t i = 0; i < 4; i++) {
        node->devices[0][i].consumes = i ? &part : &all;
        node->devices[0][i].n_consumes = 1;
    }
    struct allocate_want *want = node_add_request(node, node_add_claim(node), 1);
    assert_string_equal(node_answer(node), "x0");
    want->n_devices = 2;
    assert_string_equal(node_answer(node), "x1 x2");
    want->n_devices = 3;
    assert_string_equal(node_answer(node), "cannot allocate all claims");
    want->n_devices = 1;
    node->devices[0][3].is_allocated = true;
    assert_string_equal(node_answer(node), "x1");
    node->devices[0][2].is_allocated = true;
    assert_string_equal(node_answer(node), "cannot allocate all claims");
    node->devices[0][2].is_allocated = false;
    half.amount = -1;
    assert_string_equal(node_answer(node), "device x3: the size of its counters");
    assert_int_equal(node->answer.verdict, ALLOCATE_NOT_JUDGED);
    half.amount = 1;
    /* Upstream would mix them up. */
    struct allocate_slice *other = node_add_slice(node, "p", "s3");
    other->driver = "e";
    other->shared_counters = &published;
    other->n_shared_counters = 1;
    assert_string_equal(node_answer(node),
                        "pools of several drivers are named p and have counters");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pools_come_by_name_and_slices_by_name),
        cmocka_unit_test(only_what_reaches_the_node_counts),
        cmocka_unit_test(only_the_newest_generation_counts),
        cmocka_unit_test(a_pool_that_contradicts_itself_gives_nothing),
        cmocka_unit_test(counters_must_be_published),
        cmocka_unit_test(overlapping_devices_share_counters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
