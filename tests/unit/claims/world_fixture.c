/* world_fixture: see world_fixture.h. */
#include "world_fixture.h"

struct fixture *world_fixture_new(const struct cel_read *reads, size_t n_reads)
{
    struct fixture *fixture = test_malloc(sizeof *fixture);
    policy_init(&fixture->policy);
    fixture->cluster = cluster_new(&fixture->policy);
    fixture->arena = arena_new();
    fixture->world = claims_world_new(reads, n_reads, fixture->arena);
    return fixture;
}

int world_fixture_teardown(void **state)
{
    struct fixture *fixture = *state;
    claims_world_free(fixture->world);
    cluster_free(fixture->cluster);
    policy_fini(&fixture->policy);
    arena_free(fixture->arena);
    test_free(fixture);
    return 0;
}
