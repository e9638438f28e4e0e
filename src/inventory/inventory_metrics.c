/* inventory_metrics: the ledger as Prometheus gauges. See include/inventory/inventory.h. */
#include "base/mem.h"
#include "base/metrics.h"
#include "fragmentation_metrics.h"
#include "inventory/inventory.h"
#include "quota_metrics.h"

#include <stdlib.h>
#include <string.h>

/* One GPU resource of one node, by the name of its model. */
struct gpu_row {
    const char *node;
    const char *resource;
    char model[128];
    const struct node_resource *amounts;
};

struct gauge {
    const char *name;
    const char *help;
    int64_t (*value)(const struct node_resource *amounts);
};

static int64_t capacity_of(const struct node_resource *amounts)
{
    return amounts->capacity;
}

static int64_t allocatable_of(const struct node_resource *amounts)
{
    return amounts->allocatable;
}

static int64_t used_of(const struct node_resource *amounts)
{
    return amounts->used;
}

static int64_t reserved_of(const struct node_resource *amounts)
{
    return amounts->reserved;
}

static const struct gauge GAUGES[] = {
    {"gpu_extender_node_gpus_capacity", "GPUs that the node has.", capacity_of},
    {"gpu_extender_node_gpus_allocatable", "GPUs of the node that pods may use.", allocatable_of},
    {"gpu_extender_node_gpus_used", "GPUs of the node that pods use.", used_of},
    {"gpu_extender_node_gpus_reserved", "GPUs of the node that are held for bindings on their way.",
     reserved_of},
    {"gpu_extender_node_gpus_free", "GPUs of the node that are free; less than 0: over-full.",
     node_resource_free},
};

static size_t count_rows(const struct cluster *cluster)
{
    size_t n_rows = 0;
    for (const struct node *node = cluster_next_node(cluster, NULL); node;
         node = cluster_next_node(cluster, node)) {
        size_t n = 0;
        (void)node_resources(node, &n);
        n_rows += n;
    }
    return n_rows;
}

static size_t add_rows(const struct node *node, struct gpu_row *rows)
{
    size_t n = 0;
    size_t n_rows = 0;
    const struct node_resource *resources = node_resources(node, &n);
    for (size_t i = 0; i < n; i++) {
        if (!resources[i].resource->is_gpu)
            continue;
        struct gpu_row *row = &rows[n_rows++];
        row->node = node_name(node);
        row->resource = resources[i].resource->name;
        row->amounts = &resources[i];
        (void)gpu_model_text(&node_traits(node)->model, row->model);
    }
    return n_rows;
}

static void write_gauge(struct buf *out, const struct gauge *gauge, const struct gpu_row *rows,
                        size_t n_rows)
{
    metrics_head(out, gauge->name, "gauge", gauge->help);
    for (size_t i = 0; i < n_rows; i++) {
        const struct metric_label labels[] = {
            {"node", rows[i].node}, {"model", rows[i].model}, {"resource", rows[i].resource}, {0}};
        metrics_sample(out, gauge->name, labels, (double)gauge->value(rows[i].amounts));
    }
}

static void write_number(struct buf *out, const char *name, const char *help, double value)
{
    metrics_head(out, name, "gauge", help);
    metrics_sample(out, name, NULL, value);
}

void inventory_metrics(struct inventory *inventory, struct buf *out)
{
    const struct inventory_view view = inventory_read(inventory);
    const double n_pods = (double)cluster_n_pods(view.cluster);
    const double n_problems = (double)view.n_all_problems;
    const double as_of_s = (double)view.as_of_s;
    inventory_done(inventory);
    struct cluster *fork = inventory_fork(inventory); /* no text is made under the lock */
    struct gpu_row *rows = MEM_ARRAY(struct gpu_row, count_rows(fork));
    size_t n_rows = 0;
    for (const struct node *node = cluster_next_node(fork, NULL); node;
         node = cluster_next_node(fork, node))
        n_rows += add_rows(node, &rows[n_rows]);
    for (size_t i = 0; i < sizeof GAUGES / sizeof *GAUGES; i++)
        write_gauge(out, &GAUGES[i], rows, n_rows);
    fragmentation_metrics(fork, out);
    quota_metrics(fork, out);
    write_number(out, "gpu_extender_nodes", "Nodes in the inventory.",
                 (double)cluster_n_nodes(fork));
    write_number(out, "gpu_extender_pods", "Pods in the inventory.", n_pods);
    write_number(out, "gpu_extender_inventory_problems",
                 "Objects that were left out because they cannot be right.", n_problems);
    write_number(out, "gpu_extender_inventory_as_of_seconds",
                 "When the data was last known to be complete, in seconds since 1970.", as_of_s);
    free(rows);
    inventory_fork_free(inventory, fork);
}
