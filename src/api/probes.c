/* probes: is it alive, is it ready, and its metrics. See include/api/api.h. */
#include "api/api.h"
#include "base/metrics.h"
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

void api_readyz(void *context, struct exchange *exchange)
{
    const struct api *api = context;
    struct err why;
    if (inventory_usable(api->inventory, &why))
        answer_line(exchange, 200, "ok");
    else
        answer_line(exchange, 503, why.text);
}

static void write_build_info(struct buf *out)
{
    const struct metric_label labels[] = {{"version", GPU_EXTENDER_VERSION}, {0}};
    metrics_head(out, "gpu_extender_build_info", "gauge", "The version that runs; always 1.");
    metrics_sample(out, "gpu_extender_build_info", labels, 1);
}

void api_metrics(void *context, struct exchange *exchange)
{
    const struct api *api = context;
    struct buf out;
    buf_init(&out, REPLY_MAX_BYTES);
    write_build_info(&out);
    inventory_metrics(api->inventory, &out);
    inventory_live_metrics(api->inventory, &out);
    api->more_metrics(api->more_metrics_context, &out);
    reply_text(exchange, 200, "text/plain; version=0.0.4; charset=utf-8", &out);
}
