/* fragmentation_json: see fragmentation_json.h. */
#include "fragmentation_json.h"

static json_t *amounts_json(const struct fragmentation *item)
{
    return json_pack("{s:I, s:f, s:I, s:I}", "free", (json_int_t)item->free, "fragmented",
                     item->fragmented, "largestBlock", (json_int_t)item->largest_block,
                     "wholeNodes", (json_int_t)item->n_whole);
}

static json_t *item_json(const struct fragmentation *item)
{
    json_t *json = json_pack("{s:s, s:s, s:I}", "resource", item->resource->name, "model",
                             item->model, "nodes", (json_int_t)item->n_nodes);
    json_t *amounts = amounts_json(item);
    (void)json_object_update(json, amounts);
    json_decref(amounts);
    return json;
}

json_t *fragmentation_list(const struct fragmentations *all)
{
    json_t *list = json_array();
    for (size_t i = 0; i < all->n; i++)
        (void)json_array_append_new(list, item_json(&all->items[i]));
    return list;
}

json_t *fragmentation_changes(const struct fragmentations *before,
                              const struct fragmentations *after)
{
    json_t *list = json_array();
    for (size_t i = 0; i < before->n; i++) {
        const struct fragmentation *old = &before->items[i];
        json_t *was = amounts_json(old);
        json_t *is = amounts_json(&after->items[i]);
        if (!json_equal(was, is))
            (void)json_array_append_new(list, json_pack("{s:s, s:s, s:O, s:O}", "resource",
                                                        old->resource->name, "model", old->model,
                                                        "before", was, "after", is));
        json_decref(was);
        json_decref(is);
    }
    return list;
}
