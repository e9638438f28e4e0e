/* verdict_table: NodeVerdicts for people. Private to api. */
#ifndef API_VERDICT_TABLE_H
#define API_VERDICT_TABLE_H

#include "base/arena.h"
#include "base/buf.h"

#include <jansson.h>

/* "2 nvidia.com/gpu, 1500m cpu, 3Gi memory": the first of them, and how many more. */
const char *verdict_amounts_text(const json_t *amounts, struct arena *arena);
/* Where it fits, and of all others which reason keeps them; an empty line before each part. */
void verdict_table_write(const json_t *nodes, struct arena *arena, struct buf *out);

#endif
