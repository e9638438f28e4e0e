/* metrics: see include/base/metrics.h. */
#include "base/metrics.h"

#include <stdio.h>

const double METRICS_LATENCY_BOUNDS[METRICS_N_BOUNDS] = {
    0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.02, 0.025,
    0.05,   0.1,     0.25,   0.5,   1,      2.5,   5,    10,   30};

void counter_add(struct counter *counter, uint64_t n)
{
    atomic_fetch_add_explicit(&counter->value, n, memory_order_relaxed);
}

uint64_t counter_value(const struct counter *counter)
{
    return atomic_load_explicit(&counter->value, memory_order_relaxed);
}

void histogram_observe_ns(struct histogram *histogram, uint64_t ns)
{
    size_t i = 0;
    while (i < METRICS_N_BOUNDS && (double)ns > METRICS_LATENCY_BOUNDS[i] * 1e9)
        i++;
    atomic_fetch_add_explicit(&histogram->buckets[i], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&histogram->sum_ns, ns, memory_order_relaxed);
}

void metrics_head(struct buf *out, const char *name, const char *type, const char *help)
{
    buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void add_label_value(struct buf *out, const char *value)
{
    for (const char *p = value; *p; p++) {
        if (*p == '\\' || *p == '"')
            buf_printf(out, "\\%c", *p);
        else if (*p == '\n')
            buf_add_text(out, "\\n");
        else
            buf_add(out, p, 1);
    }
}

static void sample(struct buf *out, const char *name, const struct metric_label *labels,
                   const char *bound, double value)
{
    buf_add_text(out, name);
    const char *separator = "{";
    for (; labels && labels->name; labels++) {
        buf_printf(out, "%s%s=\"", separator, labels->name);
        add_label_value(out, labels->value);
        buf_add_text(out, "\"");
        separator = ",";
    }
    if (bound) {
        buf_printf(out, "%sle=\"%s\"", separator, bound);
        separator = ",";
    }
    buf_printf(out, "%s %.15g\n", *separator == ',' ? "}" : "", value);
}

void metrics_sample(struct buf *out, const char *name, const struct metric_label *labels,
                    double value)
{
    sample(out, name, labels, NULL, value);
}

void metrics_counter(struct buf *out, const char *name, const char *help,
                     const struct counter *counter)
{
    metrics_head(out, name, "counter", help);
    metrics_sample(out, name, NULL, (double)counter_value(counter));
}

void metrics_gauge(struct buf *out, const char *name, const char *help, double value)
{
    metrics_head(out, name, "gauge", help);
    metrics_sample(out, name, NULL, value);
}

void metrics_histogram(struct buf *out, const char *name, const struct metric_label *labels,
                       const struct histogram *histogram)
{
    char text[128];
    uint64_t total = 0;
    (void)snprintf(text, sizeof text, "%s_bucket", name);
    for (size_t i = 0; i <= METRICS_N_BOUNDS; i++) {
        char bound[32] = "+Inf";
        if (i < METRICS_N_BOUNDS)
            (void)snprintf(bound, sizeof bound, "%g", METRICS_LATENCY_BOUNDS[i]);
        total += atomic_load_explicit(&histogram->buckets[i], memory_order_relaxed);
        sample(out, text, labels, bound, (double)total);
    }
    (void)snprintf(text, sizeof text, "%s_sum", name);
    uint64_t sum_ns = atomic_load_explicit(&histogram->sum_ns, memory_order_relaxed);
    sample(out, text, labels, NULL, (double)sum_ns / 1e9);
    (void)snprintf(text, sizeof text, "%s_count", name);
    sample(out, text, labels, NULL, (double)total);
}
