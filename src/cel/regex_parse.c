/*
 * regex_parse: patterns into trees, with the errors of Go's regexp/syntax under its Perl flags.
 */
#include "regex.h"

#include <stdlib.h>
#include <string.h>

/* Classes and escapes of patterns (Go's regexp/syntax). */

#define LONG_S 0x17fU
#define KELVIN 0x212aU

/* Returns 0 for convenience. */
static uint32_t cel_regex_fail(struct regex_parser *parser, enum cel_verdict verdict)
{
    if (parser->verdict == CEL_VALID)
        parser->verdict = verdict;
    return 0;
}

/* The byte at an offset from the current place; 0 past the end. */
static char cel_regex_peek(const struct regex_parser *parser, size_t offset)
{
    size_t at = parser->at + offset;
    return at < parser->pattern.len ? parser->pattern.bytes[at] : '\0';
}

static bool cel_regex_is_at(const struct regex_parser *parser, const char *text)
{
    size_t len = strlen(text);
    return parser->pattern.len - parser->at >= len && parser->at <= parser->pattern.len &&
           memcmp(parser->pattern.bytes + parser->at, text, len) == 0;
}

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

/* Adds the range and, if case does not matter, what it folds to. */
static void cel_regex_add_range(struct regex_parser *parser, struct regex_class *class,
                                uint32_t from, uint32_t to)
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

/* A class such as \d at the backslash (false: none). It sets the verdict. */
static bool cel_regex_read_perl_class(struct regex_parser *parser, struct regex_class *class)
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

/* The character of an escape; it sets the verdict. */
static uint32_t cel_regex_read_escape(struct regex_parser *parser)
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

/* A class in brackets at '['; it sets the verdict. */
static void cel_regex_read_class(struct regex_parser *parser, struct regex_class *class)
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

static struct regex_node *parse_alternation(struct regex_parser *parser);

static bool is_end(const struct regex_parser *parser)
{
    return parser->at >= parser->pattern.len;
}

static struct regex_node *new_node(struct regex_parser *parser, enum regex_op op)
{
    if (++parser->n_nodes > CEL_REGEX_NODES_MAX)
        (void)cel_regex_fail(parser, CEL_NOT_JUDGED);
    struct regex_node *node = ARENA_NEW(parser->arena, struct regex_node);
    node->op = op;
    return node;
}

static void add_sub(struct regex_parser *parser, struct regex_node *node, struct regex_node *sub)
{
    node->subs = arena_grow(parser->arena, node->subs, node->n_subs, &node->size,
                            sizeof(struct regex_node *));
    node->subs[node->n_subs++] = sub;
}

static struct regex_node *new_point(struct regex_parser *parser, uint32_t point)
{
    struct regex_node *node = new_node(parser, R_CLASS);
    cel_regex_add_range(parser, &node->class, point, point);
    return node;
}

/* Digits without a leading zero; -1: too large. False: none. */
static bool read_count(struct regex_parser *parser, int *ret)
{
    char c = cel_regex_peek(parser, 0);
    char next = cel_regex_peek(parser, 1);
    if (c < '0' || c > '9' || (c == '0' && next >= '0' && next <= '9'))
        return false;
    int n = 0;
    for (; c >= '0' && c <= '9'; c = cel_regex_peek(parser, 0)) {
        if (n >= 0)
            n = n >= 100000000 ? -1 : n * 10 + (c - '0');
        parser->at++;
    }
    *ret = n;
    return true;
}

/* {2}, {2,} or {2,3} at the brace. False, unread: the brace is a literal. */
static bool read_counts(struct regex_parser *parser, int *ret_min, int *ret_max)
{
    size_t from = parser->at++;
    bool ok = read_count(parser, ret_min);
    *ret_max = *ret_min;
    if (ok && cel_regex_peek(parser, 0) == ',') {
        parser->at++;
        *ret_max = -1;
        if (cel_regex_peek(parser, 0) != '}') {
            ok = read_count(parser, ret_max);
            if (ok && *ret_max < 0)
                *ret_min = -1;
        }
    }
    if (!ok || cel_regex_peek(parser, 0) != '}') {
        parser->at = from;
        return false;
    }
    parser->at++;
    if (*ret_min < 0 || *ret_min > CEL_REGEX_REPEAT_MAX || *ret_max > CEL_REGEX_REPEAT_MAX ||
        (*ret_max >= 0 && *ret_min > *ret_max))
        (void)cel_regex_fail(parser, CEL_INVALID);
    return true;
}

