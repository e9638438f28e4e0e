/* manifest: see manifest.h. */
#include "manifest.h"
#include "formats/documents.h"

#include <string.h>

#define MAX_DEPTH ((size_t)100)
#define MAX_YAML_NODES ((size_t)1000000)

struct reading {
    const struct api *api;
    struct arena *arena;
    struct workload_list list;
};

static int on_item(void *context, json_t *item, struct text_position at, struct err *err)
{
    struct reading *reading = context;
    int r = workload_from_json(item, reading->api->policy, reading->arena, &reading->list, err);
    if (r < 0)
        err_prefix(err, "%zu:%zu: ", at.line, at.column);
    return r;
}

static bool is_list(const json_t *envelope)
{
    const char *kind = json_string_value(json_object_get(envelope, "kind"));
    return kind && strcmp(kind, "List") == 0;
}

/* What is left of a List once its items were handed over holds nothing. */
static int on_envelope(void *context, json_t *envelope, struct text_position at, struct err *err)
{
    return is_list(envelope) ? 0 : on_item(context, envelope, at, err);
}

int manifest_read(const char *text, size_t len, const struct api *api, struct arena *arena,
                  struct workload_list *ret_list, struct err *err)
{
    struct reading reading = {.api = api, .arena = arena};
    const struct document_options options = {
        .max_object_bytes = api->max_object_bytes,
        .max_nodes = MAX_YAML_NODES,
        .max_depth = MAX_DEPTH,
        .json_flags = JSON_REJECT_DUPLICATES,
    };
    const struct json_stream_handler handler = {
        .on_item = on_item, .on_envelope = on_envelope, .context = &reading};
    int r = documents_each_text(text, len, &options, &handler, err);
    if (r == 0 && reading.list.n + reading.list.n_skipped == 0)
        r = err_set(err, EINVAL, "there is nothing in it, should be one or more manifests");
    if (r < 0) {
        err_prefix(err, "manifest: ");
        return r;
    }
    *ret_list = reading.list;
    return 0;
}
