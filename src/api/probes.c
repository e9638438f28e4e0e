/* probes: liveness, readiness and metrics. See include/api/api.h. */
#include "api/api.h"
#include "api/reply.h"
#include "base/clock.h"
#include "base/metrics.h"
#include "inventory/live.h"

#include <time.h>

static void answer_line(struct exchange *exchange, unsigned status, const char *line)
{
    struct buf text;
    buf_init(&text, REPLY_MAX_BYTES);
    buf_printf(&text, "%s\n", line);
    reply_text(exchange, status, "text/plain; charset=utf-8", &text);
}

void api_livez(void *context, struct exchange *exchange)
{
    const struct api *api = context;
    struct err why;
    if (api->alive && !api->alive(api->alive_context, &why))
        answer_line(exchange, 503, why.text);
    else
        answer_line(exchange, 200, "ok");
}

static bool is_in_trouble(const struct inventory_freshness *kind)
{
    return !kind->synced || kind->stale || kind->behind || kind->too_many;
}

static void add_kind(const struct inventory_freshness *kind, struct buf *out)
{
    char since[TEXT_TIME_SIZE];
    const int64_t since_s = (int64_t)time(NULL) - kind->age_ms / 1000;
    if (!kind->synced)
        buf_printf(out, "%s: never listed", kind->kind);
    else if (kind->stale)
        buf_printf(out, "%s: stale since %s", kind->kind, text_time(since_s, since));
    else if (kind->behind)
        buf_printf(out, "%s: behind by %lld s", kind->kind, (long long)kind->lag_ms / 1000);
    else
        buf_printf(out, "%s: too many", kind->kind);
    buf_printf(out, "%s%s\n", kind->trouble[0] ? ": " : "", kind->trouble);
}

/* One line per kind. Any client of the port may read them, so the API server's messages and file
 * names go to the log only. */
static void add_troubles(struct inventory *inventory, bool stops_decisions, struct buf *out)
{
    struct inventory_freshness kinds[N_CLUSTER_KINDS];
    const size_t n = inventory_freshness(inventory, kinds);
    for (size_t i = 0; i < n; i++) {
        if (!is_in_trouble(&kinds[i]) ||
            (kinds[i].essential || kinds[i].awaited) != stops_decisions)
            continue;
        if (!stops_decisions)
            buf_printf(out, "%s: ", kinds[i].without);
        add_kind(&kinds[i], out);
    }
    const char *waiting_for = n == 0 ? inventory_waiting_for(inventory) : NULL;
    if (waiting_for && stops_decisions)
        buf_printf(out, "waiting for %s\n", waiting_for);
}

/* The role does not affect readiness: unready followers would block every rollout. */
static void add_role(const struct api *api, const struct exchange *exchange, struct buf *out)
{
    const char *role = reply_role(api);
    if (role && exchange_query(exchange, "verbose"))
        buf_printf(out, "this replica: %s\n", role);
}

void api_readyz(void *context, struct exchange *exchange)
{
    const struct api *api = context;
    struct buf text;
    buf_init(&text, REPLY_MAX_BYTES);
    add_troubles(api->inventory, true, &text);
    const bool is_ready = text.len == 0;
    if (is_ready)
        buf_add_text(&text, "ok\n");
    add_troubles(api->inventory, false, &text);
    add_role(api, exchange, &text);
    reply_text(exchange, is_ready ? 200 : 503, "text/plain; charset=utf-8", &text);
}

static void write_build_info(struct buf *out)
{
    const struct metric_label labels[] = {{"version", GPU_EXTENDER_VERSION}, {0}};
    metrics_head(out, "gpu_extender_build_info", "gauge", "The running version; always 1.");
    metrics_sample(out, "gpu_extender_build_info", labels, 1);
}

/* The same result as /readyz. */
static void write_ready(struct inventory *inventory, struct buf *out)
{
    struct err why;
    metrics_gauge(out, "gpu_extender_ready", "1 while the data allow decisions, else 0.",
                  inventory_usable(inventory, &why));
}

void api_metrics(void *context, struct exchange *exchange)
{
    const struct api *api = context;
    struct buf out;
    buf_init(&out, REPLY_MAX_BYTES);
    metrics_process(&out);
    write_build_info(&out);
    write_ready(api->inventory, &out);
    inventory_metrics(api->inventory, &out);
    inventory_live_metrics(api->inventory, &out);
    api->more_metrics(api->more_metrics_context, &out);
    reply_text(exchange, 200, "text/plain; version=0.0.4; charset=utf-8", &out);
}
