/* inventory_table: an Inventory as a table. Private to api. */
#ifndef API_CLUSTER_INVENTORY_TABLE_H
#define API_CLUSTER_INVENTORY_TABLE_H

#include "base/arena.h"
#include "base/buf.h"

#include <jansson.h>

void inventory_table_write(const json_t *inventory, bool wide, struct arena *arena,
                           struct buf *out);

#endif
