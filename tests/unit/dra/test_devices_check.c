/* test_devices_check: the self-check notices each kind of wrong number, and says where it is. */
#include "base/mem.h"
#include "devices_priv.h"
#include "recount.h"
#include "script.h"
#include "unit.h"

#include <string.h>

typedef void corrupt_function(struct devices *devices);

static struct device *first_device(const struct devices *devices)
{
    return &CONTAINER_OF(devices->objects[DEVICES_SLICES], struct kept_slice, object)->devices[0];
}

/* Each keeps what devices_free() relies on. */

static void corrupt_row(struct devices *devices)
{
    devices->places->rows->n[DEVICE_FREE]++;
}

static void corrupt_state(struct devices *devices)
{
    first_device(devices)->state = DEVICE_TAINTED;
}

static void corrupt_gpu(struct devices *devices)
{
    first_device(devices)->gpu->counted.state = DEVICE_TAINTED;
}

static void corrupt_published(struct devices *devices)
{
    devices->places->published.groups[0].allocated++;
}

static void corrupt_digest(struct devices *devices)
{
    devices->places->alike++;
}

static void corrupt_count(struct devices *devices)
{
    devices->n_claims[CLAIM_UNUSED]++;
}

/* Only the whole check sees from claims whether a device is in use. */
static void corrupt_use(struct devices *devices)
{
    struct device *device = first_device(devices);
    device->named->n_uses++;
    gpus_refresh(devices, device);
    devices_settle(devices);
    while (devices_take_changed(devices)) {
    }
}

static void test_wrong_numbers_are_found(void **state)
{
    (void)state;
    static const struct {
        corrupt_function *corrupt;
        bool whole, some; /* found by */
        const char *words;
    } ROWS[] = {
        {corrupt_row, false, true, "node 'n'"},
        {corrupt_state, false, true, "node 'n'"},
        {corrupt_gpu, false, true, "node 'n'"},
        {corrupt_published, true, true, "node 'n'"},
        {corrupt_digest, false, true, "node 'n': the digest"},
        {corrupt_count, true, false, "2 claims, should be 1"},
        {corrupt_use, true, false, "node 'n'"},
    };
    struct policy policy;
    policy_init(&policy);
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        struct devices *devices = devices_new(&policy);
        struct err err = {""};
        size_t n_differences = 0;
        script_run(devices, "slice s p@n 1 1 a b\nclaim c p/b\nslice t p@m 1 1 c");
        while (!devices_check_some(devices, 1, &n_differences, &err)) {
        }
        assert_int_equal(n_differences, 0);
        ROWS[i].corrupt(devices);
        assert_int_equal(devices_recount(devices, &err) > 0, ROWS[i].whole);
        while (!devices_check_some(devices, 1, &n_differences, &err)) {
        }
        assert_int_equal(n_differences > 0, ROWS[i].some);
        assert_non_null(strstr(err.text, ROWS[i].words));
        devices_free(devices);
    }
    policy_fini(&policy);
}

/* Older slices of another node leave a pool, and change nothing else of it. */
static void test_a_node_that_keeps_a_pool_alone_gets_a_digest(void **state)
{
    (void)state;
    struct policy policy;
    struct err err = {""};
    size_t n_differences = 0;
    policy_init(&policy);
    struct devices *devices = devices_new(&policy);
    script_run(devices, "slice s p@n 1 1 a\nslice t p@m 2 1 b");
    assert_int_equal(devices_alike(devices, "m"), 0);
    script_run(devices, "delete slice s");
    assert_int_not_equal(devices_alike(devices, "m"), 0);
    while (!devices_check_some(devices, 1, &n_differences, &err)) {
    }
    assert_int_equal(n_differences, 0);
    devices_free(devices);
    policy_fini(&policy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wrong_numbers_are_found),
        cmocka_unit_test(test_a_node_that_keeps_a_pool_alone_gets_a_digest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
