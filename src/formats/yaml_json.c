/* yaml_json: see include/formats/yaml_json.h. Separates documents; yaml_build reads them. */
#include "formats/yaml_json.h"

#include "yaml_build.h"
#include "yaml_places.h"
#include "yaml_source.h"

#include <errno.h>

/* Open lists and mappings of flow style in the rest of a document that has a fault. The parser
 * looks at each of them for each token. */
#define SKIPPED_DEPTH_MAX ((size_t)100)

/* Moves to the next document. *ret_found is false at the end of the text. */
static int next_document(struct yaml_source *source, bool *ret_found, struct err *err)
{
    struct yaml_source_event event;
    do {
        int r = yaml_source_next(source, &event, err);
        if (r < 0)
            return r;
        if (event.kind != SOURCE_DOCUMENT_BEGIN &&
            yaml_source_flow_depth(source) > SKIPPED_DEPTH_MAX)
            return err_set(err, EMSGSIZE, "%zu:%zu: nested deeper than %zu levels", event.at.line,
                           event.at.column, SKIPPED_DEPTH_MAX);
    } while (event.kind != SOURCE_DOCUMENT_BEGIN && event.kind != SOURCE_TEXT_END);
    *ret_found = event.kind == SOURCE_DOCUMENT_BEGIN;
    return 0;
}

/* Reads the next non-empty document; *ret_root is NULL at the end of the text. */
static int next_root(struct yaml_source *source, struct yaml_build *build, json_t **ret_root,
                     struct text_position *ret_at, struct err *err)
{
    for (;;) {
        bool found = false;
        json_t *root = NULL;
        int r = next_document(source, &found, err);
        if (r == 0 && found)
            r = yaml_build_document(build, &root, ret_at, err);
        if (r < 0)
            return r;
        if (found && json_is_null(root))
            continue;
        *ret_root = root;
        return 0;
    }
}

/* Reads the next non-empty document and delivers it. *ret_ended: there is none. */
static int deliver_next(struct yaml_source *source, struct yaml_build *build, bool *ret_ended,
                        struct err *err)
{
    json_t *root = NULL;
    struct text_position at;
    int r = next_root(source, build, &root, &at, err);
    if (r < 0)
        return r;
    *ret_ended = !root;
    if (root)
        r = yaml_build_hand_over(build, root, at, err);
    json_decref(root);
    return r;
}

static int each_document(struct yaml_source *source, struct yaml_build *build,
                         const struct json_stream_handler *handler, struct err *err)
{
    bool ended = false;
    while (!ended) {
        int r = deliver_next(source, build, &ended, err);
        if (r == -EINVAL && handler->on_fault && !yaml_source_is_broken(source))
            r = handler->on_fault(handler->context, err);
        if (r < 0)
            return r;
    }
    return 0;
}

int yaml_each(bytes_read *read, void *context, const struct yaml_options *options,
              const struct json_stream_handler *handler, struct err *err)
{
    struct yaml_source *source = yaml_source_new(read, context);
    struct yaml_places *places = options->ret_places ? yaml_places_new() : NULL;
    struct yaml_build *build = yaml_build_new(source, options, handler, places);
    if (places)
        *options->ret_places = places;
    int r = each_document(source, build, handler, err);
    yaml_build_free(build);
    yaml_source_free(source);
    return r;
}

static int read_one(struct yaml_source *source, struct yaml_build *build, json_t **ret_root,
                    struct err *err)
{
    json_auto_t *root = NULL;
    json_auto_t *second = NULL;
    struct text_position at;
    int r = next_root(source, build, &root, &at, err);
    if (r == 0 && root)
        r = next_root(source, build, &second, &at, err);
    if (r < 0)
        return r;
    if (second)
        return err_set(err, EINVAL,
                       "%zu:%zu: a second document begins here, should be the only one", at.line,
                       at.column);
    *ret_root = json_incref(root);
    return 0;
}

int yaml_read(const char *text, size_t len, const struct yaml_options *options, json_t **ret_root,
              struct yaml_places **ret_places, struct err *err)
{
    struct bytes_at_hand bytes = {text, len};
    struct yaml_source *source = yaml_source_new(bytes_read_at_hand, &bytes);
    struct yaml_places *places = yaml_places_new();
    struct yaml_build *build = yaml_build_new(source, options, NULL, places);
    int r = read_one(source, build, ret_root, err);
    yaml_build_free(build);
    yaml_source_free(source);
    if (r < 0) {
        yaml_places_free(places);
        return r;
    }
    *ret_places = places;
    return 0;
}
