/*
 * dry_run: one workload of a dry run, placed and written as JSON. Private to api.
 */
#ifndef API_DRY_RUN_H
#define API_DRY_RUN_H

#include "api/api.h"
#include "basis.h"
#include "core/what_if.h"
#include "objects/workload.h"

struct dry_run {
    const struct api *api;
    struct basis basis;
    struct cluster *fork; /* workloads before this one have their room on it */
    struct arena *arena;
    size_t n_replicas_left;  /* that may still be placed one by one */
    bool explain;            /* says too why nodes rank as they do */
    size_t n_evictions_left; /* workloads for which victims may still be looked for */
    size_t n_placed_whole;   /* workloads of which every replica was placed */
};

/* A member of DryRunResult.workloads; takes the room on the fork. */
json_t *dry_run_workload(struct dry_run *dry_run, const struct workload *workload);

#endif
