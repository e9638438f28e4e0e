/* The copy of the devices, beside the allocator. */
#include "device_copy_fixture.h"
#include "dra/devices.h"
#include "objects/device_details.h"

#include "types/device_facts.h"

#define DRIVER "gpu.nvidia.com"

struct parts {
    const char *const *gpus; /* of each, as its physical key; NULL: not known */
    struct device_attribute attributes[2];
};

static void add_parts_of(struct fixture *fixture, const char *node, size_t n,
                         const struct parts *parts)
{
    static const char *const NAMES[] = {"gpu-0", "gpu-1", "gpu-2"};
    struct device_facts devices[3];
    for (size_t i = 0; i < n; i++)
        devices[i] = (struct device_facts){.name = NAMES[i],
                                           .model = "",
                                           .profile = "",
                                           .physical = parts->gpus ? parts->gpus[i] : "",
                                           .node_name = "",
                                           .attributes = parts->attributes,
                                           .n_attributes = 2};
    const struct slice_facts slice = {.name = node,
                                      .driver = DRIVER,
                                      .pool = node,
                                      .generation = 1,
                                      .n_slices = 1,
                                      .node_name = node,
                                      .devices = devices,
                                      .n_devices = n};
    cluster_upsert_slice(fixture->cluster, &slice);
}

static void add_parts(struct fixture *fixture, const char *node, size_t n, const char *const *gpus)
{
    const struct parts parts = {gpus, {{DRIVER "/type", "sgpu"}, {DRIVER "/memory", "q40Gi"}}};
    add_parts_of(fixture, node, n, &parts);
}

static void add_slice(struct fixture *fixture, const char *node, size_t n)
{
    add_parts(fixture, node, n, NULL);
}

#define OTHER "other.example.com"
#define DEVICES_OF_OTHER 128

/* Each device for all nodes. */
static void add_slice_of_other(struct fixture *fixture, size_t i)
{
    struct device_facts devices[DEVICES_OF_OTHER];
    for (size_t d = 0; d < DEVICES_OF_OTHER; d++)
        devices[d] = (struct device_facts){.name = arena_printf(fixture->arena, "d-%zu", d),
                                           .model = "",
                                           .profile = "",
                                           .physical = "",
                                           .node_name = ""};
    const struct slice_facts slice = {.name = arena_printf(fixture->arena, "other-%zu", i),
                                      .driver = OTHER,
                                      .pool = arena_printf(fixture->arena, "other-%zu", i),
                                      .generation = 1,
                                      .n_slices = 1,
                                      .node_name = "",
                                      .per_device = true,
                                      .devices = devices,
                                      .n_devices = DEVICES_OF_OTHER};
    cluster_upsert_slice(fixture->cluster, &slice);
}

static void use(struct fixture *fixture, const char *pool, const char *device)
{
    const struct claim_result result = {.driver = DRIVER, .pool = pool, .device = device};
    const struct claim_facts claim = {.namespace_ = "ml",
                                      .name = pool,
                                      .uid = "u",
                                      .extended_for_uid = "",
                                      .is_allocated = true,
                                      .results = &result,
                                      .n_results = 1};
    cluster_upsert_resource_claim(fixture->cluster, &claim);
}

static int set_up(void **state)
{
    static const struct cel_read READS[] = {{false, DRIVER, "type"}};
    *state = device_copy_fixture_new(READS, 1);
    return 0;
}

static void read_all(struct fixture *fixture)
{
    bool is_done = false;
    while (!is_done) {
        device_copy_read_some(fixture->copy, cluster_devices(fixture->cluster),
                              cluster_knows(fixture->cluster, CLUSTER_CLAIMS));
        is_done = device_copy_end_step(fixture->copy);
    }
}

static struct device_copy_slices on_node(struct fixture *fixture, const char *name)
{
    const struct label_view node = {.node_name = name};
    return device_copy_on_node(fixture->copy, &node, fixture->arena);
}

