/* fragmentation_json: see fragmentation_json.h; GET /v1/fragmentation: include/api/api.h. */
#include "api/cluster/fragmentation_json.h"
#include "api/api.h"
#include "api/cluster/inventory_devices.h"
#include "api/label_selector.h"
#include "api/provenance.h"
#include "api/reply.h"
#include "api/table.h"
#include "api/tables.h"
#include "api/text.h"

#include <inttypes.h>
#include <string.h>

static json_t *amounts_json(const struct fragmentation *item)
{
    return json_pack("{s:I, s:f, s:I, s:I}", "free", (json_int_t)free_gpus_sum(&item->free),
                     "fragmented", item->fragmented, "largestBlock",
                     (json_int_t)item->largest_block, "wholeNodes", (json_int_t)item->n_whole);
}

static json_t *item_json(const struct fragmentation *item)
{
    json_t *json = json_pack("{s:s, s:s, s:s, s:I}", "resource", item->resource, "model",
                             item->model, "unit", item->unit, "nodes", (json_int_t)item->n_nodes);
    (void)json_object_update_new(json, amounts_json(item));
    inventory_devices_add_split(json, &item->free);
    return json;
}

json_t *fragmentation_json_list(const struct fragmentations *all)
{
    json_t *list = json_array();
    for (size_t i = 0; i < all->n; i++)
        (void)json_array_append_new(list, item_json(&all->items[i]));
    return list;
}

json_t *fragmentation_json_changes(const struct fragmentations *before,
                                   const struct fragmentations *after)
{
    json_t *list = json_array();
    for (size_t i = 0; i < before->n; i++) {
        const struct fragmentation *old = &before->items[i];
        json_t *was = amounts_json(old);
        json_t *is = amounts_json(&after->items[i]);
        if (!json_equal(was, is))
            (void)json_array_append_new(list,
                                        json_pack("{s:s, s:s, s:O, s:O}", "resource", old->resource,
                                                  "model", old->model, "before", was, "after", is));
        json_decref(was);
        json_decref(is);
    }
    return list;
}

static const char *summary_of(const struct fragmentations *all, struct arena *arena)
{
    struct free_gpus free = {0};
    double fragmented = 0;
    for (size_t i = 0; i < all->n; i++) {
        if (strcmp(all->items[i].unit, gpu_unit_word(NULL)) != 0)
            continue;
        free_gpus_add(&free, &all->items[i].free);
        fragmented += all->items[i].fragmented;
    }
    const char *text =
        arena_printf(arena, "of %" PRId64 " free GPUs %.1f are of no use to the typical pod",
                     free_gpus_sum(&free), fragmented);
    if (free.stranded > 0)
        text = arena_printf(arena, "%s, %" PRId64 " are stranded", text, free.stranded);
    if (free.closed > 0)
        text = arena_printf(arena, "%s, %" PRId64 " are on closed nodes", text, free.closed);
    return text;
}

void tables_write_fragmentation(const json_t *answer, bool wide, struct arena *arena,
                                struct buf *out)
{
    static const char *const HEADINGS[] = {"RESOURCE",  "MODEL",         "NODES",       "FREE",
                                           "OF NO USE", "LARGEST BLOCK", "WHOLE NODES", NULL};
    struct table *table = table_new(arena, wide, HEADINGS);
    size_t i = 0;
    json_t *item = NULL;
    provenance_write_warning(answer, arena, out);
    text_write_warnings(answer, arena, out);
    buf_printf(out, "%s\n\n", text_member(answer, "summary"));
    json_array_foreach (json_object_get(answer, "models"), i, item)
        table_add(table, (const char *[]){text_member(item, "resource"), text_member(item, "model"),
                                          text_number(item, "nodes", arena),
                                          text_number(item, "free", arena),
                                          text_decimal(item, "fragmented", arena),
                                          text_number(item, "largestBlock", arena),
                                          text_number(item, "wholeNodes", arena)});
    table_write(table, out);
}

