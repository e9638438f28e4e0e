/*
 * strings: the functions of strings: CEL's own, and those of cel-go's ext/strings.go, version 2.
 */
#include "functions.h"
#include "lexer.h"
#include "regex.h"

#include <inttypes.h>
#include <string.h>

static const char *find(struct cel_text text, size_t from, struct cel_text part)
{
    if (part.len == 0)
        return text.bytes + from;
    if (from >= text.len)
        return NULL;
    return memmem(text.bytes + from, text.len - from, part.bytes, part.len);
}

static bool starts_with(struct cel_text text, struct cel_text part)
{
    return part.len <= text.len && memcmp(text.bytes, part.bytes, part.len) == 0;
}

static bool ends_with(struct cel_text text, struct cel_text part)
{
    return part.len <= text.len &&
           memcmp(text.bytes + text.len - part.len, part.bytes, part.len) == 0;
}

static struct cel_value change_case(struct cel_run *run, struct cel_text text, bool to_upper)
{
    char *out = cel_take(run, text.len + 1);
    if (!out)
        return cel_stop(run, "too much memory");
    for (size_t i = 0; i < text.len; i++) {
        char c = text.bytes[i];
        bool changes = to_upper ? c >= 'a' && c <= 'z' : c >= 'A' && c <= 'Z';
        out[i] = (char)(changes ? c ^ 0x20 : c);
    }
    return cel_string((struct cel_text){out, text.len});
}

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static struct cel_value trim(struct cel_run *run, struct cel_text text)
{
    while (text.len > 0 && is_blank(text.bytes[0]))
        text = (struct cel_text){text.bytes + 1, text.len - 1};
    while (text.len > 0 && is_blank(text.bytes[text.len - 1]))
        text.len--;
    bool has_other_edge = text.len > 0 && ((unsigned char)text.bytes[0] >= 0x80 ||
                                           (unsigned char)text.bytes[text.len - 1] >= 0x80);
    return has_other_edge ? cel_stop(run, "trims a text that begins or ends beyond ASCII")
                          : cel_string(text);
}

/* The offset of the character i; false: there are fewer. The end counts. */
static bool offset_of(struct cel_text text, int64_t i, size_t *ret)
{
    *ret = 0;
    for (; i > 0 && *ret < text.len; i--)
        (void)cel_utf8_get(text, ret);
    return i == 0;
}

static struct cel_value substring(struct cel_run *run, struct cel_text text, int64_t from,
                                  int64_t to)
{
    size_t first, end;
    if (from > to)
        return cel_error(run, "invalid substring range. start: %" PRId64 ", end: %" PRId64, from,
                         to);
    if (from < 0 || !offset_of(text, from, &first))
        return cel_error(run, "index out of range: %" PRId64, from);
    if (to < 0 || !offset_of(text, to, &end))
        return cel_error(run, "index out of range: %" PRId64, to);
    return cel_string((struct cel_text){text.bytes + first, end - first});
}

static struct cel_value char_at(struct cel_run *run, struct cel_text text, int64_t i)
{
    size_t at;
    if (i < 0 || !offset_of(text, i, &at))
        return cel_error(run, "index out of range: %" PRId64, i);
    size_t end = at;
    if (end < text.len)
        (void)cel_utf8_get(text, &end);
    return cel_string((struct cel_text){text.bytes + at, end - at});
}

static struct cel_value split(struct cel_run *run, struct cel_text text, struct cel_text separator)
{
    if (separator.len == 0)
        return cel_stop(run, "splits at an empty text");
    size_t n = 1;
    for (const char *at = find(text, 0, separator); at; n++)
        at = find(text, (size_t)(at - text.bytes) + separator.len, separator);
    struct cel_value *items = cel_take(run, n * sizeof *items);
    if (!items)
        return cel_stop(run, "too much memory");
    size_t from = 0;
    for (size_t i = 0; i < n; i++) {
        const char *at = i + 1 < n ? find(text, from, separator) : text.bytes + text.len;
        size_t end = (size_t)(at - text.bytes);
        items[i] = cel_string((struct cel_text){text.bytes + from, end - from});
        from = end + separator.len;
    }
    return (struct cel_value){.kind = V_LIST, .list = {items, n}};
}

