/* text: see text.h. */
#include "api/text.h"
#include "api/table.h"
#include "api/tables.h"
#include "base/buf.h"
#include "base/clock.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *text_member(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

const char *text_number(const json_t *object, const char *key, struct arena *arena)
{
    const json_t *value = json_object_get(object, key);
    if (!json_is_integer(value))
        return "";
    return arena_printf(arena, "%lld", (long long)json_integer_value(value));
}

const char *text_decimal(const json_t *object, const char *key, struct arena *arena)
{
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? arena_printf(arena, "%.3f", json_number_value(value)) : "";
}

const char *text_change(const json_t *before, const json_t *after, const char *key,
                        struct arena *arena)
{
    const char *was = text_number(before, key, arena);
    const char *is = text_number(after, key, arena);
    return strcmp(was, is) == 0
               ? was
               : arena_printf(arena, "%s -> %s", was[0] ? was : "-", is[0] ? is : "-");
}

const char *text_pod(const json_t *pod, struct arena *arena)
{
    return arena_printf(arena, "%s/%s", text_member(pod, "namespace"), text_member(pod, "name"));
}

const char *text_domain(const json_t *domain, struct arena *arena)
{
    const char *within = text_member(domain, "within");
    return arena_printf(arena, "%s%s%s", within, within[0] ? "/" : "", text_member(domain, "name"));
}

const char *text_cores(int64_t milli, struct arena *arena)
{
    const int64_t tenths = milli / 100;
    return tenths % 10 ? arena_printf(arena, "%.1f", (double)tenths / 10)
                       : arena_printf(arena, "%" PRId64, tenths / 10);
}

const char *text_gib(int64_t bytes, struct arena *arena)
{
    const int64_t mib = bytes >> 20;
    if (mib < 1024)
        return mib > 0 ? arena_printf(arena, "%" PRId64 "Mi", mib) : "0";
    return arena_printf(arena, "%" PRId64 "Gi", mib >> 10);
}

const char *text_age(int64_t seconds, struct arena *arena)
{
    const int64_t minutes = seconds / 60;
    const int64_t hours = minutes / 60;
    if (minutes == 0)
        return arena_printf(arena, "%" PRId64 "s", seconds);
    if (hours == 0)
        return arena_printf(arena, "%" PRId64 "m", minutes);
    if (hours < 24)
        return arena_printf(arena, "%" PRId64 "h%" PRId64 "m", hours, minutes % 60);
    return arena_printf(arena, "%" PRId64 "d%" PRId64 "h", hours / 24, hours % 24);
}

bool text_names_are_full(const struct name_list *shown)
{
    return shown->n >= TEXT_NAMES_SHOWN;
}

void text_names_add(struct name_list *shown, const char *name, struct arena *arena)
{
    if (!text_names_are_full(shown))
        shown->text = arena_printf(arena, "%s%s%s", shown->text, shown->text[0] ? ", " : "", name);
    shown->n++;
}

const char *text_names(const struct name_list *shown, struct arena *arena)
{
    if (shown->n <= TEXT_NAMES_SHOWN)
        return shown->text;
    return arena_printf(arena, "%s and %zu more", shown->text, shown->n - TEXT_NAMES_SHOWN);
}

const char *text_first(const char *first, size_t n, struct arena *arena)
{
    return n > 1 ? arena_printf(arena, "%s and %zu more", first, n - 1) : first;
}

#define REPORTS_SHOWN ((size_t)12)

/* Returns how many lines the node has. */
static size_t add_reports(struct table *table, const json_t *node, const char *name, size_t room,
                          struct arena *arena)
{
    static const char *const LISTS[][2] = {{"conditions", ""}, {"deviceTaints", "device taint: "}};
    const char *mark = text_member(node, "quarantineBecause");
    size_t n = mark[0] ? 1 : 0;
    if (n > 0 && room > 0)
        table_add(table, (const char *[]){text_member(node, name), mark});
    for (size_t i = 0; i < sizeof LISTS / sizeof *LISTS; i++) {
        size_t k = 0;
        json_t *line = NULL;
        json_array_foreach (json_object_get(node, LISTS[i][0]), k, line) {
            if (n++ < room)
                table_add(table, (const char *[]){text_member(node, name),
                                                  arena_printf(arena, "%s%s", LISTS[i][1],
                                                               json_string_value(line))});
        }
    }
    return n;
}

