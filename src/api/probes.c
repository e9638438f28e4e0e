/* probes: is it alive, is it ready, and its metrics. See include/api/api.h. */
#include "api/api.h"
#include "base/metrics.h"
#include "base/process_metrics.h"
#include "inventory/live.h"
#include "reply.h"

static void answer_line(struct exchange *exchange, unsigned status, const char *line)
{
    struct buf text;
    buf_init(&text, REPLY_MAX_BYTES);
    (void)buf_printf(&text, "%s\n", line);
    reply_text(exchange, status, "text/plain; charset=utf-8", &text);
}

void api_livez(void *context, struct exchange *exchange)
{
    (void)context;
    answer_line(exchange, 200, "ok");
}

/* What inventory_usable() is about: the first that was never listed, else the first that is stale.
 * n: none. */
static size_t find_first(const struct inventory_freshness *kinds, size_t n)
{
    size_t first = n;
    for (size_t i = n; i-- > 0;) {
        const bool is_before = kinds[i].stale && (first == n || kinds[first].synced);
        if (!kinds[i].synced || is_before)
            first = i;
    }
    return first;
}

static void add_kind(const struct inventory_freshness *kind, struct buf *out)
{
    if (kind->synced)
        (void)buf_printf(out, "the %s are stale", kind->kind);
    else
        (void)buf_printf(out, "waiting for the first list of %s", kind->kind);
    (void)buf_printf(out, "%s%s\n", kind->why.text[0] ? ": " : "", kind->why.text);
}

/* Being ready is no matter of it: a follower that was not would keep every rollout waiting. */
static void add_role(const struct api *api, const struct exchange *exchange, struct buf *out)
{
    const char *role = api->role ? api->role(api->role_context) : NULL;
    if (role && exchange_query(exchange, "verbose"))
        (void)buf_printf(out, "this replica: %s\n", role);
}

/* A line each kind. */
void api_readyz(void *context, struct exchange *exchange)
{
    const struct api *api = context;
    struct inventory_freshness kinds[N_CLUSTER_KINDS];
    struct buf text;
    struct err why;
    const bool usable = inventory_usable(api->inventory, &why);
    const size_t n = usable ? 0 : inventory_freshness(api->inventory, kinds);
    const size_t told = find_first(kinds, n);
    buf_init(&text, REPLY_MAX_BYTES);
    (void)buf_printf(&text, "%s\n", usable ? "ok" : why.text);
    for (size_t i = 0; i < n; i++) {
        if (i != told && (!kinds[i].synced || kinds[i].stale))
            add_kind(&kinds[i], &text);
    }
    add_role(api, exchange, &text);
    reply_text(exchange, usable ? 200 : 503, "text/plain; charset=utf-8", &text);
}

static void write_build_info(struct buf *out)
{
    const struct metric_label labels[] = {{"version", GPU_EXTENDER_VERSION}, {0}};
    metrics_head(out, "gpu_extender_build_info", "gauge", "The version that runs; always 1.");
    metrics_sample(out, "gpu_extender_build_info", labels, 1);
}

/* What /readyz says. */
static void write_ready(struct inventory *inventory, struct buf *out)
{
    struct err why;
    metrics_gauge(out, "gpu_extender_ready",
                  "1 where decisions are made, 0 where the data do not allow it.",
                  inventory_usable(inventory, &why));
}

void api_metrics(void *context, struct exchange *exchange)
{
    const struct api *api = context;
    struct buf out;
    buf_init(&out, REPLY_MAX_BYTES);
    process_metrics(&out);
    write_build_info(&out);
    write_ready(api->inventory, &out);
    inventory_metrics(api->inventory, &out);
    inventory_live_metrics(api->inventory, &out);
    api->more_metrics(api->more_metrics_context, &out);
    reply_text(exchange, 200, "text/plain; version=0.0.4; charset=utf-8", &out);
}
