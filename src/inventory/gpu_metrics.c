/* gpu_metrics: see gpu_metrics.h. */
#include "gpu_metrics.h"
#include "base/mem.h"
#include "base/metrics.h"
#include "decide/fragmentation.h"
#include "ledger/gpu_demand.h"
#include "ledger/node_hot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Cannot be a resource name: those contain '/'. */
#define OTHER_RESOURCES "other"

enum gpu_state {
    GPUS_USED,
    GPUS_RESERVED,
    GPUS_FREE,          /* negative if the node is over-full */
    GPUS_CLOSED,        /* free, but the node is cordoned or not ready */
    GPUS_UNALLOCATABLE, /* broken or reserved by the system */
    GPUS_UNKNOWN,       /* devices, while claims are unknown: any claim may use them */
    N_GPU_STATES
};

static const struct {
    const char *name;
    bool is_always_there; /* unless unknown */
} STATES[N_GPU_STATES] = {
    [GPUS_USED] = {"used", true},
    [GPUS_RESERVED] = {"reserved", false},
    [GPUS_FREE] = {"free", true},
    [GPUS_CLOSED] = {"closed", false},
    [GPUS_UNALLOCATABLE] = {"unallocatable", false},
    [GPUS_UNKNOWN] = {"unknown", false},
};

/* One GPU resource or driver of one node, with its model's name. double, because sums may exceed an
 * integer. */
struct gpu_row {
    const char *node;
    const char *resource;
    char model[MODEL_POOL_NAME_BYTES];
    double gpus[N_GPU_STATES];
};

static size_t count_rows(const struct cluster *cluster)
{
    size_t n_rows = 0;
    for (const struct node *node = cluster_next_node(cluster, NULL); node;
         node = cluster_next_node(cluster, node)) {
        size_t n = 0;
        size_t n_groups = 0;
        (void)node_resources(node, &n);
        (void)node_device_groups(node, &n_groups);
        n_rows += n + n_groups + 1;
    }
    return n_rows;
}

static void name_row(struct gpu_row *row, const struct node *node, const char *resource)
{
    *row = (struct gpu_row){.node = node_name(node), .resource = resource};
    (void)model_pool_name(node_traits(node), resource, row->model);
}

static void set_free(struct gpu_row *row, double n_free, struct free_gpus split)
{
    row->gpus[GPUS_CLOSED] = (double)split.closed;
    row->gpus[GPUS_FREE] = n_free - (double)split.closed;
}

/* Requests for a resource of which the node has none are met by its allocated devices, so far as
 * those suffice: such GPUs count as devices. Returns how many; takes them from *by_claims, the
 * allocated devices that no other request has. */
static double take_by_claims(double n_requested, double *by_claims)
{
    const double n = n_requested < *by_claims ? n_requested : *by_claims;
    *by_claims -= n;
    return n;
}

static void fill(struct gpu_row *row, const struct node *node, const struct node_resource *amounts,
                 double *by_claims)
{
    const double n_claimed =
        amounts->allocatable > 0 ? 0 : take_by_claims((double)amounts->used, by_claims);
    name_row(row, node, amounts->resource->name);
    set_free(row, (double)node_resource_free(amounts) + n_claimed, free_gpus_of(node, amounts));
    row->gpus[GPUS_USED] = (double)amounts->used - n_claimed;
    row->gpus[GPUS_RESERVED] = (double)amounts->reserved;
    row->gpus[GPUS_UNALLOCATABLE] = (double)amounts->capacity - (double)amounts->allocatable;
}

static void fill_devices(struct gpu_row *row, const struct node *node,
                         const struct node_device_group *group)
{
    *row = (struct gpu_row){.node = node_name(node), .resource = group->driver};
    (void)snprintf(row->model, sizeof row->model, "%s", group->model);
    if (!cluster_knows(node_hot(node)->cluster, CLUSTER_CLAIMS)) {
        row->gpus[GPUS_UNKNOWN] = (double)group->total;
        return;
    }
    set_free(row, (double)group->free, free_gpus_of_devices(node, group));
    row->gpus[GPUS_USED] = (double)group->allocated;
    row->gpus[GPUS_UNALLOCATABLE] = (double)(group->total - group->allocated - group->free);
}

static size_t add_devices(const struct node *node, struct gpu_row *rows)
{
    size_t n = 0;
    size_t n_rows = 0;
    const struct node_device_group *groups = node_device_groups(node, &n);
    for (size_t i = 0; i < n; i++) {
        if (!groups[i].is_shadowed)
            fill_devices(&rows[n_rows++], node, &groups[i]);
    }
    return n_rows;
}

/* The devices that claims use, if claims are known; else the most that they may use. */
static double n_allocated(const struct node *node)
{
    size_t n = 0;
    const struct node_device_group *groups = node_device_groups(node, &n);
    const bool is_known = cluster_knows(node_hot(node)->cluster, CLUSTER_CLAIMS);
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum +=
            groups[i].is_shadowed ? 0 : (double)(is_known ? groups[i].allocated : groups[i].total);
    return sum;
}

