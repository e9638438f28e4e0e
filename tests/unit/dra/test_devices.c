/* test_devices: what is published when, lists, claims one by one, and facts for a snapshot. */
#include "base/mem.h"
#include "script.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct fixture {
    struct policy policy;
    struct devices *devices;
    struct arena *arena;
    char seen[64];
};

static int set_up(void **state)
{
    struct fixture *fixture = MEM_NEW(struct fixture);
    policy_init(&fixture->policy);
    fixture->devices = devices_new(&fixture->policy);
    fixture->arena = arena_new();
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    devices_free(fixture->devices);
    policy_fini(&fixture->policy);
    arena_free(fixture->arena);
    free(fixture);
    return 0;
}

static const char *node(const struct fixture *fixture, const char *name)
{
    return script_node(fixture->devices, name, fixture->arena);
}

static struct slice_facts slice_of(const char *name, const struct device_facts *device)
{
    return (struct slice_facts){.name = name,
                                .driver = SCRIPT_DRIVER,
                                .pool = name,
                                .generation = 1,
                                .n_slices = 1,
                                .node_name = name,
                                .devices = device,
                                .n_devices = 1};
}

static const struct device_facts GPU = {.name = "gpu-0",
                                        .model = SCRIPT_MODEL,
                                        .profile = "",
                                        .physical = "",
                                        .node_name = "",
                                        .memory_bytes = INT64_C(40) << 30};

static void test_numbers_are_published_node_by_node(void **state)
{
    const struct fixture *fixture = *state;
    const struct slice_facts a = slice_of("a", &GPU);
    const struct slice_facts b = slice_of("b", &GPU);
    devices_upsert_slice(fixture->devices, &a);
    devices_upsert_slice(fixture->devices, &b);
    assert_string_equal(node(fixture, "a"), "");
    assert_string_equal(devices_take_changed(fixture->devices), "a");
    assert_string_equal(node(fixture, "a"), "1 total, 1 free");
    assert_string_equal(node(fixture, "b"), "");
    assert_string_equal(devices_take_changed(fixture->devices), "b");
    assert_null(devices_take_changed(fixture->devices));
    devices_upsert_slice(fixture->devices, &a); /* the same again */
    assert_null(devices_take_changed(fixture->devices));
    devices_delete_slice(fixture->devices, "a");
    assert_string_equal(devices_take_changed(fixture->devices), "a");
    assert_string_equal(node(fixture, "a"), "");
    assert_null(devices_take_changed(fixture->devices));
}

static void test_models(void **state)
{
    const struct fixture *fixture = *state;
    struct device_facts gpus[] = {GPU, GPU, GPU, GPU};
    const char *const names[] = {"gpu-0", "gpu-1", "gpu-2", "gpu-3"};
    for (size_t i = 0; i < 4; i++)
        gpus[i].name = names[i];
    gpus[1].model = "nvidia a100 sxm4 40gb"; /* the same model in other words, with less memory */
    gpus[1].memory_bytes = INT64_C(39) << 30;
    gpus[2].model = "";
    gpus[3].profile = "3g.20gb";
    struct slice_facts slice = slice_of("n", gpus);
    slice.n_devices = 4;
    devices_upsert_slice(fixture->devices, &slice);
    assert_string_equal(devices_take_changed(fixture->devices), "n");
    size_t n = 0;
    const struct device_group *groups = devices_on_node(fixture->devices, "n", &n);
    assert_int_equal(n, 1);
    assert_string_equal(groups[0].driver, SCRIPT_DRIVER);
    assert_int_equal(groups[0].n_models, 3);
    const struct device_model *models = groups[0].models;
    assert_string_equal(models[0].name, "");
    assert_int_equal(models[0].total, 1);
    assert_string_equal(models[1].name, "A100-SXM4-40GB");
    assert_int_equal(models[1].total, 3); /* with that of the partition */
    assert_int_equal(models[1].free, 2);
    assert_int_equal(models[1].memory_bytes, 0); /* that of the partition's GPU is unknown */
    assert_string_equal(models[1].model->chip, "A100");
    assert_true(models[2].is_partition);
    assert_string_equal(models[2].name, "A100-SXM4-40GB-MIG-3g.20gb");
    assert_int_equal(models[2].model->sharing, GPU_MIG_SLICED);
    assert_string_equal(models[2].model->mig_profile, "3g.20gb");
}

