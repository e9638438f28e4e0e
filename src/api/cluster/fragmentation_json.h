/*
 * fragmentation_json: free GPUs and their usefulness as JSON. Private to api.
 */
#ifndef API_CLUSTER_FRAGMENTATION_JSON_H
#define API_CLUSTER_FRAGMENTATION_JSON_H

#include "decide/fragmentation.h"

#include <jansson.h>

/* A ModelFragmentation for each item. */
json_t *fragmentation_json_list(const struct fragmentations *all);
/* A FragmentationChange for each item that differs; before and after come from one cluster. */
json_t *fragmentation_json_changes(const struct fragmentations *before,
                                   const struct fragmentations *after);

#endif
