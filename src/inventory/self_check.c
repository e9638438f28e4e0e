/* self_check: see self_check.h, and include/inventory/live.h. */
#include "self_check.h"
#include "base/clock.h"
#include "base/log.h"
#include "live_priv.h"

#define NODES_A_STEP 200
#define STEP_MS 1000

static void tell(struct self_check *check, size_t n_differences, const struct err *err)
{
    counter_add(&check->differences, n_differences);
    if (n_differences > 0)
        LOG(LOG_ERROR, "inventory", LOG_MSG("the ledger differs from its pods"),
            LOG_NUM("differences", n_differences), LOG_STR("first", err->text));
}

void self_check_all(struct inventory *inventory)
{
    struct self_check *check = &inventory->live->check;
    struct err err;
    const struct inventory_view view = inventory_read(inventory);
    const size_t n_differences = cluster_check(view.cluster, &err);
    inventory_done(inventory);
    counter_add(&check->checks, 1);
    tell(check, n_differences, &err);
}

/* Where the last step ended is only a number: between two of them nodes come and go. */
static const struct node *node_at(const struct cluster *cluster, size_t place)
{
    const struct node *node = cluster_next_node(cluster, NULL);
    while (node && place-- > 0)
        node = cluster_next_node(cluster, node);
    return node;
}

/* *ret_next: where the next step begins; 0 after the last one. */
static size_t check_some(const struct cluster *cluster, size_t from, size_t *ret_next,
                         struct err *err)
{
    size_t n_differences = 0;
    size_t n_checked = 0;
    const struct node *node = node_at(cluster, from);
    for (; node && n_checked < NODES_A_STEP; node = cluster_next_node(cluster, node), n_checked++) {
        n_differences += cluster_check_node(node, n_differences == 0 ? err : NULL);
    }
    *ret_next = node ? from + n_checked : 0;
    return n_differences;
}

int64_t inventory_self_check(void *inventory, int64_t now_ms)
{
    struct inventory *mine = inventory;
    if (!mine->live)
        return CLOCK_NEVER;
    struct self_check *check = &mine->live->check;
    struct err err;
    if (now_ms < check->next_ms)
        return check->next_ms;
    const struct inventory_view view = inventory_read(mine);
    const size_t n_differences =
        check_some(view.cluster, check->next_node, &check->next_node, &err);
    inventory_done(mine);
    counter_add(&check->checks, check->next_node == 0);
    tell(check, n_differences, &err);
    check->next_ms = now_ms + STEP_MS;
    return check->next_ms;
}