/* Mostly those of the device before. */
static void test_each_device_keeps_its_own_attributes(void **state)
{
    static const struct device_attribute FIRST[] = {{"d/a", "s1"}, {"d/b", "i2"}};
    static const struct device_attribute OTHER[] = {{"d/a", "v1"}, {"d/c", "i2"}, {"d/d", "?"}};
    const struct fixture *fixture = *state;
    struct device_facts gpus[] = {GPU, GPU, GPU, GPU, GPU};
    const char *const names[] = {"gpu-0", "gpu-1", "gpu-2", "gpu-3", "gpu-4"};
    const struct device_attribute *const kept[] = {FIRST, FIRST, OTHER, NULL, OTHER};
    const size_t n_kept[] = {2, 2, 3, 0, 2};
    for (size_t i = 0; i < 5; i++) {
        gpus[i].name = names[i];
        gpus[i].attributes = kept[i];
        gpus[i].n_attributes = n_kept[i];
    }
    struct slice_facts slice = slice_of("n", gpus);
    slice.n_devices = 5;
    devices_upsert_slice(fixture->devices, &slice);
    slice.n_devices = 1;
    slice.name = "m"; /* shares texts with the first, which goes */
    devices_upsert_slice(fixture->devices, &slice);
    struct slice_facts back;
    assert_non_null(devices_next_slice(fixture->devices, NULL, fixture->arena, &back));
    devices_delete_slice(fixture->devices, "n");
    assert_int_equal(back.n_devices, 5);
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(back.devices[i].n_attributes, n_kept[i]);
        for (size_t k = 0; k < n_kept[i]; k++) {
            assert_string_equal(back.devices[i].attributes[k].name, kept[i][k].name);
            assert_string_equal(back.devices[i].attributes[k].value, kept[i][k].value);
        }
    }
    assert_non_null(devices_next_slice(fixture->devices, NULL, fixture->arena, &back));
    assert_string_equal(back.devices[0].attributes[1].value, "i2");
}

static void test_other_drivers_do_not_count(void **state)
{
    const struct fixture *fixture = *state;
    struct slice_facts slice = slice_of("n", &GPU);
    slice.driver = "nic.example.com";
    devices_upsert_slice(fixture->devices, &slice);
    assert_null(devices_take_changed(fixture->devices));
    assert_false(devices_have_gpus(fixture->devices));
    struct slice_facts back;
    assert_non_null(devices_next_slice(fixture->devices, NULL, fixture->arena, &back));
    assert_string_equal(back.driver, "nic.example.com");
    assert_int_equal(back.n_devices, 1);
    devices_keep_slice(fixture->devices, "n");
    (void)devices_next_slice(fixture->devices, NULL, fixture->arena, &back);
    assert_true(back.is_unreadable);
    slice.driver = SCRIPT_DRIVER; /* the same name */
    devices_upsert_slice(fixture->devices, &slice);
    assert_true(devices_have_gpus(fixture->devices));
    assert_string_equal(devices_take_changed(fixture->devices), "n");
}

/* Of slices of other drivers, the devices beyond a limit are left out. */
static void test_other_drivers_are_bounded(void **state)
{
    const struct fixture *fixture = *state;
    struct device_facts devices[SLICE_DEVICES_MAX];
    struct device_attribute attributes[DEVICE_ATTRIBUTES_MAX];
    char value[256];
    memset(value, 'x', sizeof value);
    value[sizeof value - 1] = '\0';
    for (size_t i = 0; i < DEVICE_ATTRIBUTES_MAX; i++)
        attributes[i] = (struct device_attribute){"d/a", value};
    for (size_t i = 0; i < SLICE_DEVICES_MAX; i++) {
        devices[i] = GPU;
        devices[i].attributes = attributes;
        devices[i].n_attributes = DEVICE_ATTRIBUTES_MAX;
    }
    struct slice_facts slice = slice_of("n", devices);
    const size_t n =
        DEVICES_OTHER_BYTES_MAX / (sizeof value * SLICE_DEVICES_MAX) / DEVICE_ATTRIBUTES_MAX;
    slice.driver = "nic.example.com";
    slice.n_devices = SLICE_DEVICES_MAX;
    for (size_t i = 0; i <= n; i++) {
        slice.name = arena_printf(fixture->arena, "s%zu", i);
        devices_upsert_slice(fixture->devices, &slice);
        devices_upsert_slice(fixture->devices, &slice); /* takes the place of the first */
    }
    struct slice_facts back;
    const char *name = NULL;
    size_t n_left_out = 0;
    while ((name = devices_next_slice(fixture->devices, name, fixture->arena, &back))) {
        assert_int_equal(back.n_devices, back.is_unreadable ? 0 : SLICE_DEVICES_MAX);
        n_left_out += back.is_unreadable;
    }
    assert_in_range(n_left_out, 1, n / 2);
    devices_delete_slice(fixture->devices, "s0");
    devices_upsert_slice(fixture->devices, &slice);
    while ((name = devices_next_slice(fixture->devices, name, fixture->arena, &back)))
        n_left_out -= back.is_unreadable;
    assert_int_equal(n_left_out, 1);
}

