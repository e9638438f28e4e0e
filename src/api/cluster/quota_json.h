/*
 * quota_json: quotas and their use. Private to api.
 */
#ifndef API_CLUSTER_QUOTA_JSON_H
#define API_CLUSTER_QUOTA_JSON_H

#include "base/buf.h"
#include "decide/fragmentation.h"
#include "decide/quota.h"

#include <jansson.h>

struct inventory;

/* {quota, resource, model, limit, used} for each limit of the policy. */
json_t *quota_json_all(const struct cluster *fork);
/* {quota, resource, model, limit, used, wouldUse} for each limit that the asking pods count
 * against, from the present state of the fork. */
json_t *quota_json_of_workload(const struct cluster *fork, const char *namespace_,
                               const struct quota_view *asked, struct arena *arena);
/* Sets wouldUse to the present use on the fork. */
void quota_json_update(json_t *list, const struct cluster *fork, const char *namespace_,
                       const struct quota_view *asked, struct arena *arena);
/* Adds `users` to each entry of a verdict's `quotas`: the namespaces that use most of the limit. */
void quota_json_add_users(struct inventory *inventory, json_t *quotas);

/* ---- free GPUs and their usefulness as JSON ---- */

/* A ModelFragmentation for each item. */
json_t *fragmentation_json_list(const struct fragmentations *all);
/* A FragmentationChange for each item that differs; before and after come from one cluster. */
json_t *fragmentation_json_changes(const struct fragmentations *before,
                                   const struct fragmentations *after);
/* A table of them; nothing for none. A missing before or after is "-". */
void fragmentation_json_write_changes(const json_t *changes, bool wide, struct arena *arena,
                                      struct buf *out);

#endif
