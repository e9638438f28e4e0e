/* node_notes: see include/inventory/inventory.h. */
#include "inventory/inventory.h"
#include "ledger/quarantine.h"

#include <inttypes.h>
#include <string.h>

static void add(struct node_notes *notes, const char *kind, const char *name, const char *what)
{
    if (notes->n < NODE_NOTES_MAX)
        notes->items[notes->n++] = (struct inventory_problem){kind, name, what};
}

const char *node_notes_of_count(const struct gpu_unit *unit, struct arena *arena)
{
    return arena_printf(arena, "count unverified: label %" PRId64 ", offered %" PRId64 " (%s, %s)",
                        unit->n_counted, unit->n_offered, unit->count_label, unit->resource);
}

const char *node_notes_of_mark(const struct node *node, struct arena *arena)
{
    static const char *const WORDS[] = {
        [QUARANTINE_NONE] = "should be in quarantine, but its model has no node to spare",
        [QUARANTINE_CLOSED] = "in quarantine",
        [QUARANTINE_PROBATION] = "on probation: the next pod may try it",
        [QUARANTINE_TRIED] = "on probation: a pod tries it",
    };
    const struct node_mark *mark = node_mark(node);
    const bool is_observed = node_traits(node)->view.policy->quarantine.mode == AVOIDANCE_OBSERVE;
    if (!node_mark_word(mark))
        return NULL;
    return arena_printf(arena, "%s: its kubelet rejected pods of several namespaces (%s)%s",
                        WORDS[mark->state],
                        mark->cause == REFUSAL_GPUS ? "OutOf its GPUs" : "UnexpectedAdmissionError",
                        is_observed ? "; quarantine.mode is observe, so pods still go there" : "");
}

void node_notes_add(const struct node *node, struct arena *arena, struct node_notes *notes)
{
    const struct node_traits *traits = node_traits(node);
    for (size_t i = 0; i < traits->units.n && notes->n < NODE_NOTES_MAX; i++) {
        const struct gpu_unit *unit = &traits->units.items[i];
        const char *name = arena_strdup(arena, node_name(node));
        if (unit->n_counted > 0)
            add(notes, "Node", name,
                arena_printf(arena,
                             "%s: either shares of GPUs, which the labels do not tell, or GPUs "
                             "that they do not count",
                             node_notes_of_count(unit, arena)));
        if (unit->memory_label[0])
            add(notes, "Node", name,
                arena_printf(
                    arena, "label %s is \"%s\", which is no memory of such a GPU: ignored",
                    unit->memory_label,
                    labels_find(traits->view.labels, traits->view.n_labels, unit->memory_label)));
    }
}

/* One accelerator that the policy does not list. */
struct unlisted {
    const struct resource *resource;
    const char *first_node; /* NULL: none */
    size_t n_nodes, n_pods;
};

#define UNLISTED_MAX 64

struct unlisted_list {
    struct unlisted items[UNLISTED_MAX];
    size_t n;
};

static struct unlisted *find_or_add(struct unlisted_list *list, const struct resource *resource)
{
    if (!resource->is_unlisted)
        return NULL;
    for (size_t i = 0; i < list->n; i++) {
        if (list->items[i].resource == resource)
            return &list->items[i];
    }
    if (list->n == UNLISTED_MAX)
        return NULL;
    list->items[list->n] = (struct unlisted){.resource = resource};
    return &list->items[list->n++];
}

static void count_nodes(const struct cluster *cluster, struct unlisted_list *list)
{
    for (const struct node *node = NULL; (node = cluster_next_node(cluster, node));) {
        size_t n = 0;
        const struct node_resource *rows = node_resources(node, &n);
        for (size_t i = 0; i < n; i++) {
            struct unlisted *found =
                rows[i].capacity > 0 ? find_or_add(list, rows[i].resource) : NULL;
            if (found && found->n_nodes++ == 0)
                found->first_node = node_name(node);
        }
    }
}

static void count_pods(const struct cluster *cluster, struct unlisted_list *list)
{
    for (const struct pod *pod = NULL; (pod = cluster_next_pod(cluster, pod));) {
        const struct pod_shape *shape = pod->shape;
        if (pod->node_name[0] || pod->finished)
            continue;
        for (size_t i = 0; i < shape->n_needs; i++) {
            struct unlisted *found = find_or_add(list, shape->needs[i].resource);
            if (found)
                found->n_pods++;
        }
    }
}

static const char *seen(const struct unlisted *one, struct arena *arena)
{
    const char *nodes = "no node has it";
    if (one->n_nodes == 1)
        nodes = arena_printf(arena, "%s has it", one->first_node);
    if (one->n_nodes > 1)
        nodes = arena_printf(arena, "%zu nodes have it, such as %s", one->n_nodes, one->first_node);
    return arena_printf(arena, "%s, %zu pod%s wait%s for it", nodes, one->n_pods,
                        one->n_pods == 1 ? "" : "s", one->n_pods == 1 ? "s" : "");
}

void node_notes_add_resources(const struct cluster *cluster, struct arena *arena,
                              struct node_notes *notes)
{
    struct unlisted_list list = {.n = 0};
    count_nodes(cluster, &list);
    count_pods(cluster, &list);
    for (size_t i = 0; i < list.n; i++) {
        const char *name = arena_strdup(arena, list.items[i].resource->name);
        add(notes, "Resource", name,
            arena_printf(arena,
                         "%s is not counted as GPUs (%s); to count it, add \"- %s\" to "
                         "gpuResources of the policy",
                         name, seen(&list.items[i], arena), name));
    }
}
