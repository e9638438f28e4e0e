/* objects/snapshot: the sums that a snapshot carries, so that its reader can compare its own. */
#include "fixture_devices.h"
#include "objects/snapshot.h"
#include "unit.h"

#include <string.h>

/* -1: no such line. */
static int64_t line_of(const struct snapshot_lines *lines, const char *what)
{
    for (size_t i = 0; i < lines->n; i++) {
        if (strcmp(lines->items[i].what, what) == 0)
            return lines->items[i].n;
    }
    return -1;
}

/* Shadowed devices are among them: what is listed must agree, too. */
static void test_devices_are_summed_by_driver(void **state)
{
    struct fixture *fixture = *state;
    cluster_upsert_device_class(
        fixture->cluster,
        &(struct device_class_facts){"gpu.nvidia.com", .resource = "nvidia.com/gpu"});
    fixture_put_node(fixture, "n1", "cpu=1", "");
    fixture_put_node(fixture, "n2", "cpu=1 nvidia.com/gpu=2", "accelerator=A100");
    fixture_put_slice(fixture, "n1", NVIDIA_DRIVER, "H100, H100, L4!");
    fixture_put_slice(fixture, "n2", NVIDIA_DRIVER, "H100, H100");
    fixture_put_claim(fixture, "c", "n1", NVIDIA_DRIVER, "gpu-0");
    const struct snapshot_lines lines = snapshot_compute(fixture->cluster, fixture->arena);
    assert_int_equal(line_of(&lines, "GPUs of gpu.nvidia.com"), 5);
    assert_int_equal(line_of(&lines, "GPUs of gpu.nvidia.com, allocated"), 1);
    assert_int_equal(line_of(&lines, "GPUs of gpu.nvidia.com, free"), 3);
    assert_int_equal(line_of(&lines, "GPUs of gpu.amd.com"), -1);
    assert_int_equal(line_of(&lines, "nvidia.com/gpu of H100, free"), 1);
    assert_int_equal(line_of(&lines, "nvidia.com/gpu of A100, free"), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(test_devices_are_summed_by_driver)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
