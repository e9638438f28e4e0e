/*
 * gpu_metrics: GPUs by node, model and state, as Prometheus gauges. Private to inventory.
 *
 * The states of a node add up to its capacity, so sums over any label are meaningful. Only "used"
 * and "free" are written when 0, so a node ordinarily has two series. At most METRIC_MODELS_MAX
 * models have series.
 */
#ifndef INVENTORY_GPU_METRICS_H
#define INVENTORY_GPU_METRICS_H

#include "base/buf.h"
#include "ledger/cluster.h"

/* Node labels can invent models. The first so many, by resource and name, have series. */
#define METRIC_MODELS_MAX 100

void gpu_metrics(const struct cluster *fork, struct buf *out);

/* ---- quotas and their use, as Prometheus gauges ---- */

void quota_metrics(const struct cluster *fork, struct buf *out);

#endif
