/*
 * regex_class: classes and escapes of patterns (Go's regexp/syntax).
 */
#include "regex_priv.h"

#include <stdlib.h>
#include <string.h>

#define LONG_S 0x17fU
#define KELVIN 0x212aU

static void add(struct regex_parser *parser, struct regex_class *class, uint32_t from, uint32_t to)
{
    class->ranges =
        arena_grow(parser->arena, class->ranges, class->n, &class->size, sizeof *class->ranges);
    class->ranges[class->n++] = (struct regex_range){from, to};
}

static bool is_ascii_letter(uint32_t c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

void cel_regex_add_range(struct regex_parser *parser, struct regex_class *class, uint32_t from,
                         uint32_t to)
{
    add(parser, class, from, to);
    if (!parser->fold_case)
        return;
    if (to > 0x7f) {
        (void)cel_regex_fail(parser, CEL_NOT_JUDGED);
        return;
    }
    for (uint32_t c = from; c <= to; c++) {
        if (!is_ascii_letter(c))
            continue;
        add(parser, class, c ^ 0x20, c ^ 0x20);
        if ((c | 0x20) == 'k')
            add(parser, class, KELVIN, KELVIN);
        if ((c | 0x20) == 's')
            add(parser, class, LONG_S, LONG_S);
    }
}

static int by_start(const void *a, const void *b)
{
    const struct regex_range *left = (const struct regex_range *)a;
    const struct regex_range *right = (const struct regex_range *)b;
    return left->from < right->from ? -1 : left->from > right->from;
}

static void negate(struct regex_parser *parser, struct regex_class *class)
{
    struct regex_class out = {0};
    uint32_t next = 0;
    if (class->n > 0)
        qsort(class->ranges, class->n, sizeof *class->ranges, by_start);
    for (size_t i = 0; i < class->n; i++) {
        if (class->ranges[i].from > next)
            add(parser, &out, next, class->ranges[i].from - 1);
        if (class->ranges[i].to >= next)
            next = class->ranges[i].to + 1;
    }
    if (next <= CEL_POINT_MAX)
        add(parser, &out, next, CEL_POINT_MAX);
    *class = out;
}

#define FROM_NUL 1 /* stands for NUL, which ends the pairs */

/* Pairs of characters are the ranges. */
static void add_group(struct regex_parser *parser, struct regex_class *class, const char *pairs,
                      bool negated)
{
    struct regex_class group = {0};
    for (const char *at = pairs; *at; at += 2) {
        unsigned char from = (unsigned char)at[0];
        cel_regex_add_range(parser, &group, from == FROM_NUL ? 0 : from, (unsigned char)at[1]);
    }
    if (negated)
        negate(parser, &group);
    for (size_t i = 0; i < group.n; i++)
        add(parser, class, group.ranges[i].from, group.ranges[i].to);
}

bool cel_regex_read_perl_class(struct regex_parser *parser, struct regex_class *class)
{
    static const char LETTERS[] = "dsw";
    static const char *const GROUPS[] = {"09", "\t\n\f\r  ", "09AZ__az"};
    char letter = cel_regex_peek(parser, 1);
    const char *found = letter ? strchr(LETTERS, letter | 0x20) : NULL;
    if (cel_regex_peek(parser, 0) != '\\' || !found || !is_ascii_letter((unsigned char)letter))
        return false;
    add_group(parser, class, GROUPS[found - LETTERS], letter < 'a');
    parser->at += 2;
    return true;
}

/* [:alpha:] at the bracket. False: none; it may also be wrong. */
static bool read_named_class(struct regex_parser *parser, struct regex_class *class)
{
    static const struct {
        const char *name;
        const char *pairs;
    } NAMED[] = {
        {"alnum", "09AZaz"},
        {"alpha", "AZaz"},
        {"ascii", "\001\177"},
        {"blank", "\t\t  "},
        {"cntrl", "\001\037\177\177"},
        {"digit", "09"},
        {"graph", "!~"},
        {"lower", "az"},
        {"print", " ~"},
        {"punct", "!/:@[`{~"},
        {"space", "\t\r  "},
        {"upper", "AZ"},
        {"word", "09AZaz__"},
        {"xdigit", "09AFaf"},
    };
    struct cel_text rest = {parser->pattern.bytes + parser->at, parser->pattern.len - parser->at};
    if (!cel_regex_is_at(parser, "[:"))
        return false;
    const char *end = memmem(rest.bytes + 2, rest.len - 2, ":]", 2);
    if (!end)
        return false;
    struct cel_text name = {rest.bytes + 2, (size_t)(end - rest.bytes - 2)};
    parser->at += name.len + 4;
    bool negated = name.len > 0 && name.bytes[0] == '^';
    name.bytes += negated;
    name.len -= negated;
    for (size_t i = 0; i < sizeof NAMED / sizeof NAMED[0]; i++) {
        if (!cel_text_is(name, NAMED[i].name))
            continue;
        add_group(parser, class, NAMED[i].pairs, negated);
        return true;
    }
    (void)cel_regex_fail(parser, CEL_INVALID);
    return true;
}

static uint32_t read_class_point(struct regex_parser *parser)
{
    if (parser->at >= parser->pattern.len)
        return cel_regex_fail(parser, CEL_INVALID);
    if (cel_regex_peek(parser, 0) == '\\')
        return cel_regex_read_escape(parser);
    return cel_utf8_get(parser->pattern, &parser->at);
}

static void read_range(struct regex_parser *parser, struct regex_class *class)
{
    uint32_t from = read_class_point(parser);
    uint32_t to = from;
    if (cel_regex_peek(parser, 0) == '-' && parser->at + 1 < parser->pattern.len &&
        cel_regex_peek(parser, 1) != ']') {
        parser->at++;
        to = read_class_point(parser);
    }
    if (parser->verdict == CEL_VALID && to < from)
        (void)cel_regex_fail(parser, CEL_INVALID);
    if (parser->verdict == CEL_VALID)
        cel_regex_add_range(parser, class, from, to);
}

static bool is_unicode_class(const struct regex_parser *parser)
{
    return cel_regex_is_at(parser, "\\p") || cel_regex_is_at(parser, "\\P");
}

void cel_regex_read_class(struct regex_parser *parser, struct regex_class *class)
{
    parser->at++;
    bool negated = cel_regex_peek(parser, 0) == '^';
    parser->at += negated;
    bool first = true;
    while (parser->verdict == CEL_VALID &&
           (first || parser->at >= parser->pattern.len || cel_regex_peek(parser, 0) != ']')) {
        first = false;
        if (is_unicode_class(parser))
            (void)cel_regex_fail(parser, CEL_NOT_JUDGED);
        else if (!read_named_class(parser, class) && !cel_regex_read_perl_class(parser, class))
            read_range(parser, class);
    }
    parser->at++;
    if (negated && parser->verdict == CEL_VALID)
        negate(parser, class);
}

static int digit_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* After "\x": two digits, or any number in braces. */
static uint32_t read_hex(struct regex_parser *parser)
{
    bool in_braces = cel_regex_peek(parser, 0) == '{';
    parser->at += in_braces;
    uint32_t point = 0;
    size_t n = 0;
    while (digit_value(cel_regex_peek(parser, 0)) >= 0 && (in_braces || n < 2) &&
           point <= CEL_POINT_MAX) {
        point = point * 16 + (uint32_t)digit_value(cel_regex_peek(parser, 0));
        parser->at++;
        n++;
    }
    bool ends = !in_braces || cel_regex_peek(parser, 0) == '}';
    parser->at += in_braces;
    if (!ends || n == 0 || (!in_braces && n < 2) || point > CEL_POINT_MAX)
        return cel_regex_fail(parser, CEL_INVALID);
    return point;
}

static uint32_t read_octal(struct regex_parser *parser, uint32_t point)
{
    for (int i = 1; i < 3; i++) {
        char c = cel_regex_peek(parser, 0);
        if (c < '0' || c > '7')
            break;
        point = point * 8 + (uint32_t)(c - '0');
        parser->at++;
    }
    return point;
}

uint32_t cel_regex_read_escape(struct regex_parser *parser)
{
    static const char NAMES[] = "afnrtv";
    static const char VALUES[] = "\a\f\n\r\t\v";
    parser->at++;
    char c = cel_regex_peek(parser, 0);
    if (parser->at >= parser->pattern.len || (unsigned char)c >= 0x80)
        return cel_regex_fail(parser, CEL_INVALID);
    parser->at++;
    const char *name = c ? strchr(NAMES, c) : NULL;
    if (name)
        return (unsigned char)VALUES[name - NAMES];
    if (c == 'x')
        return read_hex(parser);
    char next = cel_regex_peek(parser, 0);
    if (c == '0' || (c >= '1' && c <= '7' && next >= '0' && next <= '7'))
        return read_octal(parser, (uint32_t)(c - '0'));
    if (is_ascii_letter((unsigned char)c) || (c >= '0' && c <= '9'))
        return cel_regex_fail(parser, CEL_INVALID);
    return (unsigned char)c;
}
