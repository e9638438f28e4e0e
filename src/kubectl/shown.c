/* shown: see verbs.h. */
#include "api/tables.h"
#include "base/mem.h"
#include "formats/json_values.h"
#include "verbs.h"

#include <ctype.h>
#include <stdint.h>
#include <strings.h>

/* What answers call parameters of a query, and the options for them. */
static const struct {
    const char *parameter, *option;
} OPTIONS[] = {{"?wide=true", "--output=wide"},
               {"?model", "--model"},
               {"?namespace", "--namespace"},
               {"?labelSelector", "--selector"},
               {"?claimSelector", "--selector"}};

#define BOLD "\x1b[1m"
#define PLAIN "\x1b[0m"

/* Verdicts begin a line, and two spaces follow. */
static const struct {
    const char *word, *colour;
} VERDICTS[] = {{"FITS", "\x1b[32m"},         {"PARTLY FITS", "\x1b[33m"},
                {"DOES NOT FIT", "\x1b[31m"}, {"NOT JUDGED", "\x1b[90m"},
                {"MISTAKE", "\x1b[31m"},      {"WAITS", "\x1b[33m"}};

/* Adds the verdict in its colour, and returns its length; 0: the line begins with none. */
static size_t add_verdict(const char *line, struct buf *out)
{
    for (size_t i = 0; i < sizeof VERDICTS / sizeof *VERDICTS; i++) {
        const size_t len = strlen(VERDICTS[i].word);
        if (strncmp(line, VERDICTS[i].word, len) != 0 || strncmp(line + len, "  ", 2) != 0)
            continue;
        buf_printf(out, "%s%s" PLAIN, VERDICTS[i].colour, VERDICTS[i].word);
        return len;
    }
    return 0;
}

/* The line with options for parameters. */
static void add_in_options(const char *line, struct buf *out)
{
    const char *at = NULL;
    size_t i = 0;
    for (; i < sizeof OPTIONS / sizeof *OPTIONS && !at; i++)
        at = strstr(line, OPTIONS[i].parameter);
    if (!at) {
        buf_add_one_line(out, line);
        return;
    }
    char *before CLEANUP(mem_free_ptr) = mem_strndup(line, (size_t)(at - line));
    buf_add_one_line(out, before);
    buf_add_text(out, OPTIONS[i - 1].option);
    buf_add_one_line(out, at + strlen(OPTIONS[i - 1].parameter));
}

static void add_line(const char *line, size_t len, const struct shown_style *style, struct buf *out)
{
    char *copy CLEANUP(mem_free_ptr) = mem_strndup(line, len);
    struct buf text;
    buf_init(&text, BUF_UNBOUNDED); /* a line of a bounded answer */
    add_in_options(copy, &text);
    const size_t n_shown = style->has_colour ? add_verdict(buf_text(&text), out) : 0;
    buf_add_text(out, buf_text(&text) + n_shown);
    buf_fini(&text);
}

static void add_heading(const char *line, size_t len, const struct shown_style *style,
                        struct buf *out)
{
    if (!style->has_headings)
        return;
    buf_add_text(out, style->has_colour ? BOLD : "");
    add_line(line, len, style, out);
    buf_add_text(out, style->has_colour ? PLAIN "\n" : "\n");
}

void shown_add_table(const char *text, const struct shown_style *style, struct buf *out)
{
    while (*text) {
        const size_t len = strcspn(text, "\n");
        if (*text == TABLES_HEADING) {
            add_heading(text + 1, len - 1, style, out);
        } else {
            add_line(text, len, style, out);
            buf_add_text(out, "\n");
        }
        text += len + (text[len] == '\n');
    }
}

/* YAML has no surrogate pairs (YAML 1.2, section 5.7). */
static void add_yaml_escape(struct buf *out, unsigned code)
{
    buf_printf(out, code > 0xffff ? "\\U%08x" : "\\u%04x", code);
}

/* Part of JSON, with the hidden characters that JSON does not escape escaped by add_escape(). */
static void add_escaped(const char *text, void (*add_escape)(struct buf *, unsigned),
                        struct buf *out)
{
    while (*text) {
        unsigned code = 0;
        const size_t len = buf_control(text, &code);
        if (len > 0 && code > ' ')
            add_escape(out, code);
        else
            buf_add(out, text, 1);
        text += len > 0 ? len : 1;
    }
}

void shown_add_json(const char *text, struct buf *out)
{
    add_escaped(text, buf_add_escape, out);
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
    add_escaped(buf_text(&json), add_yaml_escape, out);
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
