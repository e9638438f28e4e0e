/*
 * fragmentation_json: free GPUs and their usefulness as JSON. Private to api.
 */
#ifndef API_CLUSTER_FRAGMENTATION_JSON_H
#define API_CLUSTER_FRAGMENTATION_JSON_H

#include "base/buf.h"
#include "decide/fragmentation.h"

#include <jansson.h>

/* A ModelFragmentation for each item. */
json_t *fragmentation_json_list(const struct fragmentations *all);
/* A FragmentationChange for each item that differs; before and after come from one cluster. */
json_t *fragmentation_json_changes(const struct fragmentations *before,
                                   const struct fragmentations *after);
/* A table of them; nothing for none. A missing before or after is "-". */
void fragmentation_json_write_changes(const json_t *changes, bool wide, struct arena *arena,
                                      struct buf *out);

#endif
