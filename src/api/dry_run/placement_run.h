/*
 * placement_run: one workload of a dry run: every node is judged for it, its replicas are placed,
 * and that is written as JSON. Private to api.
 */
#ifndef API_DRY_RUN_PLACEMENT_RUN_H
#define API_DRY_RUN_PLACEMENT_RUN_H

#include "api/api.h"
#include "api/provenance.h"
#include "objects/workload.h"

#include <jansson.h>

struct dry_run {
    const struct api *api;
    struct provenance provenance;
    struct cluster *fork; /* workloads before this one have their room on it */
    struct arena *arena;
    size_t n_replicas_left;  /* that may still be placed one by one */
    bool explain;            /* says too why nodes rank as they do */
    size_t n_evictions_left; /* workloads for which victims may still be looked for */
    size_t n_placed_whole;   /* workloads of which every replica was placed */
};

/* A member of DryRunResult.workloads; takes the room on the fork. */
json_t *placement_run_json(struct dry_run *dry_run, const struct workload *workload);

#endif
