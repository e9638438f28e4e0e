/* device_copy_fixture: a cluster, and the copy of its devices that claims are judged by. */
#ifndef DEVICE_COPY_FIXTURE_H
#define DEVICE_COPY_FIXTURE_H

#include "dra/device_copy.h"
#include "ledger/cluster.h"
#include "types/policy.h"
#include "unit.h"

struct fixture {
    struct policy policy;
    struct cluster *cluster;
    struct arena *arena;
    struct device_copy *copy;
};

/* reads: what the selectors read. */
struct fixture *device_copy_fixture_new(const struct cel_read *reads, size_t n_reads);
/* A teardown of cmocka. */
int device_copy_fixture_teardown(void **state);

#endif
