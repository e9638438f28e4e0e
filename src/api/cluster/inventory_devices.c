/* inventory_devices: see inventory_parts.h. */
#include "api/cluster/inventory_parts.h"
#include "api/text.h"
#include "base/mem.h"
#include "objects/device_details.h"
#include "objects/node.h"
#include "types/quantity.h"

#include <stdlib.h>
#include <string.h>

/* The node's devices in the ledger. */
static void copy_node_groups(const struct node *node, struct arena *arena,
                             struct driver_devices *row)
{
    size_t n = 0;
    const struct node_device_group *groups = node_device_groups(node, &n);
    row->of_free = ARENA_ARRAY(arena, struct free_gpus, row->group.n_models);
    for (size_t i = 0; i < n; i++) {
        if (strcmp(groups[i].driver, row->group.driver) != 0)
            continue;
        row->is_shadowed |= groups[i].is_shadowed;
        for (size_t j = 0; j < row->group.n_models; j++) {
            const struct device_model *model = &row->group.models[j];
            if (!model->is_partition && strcmp(model->name, groups[i].model) == 0)
                row->of_free[j] = free_gpus_of_devices(node, &groups[i]);
        }
    }
}

static struct device_group copy_group(const struct device_group *group, struct arena *arena)
{
    struct device_group copy = *group;
    struct device_model *models =
        arena_copy(arena, group->models, group->n_models, sizeof *group->models);
    for (size_t i = 0; i < group->n_models; i++) {
        models[i].name = arena_strdup(arena, group->models[i].name);
        models[i].model = NULL;
    }
    copy.driver = arena_strdup(arena, group->driver);
    copy.models = models;
    return copy;
}

struct driver_list inventory_devices_copy(const struct inventory_view *view,
                                          const struct node *node, struct arena *arena,
                                          size_t *room)
{
    const struct devices *devices = cluster_devices(view->cluster);
    const char *name = node ? node_name(node) : "";
    struct driver_list rows = {.in_use_known = cluster_knows(view->cluster, CLUSTER_CLAIMS),
                               .shared = devices_shared_on(devices, name, arena, room)};
    const struct device_group *groups = devices_on_node(devices, name, &rows.n);
    rows.items = ARENA_ARRAY(arena, struct driver_devices, rows.n);
    for (size_t i = 0; i < rows.n; i++) {
        rows.items[i].group = copy_group(&groups[i], arena);
        if (node)
            copy_node_groups(node, arena, &rows.items[i]);
    }
    if (node)
        rows.n_taints = devices_taints_on(devices, name, arena, &rows.taints);
    return rows;
}

/* null: unknown. */
static json_t *number_json(int64_t n, bool is_known)
{
    return is_known ? json_integer((json_int_t)n) : json_null();
}

/* Adds up an amount; null: unknown, and stays so. */
static void add_amount(json_t *amounts, const char *key, int64_t amount)
{
    json_t *before = json_object_get(amounts, key);
    json_int_t sum = 0;
    const bool is_known =
        amount != ALLOCATE_UNKNOWN && (!before || json_is_integer(before)) &&
        !__builtin_add_overflow(json_integer_value(before), (json_int_t)amount, &sum);
    (void)json_object_set_new(amounts, key, number_json(sum, is_known));
}

/* The part of a capacity that claims take. They may name it with the driver's domain or without. */
static int64_t consumed_of(const struct device_status *status, const char *name)
{
    const char *slash = strchr(name, '/');
    struct allocate_capacity names[] = {{.name = name}, {.name = slash ? slash + 1 : name}};
    const size_t n = slash ? 2 : 1;
    for (size_t i = 0; i < status->n_consumed; i++)
        consumed_capacity_add(status->consumed[i], names, n);
    if (status->is_cut || names[0].consumed < 0 || names[1].consumed < 0)
        return ALLOCATE_UNKNOWN;
    return names[0].consumed + (n > 1 ? names[1].consumed : 0);
}

