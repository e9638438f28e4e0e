/* extender_metrics: see include/extender/extender.h. What binds count: binds_metrics.c. */
#include "extender/extender.h"

static void add_ledger_behind(const struct extender *extender, struct buf *out)
{
    static const char NAME[] = "gpu_extender_filter_ledger_behind_total";
    metrics_head(out, NAME, "counter",
                 "Calls of filter answered with: the ledger is behind kube-scheduler.");
    metrics_sample(out, NAME, NULL, (double)counter_value(&extender->n_ledger_behind));
}

void extender_metrics(const struct extender *extender, struct buf *out)
{
    if (!extender->binds)
        return;
    add_ledger_behind(extender, out);
    binds_metrics(extender->binds, out);
}
