/* yaml_fault: see include/formats/yaml_fault.h. */
#include "formats/yaml_fault.h"

#include "formats/json_get.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

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
