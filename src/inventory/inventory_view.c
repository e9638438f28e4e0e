/* inventory_view: a thread's view of the locked inventory. See include/inventory/inventory.h. */
#include "ledger/gpu_demand.h"
#include "live_priv.h"

static void view_of_live(const struct live *live, struct inventory_view *view)
{
    view->live = true;
    view->problems = live_problems_list(live->problems, &view->n_problems);
    view->n_all_problems = live_problems_count_all(live->problems);
    view->as_of_s = live_status_as_of_s(&live->status);
}

static bool is_settled(const struct inventory *inventory)
{
    return gpu_demand_is_settled(inventory->state.cluster);
}

static void settle(struct inventory *inventory)
{
    gpu_demand_settle(inventory->state.cluster);
}

/* Under the lock. */
static struct inventory_view view_of(struct inventory *inventory)
{
    const struct state *state = &inventory->state;
    struct inventory_view view = {
        .inventory = inventory,
        .cluster = state->cluster,
        .problems = state->problems->items,
        .n_problems = state->problems->n,
        .n_all_problems = state->problems->n_all,
        .as_of_s = state->as_of_s,
        .source = state->source,
    };
    if (inventory->live)
        view_of_live(inventory->live, &view);
    return view;
}

struct inventory_view inventory_read(struct inventory *inventory)
{
    inventory_lock_to_read(inventory);
    return view_of(inventory);
}

struct inventory_view inventory_read_settled(struct inventory *inventory)
{
    inventory_lock_to_read_ready(inventory, is_settled, settle);
    return view_of(inventory);
}

void inventory_done(const struct inventory_view *view)
{
    inventory_unlock(view->inventory);
}
