/* yaml_json: see include/formats/yaml_json.h. Separates documents; yaml_build reads them. */
#include "formats/yaml_json.h"
#include "base/arena.h"
#include "base/mem.h"
#include "base/table.h"
#include "formats/json_values.h"
#include "yaml_build.h"
#include "yaml_source.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Values carry no position, because jansson shares true, false and null. */

struct yaml_place {
    UT_hash_handle hh;
    struct text_position key;
    struct text_position value;
    char id[]; /* address of the container, then the key */
};

struct yaml_places {
    struct arena *arena;
    struct yaml_place *by_id;
};

/* Records positions of keys and values, for reading by yaml_json.h (yaml_json.c). */
static struct yaml_places *yaml_places_new(void)
{
    struct yaml_places *places = MEM_NEW(struct yaml_places);
    places->arena = arena_new();
    return places;
}

void yaml_places_free(struct yaml_places *places)
{
    if (!places)
        return;
    HASH_CLEAR(hh, places->by_id);
    arena_free(places->arena);
    free(places);
}

static size_t id_size(const char *name)
{
    return sizeof(uintptr_t) + strlen(name);
}

static void id_write(char *id, size_t size, const json_t *container, const char *name)
{
    uintptr_t address = (uintptr_t)container;
    memcpy(id, &address, sizeof address);
    memcpy(id + sizeof address, name, size - sizeof address);
}

static struct yaml_place *find(const struct yaml_places *places, const json_t *container,
                               const char *name)
{
    struct yaml_place *place = NULL;
    size_t size = id_size(name);
    char *id CLEANUP(mem_free_ptr) = mem_new(size);
    id_write(id, size, container, name);
    HASH_FIND(hh, places->by_id, id, size, place);
    return place;
}

void yaml_places_add(struct yaml_places *places, const json_t *container, const char *name,
                     struct text_position key, struct text_position value)
{
    struct yaml_place *place = find(places, container, name);
    if (!place) {
        size_t size = id_size(name);
        place = arena_alloc(places->arena, sizeof *place + size);
        id_write(place->id, size, container, name);
        HASH_ADD_KEYPTR(hh, places->by_id, place->id, size, place);
    }
    place->key = key;
    place->value = value;
}

void yaml_places_copy(struct yaml_places *places, const json_t *from, const json_t *to,
                      const char *key)
{
    const struct yaml_place *place = find(places, from, key);
    if (place)
        yaml_places_add(places, to, key, place->key, place->value);
}

struct text_position yaml_place_of_key(const struct yaml_places *places, const json_t *container,
                                       const char *key)
{
    const struct yaml_place *place = places ? find(places, container, key) : NULL;
    return place ? place->key : (struct text_position){0, 0};
}

struct text_position yaml_place_of_value(const struct yaml_places *places, const json_t *container,
                                         const char *key)
{
    const struct yaml_place *place = places ? find(places, container, key) : NULL;
    return place ? place->value : (struct text_position){0, 0};
}

static struct text_position place_of(const struct yaml_file *file, const struct yaml_value *at)
{
    struct text_position place = {0, 0};
    if (!file->places)
        return place;
    if (at->container && at->value)
        place = yaml_place_of_value(file->places, at->container, at->key);
    else if (at->container)
        place = yaml_place_of_key(file->places, at->container, at->key);
    return place.line > 0 ? place : (struct text_position){1, 1};
}

/* Keys may contain anything; quoting keeps the message on one line. */
static void add_path(struct buf *out, const char *path)
{
    bool is_plain = *path != '\0';
    for (const char *p = path; *p; p++)
        is_plain = is_plain && *p > ' ' && *p <= '~';
    if (is_plain)
        buf_add_text(out, path);
    else
        buf_add_quoted(out, path);
}

int yaml_fault(const struct yaml_file *file, const struct yaml_value *at, struct err *err,
               const char *format, ...)
{
    struct text_position place = place_of(file, at);
    struct buf path;
    buf_init(&path, ERR_TEXT_MAX);
    add_path(&path, at->path);
    char what[ERR_TEXT_MAX];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(what, sizeof what, format, args);
    va_end(args);
    int r = file->places ? err_set(err, EINVAL, "%s:%zu:%zu: %s: %s", file->name, place.line,
                                   place.column, buf_text(&path), what)
                         : err_set(err, EINVAL, "%s: %s", buf_text(&path), what);
    buf_fini(&path);
    return r;
}

int yaml_wrong(const struct yaml_file *file, const struct yaml_value *at, const char *right,
               struct err *err)
{
    struct buf shown;
    buf_init(&shown, ERR_TEXT_MAX);
    json_add_shown(at->value, &shown);
    int r = yaml_fault(file, at, err, "is %s, should be %s", buf_text(&shown), right);
    buf_fini(&shown);
    return r;
}

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
