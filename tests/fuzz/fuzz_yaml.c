/*
 * Reads any text as YAML. Nothing crashes, the limits hold for every object, and errors have a
 * position. A document read whole equals its envelope and its items, and equals the same document
 * read in pieces.
 */
#include "formats/yaml_json.h"
#include "require.h"

#include <stdint.h>
#include <string.h>

#define MAX_DEPTH 16
#define MAX_NODES 500

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t n_nodes(const json_t *value, size_t depth)
{
    size_t n = 1;
    size_t i;
    const char *key;
    json_t *child;
    require(depth <= MAX_DEPTH + 1);
    json_array_foreach (value, i, child) {
        n += n_nodes(child, depth + 1);
    }
    json_object_foreach ((json_t *)(uintptr_t)value, key, child) {
        n += n_nodes(child, depth + 1);
    }
    return n;
}

/* The first document's items, then the same with the envelope around them. */
struct put_together {
    json_t *items;
    json_t *first;
};

static int on_item(void *context, json_t *item, struct text_position at, struct err *err)
{
    struct put_together *together = context;
    (void)err;
    require(at.line > 0 && at.column > 0);
    require(n_nodes(item, 1) <= MAX_NODES);
    if (!together->items)
        together->items = json_array();
    return json_array_append(together->items, item);
}

static int on_envelope(void *context, json_t *envelope, struct text_position at, struct err *err)
{
    struct put_together *together = context;
    (void)err;
    require(at.line > 0 && at.column > 0);
    require(n_nodes(envelope, 1) <= MAX_NODES);
    if (!together->first) {
        together->first = json_copy(envelope);
        if (together->items)
            require(json_object_set(together->first, "items", together->items) == 0);
    }
    json_decref(together->items);
    together->items = NULL;
    return 0;
}

static void require_place(const struct err *err)
{
    size_t digits = strspn(err->text, "0123456789");
    require(digits > 0 && err->text[digits] == ':');
    require(strspn(err->text + digits + 1, "0123456789") > 0);
}

/* An empty list of items leaves no trace in the envelope. */
static int without_empty_items(json_t *root)
{
    const json_t *items = json_object_get(root, "items");
    return json_is_array(items) && json_array_size(items) == 0 ? json_object_del(root, "items") : 0;
}

static void check_whole(const char *text, size_t size, const struct put_together *together)
{
    const struct yaml_options options = {.max_depth = MAX_DEPTH, .max_values = MAX_NODES};
    struct err err = {""};
    json_t *root = NULL;
    struct yaml_places *places = NULL;
    if (yaml_read(text, size, &options, &root, &places, &err) < 0) {
        require_place(&err);
        return;
    }
    if (together) {
        json_t *copy = json_copy(root);
        require(without_empty_items(copy) == 0);
        require(root == NULL ? !together->first : json_equal(copy, together->first));
        json_decref(copy);
    }
    json_decref(root);
    yaml_places_free(places);
}

/* The size of one piece of a text. */
struct pieces {
    struct bytes_at_hand rest;
    size_t piece;
};

static int read_piece(void *context, char *bytes, size_t size, size_t *ret_n, struct err *err)
{
    struct pieces *pieces = context;
    return bytes_read_at_hand(&pieces->rest, bytes, size < pieces->piece ? size : pieces->piece,
                              ret_n, err);
}

static int each(struct pieces pieces, const char *const *drop, struct put_together *together)
{
    struct err err = {""};
    const struct yaml_options options = {
        .drop = drop, .max_depth = MAX_DEPTH, .max_values = MAX_NODES};
    const struct json_stream_handler handler = {
        .on_item = on_item, .on_envelope = on_envelope, .context = together};
    int r = yaml_each(read_piece, &pieces, &options, &handler, &err);
    if (r < 0)
        require_place(&err);
    return r;
}

static void forget(struct put_together *together)
{
    json_decref(together->items);
    json_decref(together->first);
    *together = (struct put_together){NULL, NULL};
}

/* Reading in pieces gives the same result. Of two faults the later one may be reported, because
 * invalid UTF-8 is detected slightly ahead of everything else. */
static void check_pieces(const char *text, size_t size, const struct put_together *together)
{
    struct put_together again = {NULL, NULL};
    const struct pieces pieces = {{text, size}, size % 5 + 1};
    const int r = each(pieces, NULL, &again);
    require((r == 0) == (together != NULL));
    if (together)
        require(together->first ? json_equal(together->first, again.first) : !again.first);
    forget(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const DROP[] = {"a.b", "a.c.d", "status", NULL};
    const char *text = (const char *)data;
    const struct pieces whole = {{text, size}, SIZE_MAX};
    struct put_together together = {NULL, NULL};
    (void)each(whole, DROP, &together);
    forget(&together);
    int r = each(whole, NULL, &together);
    check_whole(text, size, r == 0 ? &together : NULL);
    check_pieces(text, size, r == 0 ? &together : NULL);
    forget(&together);
    return 0;
}
