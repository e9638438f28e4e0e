/* inventory_view: a thread's view of the locked inventory. See include/inventory/inventory.h. */
#include "inventory/live/live_priv.h"
#include "ledger/gpu_demand.h"

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
        .claims_uncounted = state->claims_uncounted.text,
        .claims_note = state->claims_note ? state->claims_note : "",
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

bool inventory_counts_claims(const struct inventory_view *view, struct err *ret_why)
{
    if (view->live)
        return live_status_counts_claims(&view->inventory->live->status, ret_why);
    if (view->claims_uncounted[0])
        (void)err_set(ret_why, ENOENT, "%s", view->claims_uncounted);
    return !view->claims_uncounted[0];
}

bool inventory_serves_oldest(const struct inventory_view *view, enum cluster_kind kind)
{
    return view->live && live_status_serves_oldest(&view->inventory->live->status, kind);
}

void inventory_done(const struct inventory_view *view)
{
    inventory_unlock(view->inventory);
}
