/* objects: see objects.h. Source: Kubernetes' API concepts; meta.k8s.io/v1. */
#include "api/kubernetes/objects.h"
#include "api/first.h"
#include "api/kubernetes/kinds.h"
#include "api/reply.h"
#include "api/text.h"
#include "base/clock.h"
#include "formats/json_values.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define META_VERSION "meta.k8s.io/v1"

static void set(json_t *object, const char *key, json_t *value)
{
    (void)json_object_set_new(object, key, value);
}

/* ---- objects ---- */

static json_t *metadata_json(const struct objects_metadata *metadata)
{
    char created[TEXT_TIME_SIZE];
    json_t *json = json_pack("{s:s}", "name", metadata->name);
    if (*metadata->namespace_)
        set(json, "namespace", json_string(metadata->namespace_));
    if (metadata->created_s != 0)
        set(json, "creationTimestamp", json_string(text_time(metadata->created_s, created)));
    if (json_object_size(metadata->labels) > 0)
        set(json, "labels", json_copy((json_t *)(uintptr_t)metadata->labels));
    return json;
}

json_t *objects_json(const char *kind, const struct objects_metadata *metadata, json_t *status)
{
    return json_pack("{s:s, s:s, s:o, s:o}", "apiVersion", KUBERNETES_API_VERSION, "kind", kind,
                     "metadata", metadata_json(metadata), "status", status);
}

void objects_add(struct objects *objects, const struct objects_query *query,
                 const struct objects_metadata *metadata, json_t *status)
{
    (void)json_array_append_new(objects->items, objects_json(query->kind->name, metadata, status));
}

void objects_pick(const struct kind_member *members, const json_t *answer, json_t *status)
{
    for (; members->name; members++) {
        json_t *value = json_object_get(answer, members->name);
        if (value && !json_object_get(status, members->name))
            (void)json_object_set(status, members->name, value);
    }
}

json_t *objects_labels(const struct label *labels, size_t n)
{
    json_t *json = json_object();
    for (size_t i = 0; i < n; i++)
        set(json, labels[i].key, json_string(labels[i].value));
    return json;
}

/* ---- the page ---- */

struct page_item {
    const char *namespace_, *name;
    json_t *json; /* borrowed */
};

static struct page_item item_of(json_t *json)
{
    const json_t *metadata = json_object_get(json, "metadata");
    return (struct page_item){text_member(metadata, "namespace"), text_member(metadata, "name"),
                              json};
}

static bool is_selected(const struct objects_query *query, const struct page_item *item)
{
    json_t *labels = json_object_get(json_object_get(item->json, "metadata"), "labels");
    const json_t *status = json_object_get(item->json, "status");
    struct selection_object object = {.namespace_ = item->namespace_, .name = item->name};
    object.field = query->kind->field ? text_member(status, query->kind->field) : "";
    if (query->selection->labels.n_requirements > 0) {
        struct label *sorted = ARENA_ARRAY(query->arena, struct label, json_object_size(labels));
        const char *key = NULL;
        json_t *value = NULL;
        json_object_foreach (labels, key, value)
            sorted[object.n_labels++] = (struct label){key, json_string_value(value)};
        labels_sort(sorted, object.n_labels);
        object.labels = sorted;
    }
    return selection_admits(query->selection, &object);
}

static int compare_items(const void *a, const void *b)
{
    const struct page_item *left = a;
    const struct page_item *right = b;
    return first_order(left->namespace_, left->name, right->namespace_, right->name);
}

static void cut_to_page(const struct objects_query *query, struct objects *objects)
{
    const struct selection *selection = query->selection;
    struct page_item *items =
        ARENA_ARRAY(query->arena, struct page_item, json_array_size(objects->items));
    json_t *page = json_array();
    size_t n = 0;
    size_t i = 0;
    json_t *json = NULL;
    json_array_foreach (objects->items, i, json) {
        const struct page_item item = item_of(json);
        const bool is_after = first_order(item.namespace_, item.name, selection->after_namespace,
                                          selection->after_name) > 0;
        if (objects->is_page || (is_after && is_selected(query, &item)))
            items[n++] = item;
    }
    if (n > 1)
        qsort(items, n, sizeof *items, compare_items);
    objects->has_more = objects->has_more || n > selection->limit;
    for (i = 0; i < n && i < selection->limit; i++)
        (void)json_array_append(page, items[i].json);
    json_decref(objects->items);
    objects->items = page;
}

