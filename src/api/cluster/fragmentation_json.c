/* fragmentation_json: see quota_json.h; GET /v1/fragmentation: include/api/api.h. */
#include "api/api.h"
#include "api/cluster/inventory_parts.h"
#include "api/cluster/quota_json.h"
#include "api/label_selector.h"
#include "api/provenance.h"
#include "api/reply.h"
#include "api/table.h"
#include "api/tables.h"
#include "api/text.h"
#include "types/gpu_model.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static json_t *amounts_json(const struct fragmentation *item)
{
    return json_pack("{s:I, s:I, s:f, s:I, s:I}", "free", (json_int_t)free_gpus_sum(&item->free),
                     "usable", (json_int_t)item->free.usable, "fragmented", item->fragmented,
                     "largestBlock", (json_int_t)item->largest_block, "wholeNodes",
                     (json_int_t)item->n_whole);
}

static void add_rooms(json_t *json, const struct fragmentation *item)
{
    json_t *rooms = json_object();
    char size[8];
    for (size_t i = 0; i < FRAGMENTATION_SIZES; i++) {
        (void)snprintf(size, sizeof size, "%d", (int)FRAGMENTATION_SIZE[i]);
        (void)json_object_set_new(rooms, size, json_integer((json_int_t)item->rooms[i]));
    }
    (void)json_object_set_new(json, "roomFor", rooms);
}

static void add_stranded(json_t *json, const struct fragmentation *item)
{
    json_t *list = json_array();
    for (size_t i = 0; i < item->n_stranded && i < FRAGMENTATION_STRANDED_MAX; i++) {
        const struct stranded_node *node = &item->stranded[i];
        (void)json_array_append_new(list, json_pack("{s:s, s:I, s:s, s:I}", "node", node->node,
                                                    "gpus", (json_int_t)node->gpus, "because",
                                                    node->because, "left",
                                                    (json_int_t)(node->left > 0 ? node->left : 0)));
    }
    (void)json_object_set_new(json, "strandedOn", list);
    (void)json_object_set_new(json, "strandedNodes", json_integer((json_int_t)item->n_stranded));
}

static json_t *item_json(const struct fragmentation *item)
{
    json_t *json = json_pack("{s:s, s:s, s:s, s:I}", "resource", item->resource, "model",
                             item->model, "unit", item->unit, "nodes", (json_int_t)item->n_nodes);
    (void)json_object_update_new(json, amounts_json(item));
    inventory_devices_add_split(json, &item->free);
    add_rooms(json, item);
    add_stranded(json, item);
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
    for (size_t i = 0; i < all->n; i++) {
        if (strcmp(all->items[i].unit, gpu_unit_word(NULL)) == 0)
            free_gpus_add(&free, &all->items[i].free);
    }
    const int64_t n = free.usable + free.stranded;
    if (n == 0)
        return "No GPU is free";
    if (free.stranded == 0)
        return arena_printf(arena, "None of the %" PRId64 " free GPUs is stranded", n);
    return arena_printf(arena,
                        "%" PRId64 " of %" PRId64 " free GPUs %s stranded: too little CPU or "
                        "memory beside them, or of a model or number that no pod here asks for",
                        free.stranded, n, free.stranded == 1 ? "is" : "are");
}

/* "l40s-1, 6Gi memory left" */
static const char *stranded_text(const json_t *item, struct arena *arena)
{
    const json_t *first = json_array_get(json_object_get(item, "strandedOn"), 0);
    const json_int_t n = json_integer_value(json_object_get(item, "strandedNodes"));
    const json_int_t left = json_integer_value(json_object_get(first, "left"));
    const char *because = text_member(first, "because");
    const char *text = text_member(first, "node");
    if (strcmp(because, "memory") == 0)
        text = arena_printf(arena, "%s, %s memory left", text, text_gib(left, arena));
    else if (because[0])
        text = arena_printf(arena, "%s, %s CPU left", text, text_cores(left, arena));
    return n > 1 ? arena_printf(arena, "%s; and %lld more", text, (long long)n - 1) : text;
}

/* "97%": of the free GPUs on open nodes. */
static const char *suits_text(const json_t *item, struct arena *arena)
{
    const double n = (double)(json_integer_value(json_object_get(item, "usable")) +
                              json_integer_value(json_object_get(item, "stranded")));
    const double useless = json_number_value(json_object_get(item, "fragmented"));
    return n > 0 ? arena_printf(arena, "%d%%", (int)(100 * (n - useless) / n)) : "";
}

/* As on the page: pods do not ask for several slices or shares of one GPU. */
static const char *room_text(const json_t *item, const char *size, struct arena *arena)
{
    const char *n = text_number(json_object_get(item, "roomFor"), size, arena);
    return strcmp(text_member(item, "unit"), gpu_unit_word(NULL)) != 0 || strcmp(n, "0") == 0 ? ""
                                                                                              : n;
}

/* NULL, or what tells the row from others of its model where the column of resources goes:
 * "mig-1g.5gb", but for whole GPUs. */