/* The slices of a counted driver on one node cannot take the room of others. */
static void test_counted_slices_are_bounded_by_node_driver_and_in_all(void **state)
{
    struct policy policy;
    struct slice_facts slice = slice_of("a", &GPU);
    (void)state;
    policy_init(&policy);
    policy_add_device_driver(&policy, "other.example.com", "model", "");
    const size_t bytes = devices_slice_bytes(&slice);
    policy.node_slices_bytes = 2 * bytes + bytes / 2;
    policy.driver_slices_bytes = 4 * bytes;
    policy.slices_bytes = 4 * bytes + bytes / 2;
    struct devices *kept = devices_new(&policy);
    static const struct {
        const char *name, *driver, *node, *bound;
    } CASES[] = {
        {"0", SCRIPT_DRIVER, "a", NULL},
        {"1", SCRIPT_DRIVER, "a", NULL},
        {"1", SCRIPT_DRIVER, "a", NULL}, /* in its own place */
        {"2", SCRIPT_DRIVER, "a", "limits.nodeSlicesBytes"},
        {"3", SCRIPT_DRIVER, "b", NULL},
        {"4", SCRIPT_DRIVER, "c", NULL},
        {"5", SCRIPT_DRIVER, "d", "limits.driverSlicesBytes"},
        {"6", "other.example.com", "d", "limits.slicesBytes"},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        slice.name = CASES[i].name;
        slice.driver = CASES[i].driver;
        slice.node_name = CASES[i].node;
        devices_upsert_slice(kept, &slice);
        const char *bound = devices_slice_bound(kept, slice.name);
        assert_string_equal(bound ? bound : "", CASES[i].bound ? CASES[i].bound : "");
    }
    devices_delete_slice(kept, "0");
    slice.name = "2";
    slice.driver = SCRIPT_DRIVER;
    slice.node_name = "a";
    devices_upsert_slice(kept, &slice);
    assert_null(devices_slice_bound(kept, "2"));
    devices_free(kept);
    policy_fini(&policy);
}

/* Memory does not grow with the number of slices that a node's driver publishes. */
static void test_few_slices_without_room_are_remembered(void **state)
{
    const struct fixture *fixture = *state;
    struct policy policy;
    struct slice_facts slice = slice_of("a", &GPU);
    policy_init(&policy);
    slice.name = "000000";
    policy.node_slices_bytes = devices_slice_bytes(&slice);
    struct devices *kept = devices_new(&policy);
    for (size_t i = 0; i < SLICES_LEFT_OUT_MAX + 10; i++) {
        slice.name = arena_printf(fixture->arena, "%06zu", i);
        slice.node_name = i < SLICES_LEFT_OUT_MAX + 9 ? "a" : "b";
        devices_upsert_slice(kept, &slice);
        const char *bound = devices_slice_bound(kept, slice.name);
        assert_string_equal(bound ? bound : "",
                            slice.node_name[0] == 'b' || i == 0 ? "" : "limits.nodeSlicesBytes");
    }
    assert_int_equal(devices_count(kept, DEVICES_SLICES), SLICES_LEFT_OUT_MAX + 2);
    devices_delete_slice(kept, "000001");
    slice.name = "again";
    slice.node_name = "a";
    devices_upsert_slice(kept, &slice);
    assert_int_equal(devices_count(kept, DEVICES_SLICES), SLICES_LEFT_OUT_MAX + 2);
    assert_string_equal(devices_slice_bound(kept, slice.name), "limits.nodeSlicesBytes");
    devices_free(kept);
    policy_fini(&policy);
}

