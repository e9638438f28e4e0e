/*
 * eviction: who would be evicted for a workload that has the priority for it. Private to api.
 */
#ifndef API_DRY_RUN_EVICTION_H
#define API_DRY_RUN_EVICTION_H

#include "base/buf.h"
#include "decide/fit.h"
#include "inventory/inventory.h"

#include <jansson.h>

/* A Preemption: whom kube-scheduler would evict for one more pod, which fits nowhere on the fork.
 */
json_t *eviction_json(struct inventory *inventory, const struct cluster *fork,
                      const struct fit_question *question, struct arena *arena);
/* The same of a pod that never preempts. */
json_t *eviction_json_of_never(const struct fit_question *question);
/* The same for people; nothing where it is null. */
void eviction_write(const json_t *preemption, struct buf *out);

#endif
