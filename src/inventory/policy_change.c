/* policy_change: puts another policy in force. See include/inventory/live.h. */
#include "inventory/live.h"
#include "ledger/cluster_copy.h"
#include "live_priv.h"

#include <time.h>

/* Objects per hold of the lock: about a millisecond. */
#define STEP_OBJECTS ((size_t)200)
/* Between two looks whether forks of the old ledger are left. */
#define NAP_NS 5000000

/* Only this thread uses the copy, and changes objects of the ledger: so the read lock suffices, and
 * decisions do not wait. */
static void copy_objects(struct inventory *inventory, struct cluster_copy *copy)
{
    bool is_complete = false;
    while (!is_complete) {
        inventory_lock_to_read(inventory);
        is_complete = cluster_copy_some(copy, STEP_OBJECTS);
        inventory_unlock(inventory);
    }
    cluster_copy_settle(copy);
}

static void replace_ledger(struct inventory *inventory, struct cluster_copy *copy)
{
    inventory_lock_to_write(inventory);
    struct cluster *old = inventory->state.cluster;
    inventory->state.cluster = cluster_copy_end(copy);
    policy_succeed(cluster_policy(old), cluster_policy(inventory->state.cluster));
    inventory->replaced = old;
    inventory_unlock(inventory);
}

void inventory_take_policy(struct inventory *inventory, const struct policy *policy)
{
    inventory_free_replaced(inventory);
    inventory_lock_to_read(inventory);
    struct cluster_copy *copy = cluster_copy_new(inventory->state.cluster, policy);
    inventory_unlock(inventory);
    copy_objects(inventory, copy);
    replace_ledger(inventory, copy);
}

/* Takes the replaced ledger. Forks are freed under the lock, and new ones are made of the new
 * ledger; so without forks no other thread can reach it. */
static struct cluster *take_replaced(struct inventory *inventory, bool *ret_has_forks)
{
    inventory_lock_to_write(inventory);
    struct cluster *replaced = inventory->replaced;
    *ret_has_forks = replaced && cluster_has_forks(replaced);
    if (*ret_has_forks)
        replaced = NULL;
    else
        inventory->replaced = NULL;
    inventory_unlock(inventory);
    return replaced;
}

void inventory_free_replaced(struct inventory *inventory)
{
    const struct timespec nap = {.tv_nsec = NAP_NS};
    bool has_forks = false;
    struct cluster *replaced = take_replaced(inventory, &has_forks);
    while (has_forks) {
        (void)nanosleep(&nap, NULL);
        replaced = take_replaced(inventory, &has_forks);
    }
    cluster_free(replaced);
}