/* Names cost memory, too. */
static void test_slices_of_other_drivers_without_devices_are_bounded(void **state)
{
    const struct fixture *fixture = *state;
    struct slice_facts slice = slice_of("n", NULL);
    char name[254];
    const size_t n = DEVICES_OTHER_BYTES_MAX / (3 * sizeof name);
    size_t n_left_out = 0;
    slice.driver = "nic.example.com";
    slice.n_devices = 0;
    slice.name = slice.pool = slice.node_name = name;
    memset(name, 'x', sizeof name);
    for (size_t i = 0; i <= n; i++) {
        (void)snprintf(&name[240], sizeof name - 240, "%zu", i);
        devices_upsert_slice(fixture->devices, &slice);
    }
    struct slice_facts back;
    const char *last = NULL;
    while ((last = devices_next_slice(fixture->devices, last, fixture->arena, &back)))
        n_left_out += back.is_unreadable;
    assert_in_range(n_left_out, 1, n);
    assert_int_equal(devices_count(fixture->devices, DEVICES_SLICES), n + 1);
}

static void test_lists_delete_what_they_do_not_name(void **state)
{
    const struct fixture *fixture = *state;
    script_run(fixture->devices, "slice s p@n 1 1 a b\nclaim c p/a\nclaim d p/b\ntaint t * p a\n"
                                 "taint u * p b");
    assert_int_equal(devices_count(fixture->devices, DEVICES_CLAIMS), 2);
    devices_relist_begin(fixture->devices, DEVICES_CLAIMS);
    devices_keep_claim(fixture->devices, "default", "d"); /* named, but unreadable */
    devices_keep_claim(fixture->devices, "default", "x");
    assert_false(devices_relist_sweep(fixture->devices, DEVICES_CLAIMS, 1));
    assert_true(devices_relist_sweep(fixture->devices, DEVICES_CLAIMS, 100));
    devices_relist_begin(fixture->devices, DEVICES_TAINTS);
    devices_keep_taint(fixture->devices, "u");
    devices_relist_end(fixture->devices, DEVICES_TAINTS);
    script_run(fixture->devices, "");
    assert_int_equal(devices_count(fixture->devices, DEVICES_CLAIMS), 1);
    assert_int_equal(devices_count(fixture->devices, DEVICES_TAINTS), 1);
    assert_string_equal(node(fixture, "n"), "2 total, 1 allocated, 1 free");
    devices_relist_begin(fixture->devices, DEVICES_SLICES);
    devices_relist_end(fixture->devices, DEVICES_SLICES);
    script_run(fixture->devices, "");
    assert_string_equal(node(fixture, "n"), "");
}

/* A piece of a sweep is bounded by devices, not by slices or rules. */
static void test_a_sweep_counts_devices(void **state)
{
    const struct fixture *fixture = *state;
    script_run(fixture->devices, "slice s p@n 1 1 a b c d\nslice t q@n 1 1 a b c d\n"
                                 "taint t * * *\ntaint u * * *");
    devices_relist_begin(fixture->devices, DEVICES_TAINTS);
    size_t n_before = 2;
    while (!devices_relist_sweep(fixture->devices, DEVICES_TAINTS,
                                 (size_t)4 * DEVICES_SWEEP_DELETION)) {
        const size_t n = devices_count(fixture->devices, DEVICES_TAINTS);
        assert_true(n + 1 >= n_before);
        n_before = n;
    }
    assert_int_equal(n_before, 1);
    assert_int_equal(devices_count(fixture->devices, DEVICES_TAINTS), 0);
    devices_relist_begin(fixture->devices, DEVICES_SLICES);
    assert_false(
        devices_relist_sweep(fixture->devices, DEVICES_SLICES, (size_t)4 * DEVICES_SWEEP_DELETION));
    assert_int_equal(devices_count(fixture->devices, DEVICES_SLICES), 1);
    while (!devices_relist_sweep(fixture->devices, DEVICES_SLICES, 1)) {
    }
    assert_int_equal(devices_count(fixture->devices, DEVICES_SLICES), 0);
}

/* kube-controller-manager writes a rule's status now and then: nothing to do, but it was listed. */
static void test_the_same_rule_again(void **state)
{
    const struct fixture *fixture = *state;
    script_run(fixture->devices, "slice s p@n 1 1 a\ntaint t * p a");
    devices_relist_begin(fixture->devices, DEVICES_TAINTS);
    script_run(fixture->devices, "taint t * p a");
    devices_relist_end(fixture->devices, DEVICES_TAINTS);
    script_run(fixture->devices, "");
    assert_string_equal(node(fixture, "n"), "1 total, 1 tainted");
    script_run(fixture->devices, "taint t * p b");
    assert_string_equal(node(fixture, "n"), "1 total, 1 free");
}

