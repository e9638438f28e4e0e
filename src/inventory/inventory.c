/* inventory: the ledger behind its lock. See include/inventory/inventory.h. */
#include "inventory/inventory.h"
#include "base/mem.h"
#include "decide/quota.h"
#include "file_feed.h"
#include "live_priv.h"

#include <stdlib.h>
#include <time.h>

struct inventory *inventory_new(const struct policy *policy, const struct inventory_limits *limits)
{
    struct inventory *inventory = MEM_NEW(struct inventory);
    inventory->limits = *limits;
    inventory_lock_init(&inventory->lock);
    inventory->state = (struct state){
        .cluster = cluster_new(policy), .problems = problems_new(), .source = mem_strdup("")};
    return inventory;
}

static void free_state(struct state *state)
{
    cluster_free(state->cluster);
    problems_free(state->problems);
    free(state->source);
}

void inventory_free(struct inventory *inventory)
{
    if (!inventory)
        return;
    live_free(inventory->live);
    cluster_free(inventory->replaced);
    free_state(&inventory->state);
    inventory_lock_fini(&inventory->lock);
    free(inventory);
}

const struct policy *inventory_hold_policy(struct inventory *inventory)
{
    inventory_lock_to_read(inventory);
    const struct policy *policy = policy_hold(cluster_policy(inventory->state.cluster));
    inventory_unlock(inventory);
    return policy;
}

/* A path may contain any bytes, but the source must be a JSON string. */
static char *source_of_file(const char *path)
{
    struct buf text;
    buf_init(&text, BUF_UNBOUNDED);
    buf_printf(&text, "file:%s", path);
    char *source = buf_take(&text);
    for (char *p = source; *p; p++)
        *p = (unsigned char)*p < 0x80 ? *p : '?';
    return source;
}

/* Frees the old state under the lock, because forks share parts of it. */
static void replace(struct inventory *inventory, const struct state *state)
{
    inventory_lock_to_write(inventory);
    policy_succeed(cluster_policy(inventory->state.cluster), cluster_policy(state->cluster));
    free_state(&inventory->state);
    inventory->state = *state;
    inventory->loaded = true;
    inventory->n_loaded++;
    inventory->n_ledgers++;
    inventory_unlock(inventory);
}

int inventory_load_file_under(struct inventory *inventory, const struct policy *policy,
                              const char *path, struct err *err)
{
    struct state state = {.problems = problems_new(), .as_of_s = (int64_t)time(NULL)};
    int r = file_feed_read(path, policy, &inventory->limits, &state, err);
    if (r < 0) {
        problems_free(state.problems);
        return r;
    }
    state.source = source_of_file(path);
    replace(inventory, &state);
    return 0;
}

int inventory_load_file(struct inventory *inventory, const char *path, struct err *err)
{
    const struct policy *policy CLEANUP(policy_drop_ptr) = inventory_hold_policy(inventory);
    return inventory_load_file_under(inventory, policy, path, err);
}

const char *inventory_waiting_for(struct inventory *inventory)
{
    if (inventory->live)
        return live_status_waiting_for(&inventory->live->status);
    inventory_lock_to_read(inventory);
    bool loaded = inventory->loaded;
    inventory_unlock(inventory);
    return loaded ? NULL : "the cluster file";
}

bool inventory_usable(struct inventory *inventory, struct err *ret_why)
{
    if (inventory->live)
        return live_status_usable(&inventory->live->status, ret_why);
    const char *waiting_for = inventory_waiting_for(inventory);
    if (waiting_for)
        (void)err_set(ret_why, EAGAIN, "not ready: waiting for %s", waiting_for);
    return !waiting_for;
}

/* Pods per hold of the lock: some tenths of a millisecond. */
#define STEP_PEERS ((size_t)500)

/* Forks change reference counts, hence the write lock. */
static struct cluster *fork_nodes(struct inventory *inventory, enum peers_wanted wanted,
                                  bool *ret_is_complete)
{
    inventory_lock_to_write(inventory);
    struct cluster *fork = cluster_fork(inventory->state.cluster);
    *ret_is_complete = cluster_fork_peers(fork, inventory->state.cluster, wanted);
    inventory_unlock(inventory);
    return fork;
}

/* Returns false if the ledger was replaced meanwhile. */
static bool fork_peers(struct inventory *inventory, struct cluster *fork)
{
    bool is_current = true;
    bool is_complete = false;
    while (is_current && !is_complete) {
        inventory_lock_to_write(inventory);
        const struct cluster *cluster = inventory->state.cluster;
        is_current = cluster_is_fork_of(fork, cluster);
        is_complete = is_current && cluster_fork_peers_some(fork, cluster, STEP_PEERS);
        inventory_unlock(inventory);
    }
    return is_complete;
}

struct cluster *inventory_fork(struct inventory *inventory, enum peers_wanted wanted)
{
    bool is_complete = false;
    struct cluster *fork = fork_nodes(inventory, wanted, &is_complete);
    while (!is_complete && !fork_peers(inventory, fork)) {
        inventory_fork_free(inventory, fork);
        fork = fork_nodes(inventory, wanted, &is_complete);
    }
    return fork;
}

void inventory_fork_free(struct inventory *inventory, struct cluster *fork)
{
    bool is_released = false;
    while (!is_released) {
        inventory_lock_to_write(inventory);
        is_released = cluster_fork_peers_release(fork, STEP_PEERS);
        if (is_released) {
            cluster_fork_free(fork);
            inventory_lock_signal(inventory); /* for inventory_free_replaced() */
        }
        inventory_unlock(inventory);
    }
}

enum reserve_verdict inventory_reserve(struct inventory *inventory,
                                       const struct reserve_question *question, struct arena *arena,
                                       struct reserve_result *ret_result)
{
    struct reserve_result result = {0};
    inventory_lock_to_write(inventory);
    enum reserve_verdict verdict = reserve_room(inventory->state.cluster, question, &result);
    if (result.node_name)
        result.node_name = arena_strdup(arena, result.node_name);
    inventory_unlock(inventory);
    *ret_result = result;
    return verdict;
}

void inventory_write(struct inventory *inventory,
                     void (*change)(struct cluster *cluster, void *context), void *context)
{
    inventory_lock_to_write(inventory);
    change(inventory->state.cluster, context);
    inventory_unlock(inventory);
}

bool inventory_claim(struct inventory *inventory, const struct claim_question *question)
{
    inventory_lock_to_write(inventory);
    const bool is_done = quota_claim(inventory->state.cluster, question);
    inventory_unlock(inventory);
    return is_done;
}

void inventory_end_claim(struct inventory *inventory, const char *uid)
{
    inventory_lock_to_write(inventory);
    claims_end(inventory->state.cluster, uid);
    inventory_unlock(inventory);
}

void inventory_release(struct inventory *inventory, const char *uid, uint64_t serial)
{
    inventory_lock_to_write(inventory);
    reservation_release(inventory->state.cluster, uid, serial);
    inventory_unlock(inventory);
}
