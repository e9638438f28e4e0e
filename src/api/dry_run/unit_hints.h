/*
 * unit_hints: warnings of a dry run about what one unit of the requested resources is: counts that
 * no label explains, and shares under another name. Private to api.
 */
#ifndef API_DRY_RUN_UNIT_HINTS_H
#define API_DRY_RUN_UNIT_HINTS_H

#include "api/dry_run/names.h"

/* Appends warnings to dry_run->name_warnings. candidates: judged. */
void unit_hints_warn(struct dry_run *dry_run, const struct workload *workload,
                     const struct pod_shape *shape, const struct candidates *candidates);

#endif
