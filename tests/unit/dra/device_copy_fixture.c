/* device_copy_fixture: see device_copy_fixture.h. */
#include "device_copy_fixture.h"
#include "objects/device_details.h"

struct fixture *device_copy_fixture_new(const struct cel_read *reads, size_t n_reads)
{
    struct fixture *fixture = test_malloc(sizeof *fixture);
    policy_init(&fixture->policy);
    fixture->cluster = cluster_new(&fixture->policy);
    fixture->arena = arena_new();
    fixture->copy = device_copy_new(reads, n_reads, &DEVICE_DETAILS_READER, fixture->arena);
    return fixture;
}

int device_copy_fixture_teardown(void **state)
{
    struct fixture *fixture = *state;
    device_copy_free(fixture->copy);
    cluster_free(fixture->cluster);
    policy_fini(&fixture->policy);
    arena_free(fixture->arena);
    test_free(fixture);
    return 0;
}