static void test_unusable_pools_are_listed(void **state)
{
    const struct fixture *fixture = *state;
    struct device_pool pool = {0};
    script_run(fixture->devices, "slice s p@n 3 2 a\nslice t q@n 1 1 a a\nslice u r@n 1 1 a");
    assert_true(devices_next_unusable(fixture->devices, &pool));
    assert_string_equal(pool.pool, "p");
    assert_string_equal(pool.node_name, "n");
    assert_string_equal(pool.why, "slices are missing");
    assert_int_equal(pool.generation, 3);
    assert_int_equal(pool.n_there, 1);
    assert_int_equal(pool.n_slices, 2);
    assert_true(devices_next_unusable(fixture->devices, &pool));
    assert_string_equal(pool.pool, "q");
    assert_string_equal(pool.why, "devices share a name");
    assert_false(devices_next_unusable(fixture->devices, &pool));
}

static void test_claims_one_by_one(void **state)
{
    const struct fixture *fixture = *state;
    const struct claim_result results[] = {
        {.driver = SCRIPT_DRIVER, .pool = "p", .device = "m;x", .is_admin = true},
        {.driver = SCRIPT_DRIVER, .pool = "p", .device = "a", .is_shared = true},
        {.driver = "nic.example.com", .pool = "p", .device = "a"},
    };
    const struct claim_facts facts = {.namespace_ = "team",
                                      .name = "claim",
                                      .uid = "claim-uid",
                                      .n_devices = 2,
                                      .has_alternatives = true,
                                      .is_allocated = true,
                                      .results = results,
                                      .n_results = 3,
                                      .holders = (const char *const[]){"pod-1", "pod-2"},
                                      .n_holders = 2,
                                      .n_all_holders = 3,
                                      .extended_for_uid = "pod-1"};
    script_run(fixture->devices, "slice s p@n 1 1 a;profile=1g.5gb");
    devices_upsert_claim(fixture->devices, &facts);
    assert_null(devices_find_claim(fixture->devices, "tea", "mclaim"));
    const struct device_claim *claim = devices_find_claim(fixture->devices, "team", "claim");
    assert_ptr_equal(devices_next_claim(fixture->devices, NULL), claim);
    assert_null(devices_next_claim(fixture->devices, claim));
    assert_string_equal(claim->uid, "claim-uid");
    assert_int_equal(claim->n_results, 3);
    assert_int_equal(claim->n_all_holders, 3);
    struct device_holder holder = {0};
    assert_true(devices_next_holder(claim, &holder));
    assert_string_equal(holder.uid, "pod-1");
    assert_true(devices_next_holder(claim, &holder));
    assert_string_equal(holder.uid, "pod-2");
    assert_false(devices_next_holder(claim, &holder));
    const struct claimed_device unpublished = devices_of_claim(claim, 0);
    assert_true(unpublished.is_gpu && unpublished.is_admin);
    assert_null(unpublished.node_name);
    assert_null(unpublished.model_name);
    const struct claimed_device published = devices_of_claim(claim, 1);
    assert_true(published.is_shared && published.is_partition);
    assert_string_equal(published.device, "a");
    assert_string_equal(published.node_name, "n");
    assert_string_equal(published.model_name, "A100-SXM4-40GB-MIG-1g.5gb");
    assert_false(devices_of_claim(claim, 2).is_gpu);
    const struct claim_facts again = devices_claim_facts(claim, fixture->arena);
    assert_int_equal(again.n_devices, 2);
    assert_true(again.has_alternatives && again.is_allocated && !again.wants_all);
    assert_string_equal(again.results[0].device, "m;x");
    assert_string_equal(again.holders[1], "pod-2");
    assert_string_equal(again.extended_for_uid, "pod-1");
}

static size_t n_claims(const struct fixture *fixture, enum claim_state state)
{
    return devices_count_claims(fixture->devices, state);
}

