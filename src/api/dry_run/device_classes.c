/* device_classes: see device_classes.h. */
#include "api/dry_run/device_classes.h"
#include "ledger/cluster.h"

#include <string.h>

size_t device_classes_find(const struct device_request_list *list,
                           const struct device_request *request)
{
    size_t i = 0;
    while (i < list->n && (!list->items[i].is_class || request->is_class ||
                           strcmp(list->items[i].class_name, request->class_name) != 0))
        i++;
    return i;
}

static void add_selectors(const struct selector_texts *texts, struct arena *arena,
                          struct device_request *class, struct device_request_list *list)
{
    class->lacks_selectors = texts->is_cut || texts->n > DEVICE_SELECTORS_MAX - list->n_selectors;
    if (class->lacks_selectors)
        return;
    struct device_selector *selectors = ARENA_ARRAY(arena, struct device_selector, texts->n);
    for (size_t i = 0; i < texts->n; i++)
        selectors[i] =
            (struct device_selector){arena_printf(arena, "spec.selectors[%zu].cel.expression", i),
                                     arena_strdup(arena, texts->texts[i])};
    class->selectors = selectors;
    class->n_selectors = texts->n;
    list->n_selectors += texts->n;
}

static void add_class(const struct cluster *cluster, const char *name, struct arena *arena,
                      struct device_request_list *list)
{
    const struct selector_texts *texts = cluster_device_class_selectors(cluster, name);
    if (!texts)
        return;
    struct device_request class = {.object = arena_printf(arena, "DeviceClass %s", name),
                                   .path = "spec",
                                   .is_class = true,
                                   .class_name = name};
    add_selectors(texts, arena, &class, list);
    list->items[list->n++] = class;
}

struct device_request_list device_classes_join(struct inventory *inventory,
                                               const struct device_request_list *requests,
                                               struct arena *arena)
{
    struct device_request_list list = *requests;
    list.items = ARENA_ARRAY(arena, struct device_request, 2 * requests->n);
    for (size_t i = 0; i < requests->n; i++)
        list.items[i] = requests->items[i];
    const struct inventory_view view CLEANUP(inventory_done) = inventory_read(inventory);
    for (size_t i = 0; i < requests->n && !requests->lacks_classes; i++) {
        const struct device_request *request = &requests->items[i];
        if (!request->is_class && device_classes_find(&list, request) == list.n)
            add_class(view.cluster, request->class_name, arena, &list);
    }
    return list;
}
