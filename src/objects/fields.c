/* fields: see fields.h. */
#include "fields.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "formats/json_values.h"
#include "types/quantity.h"

#include <float.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- quoted ---- */

#define SHOWN_BYTES_MAX 60
/* Each byte may become \u0000, plus the quotes. */
#define QUOTED_BYTES_MAX (SHOWN_BYTES_MAX * 6 + 2)

const char *quoted_plain(struct arena *arena, const char *text)
{
    size_t len = strnlen(text, SHOWN_BYTES_MAX + 1);
    if (len <= SHOWN_BYTES_MAX)
        return arena_strdup(arena, text);
    len = SHOWN_BYTES_MAX;
    while (len > 0 && ((unsigned char)text[len] & 0xc0) == 0x80)
        len--;
    return arena_printf(arena, "%.*s...", (int)len, text);
}

const char *quoted(struct arena *arena, const char *text)
{
    struct buf out;
    buf_init(&out, QUOTED_BYTES_MAX + 3);
    buf_add_quoted(&out, quoted_plain(arena, text));
    const char *copy = arena_strdup(arena, buf_text(&out));
    buf_fini(&out);
    return copy;
}

/* ---- element ---- */

static int wrong_type(const char *name, size_t index, const json_t *value, const char *right,
                      struct err *err)
{
    return err_set(err, EINVAL, "%s[%zu]: is %s, should be %s", name, index, json_type_text(value),
                   right);
}

int element_object(const json_t *array, size_t index, const char *name, json_t **ret_object,
                   struct err *err)
{
    json_t *value = json_array_get(array, index);
    if (!value || json_is_null(value))
        return 0;
    if (!json_is_object(value))
        return wrong_type(name, index, value, "an object", err);
    *ret_object = value;
    return 0;
}

int element_string(const json_t *array, size_t index, const char *name, const char **ret_text,
                   struct err *err)
{
    const json_t *value = json_array_get(array, index);
    if (!value || json_is_null(value))
        return 0;
    if (!json_is_string(value))
        return wrong_type(name, index, value, "a string", err);
    *ret_text = json_string_value(value);
    return 0;
}

/* ---- label map ---- */

static int compare_keys(const void *a, const void *b)
{
    return strcmp(((const struct label *)a)->key, ((const struct label *)b)->key);
}

int label_map_read(const json_t *object, const char *member, struct arena *arena,
                   struct label_map *ret_map, struct err *err)
{
    json_t *values = NULL;
    int r = json_get_object(object, member, &values, err);
    if (r < 0)
        return r;
    struct label_map map = {ARENA_ARRAY(arena, struct label, json_object_size(values)), 0};
    const char *key = NULL;
    json_t *value = NULL;
    json_object_foreach (values, key, value) {
        if (!json_is_string(value) && !json_is_null(value))
            return err_set(err, EINVAL, "%s[%s]: is %s, should be a string", member,
                           quoted(arena, key), json_type_text(value));
        const char *text = json_is_string(value) ? json_string_value(value) : "";
        map.labels[map.n++] = (struct label){arena_strdup(arena, key), arena_strdup(arena, text)};
    }
    if (map.n > 1)
        qsort(map.labels, map.n, sizeof *map.labels, compare_keys);
    *ret_map = map;
    return 0;
}

/* ---- meta ---- */

int meta_name(const json_t *object, const char *member, struct arena *arena, const char **ret_name,
              struct err *err)
{
    const char *text = "";
    int r = json_get_string(object, member, &text, err);
    if (r < 0)
        return r;
    size_t len = strlen(text);
    if (len > META_NAME_BYTES_MAX)
        return err_set(err, EINVAL, "%s: is %zu bytes long, should be at most %d", member, len,
                       META_NAME_BYTES_MAX);
    if (len > 0)
        *ret_name = arena_strdup(arena, text);
    return 0;
}

int64_t meta_time_s(const char *text)
{
    int64_t seconds = 0;
    (void)text_time_read(text, &seconds);
    return seconds;
}

/* ---- quantity json ---- */

static void write_real(double real, char *ret_text)
{
    int n_digits = DBL_DIG;
    do
        (void)snprintf(ret_text, QUANTITY_JSON_NUMBER_BYTES, "%.*g", n_digits++, real);
    while (n_digits <= DBL_DECIMAL_DIG && strtod(ret_text, NULL) != real);
}

int quantity_json_text(const json_t *value, char *number, const char **ret_text, struct err *err)
{
    if (json_is_real(value)) {
        write_real(json_real_value(value), number);
        *ret_text = number;
        return 0;
    }
    if (json_is_integer(value)) {
        (void)snprintf(number, QUANTITY_JSON_NUMBER_BYTES, "%" JSON_INTEGER_FORMAT,
                       json_integer_value(value));
        *ret_text = number;
        return 0;
    }
    if (!json_is_string(value))
        return err_set(err, EINVAL, "is %s, should be a quantity such as \"4\" or \"16Gi\"",
                       json_type_text(value));
    *ret_text = json_string_value(value);
    return 0;
}

static int measure(const char *text, const char *resource, int64_t *ret_amount, struct err *err)
{
    if (strcmp(resource, "cpu") == 0)
        return quantity_milli(text, ret_amount, err);
    return quantity_value(text, ret_amount, err);
}

int quantity_json_amount(const json_t *value, const char *resource, int64_t *ret_amount,
                         struct err *err)
{
    char number[QUANTITY_JSON_NUMBER_BYTES];
    const char *text = "";
    int r = quantity_json_text(value, number, &text, err);
    if (r < 0)
        return r;
    int64_t amount = 0;
    r = measure(text, resource, &amount, err);
    bool negative = amount < 0 || (r == -ERANGE && *text == '-');
    if (negative)
        return err_set(err, EINVAL, "\"%.40s\" is negative", text);
    if (r < 0)
        return r;
    *ret_amount = amount;
    return 0;
}

/* ---- lines ---- */

void lines_add(struct lines *lines, const char *format, ...)
{
    if (lines->n++ >= LINES_MAX)
        return;
    va_list args;
    va_start(args, format);
    char *text CLEANUP(mem_free_ptr) = NULL;
    int len = vasprintf(&text, format, args);
    va_end(args);
    if (len < 0)
        abort();
    lines->items[lines->n - 1] = arena_strdup(lines->arena, text);
}

struct text_list lines_list(struct lines *lines)
{
    size_t n = lines->n < LINES_MAX ? lines->n : LINES_MAX;
    if (lines->n > LINES_MAX)
        lines->items[n - 1] = arena_printf(lines->arena, "and %zu more", lines->n - n + 1);
    return (struct text_list){arena_copy(lines->arena, lines->items, n, sizeof *lines->items), n};
}
