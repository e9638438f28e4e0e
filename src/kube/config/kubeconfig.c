/* kubeconfig: see kubeconfig.h. Source: Kubernetes, "Organizing Cluster Access Using kubeconfig
 * Files", the rules of merging. */
#include "kubeconfig.h"

#include "base/file_watch.h"
#include "base/mem.h"
#include "config_priv.h"
#include "formats/json_values.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILES_MAX 32
#define FILE_BYTES_MAX ((size_t)1024 * 1024)

/* ---- one file ---- */

static const struct yaml_options YAML_LIMITS = {.max_depth = 32, .max_values = 50000};

static char *folder_of(const char *path)
{
    struct buf folder;
    buf_init(&folder, BUF_UNBOUNDED);
    const char *slash = strrchr(path, '/');
    if (path[0] != '/') {
        char *here = getcwd(NULL, 0);
        buf_printf(&folder, "%s%s", here ? here : "", slash ? "/" : "");
        free(here);
    }
    buf_add(&folder, path, slash ? (size_t)(slash - path) : 0);
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

/* Whether the item is an object with that name. */
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
        if (r == 0 && is_it && found.value) {
            (void)kubeconfig_fault(&item, err, "has the same name as %s, should be unique",
                                   found.path);
            return -EINVAL;
        }
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
            buf_printf(text, "%s%s", text->len > 0 ? ", " : "", name);
    }
}

/* ---- the files of a list ---- */

/* The files that were read. */
struct merged {
    const struct kubeconfig_file *files;
    size_t n_files;
};

static char *names_of(const struct merged *merged, const char *list)
{
    struct buf names;
    buf_init(&names, ERR_TEXT_MAX / 2);
    for (size_t i = 0; i < merged->n_files; i++)
        kubeconfig_add_names(&merged->files[i], list, &names);
    if (names.len == 0)
        buf_add_text(&names, "(there is none)");
    return buf_take(&names);
}

/* -ENOENT without a message: in no file. */
static int find_entry(const struct merged *merged, const char *list, const char *name,
                      struct kubeconfig_value *ret_item, struct err *err)
{
    int r = -ENOENT;
    for (size_t i = 0; r == -ENOENT && i < merged->n_files; i++)
        r = kubeconfig_find(&merged->files[i], list, name, ret_item, err);
    return r;
}

static int find_current_context(const struct merged *merged, struct kubeconfig_value *ret_name,
                                struct err *err)
{
    for (size_t i = 0; i < merged->n_files; i++) {
        const struct kubeconfig_value root = kubeconfig_root(&merged->files[i]);
        int r = kubeconfig_get(&root, "current-context", JSON_STRING, ret_name, err);
        if (r < 0 || ret_name->value)
            return r;
    }
    const struct kubeconfig_value root = kubeconfig_root(&merged->files[0]);
    const struct kubeconfig_value nowhere = kubeconfig_member(&root, "current-context");
    char *names CLEANUP(mem_free_ptr) = names_of(merged, "contexts");
    (void)kubeconfig_fault(&nowhere, err, "is missing, should be one of the contexts: %s", names);
    return -EINVAL;
}

static int no_such_context(const struct merged *merged, const char *name,
                           const struct kubeconfig_value *at, struct err *err)
{
    char *names CLEANUP(mem_free_ptr) = names_of(merged, "contexts");
    if (at)
        (void)kubeconfig_fault(at, err, "is \"%s\", should be one of the contexts: %s", name,
                               names);
    else
        (void)err_set(err, EINVAL, "%s: has no context \"%s\", should be one of: %s",
                      merged->files[0].path, name, names);
    return -EINVAL;
}

/* Returns the item of "contexts" with that name, or the current one. */
static int find_context(const struct merged *merged, const char *wanted,
                        struct kubeconfig_value *ret_item, struct err *err)
{
    struct kubeconfig_value current = {0};
    const char *name = wanted;
    int r = wanted ? 0 : find_current_context(merged, &current, err);
    if (r < 0)
        return r;
    if (!wanted)
        name = json_string_value(current.value);
    r = find_entry(merged, "contexts", name, ret_item, err);
    return r == -ENOENT ? no_such_context(merged, name, wanted ? NULL : &current, err) : r;
}

/* Returns the object that the context refers to by `key` ("cluster"), from the list. Its value is
 * NULL if the context has no such key. */
