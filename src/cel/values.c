/*
 * values: making values, equality and order, as cel-go's common/types has them.
 */
#include "cel_priv.h"

#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define MESSAGE_MAX 512
#define EXACT_MAX 9007199254740992 /* 2^53: beyond it, comparing with a double is not exact */

bool cel_text_is(struct cel_text text, const char *other)
{
    return strlen(other) == text.len && memcmp(text.bytes, other, text.len) == 0;
}

bool cel_text_equal(struct cel_text a, struct cel_text b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.bytes, b.bytes, a.len) == 0);
}

int cel_text_compare(struct cel_text a, struct cel_text b)
{
    size_t len = a.len < b.len ? a.len : b.len;
    int order = len > 0 ? memcmp(a.bytes, b.bytes, len) : 0;
    if (order != 0)
        return order < 0 ? -1 : 1;
    return a.len < b.len ? -1 : a.len > b.len;
}

struct cel_value cel_bool(bool boolean)
{
    return (struct cel_value){.kind = V_BOOL, .boolean = boolean};
}

struct cel_value cel_int(int64_t integer)
{
    return (struct cel_value){.kind = V_INT, .integer = integer};
}

struct cel_value cel_string(struct cel_text text)
{
    return (struct cel_value){.kind = V_STRING, .text = text};
}

struct cel_value cel_optional(struct cel_run *run, struct cel_value value)
{
    struct cel_value *some = cel_take(run, sizeof value);
    if (some)
        *some = value;
    return (struct cel_value){.kind = V_OPTIONAL, .some = some};
}

const char *cel_format(struct arena *arena, const char *format, va_list args)
{
    char text[MESSAGE_MAX];
    (void)vsnprintf(text, sizeof text, format, args);
    struct buf line; /* parts of the expression may be cut within a character */
    buf_init(&line, (size_t)3 * MESSAGE_MAX);
    buf_add_one_line(&line, text);
    const char *copy = arena_strdup(arena, buf_text(&line));
    buf_fini(&line);
    return copy;
}

struct cel_value cel_error(struct cel_run *run, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *text = "too many errors";
    if (cel_take(run, MESSAGE_MAX))
        text = cel_format(run->arena, format, args);
    va_end(args);
    return (struct cel_value){.kind = V_ERROR, .text = {text, strlen(text)}};
}

struct cel_value cel_stop(struct cel_run *run, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (run->stop.verdict == CEL_VALID) {
        run->stop.verdict = CEL_NOT_JUDGED;
        run->stop.message = cel_format(run->arena, format, args);
    }
    va_end(args);
    return (struct cel_value){.kind = V_ERROR, .text = {"", 0}};
}

const char *cel_type_name(const struct cel_value *value)
{
    static const char *const NAMES[] = {
        [V_ERROR] = "error",
        [V_NULL] = "null_type",
        [V_BOOL] = "bool",
        [V_INT] = "int",
        [V_UINT] = "uint",
        [V_DOUBLE] = "double",
        [V_STRING] = "string",
        [V_QUANTITY] = "kubernetes.Quantity",
        [V_SEMVER] = "kubernetes.Semver",
        [V_LIST] = "list",
        [V_OPTIONAL] = "optional_type",
        [V_DEVICE] = "map",
        [V_DOMAINS] = "map",
        [V_FACTS] = "map",
    };
    return NAMES[value->kind];
}

static bool is_number(struct cel_value value)
{
    return value.kind == V_INT || value.kind == V_UINT || value.kind == V_DOUBLE;
}

static int order_of(double a, double b)
{
    return a < b ? -1 : a > b;
}

static int compare_double_int(double a, int64_t b)
{
    if (a < (double)INT64_MIN)
        return -1;
    return a > (double)INT64_MAX ? 1 : order_of(a, (double)b);
}

static int compare_double_uint(double a, uint64_t b)
{
    if (a < 0)
        return -1;
    return a > (double)UINT64_MAX ? 1 : order_of(a, (double)b);
}

static int compare_int_uint(int64_t a, uint64_t b)
{
    if (a < 0 || b > INT64_MAX)
        return -1;
    return a < (int64_t)b ? -1 : a > (int64_t)b;
}

/* Neither is NaN. */
static int compare_numbers(struct cel_value a, struct cel_value b)
{
    if (a.kind == b.kind) {
        if (a.kind == V_INT)
            return a.integer < b.integer ? -1 : a.integer > b.integer;
        if (a.kind == V_UINT)
            return a.natural < b.natural ? -1 : a.natural > b.natural;
        return order_of(a.real, b.real);
    }
    if (a.kind == V_DOUBLE)
        return b.kind == V_INT ? compare_double_int(a.real, b.integer)
                               : compare_double_uint(a.real, b.natural);
    if (b.kind == V_DOUBLE)
        return a.kind == V_INT ? -compare_double_int(b.real, a.integer)
                               : -compare_double_uint(b.real, a.natural);
    return a.kind == V_INT ? compare_int_uint(a.integer, b.natural)
                           : -compare_int_uint(b.integer, a.natural);
}

static bool is_nan(struct cel_value value)
{
    return value.kind == V_DOUBLE && value.real != value.real;
}

