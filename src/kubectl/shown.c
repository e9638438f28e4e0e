/* shown: see shown.h. */
#include "shown.h"
#include "base/mem.h"
#include "formats/json_put.h"

#include <ctype.h>
#include <stdint.h>
#include <strings.h>

/* In tables that have a wide form; it is for a query. */
#define WIDE_HINT "?wide=true"

static void add_line(const char *line, size_t len, struct buf *out)
{
    char *copy CLEANUP(mem_free_ptr) = mem_strndup(line, len);
    const char *rest = copy;
    if (strncmp(copy, WIDE_HINT, strlen(WIDE_HINT)) == 0) {
        buf_add_text(out, "--output=wide");
        rest += strlen(WIDE_HINT);
    }
    buf_add_one_line(out, rest);
    buf_add_text(out, "\n");
}

static bool has_small_letter(const char *line, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (islower((unsigned char)line[i]))
            return true;
    }
    return false;
}

void shown_add_table(const char *text, bool has_headings, struct buf *out)
{
    bool begins = true; /* a table may begin with this line */
    while (*text) {
        const size_t len = strcspn(text, "\n");
        const bool is_heading = begins && len > 0 && !has_small_letter(text, len);
        if (has_headings || !is_heading)
            add_line(text, len, out);
        begins = len == 0;
        text += len + (text[len] == '\n');
    }
}

/* Part of JSON, with DEL and C1, which JSON does not escape, escaped. */
static void add_escaped(const char *text, struct buf *out)
{
    for (; *text; text++) {
        const unsigned char *at = (const unsigned char *)text;
        const bool is_c1 = at[0] == 0xc2 && at[1] >= 0x80 && at[1] <= 0x9f;
        if (at[0] == 0x7f || is_c1)
            buf_printf(out, "\\u%04x", is_c1 ? at[1] : at[0]);
        else
            buf_add(out, text, 1);
        text += is_c1;
    }
}

void shown_add_json(const char *text, struct buf *out)
{
    add_escaped(text, out);
    if (out->len == 0 || out->data[out->len - 1] != '\n')
        buf_add_text(out, "\n");
}

/* ---- YAML ---- */

/* Whether no reader of YAML takes the text for anything else than itself. */
static bool is_plain(const char *text)
{
    static const char *const OTHERS[] = {"null", "true", "false", "yes", "no",
                                         "on",   "off",  "y",     "n"};
    const size_t len = strlen(text);
    if (!isalpha((unsigned char)text[0]) || text[len - 1] == ' ')
        return false;
    for (size_t i = 0; i < len; i++) {
        if (!isalnum((unsigned char)text[i]) && !strchr(" ./_-", text[i]))
            return false;
    }
    for (size_t i = 0; i < sizeof OTHERS / sizeof *OTHERS; i++) {
        if (strcasecmp(OTHERS[i], text) == 0)
            return false;
    }
    return true;
}

static void add_scalar(const json_t *value, struct buf *out)
{
    const char *text = json_string_value(value);
    struct buf json;
    if (text && is_plain(text)) {
        buf_add_text(out, text);
        return;
    }
    buf_init(&json, BUF_UNBOUNDED); /* part of the answer */
    json_put(value, JSON_ENCODE_ANY, &json);
    add_escaped(buf_text(&json), out);
    buf_fini(&json);
}

static bool is_nested(const json_t *value)
{
    return json_object_size(value) > 0 || json_array_size(value) > 0;
}

static void add_indent(size_t depth, struct buf *out)
{
    for (size_t i = 0; i < depth; i++)
        buf_add_text(out, "  ");
}

static void add_value(const json_t *value, size_t depth, bool is_in_line, struct buf *out);

/* After "key:" or "-". */
static void add_inner(const json_t *value, size_t depth, bool is_item, struct buf *out)
{
    const bool goes_on = is_item && json_is_object(value);
    if (is_nested(value) && !goes_on) {
        buf_add_text(out, "\n");
        add_value(value, depth, false, out);
        return;
    }
    buf_add_text(out, " ");
    add_value(value, depth, true, out);
}

static void add_members(const json_t *object, size_t depth, bool is_in_line, struct buf *out)
{
    const char *key = NULL;
    json_t *member = NULL;
    /* The iterator of jansson does not change the object. */
    json_object_foreach ((json_t *)(uintptr_t)object, key, member) {
        json_t *name = json_string(key);
        if (!is_in_line)
            add_indent(depth, out);
        is_in_line = false;
        add_scalar(name, out);
        json_decref(name);
        buf_add_text(out, ":");
        add_inner(member, depth + 1, false, out);
    }
}

static void add_value(const json_t *value, size_t depth, bool is_in_line, struct buf *out)
{
    size_t i = 0;
    json_t *item = NULL;
    if (json_object_size(value) > 0) {
        add_members(value, depth, is_in_line, out);
        return;
    }
    if (!is_nested(value)) {
        add_scalar(value, out);
        buf_add_text(out, "\n");
        return;
    }
    json_array_foreach (value, i, item) {
        add_indent(depth, out);
        buf_add_text(out, "-");
        add_inner(item, depth + 1, true, out);
    }
}

void shown_add_yaml(const json_t *value, struct buf *out)
{
    add_value(value, 0, false, out);
}