static void test_claims_are_counted_by_use(void **state)
{
    const struct fixture *fixture = *state;
    const struct claim_result nic = {.driver = "nic.example.com", .pool = "p", .device = "a"};
    const struct claim_result gpu = {.driver = SCRIPT_DRIVER, .pool = "p", .device = "a"};
    const struct claim_facts used = {.namespace_ = "default",
                                     .name = "held",
                                     .uid = "",
                                     .is_allocated = true,
                                     .results = &gpu,
                                     .n_results = 1,
                                     .n_all_holders = 1,
                                     .extended_for_uid = ""};
    struct claim_facts other = used;
    other.name = "other";
    other.results = &nic;
    script_run(fixture->devices, "claim waits\n"
                                 "claim left p/a\n"
                                 "claim watches p/a;admin\n");
    devices_upsert_claim(fixture->devices, &used);
    devices_upsert_claim(fixture->devices, &other);
    assert_int_equal(n_claims(fixture, CLAIM_UNALLOCATED), 1);
    assert_int_equal(n_claims(fixture, CLAIM_UNUSED), 1);
    assert_int_equal(n_claims(fixture, CLAIM_USED), 1);
    assert_int_equal(n_claims(fixture, CLAIM_WITHOUT_GPUS), 2);
    assert_int_equal(devices_claim_state(devices_find_claim(fixture->devices, "default", "held")),
                     CLAIM_USED);
    script_run(fixture->devices, "claim held\n"
                                 "delete claim left\n");
    assert_int_equal(n_claims(fixture, CLAIM_UNALLOCATED), 2);
    assert_int_equal(n_claims(fixture, CLAIM_UNUSED), 0);
    assert_int_equal(n_claims(fixture, CLAIM_USED), 0);
}

/* 256 pods may use a claim: what is kept of them is bounded. */
/* Labels of all claims together. */
static void test_labels_are_bounded(void **state)
{
    struct fixture *fixture = *state;
    const struct devices *devices = fixture->devices;
    const size_t n_kept = 16;
    char *labels CLEANUP(mem_free_ptr) = mem_new(CLAIM_LABELS_BYTES_MAX / n_kept + 1);
    memset(labels, 'x', CLAIM_LABELS_BYTES_MAX / n_kept);
    struct claim_facts facts = {
        .namespace_ = "team", .uid = "", .extended_for_uid = "", .labels = labels};
    for (size_t i = 0; i <= n_kept; i++) {
        facts.name = arena_printf(fixture->arena, "claim-%zu", i);
        devices_upsert_claim(fixture->devices, &facts);
        assert_int_equal(devices_find_claim(devices, "team", facts.name)->labels != NULL,
                         i < n_kept);
    }
    devices_delete_claim(fixture->devices, "team", "claim-0");
    devices_upsert_claim(fixture->devices, &facts);
    assert_string_equal(devices_find_claim(devices, "team", facts.name)->labels, labels);
}

static void test_holders_are_bounded(void **state)
{
    const struct fixture *fixture = *state;
    const char *holders[CLAIM_HOLDERS_MAX];
    for (size_t i = 0; i < CLAIM_HOLDERS_MAX; i++)
        holders[i] = arena_printf(fixture->arena, "%036zu", i);
    const struct claim_facts facts = {.namespace_ = "team",
                                      .name = "claim",
                                      .uid = "",
                                      .holders = holders,
                                      .n_holders = CLAIM_HOLDERS_MAX,
                                      .n_all_holders = CLAIM_HOLDERS_MAX,
                                      .extended_for_uid = ""};
    devices_upsert_claim(fixture->devices, &facts);
    const struct device_claim *claim = devices_find_claim(fixture->devices, "team", "claim");
    struct device_holder holder = {0};
    size_t n = 0;
    for (; devices_next_holder(claim, &holder); n++)
        assert_string_equal(holder.uid, holders[n]);
    assert_int_equal(n, claim->n_holders);
    assert_in_range(n, 16, 64);
    assert_int_equal(claim->n_all_holders, CLAIM_HOLDERS_MAX);
}

static void test_slices_and_rules_as_facts(void **state)
{
    const struct fixture *fixture = *state;
    struct slice_facts slice;
    struct device_taint_facts rule;
    script_run(fixture->devices,
               "slice s p@* 2 3 a;node=n;tainted b;key=k;S:mem=3\nsets t p 1 9 S:mem=8\n"
               "taint r * p *");
    const char *name = devices_next_slice(fixture->devices, NULL, fixture->arena, &slice);
    assert_string_equal(name, "s");
    assert_true(slice.per_device);
    assert_int_equal(slice.generation, 2);
    assert_int_equal(slice.n_slices, 3);
    assert_int_equal(slice.n_devices, 2);
    assert_string_equal(slice.devices[0].node_name, "n");
    assert_true(slice.devices[0].is_tainted);
    assert_string_equal(slice.devices[1].physical, "k");
    assert_string_equal(slice.devices[1].consumes[0].counters[0].name, "mem");
    assert_int_equal(slice.devices[1].consumes[0].counters[0].amount, 3);
    name = devices_next_slice(fixture->devices, name, fixture->arena, &slice);
    assert_string_equal(slice.counter_sets[0].name, "S");
    assert_null(devices_next_slice(fixture->devices, name, fixture->arena, &slice));
    assert_string_equal(devices_next_taint(fixture->devices, NULL, fixture->arena, &rule), "r");
    assert_null(rule.driver);
    assert_string_equal(rule.pool, "p");
    assert_null(devices_next_taint(fixture->devices, "r", fixture->arena, &rule));
}