/* ---- representations ---- */

enum object_form { FORM_NONE, FORM_WHOLE, FORM_TABLE, FORM_PARTIAL };

/* One media type of the header, with its parameters. */
static enum object_form form_of(const char *type, bool is_list)
{
    static const char PARTIAL[] = "as=PartialObjectMetadata";
    const char *partial = strstr(type, PARTIAL);
    if (strncmp(type, "application/json", 16) != 0 && strncmp(type, "*/*", 3) != 0 &&
        strncmp(type, "application/*", 13) != 0)
        return FORM_NONE;
    if (!strstr(type, "as="))
        return FORM_WHOLE;
    if (!strstr(type, "g=meta.k8s.io") || !strstr(type, "v=v1") || strstr(type, "v=v1beta1"))
        return FORM_NONE;
    if (strstr(type, "as=Table"))
        return FORM_TABLE;
    const bool is_of_list = partial && strncmp(partial + strlen(PARTIAL), "List", 4) == 0;
    return partial && is_of_list == is_list ? FORM_PARTIAL : FORM_NONE;
}

/* The first that the client accepts and we have. */
static enum object_form wanted_form(const struct objects_query *query)
{
    const char *accept = exchange_header(query->exchange, "Accept");
    enum object_form form = !accept || !*accept ? FORM_WHOLE : FORM_NONE;
    while (accept && *accept && form == FORM_NONE) {
        accept += strspn(accept, " ,");
        const size_t len = strcspn(accept, ",");
        form = form_of(arena_strndup(query->arena, accept, len), query->selection->name == NULL);
        accept += len;
    }
    return form;
}

static const char *age_of(const json_t *metadata, struct arena *arena)
{
    const char *created = text_member(metadata, "creationTimestamp");
    int64_t created_s = 0;
    if (text_time_read(created, &created_s) < 0)
        return "<unknown>";
    const int64_t age_s = (int64_t)time(NULL) - created_s;
    return text_age(age_s > 0 ? age_s : 0, arena);
}

static json_t *cell_json(const struct kind_column *column, const json_t *item, struct arena *arena)
{
    json_t *value = NULL;
    if (!column->member)
        return json_string(age_of(json_object_get(item, "metadata"), arena));
    value = json_object_get(json_object_get(item, "status"), column->member);
    return value && !json_is_null(value) ? json_incref(value) : json_string("");
}

static json_t *partial_json(const json_t *item)
{
    return json_pack("{s:s, s:s, s:O}", "apiVersion", META_VERSION, "kind", "PartialObjectMetadata",
                     "metadata", json_object_get(item, "metadata"));
}

static json_t *row_json(const struct objects_query *query, json_t *item, const char *included)
{
    json_t *name = json_object_get(json_object_get(item, "metadata"), "name");
    json_t *row = json_pack("{s:[O]}", "cells", name);
    const struct kind_column *column = query->kind->columns;
    for (; column->title; column++)
        (void)json_array_append_new(json_object_get(row, "cells"),
                                    cell_json(column, item, query->arena));
    if (strcmp(included, "Object") == 0)
        (void)json_object_set(row, "object", item);
    else if (strcmp(included, "None") != 0)
        set(row, "object", partial_json(item));
    return row;
}

static const char *describe(const struct objects_query *query, const char *member)
{
    for (const struct kind_member *each = query->kind->status; each->name && member; each++) {
        if (strcmp(each->name, member) == 0)
            return each->description;
    }
    return "The time since the creation of what the object describes.";
}

static json_t *column_json(const char *title, const char *format, const char *description,
                           int priority)
{
    return json_pack("{s:s, s:s, s:s, s:s, s:i}", "name", title, "type", "string", "format", format,
                     "description", description, "priority", priority);
}

