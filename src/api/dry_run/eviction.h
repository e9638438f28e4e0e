/*
 * eviction: the victims of a workload whose priority allows preemption. Private to api.
 */
#ifndef API_DRY_RUN_EVICTION_H
#define API_DRY_RUN_EVICTION_H

#include "base/buf.h"
#include "decide/fit.h"
#include "inventory/inventory.h"

#include <jansson.h>

/* A Preemption: pods that kube-scheduler would evict for one more pod, which fits nowhere on the
 * fork. only: names no pods of other namespaces than this one; NULL: all. */
json_t *eviction_json(struct inventory *inventory, const struct cluster *fork,
                      const struct fit_question *question, const char *only, struct arena *arena);
/* A Preemption for a pod that never preempts. */
json_t *eviction_json_of_never(const struct fit_question *question);
/* Writes it as text if it helps. */
void eviction_write(const json_t *preemption, struct arena *arena, struct buf *out);

#endif
