/* world_fixture: a cluster, and the copy of its devices that claims are judged by. */
#ifndef WORLD_FIXTURE_H
#define WORLD_FIXTURE_H

#include "claims/world.h"
#include "types/policy.h"
#include "unit.h"

struct fixture {
    struct policy policy;
    struct cluster *cluster;
    struct arena *arena;
    struct claims_world *world;
};

/* reads: what the selectors read. */
struct fixture *world_fixture_new(const struct cel_read *reads, size_t n_reads);
/* A teardown of cmocka. */
int world_fixture_teardown(void **state);

#endif
