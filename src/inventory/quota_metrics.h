/* quota_metrics: quotas and their use, as Prometheus gauges. Private to inventory. */
#ifndef INVENTORY_QUOTA_METRICS_H
#define INVENTORY_QUOTA_METRICS_H

#include "base/buf.h"
#include "ledger/cluster.h"

void quota_metrics(const struct cluster *fork, struct buf *out);

#endif