void fragmentation_json_write_changes(const json_t *changes, bool wide, struct arena *arena,
                                      struct buf *out)
{
    static const char *const HEADINGS[] = {"RESOURCE",      "MODEL",       "FREE", "OF NO USE",
                                           "LARGEST BLOCK", "WHOLE NODES", NULL};
    struct table *table = table_new(arena, wide, HEADINGS);
    json_auto_t *none = json_pack("{s:i, s:f, s:i, s:i}", "free", 0, "fragmented", 0.0,
                                  "largestBlock", 0, "wholeNodes", 0);
    size_t i = 0;
    json_t *change = NULL;
    json_array_foreach (changes, i, change) {
        const json_t *before = json_object_get(change, "before");
        const json_t *after = json_object_get(change, "after");
        if (!before)
            before = none;
        if (!after)
            after = none;
        table_add(table,
                  (const char *[]){text_member(change, "resource"), text_member(change, "model"),
                                   text_change(before, after, "free", false, arena),
                                   text_change(before, after, "fragmented", true, arena),
                                   text_change(before, after, "largestBlock", false, arena),
                                   text_change(before, after, "wholeNodes", false, arena)});
    }
    if (i == 0)
        return;
    buf_add_text(out, "\nFree GPUs before and after:\n");
    table_write(table, out);
}

/* Compares only the name: the memory of the nodes is unknown here. */
static bool is_model(const char *name, const struct gpu_model *wanted)
{
    struct gpu_model model;
    return gpu_model_parse(name, NULL, 0, &model) && gpu_model_satisfies(&model, 0, wanted);
}

/* ?resource=, ?model= and ?labelSelector=. */
struct wanted_shares {
    const char *resource;
    const char *text;
    struct gpu_model model;
    struct selector_term labels;
};

/* Reads the parameters of a valid query. */
static struct wanted_shares wanted_of(const struct cluster *fork, struct exchange *exchange)
{
    const struct policy *policy = cluster_policy(fork);
    struct wanted_shares wanted = {.resource = exchange_query(exchange, "resource"),
                                   .text = exchange_query(exchange, "model")};
    if (wanted.text)
        (void)gpu_model_parse(wanted.text, policy->aliases, policy->n_aliases, &wanted.model);
    (void)label_selector_read(exchange_query(exchange, "labelSelector"), exchange_arena(exchange),
                              &wanted.labels);
    return wanted;
}

static bool is_wanted(const struct wanted_shares *wanted, const char *resource, const char *model)
{
    return (!wanted->resource || strcmp(wanted->resource, resource) == 0) &&
           (!wanted->text || is_model(model, &wanted->model));
}

static void keep_wanted(const struct wanted_shares *wanted, struct fragmentations *all)
{
    size_t n = 0;
    for (size_t i = 0; i < all->n; i++) {
        if (is_wanted(wanted, all->items[i].resource, all->items[i].model))
            all->items[n++] = all->items[i];
    }
    all->n = n;
}

static json_t *nodes_json(const struct cluster *fork, const struct wanted_shares *wanted,
                          struct arena *arena)
{
    const struct node_fragmentations rows = fragmentation_of_nodes(fork, &wanted->labels, arena);
    json_t *list = json_array();
    for (size_t i = 0; i < rows.n; i++) {
        const struct node_fragmentation *row = &rows.items[i];
        if (is_wanted(wanted, row->resource, row->model))
            (void)json_array_append_new(
                list, json_pack("{s:s, s:s, s:s, s:I, s:f}", "node", row->node, "resource",
                                row->resource, "model", row->model, "free", (json_int_t)row->free,
                                "fragmented", row->fragmented));
    }
    return list;
}

static void add_members(const struct api *api, const struct cluster *fork,
                        struct exchange *exchange, json_t *answer)
{
    (void)api;
    struct arena *arena = exchange_arena(exchange);
    const struct wanted_shares wanted = wanted_of(fork, exchange);
    struct fragmentations all = fragmentation_of_labelled(fork, &wanted.labels, arena);
    keep_wanted(&wanted, &all);
    (void)json_object_set_new(answer, "summary", json_string(summary_of(&all, arena)));
    (void)json_object_set_new(answer, "models", fragmentation_json_list(&all));
    if (reply_flag(exchange, "nodes"))
        (void)json_object_set_new(answer, "nodes", nodes_json(fork, &wanted, arena));
}

void api_fragmentation(void *context, struct exchange *exchange)
{
    const struct api *api = context;
    struct reply_model model;
    struct selector_term labels;
    if (reply_read_model(api, exchange, &model) &&
        label_selector_of_query(exchange, "labelSelector", &labels))
        reply_of_fork(api, exchange, add_members, tables_write_fragmentation);
}
