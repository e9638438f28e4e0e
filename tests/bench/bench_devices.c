/*
 * bench_devices: memory of the devices and claims of a large cluster; time to fill them, to list
 * the claims again unchanged, to check the numbers, for one claim to come or go, and
 * for a taint rule of all devices.
 *
 *     scripts/build bench tests/bench/bench_devices && build/bench/tests/bench/bench_devices
 *
 * 5,000 nodes with 8 GPUs of one pool each, and 40,000 claims of one device and one pod each. As
 * MIG, each GPU has 18 partitions, whose counters overlap. As one pool, several nodes reach all.
 */
#include "base/arena.h"
#include "base/mem.h"
#include "dra/devices.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define N_NODES 5000
#define N_GPUS 8
#define N_CLAIMS ((size_t)N_NODES * N_GPUS)
#define N_PARTITIONS 18
#define N_COUNTERS 14
#define N_EVENTS 20000
#define GIB (INT64_C(1) << 30)

static double now_s(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double resident_bytes(void)
{
    char line[128] = "";
    char *at = NULL;
    mem_give_back();
    FILE *file = fopen("/proc/self/statm", "re");
    if (!file || !fgets(line, sizeof line, file))
        abort();
    (void)fclose(file);
    (void)strtol(line, &at, 10); /* skips the pages of address space; then come resident pages */
    return strtod(at, NULL) * (double)sysconf(_SC_PAGESIZE);
}

enum shape { PLAIN, MIG, ONE_POOL };

static const char *node_name(struct arena *arena, size_t node)
{
    return arena_printf(arena, "ip-10-%zu-%zu-17.eu-west-1.compute", node / 250, node % 250);
}

static const char *device_name(struct arena *arena, enum shape shape, size_t i)
{
    return arena_printf(arena, "gpu-%zu", shape == ONE_POOL ? i : i % N_GPUS);
}

static const char *pool_name(struct arena *arena, enum shape shape, size_t i)
{
    return shape == ONE_POOL ? "network" : node_name(arena, i / N_GPUS);
}

static struct counter_set counters_of(struct arena *arena, size_t gpu, size_t first, size_t n)
{
    struct device_counter *counters = ARENA_ARRAY(arena, struct device_counter, n);
    for (size_t i = 0; i < n; i++)
        counters[i] =
            (struct device_counter){arena_printf(arena, "memory-slice-%zu", first + i), 1};
    return (struct counter_set){.name = arena_printf(arena, "gpu-%zu-counter-set", gpu),
                                .counters = counters,
                                .n_counters = n};
}

static struct device_facts device_of(struct arena *arena, enum shape shape, size_t i)
{
    return (struct device_facts){.name = device_name(arena, shape, i),
                                 .model = "NVIDIA H100 80GB HBM3",
                                 .profile = "",
                                 .physical = arena_printf(arena, "0000:%02zx:00.0", i % N_GPUS),
                                 .memory_bytes = 80 * GIB,
                                 .node_name = ""};
}

static struct device_facts partition_of(struct arena *arena, size_t gpu, size_t i)
{
    struct device_facts partition = device_of(arena, MIG, gpu);
    struct counter_set *set = ARENA_NEW(arena, struct counter_set);
    partition.name = arena_printf(arena, "gpu-%zu-mig-1g10gb-%zu", gpu, i);
    partition.profile = "1g.10gb";
    partition.memory_bytes = 10 * GIB;
    *set = counters_of(arena, gpu, i % N_COUNTERS, 1);
    partition.consumes = set;
    partition.n_consumes = 1;
    return partition;
}

static size_t add_gpu(struct arena *arena, enum shape shape, size_t i, struct device_facts *facts)
{
    facts[0] = device_of(arena, shape, i);
    if (shape != MIG)
        return 1;
    struct counter_set *set = ARENA_NEW(arena, struct counter_set);
    *set = counters_of(arena, i % N_GPUS, 0, N_COUNTERS);
    facts[0].consumes = set;
    facts[0].n_consumes = 1;
    for (size_t part = 0; part < N_PARTITIONS; part++)
        facts[1 + part] = partition_of(arena, i % N_GPUS, part);
    return 1 + N_PARTITIONS;
}

static void put_sets(struct devices *devices, size_t node)
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    struct counter_set *sets = ARENA_ARRAY(arena, struct counter_set, N_GPUS);
    for (size_t i = 0; i < N_GPUS; i++)
        sets[i] = counters_of(arena, i, 0, N_COUNTERS);
    const struct slice_facts slice = {.name = arena_printf(arena, "%zu-counters", node),
                                      .driver = "gpu.nvidia.com",
                                      .pool = node_name(arena, node),
                                      .generation = 1,
                                      .n_slices = 2,
                                      .node_name = node_name(arena, node),
                                      .counter_sets = sets,
                                      .n_counter_sets = N_GPUS};
    devices_upsert_slice(devices, &slice);
}

