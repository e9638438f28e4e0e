/* kubeconfig_file: see kubeconfig_file.h. */
#include "kubeconfig_file.h"

#include "base/mem.h"
#include "base/small_file.h"
#include "formats/json_get.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILE_BYTES_MAX ((size_t)1024 * 1024)

static const struct yaml_options YAML_LIMITS = {.max_depth = 32, .max_nodes = 50000};

static char *folder_of(const char *path)
{
    struct buf folder;
    buf_init(&folder, FILE_BYTES_MAX);
    const char *slash = strrchr(path, '/');
    if (path[0] != '/') {
        char *here = getcwd(NULL, 0);
        (void)buf_printf(&folder, "%s%s", here ? here : "", slash ? "/" : "");
        free(here);
    }
    (void)buf_add(&folder, path, slash ? (size_t)(slash - path) : 0);
    return buf_take(&folder);
}

int kubeconfig_file_parse(const char *path, const char *text, size_t len,
                          struct kubeconfig_file *ret_file, struct err *err)
{
    struct kubeconfig_file file = {0};
    int r = yaml_read(text, len, &YAML_LIMITS, &file.root, &file.places, err);
    if (r < 0) {
        err_prefix(err, "%s:", path);
        return r;
    }
    file.path = mem_strdup(path);
    file.folder = folder_of(path);
    const struct kubeconfig_value root = kubeconfig_root(&file);
    if (root.value && !json_is_object(root.value)) {
        r = kubeconfig_wrong(&root, "a mapping with clusters, users, contexts", err);
        kubeconfig_file_fini(&file);
        return r;
    }
    *ret_file = file;
    return 0;
}

int kubeconfig_file_read(const char *path, struct kubeconfig_file *ret_file, struct err *err)
{
    struct buf text;
    buf_init(&text, FILE_BYTES_MAX);
    int r = small_file_read(path, true, &text, err);
    if (r == 0)
        r = kubeconfig_file_parse(path, buf_text(&text), text.len, ret_file, err);
    buf_fini(&text);
    return r;
}

void kubeconfig_file_fini(struct kubeconfig_file *file)
{
    free(file->path);
    free(file->folder);
    json_decref(file->root);
    yaml_places_free(file->places);
    *file = (struct kubeconfig_file){0};
}

struct kubeconfig_value kubeconfig_root(const struct kubeconfig_file *file)
{
    return (struct kubeconfig_value){
        .file = file, .value = file->root, .path = "kubeconfig", .placed = file->root};
}

static bool is_nothing(const json_t *value)
{
    return json_is_null(value) || (json_is_string(value) && json_string_length(value) == 0) ||
           (json_is_array(value) && json_array_size(value) == 0) ||
           (json_is_object(value) && json_object_size(value) == 0);
}

struct kubeconfig_value kubeconfig_member(const struct kubeconfig_value *object, const char *key)
{
    struct kubeconfig_value member = *object;
    json_t *value = json_object_get(object->value, key);
    member.value = is_nothing(value) ? NULL : value;
    if (object->value == object->file->root)
        (void)snprintf(member.path, sizeof member.path, "%s", key);
    else
        (void)snprintf(member.path, sizeof member.path, "%.100s.%.40s", object->path, key);
    if (!value)
        return member;
    member.container = object->value;
    member.placed = value;
    (void)snprintf(member.key, sizeof member.key, "%s", key);
    return member;
}

struct kubeconfig_value kubeconfig_item(const struct kubeconfig_value *array, size_t i)
{
    json_t *value = json_array_get(array->value, i);
    struct kubeconfig_value item = {
        .file = array->file, .value = value, .container = array->value, .placed = value};
    (void)snprintf(item.key, sizeof item.key, "%zu", i);
    (void)snprintf(item.path, sizeof item.path, "%.100s[%zu]", array->path, i);
    return item;
}

int kubeconfig_fault(const struct kubeconfig_value *value, struct err *err, const char *format, ...)
{
    char what[ERR_TEXT_MAX];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(what, sizeof what, format, args);
    va_end(args);
    const struct yaml_file file = {value->file->path, value->file->places};
    const struct yaml_value at = {value->container, value->key, value->path, value->placed};
    return yaml_fault(&file, &at, err, "%s", what);
}

int kubeconfig_wrong(const struct kubeconfig_value *value, const char *right, struct err *err)
{
    const char *what = value->value ? json_type_text(value->value) : "missing";
    return kubeconfig_fault(value, err, "is %s, should be %s", what, right);
}

static const char *words_of(json_type type)
{
    if (type == JSON_OBJECT)
        return "a mapping";
    if (type == JSON_ARRAY)
        return "a list";
    return type == JSON_STRING ? "a string, in quotes" : "true or false";
}

int kubeconfig_get(const struct kubeconfig_value *object, const char *key, json_type type,
                   struct kubeconfig_value *ret_value, struct err *err)
{
    const struct kubeconfig_value member = kubeconfig_member(object, key);
    bool is_right = !member.value || json_typeof(member.value) == type ||
                    (type == JSON_TRUE && json_is_boolean(member.value));
    if (!is_right)
        return kubeconfig_wrong(&member, words_of(type), err);
    *ret_value = member;
    return 0;
}

/* Whether the item is an object of that name. */
static int judge_item(const struct kubeconfig_value *item, const char *name, bool *ret_is_it,
                      struct err *err)
{
    struct kubeconfig_value its_name = {0};
    if (!json_is_object(item->value))
        return kubeconfig_wrong(item, "a mapping with a name", err);
    int r = kubeconfig_get(item, "name", JSON_STRING, &its_name, err);
    if (r == 0)
        *ret_is_it = its_name.value && strcmp(json_string_value(its_name.value), name) == 0;
    return r;
}

int kubeconfig_find(const struct kubeconfig_file *file, const char *list, const char *name,
                    struct kubeconfig_value *ret_item, struct err *err)
{
    const struct kubeconfig_value root = kubeconfig_root(file);
    struct kubeconfig_value items = {0};
    struct kubeconfig_value found = {0};
    int r = kubeconfig_get(&root, list, JSON_ARRAY, &items, err);
    for (size_t i = 0; r == 0 && i < json_array_size(items.value); i++) {
        const struct kubeconfig_value item = kubeconfig_item(&items, i);
        bool is_it = false;
        r = judge_item(&item, name, &is_it, err);
        if (r == 0 && is_it && found.value)
            return kubeconfig_fault(&item, err, "has the name of %s, should have its own",
                                    found.path);
        if (is_it)
            found = item;
    }
    if (r < 0)
        return r;
    if (!found.value)
        return -ENOENT;
    *ret_item = found;
    return 0;
}

void kubeconfig_add_names(const struct kubeconfig_file *file, const char *list, struct buf *text)
{
    const json_t *items = json_member(file->root, list);
    size_t i = 0;
    const json_t *item = NULL;
    json_array_foreach (items, i, item) {
        const char *name = json_string_value(json_member(item, "name"));
        if (name)
            (void)buf_printf(text, "%s%s", text->len > 0 ? ", " : "", name);
    }
}
