/*
 * dry_runs: dryruns: created, answered and forgotten, as a SubjectAccessReview is. Private to api.
 */
#ifndef API_KUBERNETES_DRY_RUNS_H
#define API_KUBERNETES_DRY_RUNS_H

#include "api/kubernetes/kinds.h"

extern const struct kind_member DRY_RUN_SPEC[], DRY_RUN_MEMBERS[];

/* Runs the objects of the body in the request's namespace, and names no other. */
void dry_runs_create(const struct objects_query *query);

#endif
