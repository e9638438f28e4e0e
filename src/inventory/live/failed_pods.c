/* failed_pods: see live_priv.h, and include/inventory/live.h. */
#include "base/log.h"
#include "inventory/live/live_priv.h"
#include "ledger/quarantine.h"
#include "objects/pod.h"

static const char *const UNREAD[] = {"metadata.finalizers",
                                     "metadata.labels",
                                     "metadata.managedFields",
                                     "metadata.ownerReferences",
                                     "spec",
                                     "status.conditions",
                                     "status.ephemeralContainerStatuses",
                                     NULL};

const struct reflector_kind INVENTORY_FAILED_PODS = {.name = "failed pods",
                                                     .path = "/api/v1/pods",
                                                     .field_selector = "status.phase%3DFailed",
                                                     .drop = UNREAD};

void failed_pods_init(struct failed_pods *failed, struct inventory *inventory)
{
    failed->inventory = inventory;
    failed->arena = arena_new();
}

void failed_pods_fini(struct failed_pods *failed)
{
    arena_free(failed->arena);
}

/* Under the lock. */
bool failed_pods_settle(struct inventory *inventory)
{
    struct failed_pods *failed = &inventory->live->failed_pods;
    const struct cluster *cluster = inventory->state.cluster;
    const struct policy *policy = cluster_policy(cluster);
    const uint64_t n_before = failed->n_lifted;
    failed->due_ms = quarantine_tick(inventory->state.cluster);
    failed->n_lifted = sick_nodes_n_lifted(quarantine_nodes(cluster));
    return failed->n_lifted != n_before && (policy->quarantine.mode == AVOIDANCE_AVOID ||
                                            policy->shape_trap.mode == AVOIDANCE_AVOID);
}

void failed_pods_report_lift(struct inventory *inventory)
{
    const struct live *live = inventory->live;
    if (live->helped)
        live->helped(live->helped_context, CLUSTER_NODES);
}

static void take_over(struct failed_pods *failed)
{
    struct inventory *inventory = failed->inventory;
    live_lock_to_write(inventory);
    for (size_t i = 0; i < failed->n; i++)
        quarantine_see_failed(inventory->state.cluster, &failed->items[i]);
    const bool is_lifted = failed_pods_settle(inventory);
    inventory_unlock(inventory);
    if (is_lifted)
        failed_pods_report_lift(inventory);
    failed->n = 0;
    arena_free(failed->arena);
    failed->arena = arena_new();
}

int64_t inventory_quarantine(void *inventory, int64_t now_ms)
{
    struct failed_pods *failed = &((struct inventory *)inventory)->live->failed_pods;
    if (now_ms >= failed->due_ms)
        take_over(failed);
    return failed->due_ms;
}

/* The store. */

static void on_list(void *context)
{
    (void)context;
}

static void on_upsert(void *context, const json_t *object)
{
    struct failed_pods *failed = context;
    const struct policy *policy = cluster_policy(failed->inventory->state.cluster);
    if (failed_pod_from_json(object, policy, failed->arena, &failed->items[failed->n], NULL) == 0)
        failed->n++;
    if (failed->n == FAILED_PODS_BATCH)
        take_over(failed);
}

/* It is no evidence. */
static void on_too_large(void *context, const json_t *part, const struct json_over *over)
{
    (void)context;
    (void)part;
    (void)over;
}

static void on_removed(void *context, const json_t *object)
{
    (void)context;
    (void)object;
}

static void on_flush(void *context, const struct reflector_status *status)
{
    struct failed_pods *failed = context;
    if (failed->n > 0)
        take_over(failed);
    if (status->is_news)
        LOG(LOG_WARN, "inventory", LOG_MSG("following the API server failed: trying again"),
            LOG_STR("kind", INVENTORY_FAILED_PODS.name), LOG_STR("why", status->why));
}

struct reflector_store inventory_failed_pods(struct inventory *inventory)
{
    return (struct reflector_store){.list_begin = on_list,
                                    .upsert = on_upsert,
                                    .too_large = on_too_large,
                                    .list_end = on_list,
                                    .removed = on_removed,
                                    .flush = on_flush,
                                    .context = &inventory->live->failed_pods};
}