static const struct allocate_want WANT = {.name = "", .n_devices = 2};
static const struct allocate_request REQUEST = {.name = "gpus", .wants = &WANT, .n_wants = 1};
static const struct allocate_claim CLAIM = {
    .namespace_ = "ml", .name = "train", .requests = &REQUEST, .n_requests = 1};

static struct allocate_answer ask(struct fixture *fixture, const char *name)
{
    const struct device_copy_slices slices = on_node(fixture, name);
    struct allocate_class *class = arena_alloc(fixture->arena, sizeof *class);
    class->name = "gpu";
    struct cel_program **program = arena_alloc(fixture->arena, sizeof(void *));
    *program = cel_compile("device.attributes['" DRIVER "'].type == 'gpu'", fixture->arena);
    class->selectors = (struct allocate_selectors){program, 1};
    struct allocate_want *want = arena_alloc(fixture->arena, sizeof *want);
    *want = WANT;
    want->class_name = "gpu";
    want->device_class = class;
    struct allocate_request *request = arena_alloc(fixture->arena, sizeof *request);
    *request = REQUEST;
    request->wants = want;
    struct allocate_claim *claim = arena_alloc(fixture->arena, sizeof *claim);
    *claim = CLAIM;
    claim->requests = request;
    const struct allocate_question question = {.slices = slices.slices,
                                               .n_slices = slices.n,
                                               .claims = claim,
                                               .n_claims = 1,
                                               .max_steps = ALLOCATE_STEPS_MAX};
    assert_null(slices.not_judged);
    return allocate_on_node(&question, fixture->arena);
}

static void test_the_allocator_gets_the_free_devices_of_the_node(void **state)
{
    struct fixture *fixture = *state;
    add_slice(fixture, "a", 3);
    add_slice(fixture, "b", 2);
    use(fixture, "a", "gpu-0");
    use(fixture, "b", "gpu-0");
    read_all(fixture);
    const struct allocate_answer answer = ask(fixture, "a");
    assert_int_equal(answer.verdict, ALLOCATE_FITS);
    assert_int_equal(answer.results[0].n, 2);
    assert_string_equal(answer.results[0].devices[0].device->name, "gpu-1");
    assert_int_equal(ask(fixture, "b").verdict, ALLOCATE_NO);
    assert_int_equal(ask(fixture, "unknown").verdict, ALLOCATE_NO);
}

static void test_equal_devices_share_their_facts(void **state)
{
    struct fixture *fixture = *state;
    add_slice(fixture, "a", 1);
    add_slice(fixture, "b", 1);
    read_all(fixture);
    assert_ptr_equal(on_node(fixture, "a").slices[0].devices[0].facts,
                     on_node(fixture, "b").slices[0].devices[0].facts);
}

static void test_taken_devices_are_allocated_until_given_back(void **state)
{
    struct fixture *fixture = *state;
    add_slice(fixture, "a", 2);
    read_all(fixture);
    const struct allocate_answer answer = ask(fixture, "a");
    device_copy_take(fixture->copy, &CLAIM, answer.results);
    assert_int_equal(device_copy_n_taken(fixture->copy), 2);
    assert_true(device_copy_touches(fixture->copy, 0, "a"));
    assert_false(device_copy_touches(fixture->copy, 0, "b"));
    assert_false(device_copy_touches(fixture->copy, 2, "a"));
    assert_int_equal(ask(fixture, "a").verdict, ALLOCATE_NO);
    device_copy_give_back(fixture->copy, 0);
    assert_int_equal(ask(fixture, "a").verdict, ALLOCATE_FITS);
}

static void test_unknown_claims_are_not_judged(void **state)
{
    struct fixture *fixture = *state;
    add_slice(fixture, "a", 1);
    cluster_set_known(fixture->cluster, CLUSTER_CLAIMS, false);
    read_all(fixture);
    assert_string_equal(on_node(fixture, "a").not_judged, "the claims in the cluster are unknown");
}

