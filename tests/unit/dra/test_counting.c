/* test_counting: what counts as a GPU, as in use and as free, rule by rule (script.h). */
#include "script.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

struct row {
    const char *what;
    const char *lines;
    const char *node; /* what node n shows after them */
};

/* Each row on its own. */
static void check_rows(const struct row *rows, size_t n)
{
    struct policy policy;
    policy_init(&policy);
    for (size_t i = 0; i < n; i++) {
        struct arena *arena = arena_new();
        struct devices *devices = devices_new(&policy);
        script_run(devices, rows[i].lines);
        const char *shown = script_node(devices, "n", arena);
        if (strcmp(shown, rows[i].node) != 0)
            fail_msg("%s: should be '%s', is '%s'", rows[i].what, rows[i].node, shown);
        devices_free(devices);
        arena_free(arena);
    }
    policy_fini(&policy);
}

#define CHECK_ROWS(rows) check_rows(rows, sizeof(rows) / sizeof *(rows))

static void test_uses(void **state)
{
    (void)state;
    static const struct row ROWS[] = {
        {"nobody uses them", "slice s p@n 1 1 a b", "2 total, 2 free"},
        {"a claim uses one", "slice s p@n 1 1 a b\nclaim c p/a", "2 total, 1 allocated, 1 free"},
        {"the claim comes first", "claim c p/a\nslice s p@n 1 1 a b",
         "2 total, 1 allocated, 1 free"},
        {"a claim that is not allocated", "slice s p@n 1 1 a\nclaim c", "1 total, 1 free"},
        {"it is deallocated", "slice s p@n 1 1 a\nclaim c p/a\nclaim c", "1 total, 1 free"},
        {"it is allocated to another device",
         "slice s p@n 1 1 a b;tainted\nclaim c p/a\nclaim c p/b", "2 total, 1 allocated, 1 free"},
        {"it is deleted", "slice s p@n 1 1 a\nclaim c p/a\ndelete claim c", "1 total, 1 free"},
        {"admin access does not use", "slice s p@n 1 1 a\nclaim c p/a;admin", "1 total, 1 free"},
        {"beside admin access", "slice s p@n 1 1 a\nclaim c p/a;admin\nclaim d p/a",
         "1 total, 1 allocated"},
        {"two claims share a device", "slice s p@n 1 1 a b\nclaim c p/a;shared\nclaim d p/a;shared",
         "2 total, 1 allocated, 1 free"},
        {"one of the two ends",
         "slice s p@n 1 1 a\nclaim c p/a;shared\nclaim d p/a;shared\ndelete claim c",
         "1 total, 1 allocated"},
        {"both end",
         "slice s p@n 1 1 a\nclaim c p/a;shared\nclaim d p/a;shared\ndelete claim c\n"
         "delete claim d",
         "1 total, 1 free"},
        {"two results of one claim for one device, then none",
         "slice s p@n 1 1 a\nclaim c p/a;shared p/a;shared\nclaim c", "1 total, 1 free"},
        {"the same name in another pool", "slice s p@n 1 1 a\nclaim c q/a", "1 total, 1 free"},
        {"a device is withdrawn while in use",
         "slice s p@n 1 1 a b\nclaim c p/a\nslice s p@n 2 1 b", "1 total, 1 free"},
        {"and comes back in use",
         "slice s p@n 1 1 a b\nclaim c p/a\nslice s p@n 2 1 b\nslice s p@n 3 1 a b",
         "2 total, 1 allocated, 1 free"},
        {"an allocated device of an incomplete pool", "slice s p@n 1 2 a b\nclaim c p/a",
         "2 total, 1 allocated, 1 incomplete"},
        {"an allocated device that is tainted", "slice s p@n 1 1 a;tainted\nclaim c p/a",
         "1 total, 1 allocated"},
    };
    CHECK_ROWS(ROWS);
}