static json_t *columns_json(const struct objects_query *query)
{
    json_t *columns = json_pack("[o]", column_json("Name", "name", "The object's name.", 0));
    const struct kind_column *column = query->kind->columns;
    for (; column->title; column++)
        (void)json_array_append_new(
            columns,
            column_json(column->title, "", describe(query, column->member), column->priority));
    return columns;
}

/* Of a list. */
static json_t *list_metadata(const struct objects *objects)
{
    const size_t n = json_array_size(objects->items);
    if (!objects->has_more || n == 0)
        return json_object();
    const struct page_item last = item_of(json_array_get(objects->items, n - 1));
    return json_pack("{s:s++}", "continue", last.namespace_, "/", last.name);
}

static json_t *table_json(const struct objects_query *query, const struct objects *objects)
{
    const char *included = exchange_query(query->exchange, "includeObject");
    json_t *rows = json_array();
    size_t i = 0;
    json_t *item = NULL;
    json_array_foreach (objects->items, i, item)
        (void)json_array_append_new(rows, row_json(query, item, included ? included : ""));
    return json_pack("{s:s, s:s, s:o, s:o, s:o}", "apiVersion", META_VERSION, "kind", "Table",
                     "metadata", list_metadata(objects), "columnDefinitions", columns_json(query),
                     "rows", rows);
}

static json_t *list_json(const struct objects_query *query, const struct objects *objects,
                         enum object_form form)
{
    size_t i = 0;
    json_t *item = NULL;
    if (form == FORM_WHOLE)
        return json_pack("{s:s, s:s+, s:o, s:O}", "apiVersion", KUBERNETES_API_VERSION, "kind",
                         query->kind->name, "List", "metadata", list_metadata(objects), "items",
                         objects->items);
    json_t *items = json_array();
    json_array_foreach (objects->items, i, item)
        (void)json_array_append_new(items, partial_json(item));
    return json_pack("{s:s, s:s, s:o, s:o}", "apiVersion", META_VERSION, "kind",
                     "PartialObjectMetadataList", "metadata", list_metadata(objects), "items",
                     items);
}

static json_t *answer_json(const struct objects_query *query, const struct objects *objects,
                           enum object_form form)
{
    json_t *first = json_array_get(objects->items, 0);
    if (form == FORM_TABLE)
        return table_json(query, objects);
    if (!query->selection->name)
        return list_json(query, objects, form);
    return form == FORM_WHOLE ? json_incref(first) : partial_json(first);
}

static const char *fault_of(const struct objects_query *query, enum object_form form)
{
    const char *included = exchange_query(query->exchange, "includeObject");
    if (form != FORM_TABLE || !included || !*included || strcmp(included, "None") == 0 ||
        strcmp(included, "Metadata") == 0 || strcmp(included, "Object") == 0)
        return NULL;
    return arena_printf(query->arena, "includeObject=%.60s: should be None, Metadata or Object",
                        included);
}

static void answer_found(const struct objects_query *query, struct objects *objects,
                         enum object_form form)
{
    size_t len = 0;
    cut_to_page(query, objects);
    if (query->selection->name && json_array_size(objects->items) == 0) {
        exchange_answer_error(query->exchange, 404,
                              arena_printf(query->arena,
                                           "%s." KUBERNETES_GROUP " \"%.253s\" not found",
                                           query->kind->resource, query->selection->name));
        return;
    }
    char *text = json_take_text(answer_json(query, objects, form), JSON_COMPACT, &len);
    exchange_answer(query->exchange, 200, "application/json", text, len, 0);
}

void objects_answer(const struct objects_query *query)
{
    const enum object_form form = wanted_form(query);
    const char *fault = fault_of(query, form);
    struct objects objects = {0};
    if (form == FORM_NONE) {
        exchange_answer_error(query->exchange, 406,
                              "only application/json is served, also with as=Table and "
                              "as=PartialObjectMetadata of meta.k8s.io/v1");
        return;
    }
    if (fault) {
        exchange_answer_error(query->exchange, 400, fault);
        return;
    }
    if (!reply_from(query->api->inventory, query->exchange))
        return;
    objects.items = json_array();
    if (query->kind->find(query, &objects))
        answer_found(query, &objects, form);
    json_decref(objects.items);
}