/* More than every node looks at. */
static void test_many_devices_of_others_spoil_only_the_answers_about_them(void **state)
{
    struct fixture *fixture = *state;
    for (size_t i = 0; i < 40; i++)
        add_slice_of_other(fixture, i);
    add_slice(fixture, "a", 3);
    device_copy_name_drivers(fixture->copy, &fixture->policy, true);
    read_all(fixture);
    const struct device_copy_slices slices = on_node(fixture, "a");
    const struct device_copy_kinds kinds = device_copy_kinds(fixture->copy, fixture->arena);
    assert_null(slices.not_judged);
    assert_non_null(slices.others_not_judged);
    assert_int_equal(slices.n, 1);
    assert_int_equal(kinds.n, 1);
    assert_int_equal(kinds.items[0].n, 3);
    assert_non_null(kinds.others_not_judged);
}

/* The number of devices alone is too high. */
static void test_too_many_devices_spoil_only_the_answers_about_their_drivers(void **state)
{
    static const struct device_facts DEVICE = {.name = "d", .node_name = ""};
    struct fixture *fixture = *state;
    const size_t n = DEVICE_COPY_DEVICES_MAX + 1;
    struct device_facts *devices = ARENA_ARRAY(fixture->arena, struct device_facts, n);
    for (size_t i = 0; i < n; i++)
        devices[i] = DEVICE;
    struct slice_facts slice = {.name = "large",
                                .driver = OTHER,
                                .pool = "large",
                                .generation = 1,
                                .n_slices = 1,
                                .node_name = "a",
                                .devices = devices,
                                .n_devices = n};
    const struct given_devices given = {.slices = &slice, .n_slices = 1};
    add_slice(fixture, "a", 3);
    device_copy_give(fixture->copy, &given);
    device_copy_name_drivers(fixture->copy, &fixture->policy, true);
    read_all(fixture);
    assert_null(on_node(fixture, "a").not_judged);
    assert_non_null(on_node(fixture, "a").others_not_judged);
    assert_int_equal(on_node(fixture, "a").n_with_others, 1);
    device_copy_free(fixture->copy);
    slice.driver = DRIVER;
    read_all(fixture);
    assert_non_null(on_node(fixture, "a").not_judged);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, device_copy_fixture_teardown)

static uint64_t alike(struct fixture *fixture, const char *name)
{
    return devices_alike(cluster_devices(fixture->cluster), name);
}

/* Which of equal devices is in use makes no difference. */
static void test_nodes_with_equal_devices_are_alike(void **state)
{
    struct fixture *fixture = *state;
    add_slice(fixture, "a", 3);
    add_slice(fixture, "b", 3);
    add_slice(fixture, "c", 2);
    assert_int_equal(alike(fixture, "a"), alike(fixture, "b"));
    assert_int_not_equal(alike(fixture, "a"), alike(fixture, "c"));
    assert_int_equal(alike(fixture, "none"), alike(fixture, "neither"));
    use(fixture, "a", "gpu-0");
    assert_int_not_equal(alike(fixture, "a"), alike(fixture, "b"));
    use(fixture, "b", "gpu-2");
    assert_int_equal(alike(fixture, "a"), alike(fixture, "b"));
    cluster_delete_resource_claim(fixture->cluster, "ml", "a");
    assert_int_not_equal(alike(fixture, "a"), alike(fixture, "b"));
}

/* Which of the GPUs that parts share are whole differs, so which part is in use matters. */
static void test_parts_of_other_gpus_are_not_alike(void **state)
{
    struct fixture *fixture = *state;
    static const char *const TWO[] = {"0000:01", "0000:01", "0000:02"};
    static const char *const OTHER_TWO[] = {"0000:03", "0000:03", "0000:04"};
    static const char *const THREE[] = {"0000:01", "0000:02", "0000:03"};
    add_parts(fixture, "a", 3, TWO);
    add_parts(fixture, "b", 3, OTHER_TWO);
    add_parts(fixture, "c", 3, THREE);
    assert_int_equal(alike(fixture, "a"), alike(fixture, "b"));
    assert_int_not_equal(alike(fixture, "a"), alike(fixture, "c"));
    use(fixture, "a", "gpu-0");
    use(fixture, "b", "gpu-2");
    assert_int_not_equal(alike(fixture, "a"), alike(fixture, "b"));
}