static struct cel_value replace(struct cel_run *run, struct cel_text text, struct cel_text old,
                                struct cel_text new)
{
    if (old.len == 0)
        return cel_stop(run, "replaces an empty text");
    size_t n = 0;
    for (const char *at = find(text, 0, old); at; n++)
        at = find(text, (size_t)(at - text.bytes) + old.len, old);
    size_t len = text.len - n * old.len + n * new.len;
    char *out = cel_take(run, len + 1);
    if (!out)
        return cel_stop(run, "too much memory");
    size_t from = 0;
    size_t to = 0;
    for (size_t i = 0; i <= n; i++) {
        const char *at = i < n ? find(text, from, old) : text.bytes + text.len;
        size_t part = (size_t)(at - text.bytes) - from;
        memcpy(out + to, text.bytes + from, part);
        to += part;
        from += part + old.len;
        if (i < n) {
            memcpy(out + to, new.bytes, new.len);
            to += new.len;
        }
    }
    return cel_string((struct cel_text){out, len});
}

static struct cel_value index_of(struct cel_text text, struct cel_text part)
{
    const char *at = find(text, 0, part);
    if (!at)
        return cel_int(-1);
    return cel_int(
        (int64_t)cel_utf8_count((struct cel_text){text.bytes, (size_t)(at - text.bytes)}));
}

static struct cel_value join(struct cel_run *run, struct cel_value list, struct cel_text separator)
{
    size_t len = 0;
    for (size_t i = 0; i < list.list.n; i++) {
        if (list.list.items[i].kind != V_STRING)
            return cel_error(run, "join: invalid input: %s", cel_type_name(&list.list.items[i]));
        len += list.list.items[i].text.len + (i > 0 ? separator.len : 0);
    }
    char *out = cel_take(run, len + 1);
    if (!out)
        return cel_stop(run, "too much memory");
    size_t to = 0;
    for (size_t i = 0; i < list.list.n; i++) {
        struct cel_text text = list.list.items[i].text;
        if (i > 0)
            memcpy(out + to, separator.bytes, separator.len);
        to += i > 0 ? separator.len : 0;
        memcpy(out + to, text.bytes, text.len);
        to += text.len;
    }
    return cel_string((struct cel_text){out, len});
}

static struct cel_value matches(struct cel_run *run, const struct cel_node *node,
                                const struct cel_value *args)
{
    if (args[0].kind != V_STRING)
        return cel_error(run, "no such overload: matches");
    if (args[1].kind != V_STRING)
        return cel_error(run, "no such overload");
    const struct cel_regex *regex = node->regex;
    if (!regex) {
        enum cel_verdict verdict;
        if (!cel_spend(run, args[1].text.len) || !cel_take(run, 100 * args[1].text.len + 1000))
            return cel_stop(run, "too much work");
        regex = cel_regex_compile(args[1].text, run->arena, &verdict);
        if (verdict == CEL_INVALID)
            return cel_error(run, "error parsing regexp");
        if (verdict == CEL_NOT_JUDGED || !cel_take(run, 32 * cel_regex_size(regex)))
            return cel_stop(run, "has a pattern that is not judged");
    }
    size_t work = cel_regex_size(regex) * (args[0].text.len + 1);
    if (!cel_spend(run, work / 10 + 1) || !cel_take(run, 48 * cel_regex_size(regex)))
        return cel_stop(run, "too much work");
    return cel_bool(cel_regex_match(regex, args[0].text, run->arena));
}

#define ARGS struct cel_run *run, const struct cel_node *node, const struct cel_value *args

static struct cel_value call_case(ARGS)
{
    return change_case(run, args[0].text, node->function == F_UPPER);
}

