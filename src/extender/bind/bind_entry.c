/* bind_entry: see bind_entry.h. */
#include "extender/bind/bind_entry.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>
#include <utlist.h>

static const char *const OUTCOMES[N_BIND_OUTCOMES] = {
    [BIND_OUTCOME_BOUND] = "bound",     [BIND_OUTCOME_ALREADY_BOUND] = "already_bound",
    [BIND_OUTCOME_REFUSED] = "refused", [BIND_OUTCOME_CONFLICT] = "conflict",
    [BIND_OUTCOME_GONE] = "gone",       [BIND_OUTCOME_FAILED] = "failed",
    [BIND_OUTCOME_UNKNOWN] = "unknown", [BIND_OUTCOME_BUSY] = "busy",
};

const char *bind_entry_outcome_name(enum bind_outcome outcome)
{
    return OUTCOMES[outcome];
}

struct bind_args bind_entry_copy_args(const struct bind_args *args)
{
    return (struct bind_args){.uid = mem_strdup(args->uid),
                              .namespace_ = mem_strdup(args->namespace_),
                              .name = mem_strdup(args->name),
                              .node_name = mem_strdup(args->node_name),
                              .hung_up = args->hung_up};
}

void bind_entry_free_args(const struct bind_args *args)
{
    const char *const texts[] = {args->uid, args->namespace_, args->name, args->node_name};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        free((void *)(uintptr_t)texts[i]);
}

struct bind_entry *bind_entry_new(struct binds *binds, const struct bind_args *args)
{
    struct bind_entry *entry = MEM_NEW(struct bind_entry);
    entry->binds = binds;
    entry->args = bind_entry_copy_args(args);
    entry->outcome = BIND_OUTCOME_FAILED;
    entry->why = mem_strdup("");
    HASH_ADD_KEYPTR(hh, binds->entries, entry->args.uid, strlen(entry->args.uid), entry);
    return entry;
}

void bind_entry_remove(struct bind_entry *entry)
{
    entry->binds->n_bound -= entry->is_bound;
    HASH_DEL(entry->binds->entries, entry);
    bind_entry_free_args(&entry->args);
    policy_drop_ptr(&entry->judged_by);
    free(entry->why);
    free(entry);
}

void bind_entry_judged(struct bind_entry *entry, const struct policy *policy)
{
    policy_drop_ptr(&entry->judged_by);
    entry->judged_by = policy;
}

uint64_t bind_entry_seed(const struct bind_entry *entry)
{
    return ++entry->binds->seed;
}

void bind_entry_fails(struct bind_entry *entry, enum bind_outcome outcome, const char *why)
{
    free(entry->why);
    entry->why = mem_strdup(why);
    entry->outcome = outcome;
}

void bind_entry_move(struct bind_entry *entry, const char *node_name)
{
    char *copy = mem_strdup(node_name);
    free((void *)(uintptr_t)entry->args.node_name);
    entry->args.node_name = copy;
}

/* A binding may wait for a connection while the process was stopped or the API server slow.
 * Meanwhile kube-scheduler may have moved the pod to another node, or ended. */
static bool is_in_time(const struct binds *binds, const struct bind_caller *caller, int64_t now_ms)
{
    return now_ms < caller->deadline_ms &&
           (binds->leave_ms == 0 || now_ms < caller->called_ms + binds->leave_ms);
}

bool bind_entry_is_awaited(const struct bind_entry *entry, int64_t now_ms)
{
    const struct bind_caller *caller = NULL;
    DL_FOREACH (entry->callers, caller) {
        const bool is_same = strcmp(caller->args.node_name, entry->args.node_name) == 0;
        if (is_same && is_in_time(entry->binds, caller, now_ms) &&
            !(caller->args.hung_up && caller->args.hung_up(caller->context)))
            return true;
    }
    return false;
}

bool bind_entry_may_leave(void *entry_context, int64_t now_ms)
{
    struct bind_entry *entry = entry_context;
    struct binds *binds = entry->binds;
    if (binds->may_post && !binds->may_post(binds->may_post_context, now_ms))
        return false;
    const struct policy *policy CLEANUP(policy_drop_ptr) = inventory_hold_policy(binds->inventory);
    mutex_lock(&binds->lock);
    const bool may = bind_entry_is_awaited(entry, now_ms) && entry->judged_by == policy;
    mutex_unlock(&binds->lock);
    return may;
}
