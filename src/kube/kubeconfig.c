/* kubeconfig: see kubeconfig.h. Source: Kubernetes, "Organizing Cluster Access Using kubeconfig
 * Files", the rules of merging. */
#include "kubeconfig.h"

#include "base/mem.h"
#include "kubeconfig_fields.h"

#include <stdlib.h>
#include <string.h>

#define FILES_MAX 32

/* The files in hand. */
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
        (void)buf_add_text(&names, "(there is none)");
    return buf_take(&names);
}

/* -ENOENT without a message: no file has it. */
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

/* The item of "contexts" by that name, or the current one. */
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

/* What a context names: the member `key` ("cluster") of an item of the list. Its value is not there
 * where the context names none. */
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
    buf_init(&source, ERR_TEXT_MAX);
    (void)buf_printf(&source, "kubeconfig %s, context %s", context->file->path,
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

/* Fills files; n_files grows also where a later one cannot be read. */
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
        r = err_set(err, ENOENT, "KUBECONFIG: none of its files is there: %s", paths);
    else if (r == 0)
        r = kubeconfig_choose(files, n_files, context, ret_target, err);
    for (size_t i = 0; i < n_files; i++)
        kubeconfig_file_fini(&files[i]);
    return r;
}