/* repeatIsValid of Go: nested counts multiply up to 1,000. */
static bool repeat_is_valid(const struct regex_node *node, int n)
{
    if (node->op == R_REPEAT && node->is_counted) {
        int m = node->max < 0 ? node->min : node->max;
        if (node->max == 0)
            return true;
        if (m > n)
            return false;
        if (m > 0)
            n /= m;
    }
    for (size_t i = 0; i < node->n_subs; i++)
        if (!repeat_is_valid(node->subs[i], n))
            return false;
    return true;
}

/* The operator at the current place onto the last item. False: it is none. */
static bool read_repeat(struct regex_parser *parser, struct regex_node *items, bool after_repeat)
{
    char c = cel_regex_peek(parser, 0);
    int min = c == '+' ? 1 : 0;
    int max = c == '?' ? 1 : -1;
    if (is_end(parser) || !strchr("*+?{", c) || c == '\0')
        return false;
    if (c != '{')
        parser->at++;
    else if (!read_counts(parser, &min, &max))
        return false;
    if (cel_regex_peek(parser, 0) == '?')
        parser->at++;
    if (after_repeat || items->n_subs == 0) {
        (void)cel_regex_fail(parser, CEL_INVALID);
        return true;
    }
    struct regex_node *node = new_node(parser, R_REPEAT);
    node->min = min;
    node->max = max;
    node->is_counted = c == '{';
    add_sub(parser, node, items->subs[items->n_subs - 1]);
    items->subs[items->n_subs - 1] = node;
    if (node->is_counted && (min >= 2 || max >= 2) && !repeat_is_valid(node, CEL_REGEX_REPEAT_MAX))
        (void)cel_regex_fail(parser, CEL_INVALID);
    return true;
}

static bool is_name_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* The name of a group and its ">". */
static void read_group_name(struct regex_parser *parser)
{
    size_t from = parser->at;
    while (is_name_byte(cel_regex_peek(parser, 0)))
        parser->at++;
    if (parser->at == from || cel_regex_peek(parser, 0) != '>')
        (void)cel_regex_fail(parser, CEL_INVALID);
    parser->at++;
}

static bool set_flag(struct regex_parser *parser, char c, bool value)
{
    if (c == 'i')
        parser->fold_case = value;
    else if (c == 'm')
        parser->multi_line = value;
    else if (c == 's')
        parser->dot_newline = value;
    else
        return c == 'U';
    return true;
}

/* The flags after "(?". True: a group begins; false: they hold for the rest of the group. */
static bool read_flags(struct regex_parser *parser)
{
    bool value = true;
    bool saw_flag = false;
    while (!is_end(parser)) {
        char c = cel_regex_peek(parser, 0);
        parser->at++;
        if ((c == ':' || c == ')') && (value || saw_flag))
            return c == ':';
        if (c == '-' && value) {
            value = false;
            saw_flag = false;
        } else if (set_flag(parser, c, value)) {
            saw_flag = true;
        } else {
            break;
        }
    }
    return cel_regex_fail(parser, CEL_INVALID) != 0;
}

/* The group at the parenthesis; NULL: only flags. */
static struct regex_node *parse_group(struct regex_parser *parser)
{
    struct regex_parser before = *parser;
    bool opens = true;
    if (cel_regex_is_at(parser, "(?P<") || cel_regex_is_at(parser, "(?<")) {
        parser->at += cel_regex_is_at(parser, "(?P<") ? 4 : 3;
        read_group_name(parser);
    } else if (cel_regex_is_at(parser, "(?")) {
        parser->at += 2;
        opens = read_flags(parser);
    } else {
        parser->at++;
    }
    if (!opens || parser->verdict != CEL_VALID)
        return NULL;
    struct regex_node *node = parse_alternation(parser);
    if (cel_regex_peek(parser, 0) != ')')
        (void)cel_regex_fail(parser, CEL_INVALID);
    parser->at++;
    parser->fold_case = before.fold_case;
    parser->multi_line = before.multi_line;
    parser->dot_newline = before.dot_newline;
    return node;
}

/* \Q at the current place: literals up to \E. */
static void read_quoted(struct regex_parser *parser, struct regex_node *items)
{
    parser->at += 2;
    while (!is_end(parser) && !cel_regex_is_at(parser, "\\E"))
        add_sub(parser, items, new_point(parser, cel_utf8_get(parser->pattern, &parser->at)));
    parser->at += is_end(parser) ? 0 : 2;
}

