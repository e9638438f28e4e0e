/* traffic: a row of counters per route name, fixed at start; see connection_table.h. */
#include "base/mem.h"
#include "base/metrics.h"
#include "connection_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const unsigned CODES[] = {200, 400, 401, 403, 404, 405, 409, 413, 415, 429, 500, 501, 503};
#define N_CODES (sizeof CODES / sizeof *CODES)

struct traffic_row {
    const char *name;
    struct counter by_code[N_CODES + 1]; /* the last: all other codes */
    struct histogram seconds;
};

struct traffic {
    atomic_int_fast64_t n_connections;
    struct counter closed[N_CONNECTION_ENDS];
    size_t n_rows;
    struct traffic_row rows[]; /* the first: unknown path */
};

static struct traffic_row *find_row(struct traffic *traffic, const char *name)
{
    for (size_t i = 0; i < traffic->n_rows; i++) {
        if (strcmp(traffic->rows[i].name, name) == 0)
            return &traffic->rows[i];
    }
    return NULL;
}

struct traffic *traffic_new(const struct route *routes)
{
    size_t n_routes = 0;
    while (routes[n_routes].path)
        n_routes++;
    struct traffic *traffic =
        mem_new(sizeof *traffic + (n_routes + 1) * sizeof(struct traffic_row));
    traffic->rows[traffic->n_rows++].name = "other";
    for (size_t i = 0; i < n_routes; i++) {
        if (!find_row(traffic, routes[i].name))
            traffic->rows[traffic->n_rows++].name = routes[i].name;
    }
    return traffic;
}

void traffic_free(struct traffic *traffic)
{
    free(traffic);
}

void traffic_add_request(struct traffic *traffic, const struct route *route, unsigned status,
                         uint64_t ns)
{
    struct traffic_row *row = route ? find_row(traffic, route->name) : &traffic->rows[0];
    size_t code = 0;
    while (code < N_CODES && CODES[code] != status)
        code++;
    counter_add(&row->by_code[code], 1);
    histogram_observe_ns(&row->seconds, ns);
}

void traffic_add_connection(struct traffic *traffic)
{
    atomic_fetch_add_explicit(&traffic->n_connections, 1, memory_order_relaxed);
}

void traffic_remove_connection(struct traffic *traffic, enum connection_end how)
{
    counter_add(&traffic->closed[how], 1);
    atomic_fetch_sub_explicit(&traffic->n_connections, 1, memory_order_relaxed);
}

static void write_row_counters(const struct traffic_row *row, const char *metric, struct buf *out)
{
    for (size_t i = 0; i <= N_CODES; i++) {
        uint64_t n = counter_value(&row->by_code[i]);
        char code[16] = "other";
        if (i < N_CODES)
            (void)snprintf(code, sizeof code, "%u", CODES[i]);
        const struct metric_label labels[] = {{"route", row->name}, {"code", code}, {NULL, NULL}};
        if (n > 0)
            metrics_sample(out, metric, labels, (double)n);
    }
}

static void write_connections(const struct traffic *traffic, struct buf *out)
{
    metrics_gauge(out, "gpu_extender_http_connections", "Open HTTP connections.",
                  (double)atomic_load_explicit(&traffic->n_connections, memory_order_relaxed));
    const char *metric = "gpu_extender_http_connections_closed_total";
    metrics_head(out, metric, "counter",
                 "Closed HTTP connections, by cause. This service closed them unless the cause is "
                 "\"other\".");
    for (size_t i = 0; i < N_CONNECTION_ENDS; i++) {
        const struct metric_label labels[] = {
            {"cause", connection_end_name((enum connection_end)i)}, {NULL, NULL}};
        metrics_sample(out, metric, labels, (double)counter_value(&traffic->closed[i]));
    }
}

void traffic_write(const struct traffic *traffic, struct buf *out)
{
    const char *metric = "gpu_extender_http_requests_total";
    metrics_head(out, metric, "counter", "HTTP requests answered, by route and status code.");
    for (size_t i = 0; i < traffic->n_rows; i++)
        write_row_counters(&traffic->rows[i], metric, out);

    metric = "gpu_extender_http_request_duration_seconds";
    metrics_head(out, metric, "histogram",
                 "Seconds from the end of a request to the start of its answer.");
    for (size_t i = 0; i < traffic->n_rows; i++) {
        const struct metric_label labels[] = {{"route", traffic->rows[i].name}, {NULL, NULL}};
        metrics_histogram(out, metric, labels, &traffic->rows[i].seconds);
    }
    write_connections(traffic, out);
}
