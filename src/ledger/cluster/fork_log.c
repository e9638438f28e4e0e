/* fork_log: what has been placed on a fork, so that it can be taken back. See
 * include/ledger/cluster.h. Each entry has the values from before; the last are put back first. */
#include "base/mem.h"
#include "ledger/gpu_demand.h"
#include "ledger/ledger.h"

#include <stdlib.h>
#include <string.h>

struct log_entry {
    struct node *node;               /* NULL: a peer was added */
    struct node_resource *row;       /* or the group */
    struct node_device_group *group; /* or the row */
    int64_t before, allocated_before;
    bool repels; /* the peer */
};

/* A mark, and what was placed since it. */
struct fork_log {
    struct log_entry *items;
    size_t n, n_room;
    int64_t *quota_used;              /* from before; NULL: no quotas */
    struct gpu_demand_entry *demands; /* from before */
    struct fork_log *outer;           /* the mark before, which gets the entries of a kept one */
};

static size_t quota_bytes(const struct cluster *fork)
{
    return fork->policy->n_quotas * namespace_usage_n_cells(fork->policy) * sizeof(int64_t);
}

void cluster_fork_mark(struct cluster *fork)
{
    struct fork_log *log = MEM_NEW(struct fork_log);
    log->outer = fork->log;
    fork->log = log;
    log->demands = gpu_demand_save(fork);
    if (quota_bytes(fork) == 0)
        return;
    log->quota_used = MEM_ARRAY(int64_t, quota_bytes(fork) / sizeof(int64_t));
    memcpy(fork->log->quota_used, fork->quota_used, quota_bytes(fork));
}

static void add_to(struct fork_log *log, const struct log_entry *entry)
{
    if (log->n == log->n_room) {
        log->n_room = log->n_room > 0 ? 2 * log->n_room : 64;
        log->items = mem_grow(log->items, log->n_room, sizeof *log->items);
    }
    log->items[log->n++] = *entry;
}

static void add(struct cluster *fork, const struct log_entry *entry)
{
    if (fork->log)
        add_to(fork->log, entry);
}

void fork_log_row(struct cluster *fork, struct node *node, struct node_resource *row)
{
    add(fork, &(struct log_entry){.node = node, .row = row, .before = row->used});
}

void fork_log_devices(struct cluster *fork, struct node *node)
{
    for (size_t i = 0; fork->log && i < node->n_devices; i++) {
        struct node_device_group *group = &node->devices[i];
        add(fork, &(struct log_entry){node, NULL, group, group->free, group->allocated, false});
    }
}

void fork_log_peer(struct cluster *fork, bool repels)
{
    add(fork, &(struct log_entry){.repels = repels});
}

static void put_back(struct cluster *fork, const struct log_entry *entry)
{
    if (!entry->node) {
        cluster_peers_drop_last(fork, entry->repels);
        return;
    }
    if (entry->row) {
        model_pool_take(entry->row);
        entry->row->used = entry->before;
        model_pool_give(entry->row);
    } else {
        node_devices_put_back(entry->group, entry->before, entry->allocated_before);
    }
    node_hot_renew(entry->node);
}

void cluster_fork_rewind(struct cluster *fork)
{
    struct fork_log *log = fork->log;
    while (log->n > 0)
        put_back(fork, &log->items[--log->n]);
    if (log->quota_used)
        memcpy(fork->quota_used, log->quota_used, quota_bytes(fork));
    gpu_demand_restore(fork, log->demands);
    fork->version++;
}

void cluster_fork_keep(struct cluster *fork)
{
    struct fork_log *log = fork->log;
    if (!log)
        return;
    fork->log = log->outer;
    for (size_t i = 0; log->outer && i < log->n; i++)
        add_to(log->outer, &log->items[i]);
    free(log->items);
    free(log->quota_used);
    gpu_demand_drop_saved(log->demands);
    free(log);
}