static bool is_map(struct cel_value value)
{
    return value.kind == V_DEVICE || value.kind == V_DOMAINS || value.kind == V_FACTS;
}

static struct cel_value equal_lists(struct cel_run *run, struct cel_value a, struct cel_value b)
{
    if (b.kind != V_LIST || a.list.n != b.list.n)
        return cel_bool(false);
    for (size_t i = 0; i < a.list.n; i++) {
        if (!cel_spend(run, 1))
            return cel_stop(run, "too much work");
        struct cel_value same = cel_equal(run, a.list.items[i], b.list.items[i]);
        if (same.kind == V_ERROR)
            return cel_stop(run, "compares lists of values that cannot be compared");
        if (!same.boolean)
            return same;
    }
    return cel_bool(true);
}

static struct cel_value equal_optionals(struct cel_run *run, struct cel_value a, struct cel_value b)
{
    if (b.kind != V_OPTIONAL || !a.some || !b.some)
        return cel_bool(b.kind == V_OPTIONAL && a.some == b.some);
    return cel_equal(run, *a.some, *b.some);
}

/* Two of a kind that has no parts. */
static bool equal_scalars(struct cel_run *run, struct cel_value a, struct cel_value b)
{
    if (a.kind == V_BOOL)
        return a.boolean == b.boolean;
    if (a.kind == V_QUANTITY)
        return cel_quantity_compare(a.quantity, b.quantity) == 0;
    if (a.kind == V_SEMVER)
        return cel_semver_compare(a.semver, b.semver) == 0;
    (void)cel_spend(run, a.text.len / 10);
    return cel_text_equal(a.text, b.text);
}

static bool equal_numbers(struct cel_value a, struct cel_value b)
{
    return is_number(b) && !is_nan(a) && !is_nan(b) && compare_numbers(a, b) == 0;
}

struct cel_value cel_equal(struct cel_run *run, struct cel_value a, struct cel_value b)
{
    if (a.kind == V_NULL || b.kind == V_NULL)
        return cel_bool(a.kind == b.kind);
    if (is_number(a))
        return cel_bool(equal_numbers(a, b));
    if (is_map(a))
        return is_map(b) ? cel_stop(run, "compares maps") : cel_bool(false);
    if (a.kind == V_LIST)
        return equal_lists(run, a, b);
    if (a.kind == V_OPTIONAL)
        return equal_optionals(run, a, b);
    if (a.kind == b.kind)
        return cel_bool(equal_scalars(run, a, b));
    bool is_strict = a.kind == V_QUANTITY || a.kind == V_SEMVER;
    return is_strict ? cel_error(run, "no such overload") : cel_bool(false);
}

struct cel_value cel_compare(struct cel_run *run, struct cel_value a, struct cel_value b)
{
    if (is_number(a) && is_number(b)) {
        if (is_nan(a) || is_nan(b))
            return cel_error(run, "NaN values cannot be ordered");
        return cel_int(compare_numbers(a, b));
    }
    if (a.kind != b.kind || (a.kind != V_BOOL && a.kind != V_STRING))
        return cel_error(run, "no such overload");
    if (a.kind == V_BOOL)
        return cel_int((int)a.boolean - (int)b.boolean);
    (void)cel_spend(run, a.text.len / 10);
    return cel_int(cel_text_compare(a.text, b.text));
}

static bool is_primitive(struct cel_value value)
{
    return is_number(value) || value.kind == V_BOOL || value.kind == V_STRING;
}

static bool all_primitive(struct cel_value list)
{
    for (size_t i = 0; i < list.list.n; i++)
        if (!is_primitive(list.list.items[i]))
            return false;
    return true;
}

/* Upstream compares such numbers in two ways that differ. */
static bool is_inexact(struct cel_value a, struct cel_value b)
{
    if (!is_number(a) || !is_number(b) || a.kind == b.kind)
        return false;
    struct cel_value limit = cel_int(EXACT_MAX);
    struct cel_value below = cel_int(-EXACT_MAX);
    return compare_numbers(a, limit) >= 0 || compare_numbers(b, limit) >= 0 ||
           compare_numbers(a, below) <= 0 || compare_numbers(b, below) <= 0;
}

struct cel_value cel_contains(struct cel_run *run, struct cel_value item, struct cel_value list,
                              bool is_constant)
{
    bool is_set = is_constant && all_primitive(list);
    if (is_set && item.kind == V_SEMVER) { /* upstream looks it up in a hash table, and panics */
        run->stop.verdict = CEL_INVALID;
        run->stop.message = "internal error: runtime error: hash of unhashable type cel.Semver";
        return cel_error(run, "%s", run->stop.message);
    }
    for (size_t i = 0; i < list.list.n; i++) {
        if (!cel_spend(run, 1))
            return cel_stop(run, "too much work");
        if (is_set && is_inexact(item, list.list.items[i]))
            return cel_stop(run, "looks for a large number in a list");
        struct cel_value same = cel_equal(run, item, list.list.items[i]);
        if (same.kind == V_BOOL && same.boolean && !(is_set && !is_primitive(item)))
            return same;
    }
    return cel_bool(false);
}
