/* nodes: see kinds.h. */
#include "api/cluster/inventory_parts.h"
#include "api/kubernetes/kinds.h"
#include "api/reply.h"
#include "api/text.h"

#include <string.h>

const struct kind_member NODE_MEMBERS[] = {
    {"state", "string", "Ready or NotReady; SchedulingDisabled of a cordoned node."},
    {"model", "string", "The model of its GPUs, by its labels; empty: unknown."},
    {"sharing", "string", "How its GPUs are shared between pods; empty: they are not."},
    {"free", "string", "What is free of its GPU resources and devices, as text."},
    {"ready", "boolean", "The condition Ready of the node."},
    {"unschedulable", "boolean", "The node is cordoned."},
    {"resources", "object",
     "By GPU resource: capacity, allocatable, used by pods, reserved for pods that are being "
     "bound, "
     "and free."},
    {"devices", "object",
     "By driver of dynamic resource allocation: the numbers of GPUs, and of each model. null: "
     "unknown."},
    {0},
};

const struct kind_column NODE_COLUMNS[] = {
    {"Status", "state", 0},
    {"Model", "model", 0},
    {"Free", "free", 0},
    {"Sharing", "sharing", 1},
    {0},
};

static const char *join(const char *text, const char *more, struct arena *arena)
{
    return *text ? arena_printf(arena, "%s, %s", text, more) : more;
}

/* "3 of 8 nvidia.com/gpu": free of all. */
static const char *free_of_resources(const json_t *resources, struct arena *arena)
{
    const char *text = "";
    const char *name = NULL;
    json_t *each = NULL;
    json_object_foreach ((json_t *)(uintptr_t)resources, name, each)
        text = join(text,
                    arena_printf(arena, "%s of %s %s", text_number(each, "free", arena),
                                 text_number(each, "allocatable", arena), name),
                    arena);
    return text;
}

static const char *free_of_devices(const json_t *devices, const char *text, struct arena *arena)
{
    const char *name = NULL;
    json_t *each = NULL;
    json_object_foreach ((json_t *)(uintptr_t)devices, name, each) {
        const char *n_free = text_number(each, "free", arena);
        text = join(text,
                    arena_printf(arena, "%s of %s %s", *n_free ? n_free : "?",
                                 text_number(each, "total", arena), name),
                    arena);
    }
    return text;
}

/* Most nodes have a row of zeros for common GPU resources. */
static bool has_any(const json_t *amounts)
{
    const char *name = NULL;
    json_t *amount = NULL;
    json_object_foreach ((json_t *)(uintptr_t)amounts, name, amount) {
        if (json_integer_value(amount) != 0)
            return true;
    }
    return false;
}

static void add_node(const struct objects_query *query, const json_t *node,
                     const struct policy *policy, struct objects *objects)
{
    const bool is_ready = json_is_true(json_object_get(node, "ready"));
    const bool is_cordoned = json_is_true(json_object_get(node, "unschedulable"));
    const struct objects_metadata metadata = {.namespace_ = "",
                                              .name = text_member(node, "name"),
                                              .labels = json_object_get(node, "labels")};
    json_t *resources = json_object();
    const char *name = NULL;
    json_t *amounts = NULL;
    json_object_foreach (json_object_get(node, "resources"), name, amounts) {
        if (policy_is_gpu_resource(policy, name) && has_any(amounts))
            (void)json_object_set(resources, name, amounts);
    }
    const json_t *devices = json_object_get(node, "devices");
    const char *n_free =
        free_of_devices(devices, free_of_resources(resources, query->arena), query->arena);
    const char *state = arena_printf(query->arena, "%s%s", is_ready ? "Ready" : "NotReady",
                                     is_cordoned ? ",SchedulingDisabled" : "");
    json_t *status =
        json_pack("{s:s, s:s, s:o}", "state", state, "free", n_free, "resources", resources);
    objects_pick(NODE_MEMBERS, node, status);
    if (*n_free)
        objects_add(objects, query, &metadata, status);
    else
        json_decref(status);
}

static bool admits(const void *context, const struct node *node)
{
    const struct label_view *view = &node_traits(node)->view;
    const struct selection_object object = {.namespace_ = "",
                                            .name = node_name(node),
                                            .field = "",
                                            .labels = view->labels,
                                            .n_labels = view->n_labels};
    return selection_admits(context, &object);
}

bool nodes_find(const struct objects_query *query, struct objects *objects)
{
    if (reply_defer_list(query->api->inventory, query->exchange))
        return false;
    struct inventory *inventory = query->api->inventory;
    const struct policy *policy CLEANUP(policy_drop_ptr) = inventory_hold_policy(inventory);
    const struct nodes_page page = {.admits = admits,
                                    .context = query->selection,
                                    .after_name = query->selection->after_name,
                                    .limit = query->selection->limit};
    json_t *nodes = inventory_json_of_nodes(inventory, &page, query->arena, &objects->has_more);
    size_t i = 0;
    json_t *node = NULL;
    json_array_foreach (nodes, i, node)
        add_node(query, node, policy, objects);
    objects->is_page = true;
    json_decref(nodes);
    return true;
}