static const char *resource_beside(const json_t *models, const json_t *item)
{
    const char *resource = text_member(item, "resource");
    const char *name = strrchr(resource, '/') ? strrchr(resource, '/') + 1 : resource;
    size_t i = 0;
    json_t *other = NULL;
    json_array_foreach (models, i, other) {
        if (other != item && strcmp(name, "gpu") != 0 &&
            json_equal(json_object_get(other, "model"), json_object_get(item, "model")))
            return name;
    }
    return NULL;
}

/* Models of which nothing is free only if the table is wide. */
static void add_rows(const json_t *models, bool are_stranded, bool wide, struct table *table,
                     struct arena *arena)
{
    size_t i = 0;
    json_t *item = NULL;
    json_array_foreach (models, i, item) {
        const json_int_t n = json_integer_value(json_object_get(item, "stranded"));
        const json_int_t n_usable = json_integer_value(json_object_get(item, "usable"));
        const char *beside = wide ? NULL : resource_beside(models, item);
        const char *model = text_member(item, "model");
        if ((n > 0) != are_stranded || (!wide && n + n_usable == 0))
            continue;
        table_add(table,
                  (const char *[]){beside ? arena_printf(arena, "%s %s", model, beside) : model,
                                   arena_printf(arena, "%lld", (long long)(n + n_usable)),
                                   text_number(item, "stranded", arena),
                                   room_text(item, "2", arena), room_text(item, "4", arena),
                                   room_text(item, "8", arena), suits_text(item, arena),
                                   stranded_text(item, arena), text_member(item, "resource")});
    }
}

/* Models with stranded GPUs come first. */
void tables_write_fragmentation(const json_t *answer, bool wide, struct arena *arena,
                                struct buf *out)
{
    const json_t *models = json_object_get(answer, "models");
    static const char *const HEADINGS[] = {"MODEL",
                                           "FREE",
                                           "STRANDED",
                                           "PODS OF 2",
                                           (TABLE_MAY_GO "OF 4"),
                                           "OF 8",
                                           "SUITS",
                                           "STRANDED ON",
                                           (TABLE_MAY_GO TABLE_MAY_BE_TOLD "RESOURCE"),
                                           NULL};
    struct table *table = table_new(arena, wide, HEADINGS);
    provenance_write_warning(answer, arena, out);
    text_write_warnings(answer, arena, out);
    table_write_sentence(text_member(answer, "summary"), 0, out);
    add_rows(models, true, wide, table, arena);
    add_rows(models, false, wide, table, arena);
    if (table_is_empty(table))
        return;
    table_write(table, out);
    table_write_sentence("SUITS: the share of the free GPUs that suits the average pod.", 0, out);
}

/* In a number that the table has. */
static bool is_changed(const json_t *before, const json_t *after)
{
    static const char *const SHOWN[] = {"free", "usable", "largestBlock", "wholeNodes"};
    bool is_same = before && after;
    for (size_t i = 0; is_same && i < sizeof SHOWN / sizeof *SHOWN; i++)
        is_same = json_equal(json_object_get(before, SHOWN[i]), json_object_get(after, SHOWN[i]));
    return !is_same;
}

void fragmentation_json_write_changes(const json_t *changes, bool wide, struct arena *arena,
                                      struct buf *out)
{
    static const char *const HEADINGS[] = {"RESOURCE",
                                           "MODEL",
                                           "FREE",
                                           "USABLE",
                                           (TABLE_MAY_GO_LAST "LARGEST BLOCK"),
                                           (TABLE_MAY_GO "WHOLE NODES"),
                                           NULL};
    struct table *table = table_new(arena, wide, HEADINGS);
    json_auto_t *none = json_pack("{s:i, s:i, s:i, s:i}", "free", 0, "usable", 0, "largestBlock", 0,
                                  "wholeNodes", 0);
    size_t i = 0;
    json_t *change = NULL;
    json_array_foreach (changes, i, change) {
        const json_t *before = json_object_get(change, "before");
        const json_t *after = json_object_get(change, "after");
        if (!wide && !is_changed(before, after))
            continue;
        if (!before)
            before = none;
        if (!after)
            after = none;
        table_add(table,
                  (const char *[]){text_member(change, "resource"), text_member(change, "model"),
                                   text_change(before, after, "free", arena),
                                   text_change(before, after, "usable", arena),
                                   text_change(before, after, "largestBlock", arena),
                                   text_change(before, after, "wholeNodes", arena)});
    }
    if (table_is_empty(table))
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

static int compare_worth(const void *a, const void *b)
{
    const struct fragmentation *one = a;
    const struct fragmentation *other = b;
    const size_t left = gpu_worth(one->model);
    const size_t right = gpu_worth(other->model);
    if (left != right)
        return left < right ? -1 : 1;
    const int order = strcmp(one->model, other->model);
    return order != 0 ? order : strcmp(one->resource, other->resource);
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
    if (all.n > 1)
        qsort(all.items, all.n, sizeof *all.items, compare_worth);
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
