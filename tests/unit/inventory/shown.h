/* shown: an inventory as text, one line per node, pod and problem. */
#ifndef SHOWN_H
#define SHOWN_H

#include "inventory/inventory.h"

#include <inttypes.h>
#include <string.h>

/* "node a gpus=2/8" (used / allocatable) */
static inline void shown_node(const struct node *node, struct buf *out)
{
    size_t n = 0;
    const struct node_resource *resources = node_resources(node, &n);
    buf_printf(out, "node %s", node_name(node));
    for (size_t i = 0; i < n; i++) {
        if (resources[i].resource->is_gpu)
            buf_printf(out, " gpus=%" PRId64 "/%" PRId64, resources[i].used,
                       resources[i].allocatable);
    }
    buf_add_text(out, "\n");
}

/* Nodes in file order; "pod NAMESPACE/NAME NODE"; "problem KIND NAME: WHAT". The text must have
 * room for all. */
static inline void shown_view(const struct inventory_view *view, struct buf *out)
{
    for (const struct node *node = cluster_next_node(view->cluster, NULL); node;
         node = cluster_next_node(view->cluster, node))
        shown_node(node, out);
    for (const struct pod *pod = cluster_next_pod(view->cluster, NULL); pod;
         pod = cluster_next_pod(view->cluster, pod))
        buf_printf(out, "pod %s/%s %s\n", pod->namespace_, pod->name, pod->node_name);
    for (size_t i = 0; i < view->n_problems; i++)
        buf_printf(out, "problem %s %s: %s\n", view->problems[i].kind, view->problems[i].name,
                   view->problems[i].what);
}

#endif
