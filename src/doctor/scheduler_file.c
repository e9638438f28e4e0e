/* scheduler_file: see scheduler_checks.h. */
#include "scheduler_checks.h"

#include "base/buf.h"
#include "base/file_watch.h"
#include "formats/json_values.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define KIND "KubeSchedulerConfiguration"
#define FILE_BYTES_MAX ((size_t)1024 * 1024)

static const struct yaml_options YAML_LIMITS = {.max_depth = 32, .max_values = 20000};

static int check_kind(const struct scheduler_file *file, struct err *err)
{
    const struct yaml_value whole = {.path = "file", .value = file->root};
    const struct yaml_value at = {file->root, "kind", "kind", json_member(file->root, "kind")};
    if (!json_is_object(file->root))
        return yaml_fault(&file->yaml, &whole, err, "is %s, should be a " KIND,
                          json_type_text(file->root));
    if (!at.value)
        return yaml_fault(&file->yaml, &whole, err, "has no kind, should be " KIND);
    const char *kind = json_string_value(at.value);
    return kind && strcmp(kind, KIND) == 0 ? 0 : yaml_wrong(&file->yaml, &at, KIND, err);
}

static int read_text(const char *name, struct buf *text, struct err *err)
{
    int r = small_file_read(name, true, text, err);
    if (r == -EFBIG)
        r = err_set(err, EFBIG, "%s: is larger than 1Mi, should be kube-scheduler's configuration",
                    name);
    return r;
}

static int parse(const char *name, const struct buf *text, struct scheduler_file *file,
                 struct err *err)
{
    int r = yaml_read(buf_text(text), text->len, &YAML_LIMITS, &file->root, &file->places, err);
    if (r < 0) {
        err_prefix(err, "%s:", name);
        return r;
    }
    file->yaml.places = file->places;
    return check_kind(file, err);
}

int scheduler_file_read(const char *name, struct scheduler_file *ret_file, struct err *err)
{
    struct scheduler_file file = {.yaml = {.name = name}};
    struct buf text;
    buf_init(&text, FILE_BYTES_MAX);
    int r = read_text(name, &text, err);
    if (r == 0)
        r = parse(name, &text, &file, err);
    buf_fini(&text);
    if (r < 0) {
        scheduler_file_fini(&file);
        return r;
    }
    *ret_file = file;
    return 0;
}

void scheduler_file_fini(struct scheduler_file *file)
{
    json_decref(file->root);
    yaml_places_free(file->places);
    *file = (struct scheduler_file){0};
}

const char *scheduler_text(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

void scheduler_item_place(struct scheduler_item *item, json_t *list, size_t i, const char *format,
                          ...)
{
    va_list args;
    va_start(args, format);
    (void)vsnprintf(item->path, sizeof item->path, format, args);
    va_end(args);
    const size_t len = strlen(item->path);
    (void)snprintf(item->index, sizeof item->index, "%zu", i);
    (void)snprintf(item->path + len, sizeof item->path - len, "[%s]", item->index);
    item->at = (struct yaml_value){list, item->index, item->path, json_array_get(list, i)};
}
