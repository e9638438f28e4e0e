/*
 * binds_leave: whether a binding may still be sent: this replica may decide, the time of a caller
 * is not over, and that caller still waits. See binds_priv.h.
 *
 * A process that was stopped and goes on has bindings that wait for a connection, and so has one
 * whose API server was slow. kube-scheduler has given such a pod to somebody else, or has ended.
 */
#include "binds_priv.h"

#include <string.h>
#include <utlist.h>

static bool is_in_time(const struct binds *binds, const struct waiter *waiter, int64_t now_ms)
{
    return now_ms < waiter->deadline_ms &&
           (binds->leave_ms == 0 || now_ms < waiter->called_ms + binds->leave_ms);
}

bool binds_leave_is_awaited(const struct entry *entry, int64_t now_ms)
{
    const struct waiter *waiter = NULL;
    DL_FOREACH (entry->waiters, waiter) {
        const bool is_same = strcmp(waiter->node_name, entry->node_name) == 0;
        if (is_same && is_in_time(entry->binds, waiter, now_ms) &&
            !(waiter->hung_up && waiter->hung_up(waiter->context)))
            return true;
    }
    return false;
}

bool binds_leave_may(void *entry_context, int64_t now_ms)
{
    struct entry *entry = entry_context;
    struct binds *binds = entry->binds;
    if (binds->may_post && !binds->may_post(binds->may_post_context, now_ms))
        return false;
    (void)pthread_mutex_lock(&binds->lock);
    const bool may = binds_leave_is_awaited(entry, now_ms);
    (void)pthread_mutex_unlock(&binds->lock);
    return may;
}
