/* self_check: see live_priv.h, and include/inventory/live.h. */
#include "base/clock.h"
#include "base/log.h"
#include "inventory/live/live_priv.h"

#define STEP_MS 1000

static void report(struct self_check *check, size_t n_differences, const struct err *err)
{
    counter_add(&check->differences, n_differences);
    if (n_differences > 0)
        LOG(LOG_ERROR, "inventory", LOG_MSG("the ledger differs from its pods"),
            LOG_NUM("differences", n_differences), LOG_STR("first", err->text));
}

static size_t check_whole(struct inventory *inventory, struct err *err)
{
    const struct inventory_view view CLEANUP(inventory_done) = inventory_read(inventory);
    return cluster_check_in_place(view.cluster, err);
}

void self_check_all(struct inventory *inventory)
{
    struct self_check *check = &inventory->live->check;
    struct err err;
    const size_t n_differences = check_whole(inventory, &err);
    counter_add(&check->checks, 1);
    report(check, n_differences, &err);
}

/* Returns whether the round is complete. The read lock suffices: only the read loop's thread and
 * writers change the position kept in the ledger. */
static bool check_some(struct inventory *inventory)
{
    struct self_check *check = &inventory->live->check;
    struct err err;
    size_t n_differences = 0;
    inventory_lock_to_read(inventory);
    const bool is_complete =
        cluster_check_some(inventory->state.cluster, SELF_CHECK_WORK, &n_differences, &err);
    inventory_unlock(inventory);
    counter_add(&check->checks, is_complete);
    report(check, n_differences, &err);
    return is_complete;
}

void self_check_nodes(struct inventory *inventory)
{
    while (!check_some(inventory)) {
    }
}

int64_t inventory_self_check(void *inventory, int64_t now_ms)
{
    struct inventory *mine = inventory;
    if (!mine->live)
        return CLOCK_NEVER;
    struct self_check *check = &mine->live->check;
    if (now_ms < check->next_ms)
        return check->next_ms;
    const int64_t began_ms = clock_ms();
    (void)check_some(mine);
    /* Counted from the step's end, so a delayed step is not made up for. */
    check->next_ms = now_ms + (clock_ms() - began_ms) + STEP_MS;
    return check->next_ms;
}
