/*
 * changed_policy: the policy in force with the changes of a what-if. Private to api.
 */
#ifndef API_WHAT_IF_CHANGED_POLICY_H
#define API_WHAT_IF_CHANGED_POLICY_H

#include "api/api.h"
#include "api/what_if/changes.h"

/* policy_drop() the result, which is NULL if no change concerns the policy. Sets `effect` of those
 * that do. -ENOENT: there is no such quota. -EINVAL: the policy's own error. */
int changed_policy_read(const struct api *api, struct change_list *list, struct arena *arena,
                        const struct policy **ret_policy, struct err *err);
/* The first warnings of models and resources in limits of the changes that no node of the changed
 * ledger has: an array of {path, message}. */
json_t *changed_policy_warnings(const struct change_list *list, const struct cluster *ledger,
                                struct arena *arena);

#endif
