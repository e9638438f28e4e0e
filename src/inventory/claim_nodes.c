/* claim_nodes: see claim_nodes.h. */
#include "claim_nodes.h"
#include "base/mem.h"
#include "dra/devices.h"

/* Nodes that stand for others, and what may be read of them (struct device_copy_nodes). Measured:
 * one with eight devices of eight attributes takes 53,000 instructions, with the allocator. */
#define KINDS_MAX ((size_t)400)
#define WORK_MAX ((size_t)30000)

static bool may_be_alike(const struct claims_reads *reads)
{
    for (size_t i = 0; i < reads->n; i++) {
        const char *name = reads->items[i].name;
        if (!reads->items[i].is_capacity &&
            (!name || !name[0] || devices_is_place_within_node(name)))
            return false;
    }
    return true;
}

/* Takes the nodes that stand for others. reads NULL: none does. */
static struct device_copy_nodes find_alike(const struct claim_sources *sources,
                                           const struct devices *devices,
                                           const struct claims_reads *reads, size_t *stands_for,
                                           struct arena *arena)
{
    const char **names = ARENA_ARRAY(arena, const char *, sources->n_nodes + 1);
    struct device_copy_nodes nodes = {.names = names, .work = WORK_MAX};
    if (reads)
        devices_find_alike(devices, sources->nodes, sources->n_nodes, reads, stands_for);
    names[nodes.n++] = "";
    for (size_t i = 0; i < sources->n_nodes; i++) {
        stands_for[i] = reads ? stands_for[i] : i;
        if (stands_for[i] == i)
            names[nodes.n++] = sources->nodes[i];
    }
    if (nodes.n - 1 > KINDS_MAX)
        nodes.work = 0;
    return nodes;
}

/* Devices that several nodes may reach depend on the node's labels. */
static bool have_own_devices(const struct devices *devices)
{
    size_t n_of_several = 0;
    (void)devices_on_node(devices, "", &n_of_several);
    return n_of_several == 0;
}

/* The names are the sources'. */
static struct device_copy_nodes choose(const struct claim_sources *sources,
                                       const struct claims_reads *reads, size_t *stands_for,
                                       struct arena *arena)
{
    const struct inventory_view view CLEANUP(inventory_done) = inventory_read(sources->inventory);
    const struct devices *devices = cluster_devices(view.cluster);
    const bool may_be = reads && may_be_alike(reads) && have_own_devices(devices);
    return find_alike(sources, devices, may_be ? reads : NULL, stands_for, arena);
}

static bool read_some(const struct claim_sources *sources, struct device_copy *copy,
                      struct device_copy_nodes *nodes)
{
    const struct inventory_view view CLEANUP(inventory_done) = inventory_read(sources->inventory);
    return device_copy_read_nodes(copy, cluster_devices(view.cluster),
                                  cluster_knows(view.cluster, CLUSTER_CLAIMS), nodes);
}

bool claim_nodes_read(const struct claim_sources *sources, const struct claims_reads *reads,
                      struct device_copy *copy, size_t *ret_stands_for)
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    struct device_copy_nodes nodes = choose(sources, reads, ret_stands_for, arena);
    bool is_all = false;
    do
        is_all = read_some(sources, copy, &nodes);
    while (!device_copy_end_step(copy));
    return is_all;
}
