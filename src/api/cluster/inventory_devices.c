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
    struct driver_list rows = {0};
    const struct device_group *groups =
        devices_on_node(cluster_devices(view->cluster), node ? node_name(node) : "", &rows.n);
    rows.items = ARENA_ARRAY(arena, struct driver_devices, rows.n);
    for (size_t i = 0; i < rows.n; i++)
        rows.items[i] = (struct driver_devices){copy_group(&groups[i], arena),
                                                node && is_shadowed(node, groups[i].driver)};
    return rows;
}

static json_t *model_json(const struct device_model *model)
{
    return json_pack("{s:I, s:I, s:I, s:I}", "total", (json_int_t)model->total, "allocated",
                     (json_int_t)model->allocated, "free", (json_int_t)model->free, "memoryBytes",
                     (json_int_t)model->memory_bytes);
}

static json_t *models_json(const struct device_group *group, bool are_partitions)
{
    json_t *models = json_object();
    for (size_t i = 0; i < group->n_models; i++) {
        if (group->models[i].is_partition == are_partitions)
            (void)json_object_set_new(models, group->models[i].name, model_json(&group->models[i]));
    }
    return models;
}

static json_t *row_json(const struct driver_devices *row)
{
    const struct device_group *group = &row->group;
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:b, s:o, s:o}", "total",
                     (json_int_t)group->total, "allocated", (json_int_t)group->allocated, "free",
                     (json_int_t)group->free, "tainted", (json_int_t)group->tainted, "blocked",
                     (json_int_t)group->blocked, "incomplete", (json_int_t)group->incomplete,
                     "invalid", (json_int_t)group->invalid, "partitioned",
                     (json_int_t)group->partitioned, "publishedTwice", row->is_shadowed, "models",
                     models_json(group, false), "partitions", models_json(group, true));
}

json_t *inventory_devices_json(const struct driver_list *rows)
{
    json_t *devices = json_object();
    for (size_t i = 0; i < rows->n; i++)
        (void)json_object_set_new(devices, rows->items[i].group.driver, row_json(&rows->items[i]));
    return devices;
}
