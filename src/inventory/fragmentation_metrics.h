/* fragmentation_metrics: usefulness of free GPUs as Prometheus gauges. Private to inventory. */
#ifndef INVENTORY_FRAGMENTATION_METRICS_H
#define INVENTORY_FRAGMENTATION_METRICS_H

#include "base/buf.h"
#include "ledger/cluster.h"

void fragmentation_metrics(const struct cluster *fork, struct buf *out);

#endif
