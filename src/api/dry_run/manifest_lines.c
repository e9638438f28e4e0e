/* manifest_lines: see manifest.h. */
#include "api/dry_run/manifest.h"

#include "formats/json_values.h"
#include "formats/yaml_json.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A position takes up to 200 bytes, and a value at least 2 bytes of text. */
#define VALUES_MAX ((size_t)100000)
#define DEPTH_MAX ((size_t)100)
#define PATH_BYTES_MAX 4096
#define NAME_BYTES_MAX 1024

struct lines_of {
    struct yaml_places *places;
    struct workload_list *list;
    size_t first;
};

static bool ends_step(char c)
{
    return c == '\0' || c == '.' || c == '[';
}

/* The longest key that the path begins with. NULL: none. */
static const char *next_key(const json_t *object, const char *path)
{
    const char *key = NULL;
    const char *found = NULL;
    json_t *value = NULL;
    json_object_foreach ((json_t *)(uintptr_t)object, key, value) {
        const size_t len = strlen(key);
        if (strncmp(path, key, len) == 0 && ends_step(path[len]) && (!found || len > strlen(found)))
            found = key;
    }
    return found;
}

static bool is_named(const json_t *element, const char *name, size_t len)
{
    const char *own = json_string_value(json_member(element, "name"));
    return own && strlen(own) == len && strncmp(own, name, len) == 0;
}

/* Of "[3]" or "[main]"; the number of elements if it is none. */
static size_t next_index(const json_t *array, const char *path, size_t len)
{
    const size_t n = json_array_size(array);
    char *end = NULL;
    const unsigned long index = strtoul(path, &end, 10);
    if (end == path + len && len > 0 && index < n)
        return index;
    size_t i = 0;
    while (i < n && !is_named(json_array_get(array, i), path, len))
        i++;
    return i;
}

/* A member of the object that has a member of that name: resources have it in limits. */
static const json_t *member_with(const json_t *object, const char *name, size_t len)
{
    const char *key = NULL;
    json_t *member = NULL;
    json_object_foreach ((json_t *)(uintptr_t)object, key, member) {
        for (void *at = json_object_iter(member); at; at = json_object_iter_next(member, at)) {
            const char *own = json_object_iter_key(at);
            if (strlen(own) == len && strncmp(own, name, len) == 0)
                return member;
        }
    }
    return NULL;
}

/* The first element in which the path "resources[NAME]" is; NULL: in none. */
static const json_t *element_with(const json_t *array, const char *path)
{
    for (size_t i = 0; i < json_array_size(array); i++) {
        const json_t *element = json_array_get(array, i);
        const char *key = next_key(element, path);
        const char *rest = key ? path + strlen(key) : "";
        if (*rest == '[' &&
            member_with(json_object_get(element, key), rest + 1, strcspn(rest + 1, "]")))
            return element;
    }
    return NULL;
}

/* In brackets: an element of an array, or a member of a map. */
static const json_t *step_into(const struct lines_of *lines, const json_t *value,
                               const char *inside, size_t len, size_t *line)
{
    char index[24];
    if (json_is_array(value)) {
        const size_t i = next_index(value, inside, len);
        (void)snprintf(index, sizeof index, "%zu", i);
        const struct text_position at = yaml_place_of_key(lines->places, value, index);
        *line = at.line ? at.line : *line;
        return json_array_get(value, i);
    }
    const char *key = NULL;
    json_t *member = NULL;
    const json_t *below = member_with(value, inside, len);
    json_object_foreach ((json_t *)(uintptr_t)(below ? below : value), key, member) {
        if (strlen(key) == len && strncmp(key, inside, len) == 0) {
            value = below ? below : value;
            *line = yaml_place_of_key(lines->places, value, key).line;
            return member;
        }
    }
    return NULL;
}

/* The line of the deepest step of the path that is there. */
static size_t line_of(const struct lines_of *lines, const json_t *value, const char *path,
                      size_t line)
{
    while (value && *path) {
        if (json_is_array(value) && *path != '[' && !(value = element_with(value, path)))
            break;
        const char *key = *path == '[' ? NULL : next_key(value, path);
        const char *end = *path == '[' ? strchr(path, ']') : NULL;
        if (key) {
            const size_t there = yaml_place_of_key(lines->places, value, key).line;
            line = there ? there : line;
            value = json_object_get(value, key);
            path += strlen(key);
        } else if (end) {
            value = step_into(lines, value, path + 1, (size_t)(end - path - 1), &line);
            path = end + 1;
        } else {
            break;
        }
        path += *path == '.';
    }
    return line;
}

/* A message about a map begins with one of its keys. */
static const char *path_with_key(const struct manifest_warning *warning, char *path, size_t size)
{
    const char *end = *warning->message == '"' ? strchr(warning->message + 1, '"') : NULL;
    if (!end || end[1] != ' ')
        return warning->path;
    (void)snprintf(path, size, "%s[%.*s]", warning->path, (int)(end - warning->message - 1),
                   warning->message + 1);
    return path;
}

static const char *text_or(const json_t *object, const char *key, const char *other)
{
    const char *text = json_string_value(json_member(object, key));
    return text ? text : other;
}

static int on_object(void *context, json_t *object, struct text_position at, struct err *err)
{
    const struct lines_of *lines = context;
    const json_t *metadata = json_member(object, "metadata");
    const char *generated = text_or(metadata, "generateName", "");
    char path[PATH_BYTES_MAX];
    char name[NAME_BYTES_MAX];
    (void)err;
    (void)snprintf(name, sizeof name, "%s %s/%s", text_or(object, "kind", ""),
                   text_or(metadata, "namespace", "default"), text_or(metadata, "name", generated));
    for (size_t i = lines->first; i < lines->list->n_warnings; i++) {
        struct manifest_warning *warning = &lines->list->warnings[i];
        if (warning->line == 0 && strcmp(warning->object, name) == 0)
            warning->line =
                line_of(lines, object, path_with_key(warning, path, sizeof path), at.line);
    }
    return 0;
}

void manifest_lines_find(const char *text, size_t len, struct workload_list *list, size_t first)
{
    struct err err;
    struct bytes_at_hand bytes = {text, len};
    struct lines_of lines = {.list = list, .first = first};
    const struct json_stream_handler handler = {
        .on_item = on_object, .on_envelope = on_object, .context = &lines};
    if (len > MANIFEST_LINES_BYTES_MAX || first == list->n_warnings || !memchr(text, '\n', len))
        return;
    const struct yaml_options options = {
        .max_depth = DEPTH_MAX, .max_values = VALUES_MAX, .ret_places = &lines.places};
    (void)yaml_each(bytes_read_at_hand, &bytes, &options, &handler, &err);
    yaml_places_free(lines.places);
}
