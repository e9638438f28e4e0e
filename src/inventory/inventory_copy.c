/* inventory_copy: a copy for one thread. See include/inventory/inventory.h. */
#include "inventory_priv.h"
#include "ledger/cluster_copy.h"

static struct cluster *copy_ledger(struct inventory *inventory)
{
    inventory_lock_to_read(inventory);
    const struct cluster *from = inventory->state.cluster;
    struct cluster_copy *copy = cluster_copy_new(from, cluster_policy(from));
    (void)cluster_copy_some(copy, SIZE_MAX);
    struct cluster *ledger = cluster_copy_end(copy);
    inventory_unlock(inventory);
    return ledger;
}

struct inventory *inventory_copy(struct inventory *inventory)
{
    struct inventory *copy = MEM_NEW(struct inventory);
    copy->limits = inventory->limits;
    inventory_lock_init(&copy->lock);
    copy->state = (struct state){
        .cluster = copy_ledger(inventory), .problems = problems_new(), .source = mem_strdup("")};
    copy->loaded = true;
    return copy;
}

struct cluster *inventory_own_ledger(struct inventory *copy)
{
    return copy->state.cluster;
}