void text_write_reports(const json_t *nodes, const char *name, bool wide, struct arena *arena,
                        struct buf *out)
{
    static const char *const HEADINGS[] = {"NODE", "REPORTED", NULL};
    const size_t room = wide ? SIZE_MAX : REPORTS_SHOWN;
    struct table *table = table_new(arena, wide, HEADINGS);
    size_t n = 0;
    size_t i = 0;
    json_t *node = NULL;
    json_array_foreach (nodes, i, node)
        n += add_reports(table, node, name, n < room ? room - n : 0, arena);
    if (n == 0)
        return;
    buf_add_text(out, "\n");
    table_write(table, out);
    if (n > room)
        buf_printf(out, "%zu more are not shown; ?wide=true lists all.\n", n - room);
}

const char *text_one_line(const char *text, struct arena *arena)
{
    struct buf line;
    buf_init(&line, BUF_UNBOUNDED); /* at most three times the text */
    buf_add_one_line(&line, text);
    const char *copy = arena_strdup(arena, buf_text(&line));
    buf_fini(&line);
    return copy;
}

size_t text_place(const char *fault, size_t *ret_line, size_t *ret_column)
{
    char *end = NULL;
    if (!isdigit((unsigned char)fault[0]))
        return 0;
    *ret_line = strtoul(fault, &end, 10);
    if (end[0] != ':' || !isdigit((unsigned char)end[1]))
        return 0;
    *ret_column = strtoul(&end[1], &end, 10);
    return end[0] == ':' ? (size_t)(end - fault) + 1 : 0;
}

/* Where it is within the fault; NULL: it has none. */
static const char *place_in(const char *fault, size_t *ret_line, size_t *ret_column,
                            size_t *ret_len)
{
    for (const char *at = fault; at; at = strchr(at, ' '), at = at ? at + 1 : NULL) {
        *ret_len = text_place(at, ret_line, ret_column);
        if (*ret_len > 0)
            return at;
    }
    return NULL;
}

void tables_write_mistake(const char *fault, struct arena *arena, struct buf *out)
{
    static const char WORD[] = "MISTAKE  ";
    size_t line = 0;
    size_t column = 0;
    size_t len = 0;
    const char *place = place_in(fault, &line, &column, &len);
    const char *text = fault;
    if (place) {
        const size_t n_name = place > fault + 1 ? (size_t)(place - fault) - strlen(": ") : 0;
        text =
            arena_printf(arena, "%.*s%sline %zu", (int)n_name, fault, n_name > 0 ? ", " : "", line);
        if (line == 1 && column > 1)
            text = arena_printf(arena, "%s, column %zu", text, column);
        text = arena_printf(arena, "%s:%s", text, place + len);
    }
    table_write_line(arena_printf(arena, "%s%s", WORD, text), 0, strlen(WORD), out);
}

void text_write_warnings(const json_t *answer, struct arena *arena, struct buf *out)
{
    size_t i = 0;
    json_t *warning = NULL;
    json_array_foreach (json_object_get(answer, "warnings"), i, warning) {
        const char *text = arena_printf(arena, "warning: %s: %s", text_member(warning, "path"),
                                        text_member(warning, "message"));
        if (json_object_get(warning, "line"))
            text = arena_printf(arena, "%s (line %s)", text, text_number(warning, "line", arena));
        table_write_line(text, 0, TABLE_MORE, out);
    }
}

void text_write_list(const json_t *list, const char *beginning, struct arena *arena,
                     struct buf *out)
{
    size_t i = 0;
    json_t *item = NULL;
    json_array_foreach (list, i, item) {
        if (json_is_string(item))
            table_write_line(arena_printf(arena, "%s%s", beginning, json_string_value(item)), 0,
                             TABLE_MORE, out);
    }
}

const char *text_moment(int64_t at_ms, struct arena *arena)
{
    char seconds[TEXT_TIME_SIZE];
    const size_t len = strlen(text_time(at_ms / 1000, seconds));
    return arena_printf(arena, "%.*s.%03dZ", len > 0 ? (int)len - 1 : 0, seconds,
                        (int)(at_ms % 1000));
}
