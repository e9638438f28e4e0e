/* inventory_edition: what answers depend on. See include/inventory/inventory.h. */
#include "inventory/live/live_priv.h"

#include <inttypes.h>

/* Returns whether all kinds are followed. */
static bool add_kinds(struct inventory *inventory, struct buf *out)
{
    struct inventory_freshness kinds[N_CLUSTER_KINDS];
    const size_t n = inventory_freshness(inventory, kinds);
    bool is_followed = true;
    for (size_t i = 0; i < n; i++) {
        const struct inventory_freshness *kind = &kinds[i];
        is_followed &= kind->synced && !kind->stale && !kind->behind;
        buf_printf(out, "%d %d %d %d %s\n", kind->synced, kind->stale, kind->behind,
                   kind->age_ms >= 0, kind->why.text);
    }
    return is_followed;
}

void inventory_edition(struct inventory *inventory, struct buf *out)
{
    struct err why = {0};
    bool is_current = inventory_usable(inventory, &why);
    is_current &= add_kinds(inventory, out);
    const struct inventory_view view CLEANUP(inventory_done) = inventory_read(inventory);
    struct err uncounted = {0};
    const bool counts = inventory_counts_claims(&view, &uncounted);
    buf_printf(out, "%s\n%s\n", is_current ? "" : why.text, counts ? "" : uncounted.text);
    buf_printf(out, "%" PRIu64 " %" PRIu64 " %" PRIu64 "\n", inventory->n_loaded,
               cluster_edition(view.cluster),
               inventory->live ? live_problems_version(inventory->live->problems) : 0);
    if (!is_current || !view.live)
        buf_printf(out, "%" PRId64 "\n", view.as_of_s);
}
