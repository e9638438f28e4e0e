/*
 * gpu_metrics: GPUs by node, model and what they are, as Prometheus gauges. Private to inventory.
 *
 * The states of a node add up to what it has, so that sums over any label mean something. The nodes
 * bound the series by node: two for a node in the ordinary case, as only "used" and "free" are
 * there when they are 0. By model there are METRIC_MODELS_MAX at the most.
 */
#ifndef INVENTORY_GPU_METRICS_H
#define INVENTORY_GPU_METRICS_H

#include "base/buf.h"
#include "ledger/cluster.h"

/* Who names nodes makes models: the first so many, by resource and name, have series. */
#define METRIC_MODELS_MAX 100

void gpu_metrics(const struct cluster *fork, struct buf *out);

#endif
