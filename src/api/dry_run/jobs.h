/*
 * jobs: one verdict on all templates of an object, and what would help the whole of it. Private to
 * api.
 */
#ifndef API_DRY_RUN_JOBS_H
#define API_DRY_RUN_JOBS_H

#include "api/dry_run/placement_run.h"

/* Places all workloads of the list. Appends to both arrays: DryRunResult.workloads and .jobs. */
void jobs_judge(struct dry_run *dry_run, const struct workload_list *list, json_t *workloads,
                json_t *jobs);

#endif