/* Which of three nodes stands for each, as digits, to claims that read that attribute. */
static const char *first_to(struct fixture *fixture, const char *attribute)
{
    static const char *const NAMES[] = {"a", "b", "c"};
    struct cel_read read = {false, DRIVER, attribute};
    const struct claims_reads reads = {.items = &read, .n = 1};
    size_t first[3];
    devices_find_alike(cluster_devices(fixture->cluster), NAMES, 3, &reads, first);
    return arena_printf(fixture->arena, "%zu%zu%zu", first[0], first[1], first[2]);
}

static void test_only_what_claims_read_tells_nodes_apart(void **state)
{
    struct fixture *fixture = *state;
    const struct parts nic = {NULL, {{DRIVER "/type", "snic"}, {DRIVER "/memory", "q40Gi"}}};
    const struct parts large = {NULL, {{DRIVER "/type", "sgpu"}, {DRIVER "/memory", "q80Gi"}}};
    add_slice(fixture, "a", 2);
    add_parts_of(fixture, "b", 2, &nic);
    add_slice(fixture, "c", 2);
    assert_int_not_equal(alike(fixture, "a"), alike(fixture, "b"));
    assert_string_equal(first_to(fixture, "type"), "010");
    assert_string_equal(first_to(fixture, "vendor"), "000");
    add_parts_of(fixture, "c", 2, &large); /* requests may ask for any capacity */
    assert_string_equal(first_to(fixture, "vendor"), "002");
    use(fixture, "b", "gpu-0");
    assert_string_equal(first_to(fixture, "vendor"), "012");
}

static void test_a_taint_makes_a_node_like_no_other(void **state)
{
    struct fixture *fixture = *state;
    const struct device_taint_facts rule = {
        .name = "r", .driver = DRIVER, .pool = "a", .key = "k", .effect = "NoSchedule"};
    add_slice(fixture, "a", 3);
    use(fixture, "a", "gpu-0");
    cluster_upsert_device_taint(fixture->cluster, &rule);
    assert_int_equal(alike(fixture, "a"), 0);
    add_slice(fixture, "b", 3);
    use(fixture, "b", "gpu-0");
    assert_string_equal(first_to(fixture, "type"), "012");
    cluster_delete_device_taint(fixture->cluster, "r");
    assert_int_not_equal(alike(fixture, "a"), 0);
}

static void test_some_nodes_are_read_alone(void **state)
{
    struct fixture *fixture = *state;
    static const char *const NAMES[] = {"b"};
    struct device_copy_nodes nodes = {.names = NAMES, .n = 1, .work = 1000};
    struct device_copy_nodes too_much = {.names = NAMES, .n = 1, .work = 1};
    add_slice(fixture, "a", 3);
    add_slice(fixture, "b", 3);
    assert_true(
        device_copy_read_nodes(fixture->copy, cluster_devices(fixture->cluster), true, &nodes));
    assert_true(device_copy_end_step(fixture->copy));
    assert_int_equal(on_node(fixture, "a").n, 0);
    assert_int_equal(ask(fixture, "b").verdict, ALLOCATE_FITS);
    assert_false(
        device_copy_read_nodes(fixture->copy, cluster_devices(fixture->cluster), true, &too_much));
    assert_true(device_copy_end_step(fixture->copy));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_the_allocator_gets_the_free_devices_of_the_node),
        TEST(test_equal_devices_share_their_facts),
        TEST(test_taken_devices_are_allocated_until_given_back),
        TEST(test_unknown_claims_are_not_judged),
        TEST(test_nodes_with_equal_devices_are_alike),
        TEST(test_parts_of_other_gpus_are_not_alike),
        TEST(test_only_what_claims_read_tells_nodes_apart),
        TEST(test_a_taint_makes_a_node_like_no_other),
        TEST(test_some_nodes_are_read_alone),
        TEST(test_many_devices_of_others_spoil_only_the_answers_about_them),
        TEST(test_too_many_devices_spoil_only_the_answers_about_their_drivers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
