/* live: see include/inventory/live.h. */
#include "base/clock.h"
#include "base/mem.h"
#include "inventory/live/live_priv.h"
#include "ledger/quarantine.h"

#include <stdlib.h>

void inventory_go_live(struct inventory *inventory, const char *server)
{
    struct live *live = MEM_NEW(struct live);
    live->problems = live_problems_new();
    quarantine_begin(inventory->state.cluster);
    failed_pods_init(&live->failed_pods, inventory);
    live_status_init(&live->status, inventory->limits.max_lag_ms);
    for (size_t i = 0; i < N_CLUSTER_KINDS; i++) {
        live_feed_init(&live->feeds[i], inventory, (enum cluster_kind)i);
        cluster_set_known(inventory->state.cluster, (enum cluster_kind)i, false);
    }
    free(inventory->state.source);
    inventory->state.source = mem_strdup(server);
    inventory->live = live;
}

void live_lock_to_write(struct inventory *inventory)
{
    inventory_lock_to_write(inventory);
    if (inventory->live)
        cluster_set_now(inventory->state.cluster, clock_ms());
}

void live_free(struct live *live)
{
    if (!live)
        return;
    for (size_t i = 0; i < N_CLUSTER_KINDS; i++)
        live_feed_fini(&live->feeds[i]);
    live_status_fini(&live->status);
    live_problems_free(live->problems);
    failed_pods_fini(&live->failed_pods);
    free(live);
}

struct reflector_store inventory_store(struct inventory *inventory, size_t i)
{
    return live_feed_store(&inventory->live->feeds[i]);
}

void inventory_on_turn(struct inventory *inventory, void (*turned)(void *context), void *context)
{
    inventory->live->turned = turned;
    inventory->live->turned_context = context;
}

void inventory_on_pods(struct inventory *inventory,
                       void (*seen)(void *context, const char *uid, const char *node),
                       void *context)
{
    inventory->live->pod_seen = seen;
    inventory->live->pod_seen_context = context;
}

void inventory_on_help(struct inventory *inventory,
                       void (*helped)(void *context, enum cluster_kind kind), void *context)
{
    inventory->live->helped = helped;
    inventory->live->helped_context = context;
}

size_t inventory_freshness(struct inventory *inventory,
                           struct inventory_freshness ret_kinds[N_CLUSTER_KINDS])
{
    if (!inventory->live)
        return 0;
    for (size_t i = 0; i < N_CLUSTER_KINDS; i++) {
        const struct kind_row *row = &INVENTORY_KINDS[i];
        struct kind_status status;
        live_status_get(&inventory->live->status, (enum cluster_kind)i, &status);
        const int64_t fresh_ms = status.reflector.fresh_ms;
        ret_kinds[i] = (struct inventory_freshness){
            .kind = row->listed.name,
            .awaited = status.awaited,
            .essential = row->use->is_essential,
            .optional = row->use->is_optional,
            .without = row->use->without,
            .synced = status.reflector.synced,
            .stale = status.reflector.stale,
            .age_ms = fresh_ms == 0 ? -1 : clock_ms() - fresh_ms,
            .too_many = status.too_many.text[0] != '\0',
            .behind = status.behind,
            .lag_ms = status.lag_ms,
            .why = status.why,
            .trouble = reflector_trouble_name(status.reflector.trouble),
        };
    }
    return N_CLUSTER_KINDS;
}
