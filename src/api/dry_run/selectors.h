/*
 * selectors: the CEL selectors of a manifest's claims and classes, judged over the devices of the
 * cluster. Private to api.
 */
#ifndef API_DRY_RUN_SELECTORS_H
#define API_DRY_RUN_SELECTORS_H

#include "api/dry_run/placement_run.h"

/* Appends warnings: selectors that do not compile, that err on devices, or that cannot be meant so.
 * Returns the member deviceRequests: of each request, how many devices it matches. */
json_t *selectors_judge(struct dry_run *dry_run, const struct device_request_list *requests);

#endif