static struct regex_node *parse_escape(struct regex_parser *parser)
{
    static const struct {
        const char *text;
        enum regex_op op;
    } ASSERTIONS[] = {
        {"\\A", R_BEGIN_TEXT}, {"\\b", R_WORD}, {"\\B", R_NOT_WORD}, {"\\z", R_END_TEXT}};
    for (size_t i = 0; i < sizeof ASSERTIONS / sizeof ASSERTIONS[0]; i++) {
        if (cel_regex_is_at(parser, ASSERTIONS[i].text)) {
            parser->at += 2;
            return new_node(parser, ASSERTIONS[i].op);
        }
    }
    if (cel_regex_is_at(parser, "\\p") || cel_regex_is_at(parser, "\\P"))
        (void)cel_regex_fail(parser, CEL_NOT_JUDGED);
    struct regex_node *node = new_node(parser, R_CLASS);
    if (!cel_regex_read_perl_class(parser, &node->class)) {
        uint32_t point = cel_regex_read_escape(parser);
        if (parser->verdict == CEL_VALID)
            cel_regex_add_range(parser, &node->class, point, point);
    }
    return node;
}

static struct regex_node *parse_any(struct regex_parser *parser)
{
    struct regex_node *node = new_node(parser, R_CLASS);
    bool fold_case = parser->fold_case;
    parser->fold_case = false;
    if (parser->dot_newline) {
        cel_regex_add_range(parser, &node->class, 0, CEL_POINT_MAX);
    } else {
        cel_regex_add_range(parser, &node->class, 0, '\n' - 1);
        cel_regex_add_range(parser, &node->class, '\n' + 1, CEL_POINT_MAX);
    }
    parser->fold_case = fold_case;
    parser->at++;
    return node;
}

static struct regex_node *parse_atom(struct regex_parser *parser)
{
    char c = cel_regex_peek(parser, 0);
    if (c == '^' || c == '$') {
        parser->at++;
        if (c == '^')
            return new_node(parser, parser->multi_line ? R_BEGIN_LINE : R_BEGIN_TEXT);
        return new_node(parser, parser->multi_line ? R_END_LINE : R_END_TEXT);
    }
    if (c == '.')
        return parse_any(parser);
    if (c == '\\')
        return parse_escape(parser);
    if (c == '[') {
        struct regex_node *node = new_node(parser, R_CLASS);
        cel_regex_read_class(parser, &node->class);
        return node;
    }
    return new_point(parser, cel_utf8_get(parser->pattern, &parser->at));
}

static struct regex_node *parse_concat(struct regex_parser *parser)
{
    struct regex_node *items = new_node(parser, R_CONCAT);
    bool after_repeat = false;
    while (!is_end(parser) && parser->verdict == CEL_VALID && cel_regex_peek(parser, 0) != '|' &&
           cel_regex_peek(parser, 0) != ')') {
        bool is_repeat = read_repeat(parser, items, after_repeat);
        after_repeat = is_repeat;
        if (is_repeat)
            continue;
        if (cel_regex_is_at(parser, "\\Q")) {
            read_quoted(parser, items);
            continue;
        }
        struct regex_node *node =
            cel_regex_peek(parser, 0) == '(' ? parse_group(parser) : parse_atom(parser);
        if (node)
            add_sub(parser, items, node);
    }
    return items;
}

static struct regex_node *parse_alternation(struct regex_parser *parser)
{
    struct regex_node *node = new_node(parser, R_ALTERNATE);
    if (++parser->depth > CEL_REGEX_DEPTH_MAX)
        (void)cel_regex_fail(parser, CEL_NOT_JUDGED);
    while (parser->verdict == CEL_VALID) {
        add_sub(parser, node, parse_concat(parser));
        if (cel_regex_peek(parser, 0) != '|')
            break;
        parser->at++;
    }
    parser->depth--;
    return node;
}

struct regex_node *cel_regex_parse(struct regex_parser *parser)
{
    struct regex_node *node = parse_alternation(parser);
    if (!is_end(parser))
        (void)cel_regex_fail(parser, CEL_INVALID); /* a closing parenthesis too many */
    return parser->verdict == CEL_VALID ? node : NULL;
}
