/* pod_table: PendingPods and a PodExplanation as text. Private to api. */
#ifndef API_PODS_POD_TABLE_H
#define API_PODS_POD_TABLE_H

#include "base/arena.h"
#include "base/buf.h"

#include <jansson.h>

/* A row per owner; wide: a block of lines per pod. */
void pod_table_write_pending(const json_t *pending, bool wide, struct arena *arena,
                             struct buf *out);
void pod_table_write_explanation(const json_t *explanation, bool wide, struct arena *arena,
                                 struct buf *out);

#endif
