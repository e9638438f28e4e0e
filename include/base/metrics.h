/*
 * metrics: counters and histograms that many threads may add to, and the Prometheus text of them
 * (https://prometheus.io/docs/instrumenting/exposition_formats/, text format 0.0.4).
 *
 * There is no registry: who owns a counter writes it out. Labels come from closed sets only.
 */
#ifndef BASE_METRICS_H
#define BASE_METRICS_H

#include "base/buf.h"

#include <stdatomic.h>
#include <stdint.h>

struct counter {
    atomic_uint_fast64_t value;
};

/* Latencies in seconds; the bucket bounds are METRICS_LATENCY_BOUNDS, and +Inf. */
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

/* "# HELP" and "# TYPE" lines; type is "counter", "gauge" or "histogram". */
void metrics_head(struct buf *out, const char *name, const char *type, const char *help);
/* One sample. labels end with one whose name is NULL; labels may be NULL. */
void metrics_sample(struct buf *out, const char *name, const struct metric_label *labels,
                    double value);
/* Metrics that have one sample, and no labels. */
void metrics_counter(struct buf *out, const char *name, const char *help,
                     const struct counter *counter);
void metrics_gauge(struct buf *out, const char *name, const char *help, double value);
void metrics_histogram(struct buf *out, const char *name, const struct metric_label *labels,
                       const struct histogram *histogram);

#endif
