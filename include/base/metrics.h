/*
 * metrics: counters and histograms for many threads, and their Prometheus text
 * (https://prometheus.io/docs/instrumenting/exposition_formats/, text format 0.0.4).
 *
 * There is no registry: the owner of a counter writes it. Labels come from closed sets only.
 */
#ifndef BASE_METRICS_H
#define BASE_METRICS_H

#include "base/buf.h"

#include <stdatomic.h>
#include <stdint.h>

struct counter {
    atomic_uint_fast64_t value;
};

/* Latencies in seconds; buckets: METRICS_LATENCY_BOUNDS and +Inf. */
#define METRICS_N_BOUNDS 18
extern const double METRICS_LATENCY_BOUNDS[METRICS_N_BOUNDS];

struct histogram {
    atomic_uint_fast64_t buckets[METRICS_N_BOUNDS + 1]; /* not cumulative */
    atomic_uint_fast64_t sum_ns;
};

struct metric_label {
    const char *name;
    const char *value; /* escaped when written */
};

void counter_add(struct counter *counter, uint64_t n);
uint64_t counter_value(const struct counter *counter);
void histogram_observe_ns(struct histogram *histogram, uint64_t ns);

/* Writes the "# HELP" and "# TYPE" lines; type: "counter", "gauge" or "histogram". */
void metrics_head(struct buf *out, const char *name, const char *type, const char *help);
/* One sample. labels end with a NULL name; labels may be NULL. */
void metrics_sample(struct buf *out, const char *name, const struct metric_label *labels,
                    double value);
/* Metrics with one sample and no labels. */
void metrics_counter(struct buf *out, const char *name, const char *help,
                     const struct counter *counter);
void metrics_gauge(struct buf *out, const char *name, const char *help, double value);
void metrics_histogram(struct buf *out, const char *name, const struct metric_label *labels,
                       const struct histogram *histogram);

/* The system's figures for this process, under the names of Prometheus' clients
 * (process_cpu_seconds_total ...), for generic dashboards.
 *
 * Source: https://prometheus.io/docs/instrumenting/writing_clientlibs/#process-metrics
 *
 * Reads /proc; an unreadable figure has no sample. */
void metrics_process(struct buf *out);

#endif
