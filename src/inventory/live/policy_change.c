/* policy_change: puts another policy in force. See include/inventory/live.h. */
#include "inventory/live.h"
#include "inventory/live/live_priv.h"
#include "ledger/cluster_copy.h"
#include "ledger/quarantine.h"

/* Only this thread uses the copy, and changes objects of the ledger: so the read lock suffices, and
 * decisions do not wait. */
static void copy_all(struct inventory *inventory, struct cluster_copy *copy,
                     bool (*copy_some)(struct cluster_copy *copy, size_t n))
{
    bool is_complete = false;
    while (!is_complete) {
        cluster_copy_make_room(copy);
        inventory_lock_to_read(inventory);
        is_complete = copy_some(copy, STEP_OBJECTS);
        inventory_unlock(inventory);
    }
}

static void replace_ledger(struct inventory *inventory, struct cluster_copy *copy)
{
    live_lock_to_write(inventory);
    struct cluster *old = inventory->state.cluster;
    inventory->state.cluster = cluster_copy_end(copy);
    quarantine_move(inventory->state.cluster, old);
    policy_succeed(cluster_policy(old), cluster_policy(inventory->state.cluster));
    inventory->replaced = old;
    inventory->n_ledgers++;
    if (inventory->live)
        inventory->live->failed_pods.due_ms = 0;
    inventory_unlock(inventory);
}

void inventory_take_policy(struct inventory *inventory, const struct policy *policy)
{
    inventory_free_replaced(inventory);
    inventory_lock_to_read(inventory);
    struct cluster_copy *copy = cluster_copy_new(inventory->state.cluster, policy);
    inventory_unlock(inventory);
    copy_all(inventory, copy, cluster_copy_some);
    copy_all(inventory, copy, cluster_copy_claims);
    cluster_copy_settle(copy);
    replace_ledger(inventory, copy);
}

static bool has_no_old_forks(const struct inventory *inventory)
{
    return !inventory->replaced || !cluster_has_forks(inventory->replaced);
}

/* New forks are made of the new ledger. So without forks no other thread can reach the old one. */
void inventory_free_replaced(struct inventory *inventory)
{
    inventory_lock_to_write_when(inventory, has_no_old_forks);
    struct cluster *replaced = inventory->replaced;
    inventory->replaced = NULL;
    inventory_unlock(inventory);
    cluster_free(replaced);
}
