/* inventory_table: see inventory_table.h. Shows only GPUs; the JSON has all resources. */
#include "api/cluster/inventory_table.h"
#include "api/provenance.h"
#include "api/table.h"
#include "api/text.h"

#include <stdbool.h>

static const char *state_of(const json_t *node)
{
    const bool ready = json_is_true(json_object_get(node, "ready"));
    const bool cordoned = json_is_true(json_object_get(node, "unschedulable"));
    if (ready)
        return cordoned ? "Ready,cordoned" : "Ready";
    return cordoned ? "NotReady,cordoned" : "NotReady";
}

static bool is_live(const json_t *inventory)
{
    return json_is_true(json_object_get(inventory, "live"));
}

/* A file has no reservations unless it is a snapshot. */
static bool shows_reserved(const json_t *inventory)
{
    bool shows = is_live(inventory);
    size_t i = 0;
    json_t *model = NULL;
    json_array_foreach (json_object_get(inventory, "models"), i, model)
        shows |= json_integer_value(json_object_get(model, "reserved")) > 0;
    return shows;
}

/* "default/train-0 (2), default/train-1 (2)" */
static const char *holders_of(const json_t *node, const char *list, const char *resource,
                              struct arena *arena)
{
    struct name_list shown = {.text = ""};
    size_t i = 0;
    json_t *holder = NULL;
    json_array_foreach (json_object_get(node, list), i, holder) {
        const json_t *n = json_object_get(json_object_get(holder, "gpus"), resource);
        if (!n)
            continue;
        const char *name = NULL;
        if (!text_names_are_full(&shown))
            name = arena_printf(arena, "%s/%s (%lld)", text_member(holder, "namespace"),
                                text_member(holder, "pod"), (long long)json_integer_value(n));
        text_names_add(&shown, name, arena);
    }
    return text_names(&shown, arena);
}

/* GPU resources are those in the totals by model. */
static json_t *gpu_resources(const json_t *inventory)
{
    json_t *set = json_object();
    size_t i = 0;
    json_t *model = NULL;
    json_array_foreach (json_object_get(inventory, "models"), i, model)
        (void)json_object_set_new(set, text_member(model, "resource"), json_true());
    return set;
}

/* "T4-SHARED": spelled as in a pod's request, so that a share does not look like a whole GPU. */
static const char *model_of(const json_t *node, struct arena *arena)
{
    const char *sharing = text_member(node, "sharing");
    return arena_printf(arena, "%s%s%s", text_member(node, "model"), sharing[0] ? "-" : "",
                        sharing);
}

static void write_nodes(const json_t *inventory, struct arena *arena, struct buf *out)
{
    static const char *const HEADINGS[] = {"NODE", "STATE", "MODEL",   "RESOURCE", "TOTAL",
                                           "USED", "FREE",  "HELD BY", NULL};
    static const char *const RESERVED_HEADINGS[] = {"NODE",         "STATE", "MODEL", "RESOURCE",
                                                    "TOTAL",        "USED",  "FREE",  "HELD BY",
                                                    "RESERVED FOR", NULL};
    struct table *table =
        table_new(arena, shows_reserved(inventory) ? RESERVED_HEADINGS : HEADINGS);
    json_auto_t *gpus = gpu_resources(inventory);
    size_t i = 0;
    json_t *node = NULL;
    json_array_foreach (json_object_get(inventory, "nodes"), i, node) {
        const char *name = NULL;
        json_t *amounts = NULL;
        bool any = false;
        json_object_foreach (json_object_get(node, "resources"), name, amounts) {
            if (!json_object_get(gpus, name))
                continue;
            any = true;
            table_add(table, (const char *[]){text_member(node, "name"), state_of(node),
                                              model_of(node, arena), name,
                                              text_number(amounts, "allocatable", arena),
                                              text_number(amounts, "used", arena),
                                              text_number(amounts, "free", arena),
                                              holders_of(node, "holders", name, arena),
                                              holders_of(node, "reservations", name, arena)});
        }
        if (!any)
            table_add(table, (const char *[]){text_member(node, "name"), state_of(node), "", "", "",
                                              "", "", "", ""});
    }
    table_write(table, out);
}