static struct cel_value call_trim(ARGS)
{
    (void)node;
    return trim(run, args[0].text);
}

/* contains, startsWith, endsWith, indexOf. */
static struct cel_value call_search(ARGS)
{
    (void)run;
    if (node->function == F_STARTS_WITH)
        return cel_bool(starts_with(args[0].text, args[1].text));
    if (node->function == F_ENDS_WITH)
        return cel_bool(ends_with(args[0].text, args[1].text));
    if (node->function == F_CONTAINS)
        return cel_bool(find(args[0].text, 0, args[1].text) != NULL);
    return index_of(args[0].text, args[1].text);
}

static struct cel_value call_split(ARGS)
{
    (void)node;
    return split(run, args[0].text, args[1].text);
}

static struct cel_value call_replace(ARGS)
{
    (void)node;
    return replace(run, args[0].text, args[1].text, args[2].text);
}

static struct cel_value call_substring(ARGS)
{
    int64_t end = node->n_args == 3 ? args[2].integer : (int64_t)cel_utf8_count(args[0].text);
    bool is_past_end = args[1].integer > end && node->n_args == 2;
    return is_past_end ? cel_error(run, "index out of range: %" PRId64, args[1].integer)
                       : substring(run, args[0].text, args[1].integer, end);
}

static struct cel_value call_char_at(ARGS)
{
    (void)node;
    return char_at(run, args[0].text, args[1].integer);
}

static struct cel_value call_join(ARGS)
{
    return join(run, args[0], node->n_args == 2 ? args[1].text : (struct cel_text){"", 0});
}

static struct cel_value call_unknown_form(ARGS)
{
    (void)args;
    return cel_stop(run, "uses %.*s() in a form that is not known here", (int)node->name.len,
                    node->name.bytes);
}

/* The kinds of the arguments: s string, i int, l list, ? any. */
static bool has_kinds(const struct cel_node *node, const struct cel_value *args, const char *kinds)
{
    if (strlen(kinds) != node->n_args)
        return false;
    for (size_t i = 0; kinds[i]; i++) {
        enum cel_value_kind kind = kinds[i] == 's' ? V_STRING : kinds[i] == 'i' ? V_INT : V_LIST;
        if (kinds[i] != '?' && args[i].kind != kind)
            return false;
    }
    return true;
}

struct cel_value cel_string_call(struct cel_run *run, const struct cel_node *node,
                                 const struct cel_value *args)
{
    static const struct {
        enum cel_function function;
        const char *kinds;
        struct cel_value (*call)(ARGS);
    } CALLS[] = {
        {F_MATCHES, "??", matches},
        {F_LOWER, "s", call_case},
        {F_UPPER, "s", call_case},
        {F_TRIM, "s", call_trim},
        {F_STARTS_WITH, "ss", call_search},
        {F_ENDS_WITH, "ss", call_search},
        {F_CONTAINS, "ss", call_search},
        {F_INDEX_OF, "ss", call_search},
        {F_SPLIT, "ss", call_split},
        {F_REPLACE, "sss", call_replace},
        {F_SUBSTRING, "si", call_substring},
        {F_SUBSTRING, "sii", call_substring},
        {F_CHAR_AT, "si", call_char_at},
        {F_JOIN, "l", call_join},
        {F_JOIN, "ls", call_join},
        {F_SPLIT, "ssi", call_unknown_form},
        {F_INDEX_OF, "ssi", call_unknown_form},
        {F_INDEX_OF, "l?", call_unknown_form},
        {F_REPLACE, "sssi", call_unknown_form},
    };
    if (!cel_spend(run, args[0].kind == V_STRING ? args[0].text.len / 4 : 1))
        return cel_stop(run, "too much work");
    for (size_t i = 0; i < sizeof CALLS / sizeof CALLS[0]; i++)
        if ((int)CALLS[i].function == node->function && has_kinds(node, args, CALLS[i].kinds))
            return CALLS[i].call(run, node, args);
    return cel_no_overload(run, node, args);
}
