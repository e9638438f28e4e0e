/* manifest: see manifest.h. */
#include "api/dry_run/manifest.h"
#include "api/dry_run/manifest_hints.h"
#include "api/dry_run/manifest_lines.h"
#include "base/mem.h"
#include "formats/documents.h"
#include "formats/json_get.h"
#include "formats/json_parse.h"
#include "objects/identity.h"

#define MAX_DEPTH ((size_t)100)

struct manifest_reader {
    const struct manifest_texts *texts;
    size_t at; /* of the texts */
    const struct api *api;
    const struct policy *policy;
    struct arena *arena;
    struct workload_list list;
    json_t *kindless; /* items whose kind depends on the list's kind, not yet known */
    size_t first_at;  /* the text of the first unreadable object */
    struct err first; /* why it is so */
};

static void name_text(const struct manifest_reader *reader, struct err *err)
{
    if (reader->texts->n > 1)
        err_prefix(err, "%s[%zu]: ", reader->texts->name, reader->at);
}

/* The others are read, but not if too many are unreadable. */
static int skip(struct manifest_reader *reader, const json_t *object, const struct err *why)
{
    struct err named = *why;
    name_text(reader, &named);
    if (reader->list.n_unreadable == 0) {
        reader->first = named;
        reader->first_at = reader->at;
    }
    return workload_add_unreadable(object, named.text, reader->arena, &reader->list) ? 0 : -EINVAL;
}

static int read_workload(struct manifest_reader *reader, json_t *object, struct err *err)
{
    const size_t n_values = json_count_values(object);
    if (n_values > reader->api->max_object_values)
        return err_set(err, EINVAL, "has %zu values, should have at most %zu (limits.objectValues)",
                       n_values, reader->api->max_object_values);
    return workload_from_json(object, reader->policy, reader->arena, &reader->list, err);
}

static int read_object(struct manifest_reader *reader, json_t *object, struct text_position at,
                       struct err *err)
{
    int r = read_workload(reader, object, err);
    if (r == 0)
        return 0;
    err_prefix(err, "%zu:%zu: ", at.line, at.column);
    manifest_hints_of_object(object, err);
    return skip(reader, object, err);
}

/* The other texts, or objects, are apart from it. */
static int read_objects(struct manifest_reader *reader, const struct manifest_text *text,
                        struct err *err)
{
    const size_t n = text->object ? 1 : json_array_size(text->objects);
    int r = 0;
    for (size_t i = 0; r == 0 && i < n; i++) {
        json_t *object = text->object ? text->object : json_array_get(text->objects, i);
        if (read_workload(reader, object, err) == 0)
            continue;
        if (!text->object)
            err_prefix(err, "%s[%zu]: ", reader->texts->name, i);
        manifest_hints_of_object(object, err);
        r = skip(reader, object, err);
    }
    return r;
}

static int on_item(void *context, json_t *item, struct text_position at, struct err *err)
{
    struct manifest_reader *reader = context;
    if (!json_is_object(item) || json_member(item, "kind"))
        return read_object(reader, item, at, err);
    if (!reader->kindless)
        reader->kindless = json_array();
    (void)json_array_append(reader->kindless, item);
    return 0;
}

/* Items of a PodList may omit their kind and its version, NULL if the list has none. */
static int read_kindless(struct manifest_reader *reader, const char *kind, json_t *version,
                         struct text_position at, struct err *err)
{
    size_t i = 0;
    json_t *item = NULL;
    int r = 0;
    json_array_foreach (reader->kindless, i, item) {
        if (kind && kind[0])
            (void)json_object_set_new(item, "kind", json_string(kind));
        if (version && !json_member(item, "apiVersion"))
            (void)json_object_set(item, "apiVersion", version);
        r = read_object(reader, item, at, err);
        if (r < 0)
            break;
    }
    json_decref(reader->kindless);
    reader->kindless = NULL;
    return r;
}

/* Only the envelope remains after its items were read. */
static int on_envelope(void *context, json_t *envelope, struct text_position at, struct err *err)
{
    struct manifest_reader *reader = context;
    char *item_kind CLEANUP(mem_free_ptr) = identity_item_kind(envelope);
    int r = read_kindless(reader, item_kind, json_object_get(envelope, "apiVersion"), at, err);
    return r < 0 || item_kind ? r : read_object(reader, envelope, at, err);
}

static int on_fault(void *context, const struct err *fault)
{
    struct manifest_reader *reader = context;
    json_decref(reader->kindless);
    reader->kindless = NULL;
    return skip(reader, NULL, fault);
}

static int read_text(struct manifest_reader *reader, struct err *err)
{
    const struct manifest_text *text = &reader->texts->items[reader->at];
    const struct json_budget *budget = &reader->api->request_budget;
    const struct document_options options = {
        .budget = budget,
        .spent = reader->texts->spent,
        .max_object_bytes = reader->api->max_object_bytes,
        .max_values = budget->max_values,
        .max_depth = MAX_DEPTH,
        .json_flags = JSON_REJECT_DUPLICATES,
    };
    const struct json_stream_handler handler = {
        .on_item = on_item, .on_envelope = on_envelope, .on_fault = on_fault, .context = reader};
    const size_t n_warnings = reader->list.n_warnings;
    if (!text->text)
        return read_objects(reader, text, err);
    int r = documents_each_text(text->text, text->len, &options, &handler, err);
    json_decref(reader->kindless);
    reader->kindless = NULL;
    if (r < 0) {
        manifest_hints_of_text(text->text, text->len, err);
        name_text(reader, err);
    } else {
        manifest_lines_find(text->text, text->len, &reader->list, n_warnings);
    }
    return r;
}