static int64_t total_of(const char *quantity)
{
    int64_t total = 0;
    struct err err;
    return quantity_whole(quantity, &total, &err) < 0 ? ALLOCATE_UNKNOWN : total;
}

/* The name without the driver's domain. */
static const char *shown_name(const struct shared_device *device, const char *name)
{
    const size_t len = strlen(device->driver);
    return strncmp(name, device->driver, len) == 0 && name[len] == '/' ? &name[len + 1] : name;
}

static void add_capacities(json_t *capacities, const struct shared_device *device)
{
    for (size_t i = 0; i < device->n_capacities; i++) {
        const char *name = device->capacities[i].name;
        const int64_t total = total_of(device->capacities[i].value);
        const int64_t used = consumed_of(&device->status, name);
        const bool is_known = total != ALLOCATE_UNKNOWN && used != ALLOCATE_UNKNOWN;
        json_t *amounts = json_object_get(capacities, shown_name(device, name));
        if (!amounts) {
            amounts = json_object();
            (void)json_object_set_new(capacities, shown_name(device, name), amounts);
        }
        add_amount(amounts, "total", total);
        add_amount(amounts, "used", used);
        add_amount(amounts, "free", is_known ? total - used : ALLOCATE_UNKNOWN);
    }
}

/* Of the devices that claims share: how many, and what is left of their capacities. NULL: none. */
static json_t *shared_json(const struct driver_list *rows, const char *driver,
                           const struct device_model *model)
{
    json_t *capacities = json_object();
    int64_t n = 0;
    for (size_t i = 0; i < rows->shared.n && rows->in_use_known; i++) {
        const struct shared_device *device = &rows->shared.items[i];
        if (strcmp(device->driver, driver) != 0 || device->is_partition != model->is_partition ||
            strcmp(device->model_name, model->name) != 0)
            continue;
        n++;
        add_capacities(capacities, device);
    }
    if (n > 0)
        return json_pack("{s:I, s:o}", "devices", (json_int_t)n, "capacity", capacities);
    json_decref(capacities);
    return NULL;
}

void inventory_devices_add_split(json_t *json, const struct free_gpus *split)
{
    (void)json_object_set_new(json, "usable", json_integer((json_int_t)split->usable));
    (void)json_object_set_new(json, "stranded", json_integer((json_int_t)split->stranded));
    (void)json_object_set_new(json, "closed", json_integer((json_int_t)split->closed));
}

int64_t inventory_devices_usable(const struct driver_list *rows)
{
    int64_t sum = 0;
    for (size_t i = 0; i < rows->n && rows->in_use_known; i++) {
        const struct driver_devices *row = &rows->items[i];
        for (size_t j = 0; j < row->group.n_models && !row->is_shadowed; j++)
            sum += row->of_free[j].usable;
    }
    return sum;
}

static json_t *model_json(const struct driver_list *rows, const struct driver_devices *row,
                          size_t i)
{
    const struct device_model *model = &row->group.models[i];
    json_t *json = json_pack("{s:I, s:o, s:o, s:I, s:o*}", "total", (json_int_t)model->total,
                             "allocated", number_json(model->allocated, rows->in_use_known), "free",
                             number_json(model->free, rows->in_use_known), "memoryBytes",
                             (json_int_t)model->memory_bytes, "shared",
                             shared_json(rows, row->group.driver, model));
    if (row->of_free && rows->in_use_known && !model->is_partition)
        inventory_devices_add_split(json, &row->of_free[i]);
    return json;
}

static json_t *models_json(const struct driver_list *rows, const struct driver_devices *row,
                           bool are_partitions)
{
    json_t *models = json_object();
    for (size_t i = 0; i < row->group.n_models; i++) {
        const struct device_model *model = &row->group.models[i];
        if (model->is_partition == are_partitions)
            (void)json_object_set_new(models, model->name, model_json(rows, row, i));
    }
    return models;
}