static int follow(const struct merged *merged, const struct kubeconfig_value *context,
                  const char *key, const char *list, struct kubeconfig_value *ret_object,
                  struct err *err)
{
    struct kubeconfig_value name = {0};
    struct kubeconfig_value item = {0};
    int r = kubeconfig_get(context, key, JSON_STRING, &name, err);
    if (r < 0 || !name.value) {
        *ret_object = name;
        return r;
    }
    const char *text = json_string_value(name.value);
    r = find_entry(merged, list, text, &item, err);
    if (r == -ENOENT) {
        char *names CLEANUP(mem_free_ptr) = names_of(merged, list);
        return kubeconfig_fault(&name, err, "is \"%s\", should be one of the %s: %s", text, list,
                                names);
    }
    return r < 0 ? r : kubeconfig_get(&item, key, JSON_OBJECT, ret_object, err);
}

static int read_target(const struct merged *merged, const struct kubeconfig_value *item,
                       struct kube_target *target, struct err *err)
{
    struct kubeconfig_value context = {0};
    struct kubeconfig_value cluster = {0};
    struct kubeconfig_value user = {0};
    int r = kubeconfig_get(item, "context", JSON_OBJECT, &context, err);
    if (r == 0)
        r = follow(merged, &context, "cluster", "clusters", &cluster, err);
    if (r == 0 && !cluster.value)
        r = kubeconfig_wrong(&cluster, "a cluster", err);
    if (r == 0)
        r = kubeconfig_read_cluster(&cluster, target, err);
    if (r == 0)
        r = follow(merged, &context, "user", "users", &user, err);
    return r < 0 ? r : kubeconfig_read_user(&user, target, err);
}

static char *source_of(const struct kubeconfig_value *context)
{
    const struct kubeconfig_value name = kubeconfig_member(context, "name");
    struct buf source;
    buf_init(&source, BUF_UNBOUNDED);
    buf_printf(&source, "kubeconfig %s, context %s", context->file->path,
               json_string_value(name.value));
    return buf_take(&source);
}

int kubeconfig_choose(const struct kubeconfig_file *files, size_t n_files, const char *context,
                      struct kube_target *ret_target, struct err *err)
{
    const struct merged merged = {files, n_files};
    struct kube_target target = {0};
    struct kubeconfig_value item = {0};
    int r = find_context(&merged, context, &item, err);
    if (r == 0)
        r = read_target(&merged, &item, &target, err);
    if (r < 0) {
        kube_target_fini(&target);
        return r;
    }
    target.source = source_of(&item);
    *ret_target = target;
    return 0;
}

int kubeconfig_read_one(const char *path, const char *context, struct kube_target *ret_target,
                        struct err *err)
{
    struct kubeconfig_file file;
    int r = kubeconfig_file_read(path, &file, err);
    if (r < 0)
        return r;
    r = kubeconfig_choose(&file, 1, context, ret_target, err);
    kubeconfig_file_fini(&file);
    return r;
}

/* n_files counts the files read, also on failure; the caller frees them. */
static int read_files(const char *paths, struct kubeconfig_file *files, size_t *n_files,
                      struct err *err)
{
    int r = 0;
    for (const char *p = paths; r == 0 && *p; p += strspn(p, ":")) {
        size_t len = strcspn(p, ":");
        char *path CLEANUP(mem_free_ptr) = mem_strndup(p, len);
        p += len;
        if (len == 0)
            continue;
        if (*n_files == FILES_MAX)
            return err_set(err, EINVAL, "KUBECONFIG: names more than %d files", FILES_MAX);
        r = kubeconfig_file_read(path, &files[*n_files], err);
        *n_files += r == 0;
        r = r == -ENOENT ? 0 : r;
    }
    return r;
}

int kubeconfig_read_list(const char *paths, const char *context, struct kube_target *ret_target,
                         struct err *err)
{
    struct kubeconfig_file files[FILES_MAX];
    size_t n_files = 0;
    int r = read_files(paths, files, &n_files, err);
    if (r == 0 && n_files == 0)
        r = err_set(err, ENOENT, "KUBECONFIG: none of its files exists: %s", paths);
    else if (r == 0)
        r = kubeconfig_choose(files, n_files, context, ret_target, err);
    for (size_t i = 0; i < n_files; i++)
        kubeconfig_file_fini(&files[i]);
    return r;
}