/* If nothing is readable. */
static int fail(const struct manifest_reader *reader, struct err *err)
{
    const struct manifest_text *text = &reader->texts->items[reader->first_at];
    const bool is_named = reader->texts->n > 1;
    if (reader->list.n_unreadable > 0)
        *err = reader->first;
    else
        (void)err_set(err, EINVAL, "%s%sis empty, should be one or more manifests",
                      is_named ? reader->texts->name : "", is_named ? ": " : "");
    if (text->text)
        manifest_hints_of_text(text->text, text->len, err);
    return -EINVAL;
}

int manifest_read(const struct manifest_texts *texts, const struct api *api, struct arena *arena,
                  struct workload_list *ret_list, struct err *err)
{
    const struct policy *policy CLEANUP(policy_drop_ptr) = inventory_hold_policy(api->inventory);
    struct manifest_reader reader = {.texts = texts, .api = api, .policy = policy, .arena = arena};
    int r = 0;
    for (; r == 0 && reader.at < texts->n; reader.at++)
        r = read_text(&reader, err);
    if (r == 0 && reader.list.n + reader.list.n_skipped == reader.list.n_unreadable)
        r = fail(&reader, err);
    if (r < 0 && texts->n == 1 && texts->items[0].text)
        err_prefix(err, "manifest: ");
    if (r == 0)
        *ret_list = reader.list;
    return r;
}

/* ---- lists ---- */

/* The reading of a text costs some microseconds, even if it is short. */
#define TEXTS_MAX ((size_t)1000)

static bool has_texts(const json_t *workloads)
{
    size_t i = 0;
    json_t *item = NULL;
    json_array_foreach (workloads, i, item) {
        if (json_is_string(item))
            return true;
    }
    return false;
}

/* Objects alone are one list. */
static struct manifest_texts texts_of(json_t *workloads, struct json_cost *spent,
                                      struct arena *arena)
{
    const bool is_apart = has_texts(workloads);
    const size_t n = is_apart ? json_array_size(workloads) : 1;
    struct manifest_text *texts = ARENA_ARRAY(arena, struct manifest_text, n);
    for (size_t i = 0; i < n; i++) {
        json_t *item = is_apart ? json_array_get(workloads, i) : workloads;
        if (!is_apart)
            texts[i].objects = item;
        else if (json_is_string(item))
            texts[i] = (struct manifest_text){.text = json_string_value(item),
                                              .len = json_string_length(item)};
        else
            texts[i].object = item;
    }
    return (struct manifest_texts){texts, n, "workloads", spent};
}

int manifest_read_list(json_t *workloads, const struct api *api, struct arena *arena,
                       struct workload_list *ret_list, struct err *err)
{
    struct json_cost spent = {0};
    if (workloads && !json_is_array(workloads))
        return err_set(err, EINVAL, "workloads: is %s, should be an array",
                       json_type_text(workloads));
    if (json_array_size(workloads) == 0)
        return 0;
    if (has_texts(workloads) && json_array_size(workloads) > TEXTS_MAX)
        return err_set(err, E2BIG, "workloads: are %zu, with texts should be at most %zu",
                       json_array_size(workloads), TEXTS_MAX);
    const struct manifest_texts texts = texts_of(workloads, &spent, arena);
    int r = manifest_read(&texts, api, arena, ret_list, err);
    if (r < 0 && texts.n == 1 && texts.items[0].text)
        err_prefix(err, "workloads: ");
    return r;
}

/* No object of Kubernetes begins so. */
static bool is_list_of_manifests(const char *text)
{
    static const char MEMBER[] = "\"workloads\"";
    text += strspn(text, " \t\r\n");
    if (*text != '{')
        return false;
    text++;
    text += strspn(text, " \t\r\n");
    return strncmp(text, MEMBER, strlen(MEMBER)) == 0;
}

int manifest_read_body(const struct manifest_texts *body, const struct api *api,
                       struct arena *arena, struct workload_list *ret_list, struct err *err)
{
    const struct manifest_text *text = &body->items[0];
    json_t *root = NULL;
    if (body->n != 1 || !text->text || !is_list_of_manifests(text->text))
        return manifest_read(body, api, arena, ret_list, err);
    int r =
        json_parse(text->text, text->len, JSON_REJECT_DUPLICATES, &api->request_budget, &root, err);
    const json_t *workloads = json_member(root, "workloads");
    if (r == 0 && json_object_size(root) > 1)
        r = err_set(err, EINVAL, "workloads: should be the only member of the body");
    else if (r == 0 && json_is_array(workloads) && json_array_size(workloads) == 0)
        r = err_set(err, EINVAL, "workloads: is empty, should have one or more manifests");
    if (r == 0)
        r = manifest_read_list(json_object_get(root, "workloads"), api, arena, ret_list, err);
    json_decref(root);
    return r;
}
