/* inventory_copy: a copy for one thread. See include/inventory/inventory.h. */
#include "inventory_priv.h"
#include "ledger/cluster_copy.h"
#include "ledger/quarantine.h"

/* A copy of the ledger of that number. */
struct ledger_copy {
    struct cluster_copy *copying;
    uint64_t n_ledgers;
};

static struct ledger_copy begin(struct inventory *inventory, const struct policy *policy)
{
    inventory_lock_to_read(inventory);
    const struct cluster *from = inventory->state.cluster;
    const struct ledger_copy copy = {cluster_copy_new(from, policy ? policy : cluster_policy(from)),
                                     inventory->n_ledgers};
    inventory_unlock(inventory);
    return copy;
}

/* Returns whether the copying has ended: with the ledger, or NULL if the original was replaced. */
static bool copy_some(struct inventory *inventory, struct ledger_copy copy,
                      struct cluster **ret_ledger)
{
    cluster_copy_make_room(copy.copying);
    inventory_lock_to_read(inventory);
    const bool is_current = copy.n_ledgers == inventory->n_ledgers;
    const bool is_complete = is_current && cluster_copy_some_anew(copy.copying, STEP_OBJECTS) &&
                             cluster_copy_claims(copy.copying, STEP_OBJECTS);
    struct cluster *ledger = is_complete ? cluster_copy_end(copy.copying) : NULL;
    inventory_unlock(inventory);
    if (!is_current)
        cluster_copy_abandon(copy.copying);
    *ret_ledger = ledger;
    return is_complete || !is_current;
}

static struct cluster *copy_ledger(struct inventory *inventory, const struct policy *policy)
{
    struct cluster *ledger = NULL;
    while (!ledger) {
        const struct ledger_copy copy = begin(inventory, policy);
        while (!copy_some(inventory, copy, &ledger))
            ;
    }
    inventory_lock_to_read(inventory);
    quarantine_copy_marks(ledger, inventory->state.cluster);
    inventory_unlock(inventory);
    return ledger;
}

struct inventory *inventory_copy(struct inventory *inventory, const struct policy *policy)
{
    struct inventory *copy = MEM_NEW(struct inventory);
    copy->limits = inventory->limits;
    inventory_lock_init(&copy->lock);
    copy->state = (struct state){.cluster = copy_ledger(inventory, policy),
                                 .problems = problems_new(),
                                 .source = mem_strdup("")};
    copy->loaded = true;
    return copy;
}

struct cluster *inventory_own_ledger(struct inventory *copy)
{
    return copy->state.cluster;
}