static json_t *row_json(const struct driver_list *rows, const struct driver_devices *row)
{
    const struct device_group *group = &row->group;
    const bool in_use_known = rows->in_use_known;
    return json_pack(
        "{s:I, s:o, s:o, s:I, s:o, s:I, s:I, s:I, s:b, s:o, s:o}", "total",
        (json_int_t)group->total, "allocated", number_json(group->allocated, in_use_known), "free",
        number_json(group->free, in_use_known), "tainted", (json_int_t)group->tainted, "blocked",
        number_json(group->blocked, in_use_known), "incomplete", (json_int_t)group->incomplete,
        "invalid", (json_int_t)group->invalid, "partitioned", (json_int_t)group->partitioned,
        "publishedTwice", row->is_shadowed, "models", models_json(rows, row, false), "partitions",
        models_json(rows, row, true));
}

json_t *inventory_devices_json(const struct driver_list *rows)
{
    json_t *devices = json_object();
    for (size_t i = 0; i < rows->n; i++)
        (void)json_object_set_new(devices, rows->items[i].group.driver,
                                  row_json(rows, &rows->items[i]));
    return devices;
}

/* ---- taints ---- */

#define TAINTS_SHOWN ((size_t)8)
#define TAINT_BYTES_MAX ((size_t)320)
/* Slices may set more on a device, which the API server refuses. */
#define TAINTS_READ ((size_t)64)

struct shown_taint {
    const char *text; /* all but the devices */
    const char *driver, *device;
    size_t n_devices;
};

struct shown_taints {
    struct arena *arena;
    struct shown_taint items[TAINTS_READ];
    size_t n;
};

static const char *or_empty(const char *text)
{
    return text ? text : "";
}

static void add_taint(struct shown_taints *list, const struct device_taint *of, const char *key,
                      const char *value, const char *effect)
{
    const char *text =
        arena_printf(list->arena, "%s%s%s:%s%s%s%s", key, value[0] ? "=" : "", value, effect,
                     of->rule ? " (DeviceTaintRule " : "", or_empty(of->rule), of->rule ? ")" : "");
    size_t i = 0;
    while (i < list->n && (strcmp(list->items[i].text, text) != 0 ||
                           strcmp(list->items[i].driver, of->driver) != 0))
        i++;
    if (i == TAINTS_READ)
        return;
    struct shown_taint *shown = &list->items[i];
    if (i == list->n) {
        *shown = (struct shown_taint){text, of->driver, of->device, 0};
        list->n++;
    }
    shown->n_devices += of->n_devices;
    if (strcmp(of->device, shown->device) < 0)
        shown->device = of->device;
}

static void add_taints(struct shown_taints *list, const struct device_taint *of)
{
    if (of->rule) {
        add_taint(list, of, or_empty(of->key), or_empty(of->value), or_empty(of->effect));
        return;
    }
    const struct device_details details = DEVICE_DETAILS_READER.read(of->details, list->arena);
    for (size_t i = 0; i < details.n_taints; i++)
        add_taint(list, of, details.taints[i].key, details.taints[i].value,
                  details.taints[i].effect);
}

static int compare_taints(const void *a, const void *b)
{
    const struct shown_taint *left = a;
    const struct shown_taint *right = b;
    const int order = strcmp(left->driver, right->driver);
    return order != 0 ? order : strcmp(left->text, right->text);
}

json_t *inventory_devices_taints_json(const struct device_taint *taints, size_t n)
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    struct shown_taints list = {.arena = arena};
    for (size_t i = 0; i < n; i++)
        add_taints(&list, &taints[i]);
    if (list.n == 0)
        return NULL;
    qsort(list.items, list.n, sizeof *list.items, compare_taints);
    json_t *lines = json_array();
    for (size_t i = 0; i < list.n && i < TAINTS_SHOWN; i++) {
        const struct shown_taint *one = &list.items[i];
        const char *line = arena_printf(arena, "%s %s: %s", one->driver,
                                        text_first(one->device, one->n_devices, arena), one->text);
        (void)json_array_append_new(
            lines, json_string(node_conditions_clean(line, TAINT_BYTES_MAX, "", arena)));
    }
    return lines;
}