static void test_generations(void **state)
{
    (void)state;
    static const struct row ROWS[] = {
        {"a slice is missing", "slice s p@n 1 2 a", "1 total, 1 incomplete"},
        {"it comes", "slice s p@n 1 2 a\nslice t p@n 1 2 b", "2 total, 2 free"},
        {"it goes again", "slice s p@n 1 2 a\nslice t p@n 1 2 b\ndelete slice t",
         "1 total, 1 incomplete"},
        {"more slices than there should be", "slice s p@n 1 1 a\nslice t p@n 1 1 b",
         "2 total, 2 incomplete"},
        {"slices that say different numbers", "slice s p@n 1 2 a\nslice t p@n 1 3 b",
         "2 total, 2 incomplete"},
        {"no number at all", "slice s p@n 1 0 a", "1 total, 1 incomplete"},
        {"only the highest generation counts", "slice s p@n 1 1 a b\nslice t p@n 2 1 a",
         "1 total, 1 free"},
        {"whichever comes first", "slice t p@n 2 1 a\nslice s p@n 1 1 a b", "1 total, 1 free"},
        {"half of the next generation", "slice s p@n 1 2 a\nslice t p@n 1 2 b\nslice s p@n 2 2 a",
         "1 total, 1 incomplete"},
        {"a generation runs backwards", "slice s p@n 5 1 a b\nslice s p@n 3 1 a",
         "1 total, 1 free"},
        {"the newest slice goes: the older counts again",
         "slice s p@n 1 1 a b\nslice t p@n 2 1 a\ndelete slice t", "2 total, 2 free"},
        {"the newest has no devices", "slice s p@n 1 1 a b\nslice t p@n 2 1", ""},
        {"a negative generation", "slice s p@n -1 1 a", "1 total, 1 free"},
        {"an unreadable slice: nothing is free", "slice s p@n 1 1 a b\nclaim c p/a\nkeep slice s",
         "2 total, 1 allocated, 1 invalid"},
        {"readable again", "slice s p@n 1 1 a\nkeep slice s\nslice s p@n 1 1 a", "1 total, 1 free"},
        {"two devices with one name", "slice s p@n 1 2 a\nslice t p@n 1 2 a b",
         "2 total, 2 invalid"},
        {"one of them goes", "slice s p@n 1 2 a\nslice t p@n 1 2 a b\nslice t p@n 1 2 b",
         "2 total, 2 free"},
        {"a field that must be known and is not", "slice s p@n 1 1 a;unknown b",
         "2 total, 1 free, 1 invalid"},
    };
    CHECK_ROWS(ROWS);
}

/* As kube-scheduler: see src/dra/pools.c. */
static void test_pools_of_several_nodes(void **state)
{
    (void)state;
    static const struct row ROWS[] = {
        {"slices of two nodes make the pool", "slice s p@n 1 2 a\nslice t p@m 1 2 b",
         "1 total, 1 free"},
        {"that of the other node is missing", "slice s p@n 1 2 a", "1 total, 1 incomplete"},
        {"that of the other node is old", "slice s p@n 2 2 a\nslice t p@m 1 2 b",
         "1 total, 1 incomplete"},
        {"ours is old: kube-scheduler drops the pool", "slice s p@n 1 2 a\nslice t p@m 2 2 b", ""},
        {"each node's own slices are all: two nodes use one name",
         "slice s p@n 1 1 a\nslice t p@m 1 1 b", "1 total, 1 free"},
        {"even if the other is newer", "slice s p@n 1 1 a\nslice t p@m 2 1 b", "1 total, 1 free"},
        {"the same device ID on both: a use is one of both",
         "slice s p@n 1 1 a b\nslice t p@m 1 1 a\nclaim c p/a", "2 total, 1 allocated, 1 free"},
        {"no duplicate, though", "slice s p@n 1 1 a\nslice t p@m 1 1 a", "1 total, 1 free"},
        {"devices say where they are", "slice s p@* 1 1 a;node=n b;node=m c", "1 total, 1 free"},
        {"devices that several nodes reach are no node's", "slice s p@ 1 1 a b", ""},
        {"they count for the pool", "slice s p@ 1 2 a b\nslice t p@n 1 2 c", "1 total, 1 free"},
    };
    CHECK_ROWS(ROWS);
}

static void test_taints(void **state)
{
    (void)state;
    static const struct row ROWS[] = {
        {"by the slice", "slice s p@n 1 1 a;tainted b", "2 total, 1 free, 1 tainted"},
        {"by a rule for everything", "slice s p@n 1 1 a b\ntaint t * * *", "2 total, 2 tainted"},
        {"the rule is there before the slice", "taint t * * *\nslice s p@n 1 1 a",
         "1 total, 1 tainted"},
        {"for the driver", "slice s p@n 1 1 a\ntaint t gpu.nvidia.com * *", "1 total, 1 tainted"},
        {"for another driver", "slice s p@n 1 1 a\ntaint t gpu.amd.com * *", "1 total, 1 free"},
        {"for the pool", "slice s p@n 1 1 a\nslice t q@n 1 1 b\ntaint t * p *",
         "2 total, 1 free, 1 tainted"},
        {"for a device of any pool", "slice s p@n 1 1 a b\nslice t q@n 1 1 a\ntaint t * * a",
         "3 total, 1 free, 2 tainted"},
        {"for one device", "slice s p@n 1 1 a\nslice t q@n 1 1 a\ntaint t gpu.nvidia.com q a",
         "2 total, 1 free, 1 tainted"},
        {"the rule moves", "slice s p@n 1 1 a b\ntaint t * p a\ntaint t * p b\ndelete taint x",
         "2 total, 1 free, 1 tainted"},
        {"the rule goes", "slice s p@n 1 1 a\ntaint t * * *\ndelete taint t", "1 total, 1 free"},
        {"of two rules one goes", "slice s p@n 1 1 a\ntaint t * * *\ntaint u * p *\ndelete taint t",
         "1 total, 1 tainted"},
        {"a rule goes, the slice still taints",
         "slice s p@n 1 1 a;tainted\ntaint t * * *\ndelete taint t", "1 total, 1 tainted"},
    };
    CHECK_ROWS(ROWS);
}

