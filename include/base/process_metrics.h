/*
 * process_metrics: what the system says of this process, under the names that Prometheus' clients
 * give it (process_cpu_seconds_total ...), so that dashboards made for any program show it.
 *
 * Source: https://prometheus.io/docs/instrumenting/writing_clientlibs/#process-metrics
 */
#ifndef BASE_PROCESS_METRICS_H
#define BASE_PROCESS_METRICS_H

#include "base/buf.h"

/* Reads /proc; what cannot be read has no sample. */
void process_metrics(struct buf *out);

#endif
