/*
 * eviction: who would be evicted for a workload that has the priority for it. Private to api.
 */
#ifndef API_EVICTION_H
#define API_EVICTION_H

#include "trial.h"

/* A Preemption: for the next replica of a workload that does not fit whole. null where that is not
 * asked: of a DaemonSet, of pods that the API server or we refuse, and of more workloads than so
 * many. */
json_t *eviction_json(struct trial *trial);
/* The same for people; nothing where it is null. */
void eviction_write(const json_t *preemption, struct buf *out);

#endif