static void write_models(const json_t *inventory, struct arena *arena, struct buf *out)
{
    static const char *const HEADINGS[] = {"MODEL", "RESOURCE", "NODES", "TOTAL",
                                           "USED",  "FREE",     NULL};
    static const char *const RESERVED_HEADINGS[] = {"MODEL", "RESOURCE", "NODES",    "TOTAL",
                                                    "USED",  "FREE",     "RESERVED", NULL};
    struct table *table =
        table_new(arena, shows_reserved(inventory) ? RESERVED_HEADINGS : HEADINGS);
    size_t i = 0;
    json_t *model = NULL;
    json_array_foreach (json_object_get(inventory, "models"), i, model)
        table_add(table,
                  (const char *[]){
                      text_member(model, "model"), text_member(model, "resource"),
                      text_number(model, "nodes", arena), text_number(model, "allocatable", arena),
                      text_number(model, "used", arena), text_number(model, "free", arena),
                      text_number(model, "reserved", arena)});
    buf_add_text(out, "\n");
    table_write(table, out);
}

/* "2 nvidia.com/gpu, 1 amd.com/gpu" */
static const char *gpus_of(const json_t *holder, struct arena *arena)
{
    struct name_list shown = {.text = ""};
    const char *resource = NULL;
    json_t *n = NULL;
    json_object_foreach (json_object_get(holder, "gpus"), resource, n)
        text_names_add(&shown,
                       arena_printf(arena, "%lld %s", (long long)json_integer_value(n), resource),
                       arena);
    return text_names(&shown, arena);
}

static void write_pods_without_node(const json_t *inventory, struct arena *arena, struct buf *out)
{
    static const char *const HEADINGS[] = {"POD", "USES", "ON A NODE NOT IN THE INVENTORY", NULL};
    const json_t *pods = json_object_get(inventory, "podsWithoutNode");
    struct table *table = table_new(arena, HEADINGS);
    size_t i = 0;
    json_t *pod = NULL;
    if (json_array_size(pods) == 0)
        return;
    json_array_foreach (pods, i, pod)
        table_add(table,
                  (const char *[]){arena_printf(arena, "%s/%s", text_member(pod, "namespace"),
                                                text_member(pod, "pod")),
                                   gpus_of(pod, arena), text_member(pod, "node")});
    buf_add_text(out, "\n");
    table_write(table, out);
}

static void write_problems(const json_t *inventory, struct arena *arena, struct buf *out)
{
    static const char *const HEADINGS[] = {"LEFT OUT", "NAME", "WHY", NULL};
    const json_t *problems = json_object_get(inventory, "problems");
    struct table *table = table_new(arena, HEADINGS);
    size_t i = 0;
    json_t *problem = NULL;
    if (json_array_size(problems) == 0)
        return;
    json_array_foreach (problems, i, problem)
        table_add(table,
                  (const char *[]){text_member(problem, "kind"), text_member(problem, "name"),
                                   text_member(problem, "what")});
    buf_add_text(out, "\n");
    table_write(table, out);
}

static const char *state_of_kind(const json_t *kind)
{
    if (!json_is_true(json_object_get(kind, "synced")))
        return "not listed yet";
    return json_is_true(json_object_get(kind, "stale")) ? "stale" : "followed";
}

/* Writes the source; for a live inventory also the state of each kind. */
static void write_source(const json_t *inventory, struct arena *arena, struct buf *out)
{
    static const char *const HEADINGS[] = {"KIND", "STATE", "SECONDS OLD", "WHY", NULL};
    struct table *table = table_new(arena, HEADINGS);
    size_t i = 0;
    json_t *kind = NULL;
    const json_t *role = json_object_get(inventory, "role");
    buf_printf(out, "\n%s\n", text_member(inventory, "source"));
    if (json_is_string(role))
        buf_printf(out, "this replica: %s\n", json_string_value(role));
    if (!is_live(inventory))
        return;
    json_array_foreach (json_object_get(inventory, "freshness"), i, kind)
        table_add(table, (const char *[]){text_member(kind, "kind"), state_of_kind(kind),
                                          text_number(kind, "ageSeconds", arena),
                                          text_member(kind, "why")});
    table_write(table, out);
}

void inventory_table_write(const json_t *inventory, struct arena *arena, struct buf *out)
{
    provenance_write_warning(inventory, arena, out);
    write_nodes(inventory, arena, out);
    write_models(inventory, arena, out);
    write_pods_without_node(inventory, arena, out);
    write_problems(inventory, arena, out);
    write_source(inventory, arena, out);
}
