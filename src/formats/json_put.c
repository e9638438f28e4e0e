/* json_put: see include/formats/json_values.h. */
#include "formats/json_values.h"

#include "base/mem.h"
#include "formats/json_parse.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Levels of a tree below which there are no packed values. */
#define PACKED_DEPTH_MAX 5

/* The form of packed texts: that of most answers, so that these have only to be indented. */
#define PACKED_FLAGS JSON_INDENT(1)

/* A packed value is an array of this and its text. Nothing frees it, as jansson's own null. */
static json_t MARK = {JSON_NULL, SIZE_MAX};

struct putting {
    struct buf *out;
    size_t flags;
    size_t depth;
};

static void indent(const struct putting *put)
{
    for (size_t n = put->depth * (put->flags & JSON_MAX_INDENT); n > 0; n--)
        buf_add_text(put->out, " ");
}

/* jansson begins each line with a piece of its own. */
static int add(const char *bytes, size_t len, void *context)
{
    const struct putting *put = context;
    buf_add(put->out, bytes, len);
    if (len == 1 && *bytes == '\n')
        indent(put);
    return put->out->overflowed ? -1 : 0;
}

static void put_plain(const json_t *value, struct putting *put)
{
    if (json_dump_callback(value, add, put, put->flags | JSON_ENCODE_ANY) < 0)
        put->out->overflowed = true;
}

void json_put(const json_t *value, size_t flags, struct buf *out)
{
    struct putting put = {out, flags, 0};
    put_plain(value, &put);
}

/* ---- packed values ---- */

json_t *json_packed(json_t *value)
{
    size_t len = 0;
    char *text CLEANUP(mem_free_ptr) = json_take_text(value, PACKED_FLAGS, &len);
    json_t *packed = json_array();
    (void)json_array_append(packed, &MARK);
    (void)json_array_append_new(packed, json_stringn_nocheck(text, len));
    return packed;
}

static bool is_packed(const json_t *value)
{
    return json_array_get(value, 0) == &MARK;
}

json_t *json_unpacked(const json_t *value)
{
    if (!is_packed(value))
        return json_incref((json_t *)(uintptr_t)value);
    return json_parse_own(json_string_value(json_array_get(value, 1)));
}

// NOLINTNEXTLINE(misc-no-recursion): bounded by the depth
static bool has_packed(const json_t *value, size_t depth)
{
    size_t i = 0;
    const char *key = NULL;
    json_t *inside = NULL;
    bool has = is_packed(value);
    if (depth == PACKED_DEPTH_MAX)
        return has;
    json_array_foreach (value, i, inside)
        has = has || has_packed(inside, depth + 1);
    json_object_foreach ((json_t *)(uintptr_t)value, key, inside)
        has = has || has_packed(inside, depth + 1);
    return has;
}

static void put_line(const char *before, const struct putting *put)
{
    buf_add_text(put->out, before);
    if (put->flags & JSON_MAX_INDENT)
        (void)add("\n", 1, (void *)(uintptr_t)put);
}

static void put_value(json_t *value, struct putting *put);

// NOLINTNEXTLINE(misc-no-recursion): bounded by the depth
static void put_items(json_t *value, struct putting *put)
{
    size_t i = 0;
    const char *key = NULL;
    json_t *inside = NULL;
    const bool is_array = json_is_array(value);
    put->depth++;
    json_array_foreach (value, i, inside) {
        put_line(i > 0 ? "," : "[", put);
        put_value(inside, put);
    }
    json_object_foreach (value, key, inside) {
        json_auto_t *name = json_string(key);
        put_line(i++ > 0 ? "," : "{", put);
        put_plain(name, put);
        buf_add_text(put->out, put->flags & JSON_COMPACT ? ":" : ": ");
        put_value(inside, put);
    }
    put->depth--;
    put_line("", put);
    buf_add_text(put->out, is_array ? "]" : "}");
}

/* Texts of JSON have line ends between values only. */
static void put_lines(const char *text, const struct putting *put)
{
    const char *end = NULL;
    for (; (end = strchr(text, '\n')); text = end + 1) {
        buf_add(put->out, text, (size_t)(end - text) + 1);
        indent(put);
    }
    buf_add_text(put->out, text);
}

static void put_packed(const json_t *packed, struct putting *put)
{
    json_auto_t *whole = put->flags == PACKED_FLAGS ? NULL : json_unpacked(packed);
    if (whole)
        put_plain(whole, put);
    else
        put_lines(json_string_value(json_array_get(packed, 1)), put);
}

/* Frees packed values once they are written, or they would be in memory beside their texts. */
// NOLINTNEXTLINE(misc-no-recursion): bounded by the depth
static void put_value(json_t *value, struct putting *put)
{
    if (is_packed(value)) {
        put_packed(value, put);
        (void)json_array_clear(value);
        mem_give_back();
    } else if (has_packed(value, put->depth)) {
        put_items(value, put);
    } else {
        put_plain(value, put);
    }
}

char *json_take_text(json_t *value, size_t flags, size_t *ret_len)
{
    struct buf text;
    buf_init(&text, BUF_UNBOUNDED);
    struct putting put = {&text, flags, 0};
    put_value(value, &put);
    json_decref(value);
    *ret_len = text.len;
    return buf_take(&text);
}