/* A snapshot writes the facts without the ledger's lock. */
static void test_facts_outlive_their_objects(void **state)
{
    const struct fixture *fixture = *state;
    struct slice_facts slice;
    struct device_taint_facts rule;
    script_run(fixture->devices, "slice s p@n 1 1 a;key=k;S:mem=3\ntaint r * p *");
    devices_upsert_claim(
        fixture->devices,
        &(struct claim_facts){
            .namespace_ = "team",
            .name = "claim",
            .uid = "u",
            .is_allocated = true,
            .results = &(struct claim_result){.driver = "d", .pool = "p", .device = "a"},
            .n_results = 1,
            .holders = (const char *[]){"pod-1"},
            .n_holders = 1,
            .n_all_holders = 1,
            .extended_for_uid = "",
        });
    const struct claim_facts claim =
        devices_claim_facts(devices_find_claim(fixture->devices, "team", "claim"), fixture->arena);
    (void)devices_next_slice(fixture->devices, NULL, fixture->arena, &slice);
    (void)devices_next_taint(fixture->devices, NULL, fixture->arena, &rule);
    devices_delete_claim(fixture->devices, "team", "claim");
    devices_delete_slice(fixture->devices, "s");
    devices_delete_taint(fixture->devices, "r");
    while (devices_take_changed(fixture->devices)) {
    }
    assert_string_equal(claim.name, "claim");
    assert_string_equal(claim.results[0].device, "a");
    assert_string_equal(claim.holders[0], "pod-1");
    assert_string_equal(slice.name, "s");
    assert_string_equal(slice.node_name, "n");
    assert_string_equal(slice.devices[0].name, "a");
    assert_string_equal(slice.devices[0].consumes[0].counters[0].name, "mem");
    assert_string_equal(rule.pool, "p");
}

/* The slices that a step visits. */
static void note_slice(void *context, const struct slice_facts *facts,
                       const struct device_status *statuses)
{
    struct fixture *fixture = context;
    char *seen = fixture->seen;
    (void)statuses;
    (void)snprintf(seen + strlen(seen), sizeof fixture->seen - strlen(seen), "%s ", facts->name);
}

static bool walk(struct fixture *fixture, struct slices_walk *walk, const char *wanted)
{
    fixture->seen[0] = '\0';
    const bool is_done = devices_each_slice_some(fixture->devices, walk);
    assert_string_equal(fixture->seen, wanted);
    return is_done;
}

static void test_slices_are_visited_in_steps(void **state)
{
    struct fixture *fixture = *state;
    struct slices_walk steps = {
        .work = 3, .arena = fixture->arena, .visit = note_slice, .context = fixture};
    assert_true(walk(fixture, &steps, ""));
    const char *const names[] = {"a", "b", "c", "d", "e"};
    for (size_t i = 0; i < 5; i++) {
        const struct slice_facts slice = slice_of(names[i], &GPU);
        devices_upsert_slice(fixture->devices, &slice);
    }
    assert_false(walk(fixture, &steps, "a b "));
    devices_delete_slice(fixture->devices, "b"); /* where the walk stands */
    devices_delete_slice(fixture->devices, "d");
    const struct slice_facts again = slice_of("a", &GPU);
    devices_upsert_slice(fixture->devices, &again);
    assert_false(walk(fixture, &steps, "c e "));
    assert_true(walk(fixture, &steps, "a "));
    assert_true(walk(fixture, &steps, ""));
}

static void share(const struct fixture *fixture, const char *claim, const char *consumed)
{
    const struct claim_result result = {.driver = SCRIPT_DRIVER,
                                        .pool = "n",
                                        .device = "gpu-0",
                                        .is_shared = true,
                                        .consumed = consumed};
    devices_upsert_claim(fixture->devices, &(struct claim_facts){.namespace_ = "team",
                                                                 .name = claim,
                                                                 .uid = claim,
                                                                 .is_allocated = true,
                                                                 .results = &result,
                                                                 .n_results = 1,
                                                                 .extended_for_uid = ""});
}

