/* pod_table: PendingPods and a PodExplanation as text. Private to api. */
#ifndef API_PODS_POD_TABLE_H
#define API_PODS_POD_TABLE_H

#include "base/arena.h"
#include "base/buf.h"

#include <jansson.h>

void pod_table_write_pending(const json_t *pending, struct arena *arena, struct buf *out);
void pod_table_write_explanation(const json_t *explanation, struct arena *arena, struct buf *out);

#endif