/* One row for all resources that the node does not advertise: tenants may invent any number. */
static bool fill_other(struct gpu_row *row, const struct node *node, double *by_claims)
{
    size_t n = 0;
    const struct node_resource *resources = node_resources(node, &n);
    double n_used = (double)node_unlisted_gpus(node);
    for (size_t i = 0; i < n; i++) {
        if (resources[i].resource->is_gpu && !resources[i].advertised)
            n_used += (double)resources[i].used + (double)resources[i].reserved;
    }
    n_used -= take_by_claims(n_used, by_claims);
    name_row(row, node, OTHER_RESOURCES);
    row->gpus[GPUS_USED] = n_used;
    row->gpus[GPUS_FREE] = -n_used;
    return n_used > 0;
}

static size_t add_rows(const struct node *node, struct gpu_row *rows)
{
    size_t n = 0;
    size_t n_rows = 0;
    const struct node_resource *resources = node_resources(node, &n);
    double by_claims = n_allocated(node);
    for (size_t i = 0; i < n; i++) {
        if (resources[i].resource->is_gpu && resources[i].advertised)
            fill(&rows[n_rows++], node, &resources[i], &by_claims);
    }
    n_rows += add_devices(node, &rows[n_rows]);
    return n_rows + fill_other(&rows[n_rows], node, &by_claims);
}

static int compare_models(const struct gpu_row *a, const struct gpu_row *b)
{
    const int order = strcmp(a->resource, b->resource);
    return order != 0 ? order : strcmp(a->model, b->model);
}

static int compare_rows(const void *a, const void *b)
{
    const struct gpu_row *one = a;
    const struct gpu_row *other = b;
    const int order = compare_models(one, other);
    return order != 0 ? order : strcmp(one->node, other->node);
}

/* Sums each model into its first row and removes the others. What an over-full node lacks takes
 * nothing from the free GPUs of others. Returns the number of rows. */
static size_t sum_up(struct gpu_row *rows, size_t n_rows)
{
    size_t n = 0;
    for (size_t i = 0; i < n_rows; i++) {
        if (rows[i].gpus[GPUS_FREE] < 0)
            rows[i].gpus[GPUS_FREE] = 0;
        if (n == 0 || compare_models(&rows[n - 1], &rows[i]) != 0) {
            rows[n++] = rows[i];
            continue;
        }
        for (size_t state = 0; state < N_GPU_STATES; state++)
            rows[n - 1].gpus[state] += rows[i].gpus[state];
    }
    return n;
}

/* A group of devices of which nothing else is known. */
static bool is_unknown(const struct gpu_row *row)
{
    return row->gpus[GPUS_UNKNOWN] > 0;
}

static bool is_written(const struct gpu_row *row, size_t state, bool is_always_there)
{
    if (is_unknown(row))
        return state == GPUS_UNKNOWN;
    return is_always_there || row->gpus[state] != 0;
}

static void write_nodes(struct buf *out, const struct gpu_row *rows, size_t n_rows)
{
    static const char NAME[] = "gpu_extender_node_gpus";
    metrics_head(out, NAME, "gauge",
                 "GPUs of the node, by state; the states add up to the node's GPUs.");
    for (size_t i = 0; i < n_rows; i++) {
        for (size_t state = 0; state < N_GPU_STATES; state++) {
            const struct metric_label labels[] = {{"node", rows[i].node},
                                                  {"model", rows[i].model},
                                                  {"resource", rows[i].resource},
                                                  {"state", STATES[state].name},
                                                  {0}};
            if (is_written(&rows[i], state, STATES[state].is_always_there))
                metrics_sample(out, NAME, labels, rows[i].gpus[state]);
        }
    }
}

static void write_models(struct buf *out, const struct gpu_row *rows, size_t n_rows)
{
    static const char NAME[] = "gpu_extender_gpus";
    metrics_head(out, NAME, "gauge", "GPUs of the model on all nodes, by state.");
    for (size_t i = 0; i < n_rows && i < METRIC_MODELS_MAX; i++) {
        for (size_t state = 0; state < N_GPU_STATES; state++) {
            const struct metric_label labels[] = {{"model", rows[i].model},
                                                  {"resource", rows[i].resource},
                                                  {"state", STATES[state].name},
                                                  {0}};
            if (is_written(&rows[i], state, state != GPUS_UNKNOWN))
                metrics_sample(out, NAME, labels, rows[i].gpus[state]);
        }
    }
}

void gpu_metrics(const struct cluster *fork, struct buf *out)
{
    struct gpu_row *rows = MEM_ARRAY(struct gpu_row, count_rows(fork));
    size_t n_rows = 0;
    for (const struct node *node = cluster_next_node(fork, NULL); node;
         node = cluster_next_node(fork, node))
        n_rows += add_rows(node, &rows[n_rows]);
    if (n_rows > 0)
        qsort(rows, n_rows, sizeof *rows, compare_rows);
    write_nodes(out, rows, n_rows);
    write_models(out, rows, sum_up(rows, n_rows));
    free(rows);
}