/* "": none. Moves the place to the claim. */
static const char *claim_after(const struct fixture *fixture, struct claim_place *place)
{
    const struct device_claim *claim = devices_claim_after(fixture->devices, place);
    if (!claim)
        return "";
    *place = (struct claim_place){"team", arena_strdup(fixture->arena, claim->name),
                                  devices_claim_serial(claim)};
    return place->name;
}

static void test_claims_are_walked_while_they_change(void **state)
{
    const struct fixture *fixture = *state;
    struct claim_place place = {.serial = 0};
    assert_string_equal(claim_after(fixture, &place), "");
    share(fixture, "one", NULL);
    share(fixture, "two", NULL);
    share(fixture, "three", NULL);
    share(fixture, "four", NULL);
    assert_string_equal(claim_after(fixture, &place), "one");
    share(fixture, "one", NULL);
    assert_string_equal(claim_after(fixture, &place), "two");
    devices_delete_claim(fixture->devices, "team", "two");
    assert_string_equal(claim_after(fixture, &place), "three");
    assert_string_equal(claim_after(fixture, &place), "four");
    assert_string_equal(claim_after(fixture, &place), "one");
    assert_string_equal(claim_after(fixture, &place), "");
}

static struct shared_devices shared_on(const struct fixture *fixture, const char *name, size_t room)
{
    return devices_shared_on(fixture->devices, name, fixture->arena, &room);
}

static void test_shared_devices(void **state)
{
    const struct fixture *fixture = *state;
    struct device_facts device = GPU;
    device.attributes =
        (const struct device_attribute[]){{"d/model", "sA100"}, {"d/memory", "q40Gi"}};
    device.n_attributes = 2;
    const struct slice_facts slice = slice_of("n", &device);
    devices_upsert_slice(fixture->devices, &slice);
    assert_int_equal(shared_on(fixture, "n", 100).n, 0);
    share(fixture, "one", "10Gi");
    share(fixture, "two", "20Gi");
    share(fixture, "three", NULL);
    const struct shared_devices shared = shared_on(fixture, "n", 100);
    assert_int_equal(shared.n, 1);
    assert_string_equal(shared.items[0].driver, SCRIPT_DRIVER);
    assert_string_equal(shared.items[0].model_name, "A100-SXM4-40GB");
    assert_int_equal(shared.items[0].n_capacities, 1);
    assert_string_equal(shared.items[0].capacities[0].name, "d/memory");
    assert_string_equal(shared.items[0].capacities[0].value, "40Gi");
    assert_int_equal(shared.items[0].status.n_consumed, 2);
    assert_string_equal(shared.items[0].status.consumed[1], "20Gi");
    assert_false(shared.items[0].status.is_cut);
    assert_true(shared_on(fixture, "n", 9).items[0].status.is_cut);
    assert_int_equal(shared_on(fixture, "m", 100).n, 0);
    devices_delete_claim(fixture->devices, "team", "two");
    assert_int_equal(shared_on(fixture, "n", 100).items[0].status.n_consumed, 1);
    devices_delete_claim(fixture->devices, "team", "one");
    devices_delete_claim(fixture->devices, "team", "three");
    assert_int_equal(shared_on(fixture, "n", 100).n, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_numbers_are_published_node_by_node),
        TEST(test_models),
        TEST(test_each_device_keeps_its_own_attributes),
        TEST(test_other_drivers_do_not_count),
        TEST(test_other_drivers_are_bounded),
        TEST(test_counted_slices_are_bounded_by_node_driver_and_in_all),
        TEST(test_few_slices_without_room_are_remembered),
        TEST(test_slices_of_other_drivers_without_devices_are_bounded),
        TEST(test_lists_delete_what_they_do_not_name),
        TEST(test_a_sweep_counts_devices),
        TEST(test_the_same_rule_again),
        TEST(test_unusable_pools_are_listed),
        TEST(test_claims_one_by_one),
        TEST(test_claims_are_counted_by_use),
        TEST(test_labels_are_bounded),
        TEST(test_holders_are_bounded),
        TEST(test_slices_and_rules_as_facts),
        TEST(test_facts_outlive_their_objects),
        TEST(test_slices_are_visited_in_steps),
        TEST(test_shared_devices),
        TEST(test_claims_are_walked_while_they_change),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