#define WHOLE "g0;S:mem=8,sm=7"
#define PART(name) name ";profile=1g.5gb;S:mem=1,sm=1"
#define GPU_WITH_PARTS                                                                             \
    "sets c p 1 2 S:mem=8,sm=7\n"                                                                  \
    "slice s p@n 1 2 " WHOLE " " PART("m0") " " PART("m1") "\n"

static void test_partitions(void **state)
{
    (void)state;
    static const struct row ROWS[] = {
        {"a GPU and its partitions are one GPU", GPU_WITH_PARTS,
         "1 total, 1 free; MIG-1g.5gb: 2 total, 2 free"},
        {"the whole is in use: no partition is left", GPU_WITH_PARTS "claim c p/g0",
         "1 total, 1 allocated; MIG-1g.5gb: 2 total"},
        {"a partition is in use: the other is left", GPU_WITH_PARTS "claim c p/m0",
         "1 total, 1 allocated; MIG-1g.5gb: 2 total, 1 allocated, 1 free"},
        {"the set is not there", "slice s p@n 1 1 " WHOLE " b", "2 total, 2 invalid"},
        {"it is there twice",
         GPU_WITH_PARTS "sets d p 1 3 S:mem=8,sm=7\nsets c p 1 3 S:mem=8,sm=7\n"
                        "slice s p@n 1 3 " WHOLE,
         "1 total, 1 invalid"},
        {"it lacks a counter", "sets c p 1 2 S:mem=8\nslice s p@n 1 2 " WHOLE " b",
         "2 total, 2 invalid"},
        {"it is of an older generation", "sets c p 1 1 S:mem=8,sm=7\nslice s p@n 2 1 " WHOLE,
         "1 total, 1 invalid"},
        {"it is of a newer generation", "slice s p@n 1 1 " WHOLE "\nsets c p 2 1 S:mem=8,sm=7", ""},
        {"a newer set replaces the older while both are there",
         "sets c p 1 1 S:mem=1,sm=1\nslice s p@n 2 2 " WHOLE "\nsets d p 2 2 S:mem=8,sm=7",
         "1 total, 1 free"},
        {"the set is too small for the GPU", "sets c p 1 2 S:mem=4,sm=7\nslice s p@n 1 2 " WHOLE,
         "1 total, 1 blocked"},
        {"two GPUs of one host share a set",
         "sets c p 1 2 S:sm=7 T:sm=7 F:links=1\n"
         "slice s p@n 1 2 g0;S:sm=7;F:links=1 g1;T:sm=7;F:links=1\nclaim c p/g0",
         "2 total, 1 allocated, 1 blocked"},
        {"more is in use than there is: the whole pool is blocked",
         "sets c p 1 2 S:sm=1 T:sm=7\nslice s p@n 1 2 g0;S:sm=2 g1;T:sm=7 g2\nclaim c p/g0",
         "3 total, 1 allocated, 1 free, 1 blocked"},
        {"counters that overflow if added",
         "sets c p 1 2 S:sm=9223372036854775807\n"
         "slice s p@n 1 2 a;key=1;S:sm=9223372036854775807 b;key=2;S:sm=9223372036854775807 "
         "c;key=3;S:sm=0\nclaim c p/a p/b",
         "3 total, 2 allocated, 1 blocked"},
        {"a partition on another node takes counters",
         "sets c p 1 3 S:sm=7\nslice s p@n 1 3 g0;S:sm=7\n"
         "slice t p@m 1 3 m0;profile=1g.5gb;S:sm=1\nclaim c p/m0",
         "1 total, 1 blocked"},
        {"only partitions: the GPU cannot be had",
         "slice s p@n 1 1 m0;key=0;profile=1g.5gb m1;key=0;profile=1g.5gb m2;key=1;profile=1g.5gb",
         "2 total, 2 partitioned; MIG-1g.5gb: 3 total, 3 free"},
        {"only partitions, one in use",
         "slice s p@n 1 1 m0;key=0;profile=1g.5gb m1;key=0;profile=1g.5gb m2;key=1;profile=1g.5gb\n"
         "claim c p/m1",
         "2 total, 1 allocated, 1 partitioned; MIG-1g.5gb: 3 total, 1 allocated, 2 free"},
        {"one GPU as two kinds of device", "slice s p@n 1 1 gpu;key=0 vfio;key=0 b;key=1",
         "2 total, 2 free"},
        {"one of the two is in use", "slice s p@n 1 1 gpu;key=0 vfio;key=0 b;key=1\nclaim c p/vfio",
         "2 total, 1 allocated, 1 free"},
        {"one of the two is tainted", "slice s p@n 1 1 gpu;key=0;tainted vfio;key=0",
         "1 total, 1 free"},
        {"equal keys of two pools are two GPUs", "slice s p@n 1 1 a;key=0\nslice t q@n 1 1 a;key=0",
         "2 total, 2 free"},
    };
    CHECK_ROWS(ROWS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_uses),       cmocka_unit_test(test_generations),
        cmocka_unit_test(test_taints),     cmocka_unit_test(test_pools_of_several_nodes),
        cmocka_unit_test(test_partitions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
