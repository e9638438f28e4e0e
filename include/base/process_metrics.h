/*
 * process_metrics: the system's figures for this process, under the names of Prometheus' clients
 * (process_cpu_seconds_total ...), for generic dashboards.
 *
 * Source: https://prometheus.io/docs/instrumenting/writing_clientlibs/#process-metrics
 */
#ifndef BASE_PROCESS_METRICS_H
#define BASE_PROCESS_METRICS_H

#include "base/buf.h"

/* Reads /proc; an unreadable figure has no sample. */
void process_metrics(struct buf *out);

#endif