static void put_slice(struct devices *devices, enum shape shape, size_t node)
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    struct device_facts *facts =
        ARENA_ARRAY(arena, struct device_facts, (size_t)N_GPUS * (1 + N_PARTITIONS));
    size_t n = 0;
    for (size_t i = 0; i < N_GPUS; i++)
        n += add_gpu(arena, shape, node * N_GPUS + i, &facts[n]);
    const char *name = node_name(arena, node);
    const struct slice_facts slice = {
        .name = arena_printf(arena, "%s-gpu.nvidia.com-x7k2p", name),
        .driver = "gpu.nvidia.com",
        .pool = pool_name(arena, shape, node * N_GPUS),
        .generation = 1,
        .n_slices = shape == ONE_POOL ? N_NODES : 1 + (shape == MIG),
        .node_name = shape == ONE_POOL ? "" : name,
        .devices = facts,
        .n_devices = n,
    };
    devices_upsert_slice(devices, &slice);
    if (shape == MIG)
        put_sets(devices, node);
}

static void put_claim(struct devices *devices, enum shape shape, size_t i, bool is_allocated)
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    const struct claim_result result = {.driver = "gpu.nvidia.com",
                                        .pool = pool_name(arena, shape, i),
                                        .device = device_name(arena, shape, i)};
    const char *const holder = arena_printf(arena, "9c5b94b1-35ad-49bb-b118-%012zu", i);
    const struct claim_facts claim = {
        .namespace_ = arena_printf(arena, "team-%zu", i % 60),
        .name = arena_printf(arena, "training-%zu-gpu-%05zu", i / 100, i),
        .uid = arena_printf(arena, "1b9d6bcd-bbfd-4b2d-9b5d-%012zu", i),
        .n_devices = 1,
        .is_allocated = is_allocated,
        .results = &result,
        .n_results = 1,
        .holders = &holder,
        .n_holders = 1,
        .n_all_holders = 1,
        .extended_for_uid = "",
    };
    devices_upsert_claim(devices, &claim);
}

static void take_all(struct devices *devices)
{
    while (devices_take_changed(devices)) {
    }
}

static void fill(struct devices *devices, enum shape shape)
{
    for (size_t i = 0; i < N_NODES; i++) {
        put_slice(devices, shape, i);
        take_all(devices);
    }
    for (size_t i = 0; i < N_CLAIMS; i++) {
        put_claim(devices, shape, i, true);
        take_all(devices);
    }
}

static void list_again(struct devices *devices, enum shape shape)
{
    devices_relist_begin(devices, DEVICES_CLAIMS);
    for (size_t i = 0; i < N_CLAIMS; i++)
        put_claim(devices, shape, i, true);
    devices_relist_end(devices, DEVICES_CLAIMS);
    take_all(devices);
}

/* Claims are allocated and deallocated by turns. */
static void change(struct devices *devices, enum shape shape)
{
    for (size_t i = 0; i < N_EVENTS; i++) {
        put_claim(devices, shape, i / 2 * 7919 % N_CLAIMS, i % 2 == 1);
        take_all(devices);
    }
}

static void taint_all(struct devices *devices)
{
    const struct device_taint_facts rule = {.name = "maintenance"};
    devices_upsert_taint(devices, &rule);
    take_all(devices);
    devices_delete_taint(devices, rule.name);
    take_all(devices);
}

static void check(struct devices *devices)
{
    struct err err = {""};
    size_t n_differences = 0;
    while (!devices_check_some(devices, SIZE_MAX, &n_differences, &err)) {
    }
    if (n_differences == 0)
        return;
    (void)fprintf(stderr, "%s\n", err.text);
    abort();
}

static void measure(const struct policy *policy, enum shape shape, const char *name)
{
    const double before = resident_bytes();
    struct devices *devices = devices_new(policy);
    double at_s = now_s();
    fill(devices, shape);
    const double fill_s = now_s() - at_s;
    const double bytes = resident_bytes() - before;
    at_s = now_s();
    list_again(devices, shape);
    const double list_s = now_s() - at_s;
    at_s = now_s();
    change(devices, shape);
    const double change_s = now_s() - at_s;
    at_s = now_s();
    taint_all(devices);
    const double taint_s = (now_s() - at_s) / 2;
    at_s = now_s();
    check(devices);
    const double check_s = now_s() - at_s;
    printf("%-8s  %6.1f MiB  filled in %5.0f ms, claims listed again in %4.0f ms, checked in %5.0f "
           "ms, one claim %5.1f us, a rule for all %5.1f ms\n",
           name, bytes / (1 << 20), fill_s * 1e3, list_s * 1e3, check_s * 1e3,
           change_s / N_EVENTS * 1e6, taint_s * 1e3);
    devices_free(devices);
}

int main(void)
{
    struct policy policy;
    policy_init(&policy);
    measure(&policy, PLAIN, "plain");
    measure(&policy, ONE_POOL, "one pool");
    measure(&policy, MIG, "MIG");
    policy_fini(&policy);
    return 0;
}
