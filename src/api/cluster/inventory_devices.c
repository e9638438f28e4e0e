/* inventory_devices: see inventory_devices.h. */
#include "api/cluster/inventory_devices.h"

#include <string.h>

static bool is_shadowed(const struct node *node, const char *driver)
{
    size_t n = 0;
    const struct node_device_group *groups = node_device_groups(node, &n);
    for (size_t i = 0; i < n; i++) {
        if (groups[i].is_shadowed && strcmp(groups[i].driver, driver) == 0)
            return true;
    }
    return false;
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
                                          const struct node *node, struct arena *arena)
{
    struct driver_list rows = {.in_use_known = cluster_claims_known(view->cluster)};
    const struct device_group *groups =
        devices_on_node(cluster_devices(view->cluster), node ? node_name(node) : "", &rows.n);
    rows.items = ARENA_ARRAY(arena, struct driver_devices, rows.n);
    for (size_t i = 0; i < rows.n; i++)
        rows.items[i] = (struct driver_devices){copy_group(&groups[i], arena),
                                                node && is_shadowed(node, groups[i].driver)};
    return rows;
}

/* null: unknown. */
static json_t *number_json(int64_t n, bool is_known)
{
    return is_known ? json_integer((json_int_t)n) : json_null();
}

static json_t *model_json(const struct device_model *model, bool in_use_known)
{
    return json_pack("{s:I, s:o, s:o, s:I}", "total", (json_int_t)model->total, "allocated",
                     number_json(model->allocated, in_use_known), "free",
                     number_json(model->free, in_use_known), "memoryBytes",
                     (json_int_t)model->memory_bytes);
}

static json_t *models_json(const struct device_group *group, bool are_partitions, bool in_use_known)
{
    json_t *models = json_object();
    for (size_t i = 0; i < group->n_models; i++) {
        const struct device_model *model = &group->models[i];
        if (model->is_partition == are_partitions)
            (void)json_object_set_new(models, model->name, model_json(model, in_use_known));
    }
    return models;
}

static json_t *row_json(const struct driver_devices *row, bool in_use_known)
{
    const struct device_group *group = &row->group;
    return json_pack(
        "{s:I, s:o, s:o, s:I, s:o, s:I, s:I, s:I, s:b, s:o, s:o}", "total",
        (json_int_t)group->total, "allocated", number_json(group->allocated, in_use_known), "free",
        number_json(group->free, in_use_known), "tainted", (json_int_t)group->tainted, "blocked",
        number_json(group->blocked, in_use_known), "incomplete", (json_int_t)group->incomplete,
        "invalid", (json_int_t)group->invalid, "partitioned", (json_int_t)group->partitioned,
        "publishedTwice", row->is_shadowed, "models", models_json(group, false, in_use_known),
        "partitions", models_json(group, true, in_use_known));
}

json_t *inventory_devices_json(const struct driver_list *rows)
{
    json_t *devices = json_object();
    for (size_t i = 0; i < rows->n; i++)
        (void)json_object_set_new(devices, rows->items[i].group.driver,
                                  row_json(&rows->items[i], rows->in_use_known));
    return devices;
}
