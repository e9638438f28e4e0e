/*
 * calls: which function computes a call: conversions, arithmetic, quantities, versions and
 * optionals.
 */
#include "base/buf.h"
#include "functions.h"
#include "lexer.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Int(), double(), string(), bool(), dyn(). */

#define DIGITS_MAX 40

static struct cel_value wrong_type(struct cel_run *run, const struct cel_value *value,
                                   const char *to)
{
    return cel_error(run, "type conversion error from '%s' to '%s'", cel_type_name(value), to);
}

/* strconv.ParseInt(text, 10, 64). */
static struct cel_value int_of_text(struct cel_run *run, const struct cel_value *value)
{
    char text[DIGITS_MAX + 1];
    if (value->text.len == 0)
        return wrong_type(run, value, "int");
    if (value->text.len > DIGITS_MAX)
        return cel_stop(run, "converts a long text to a number");
    memcpy(text, value->text.bytes, value->text.len);
    text[value->text.len] = '\0';
    size_t sign = text[0] == '-' || text[0] == '+' ? 1 : 0;
    size_t digits = strspn(text + sign, "0123456789");
    errno = 0;
    int64_t number = strtoll(text, NULL, 10);
    if (digits == 0 || sign + digits != value->text.len || errno != 0)
        return wrong_type(run, value, "int");
    return cel_int(number);
}

static struct cel_value to_int(struct cel_run *run, const struct cel_node *node,
                               const struct cel_value *value)
{
    if (value->kind == V_INT)
        return *value;
    if (value->kind == V_STRING)
        return int_of_text(run, value);
    if (value->kind == V_UINT)
        return value->natural > INT64_MAX ? cel_error(run, "integer overflow")
                                          : cel_int((int64_t)value->natural);
    if (value->kind != V_DOUBLE)
        return cel_no_overload(run, node, value);
    if (!(value->real > (double)INT64_MIN && value->real < (double)INT64_MAX))
        return cel_error(run, "integer overflow");
    return cel_int((int64_t)value->real);
}

static struct cel_value to_double(struct cel_run *run, const struct cel_node *node,
                                  const struct cel_value *value)
{
    double real = value->real;
    if (value->kind == V_STRING)
        return cel_stop(run, "converts a text to a double");
    if (value->kind == V_INT)
        real = (double)value->integer;
    else if (value->kind == V_UINT)
        real = (double)value->natural;
    else if (value->kind != V_DOUBLE)
        return cel_no_overload(run, node, value);
    return (struct cel_value){.kind = V_DOUBLE, .real = real};
}

static struct cel_value to_string(struct cel_run *run, const struct cel_node *node,
                                  const struct cel_value *value)
{
    char text[32];
    if (value->kind == V_STRING)
        return *value;
    if (value->kind == V_BOOL)
        return cel_string(value->boolean ? CEL_TEXT("true") : CEL_TEXT("false"));
    if (value->kind == V_DOUBLE)
        return cel_stop(run, "converts a double to a text");
    if (value->kind == V_INT)
        (void)snprintf(text, sizeof text, "%" PRId64, value->integer);
    else if (value->kind == V_UINT)
        (void)snprintf(text, sizeof text, "%" PRIu64, value->natural);
    else
        return cel_no_overload(run, node, value);
    size_t len = strlen(text);
    char *out = cel_take(run, len);
    if (!out)
        return cel_stop(run, "too much memory");
    memcpy(out, text, len); // NOLINT(bugprone-not-null-terminated-result): the length is kept
    return cel_string((struct cel_text){out, len});
}

/* strconv.ParseBool. */
static struct cel_value to_bool(struct cel_run *run, const struct cel_node *node,
                                const struct cel_value *value)
{
    static const char *const WORDS[] = {"1", "t", "T", "true",  "TRUE",  "True",
                                        "0", "f", "F", "false", "FALSE", "False"};
    if (value->kind == V_BOOL)
        return *value;
    if (value->kind != V_STRING)
        return cel_no_overload(run, node, value);
    for (size_t i = 0; i < sizeof WORDS / sizeof WORDS[0]; i++)
        if (cel_text_is(value->text, WORDS[i]))
            return cel_bool(i < 6);
    return wrong_type(run, value, "bool");
}

/* conversions.c */
static struct cel_value cel_convert(struct cel_run *run, const struct cel_node *node,
                                    struct cel_value value)
{
    if (node->function == F_INT)
        return to_int(run, node, &value);
    if (node->function == F_DOUBLE)
        return to_double(run, node, &value);
    if (node->function == F_STRING)
        return to_string(run, node, &value);
    return node->function == F_BOOL ? to_bool(run, node, &value) : value;
}

/* The operators on numbers, strings and lists (cel-go's common/types). */

static struct cel_value no_operator(struct cel_run *run, const struct cel_node *node)
{
    return cel_error(run, "no such overload: %.*s", (int)node->name.len, node->name.bytes);
}

/* Holds all results for int and uint; where not, it holds OUT_OF_RANGE. */
__extension__ typedef __int128 wide;
#define OUT_OF_RANGE ((wide)1 << 100)

/* Returns an error, or NULL. */
static const char *compute(int function, wide a, wide b, wide *ret)
{
    if (function == F_ADD)
        *ret = a + b;
    else if (function == F_SUBTRACT)
        *ret = a - b;
    else if (function == F_MULTIPLY)
        *ret = __builtin_mul_overflow(a, b, ret) ? OUT_OF_RANGE : *ret;
    else if (b == 0)
        return function == F_DIVIDE ? "division by zero" : "modulus by zero";
    else if (a == INT64_MIN && b == -1) /* upstream's % overflows, too */
        *ret = OUT_OF_RANGE;
    else
        *ret = function == F_DIVIDE ? a / b : a % b;
    return NULL;
}

static struct cel_value of_ints(struct cel_run *run, int function, int64_t a, int64_t b)
{
    wide result = 0;
    const char *error = compute(function, a, b, &result);
    if (!error && (result < INT64_MIN || result > INT64_MAX))
        error = "integer overflow";
    return error ? cel_error(run, "%s", error) : cel_int((int64_t)result);
}

static struct cel_value of_uints(struct cel_run *run, int function, uint64_t a, uint64_t b)
{
    wide result = 0;
    const char *error = compute(function, a, b, &result);
    if (!error && (result < 0 || result > UINT64_MAX))
        error = "unsigned integer overflow";
    if (error)
        return cel_error(run, "%s", error);
    return (struct cel_value){.kind = V_UINT, .natural = (uint64_t)result};
}

static struct cel_value of_doubles(int function, double a, double b)
{
    double result = function == F_ADD        ? a + b
                    : function == F_SUBTRACT ? a - b
                    : function == F_MULTIPLY ? a * b
                                             : a / b;
    return (struct cel_value){.kind = V_DOUBLE, .real = result};
}

static struct cel_value join_strings(struct cel_run *run, struct cel_text a, struct cel_text b)
{
    char *out = cel_take(run, a.len + b.len + 1);
    if (!out || !cel_spend(run, (a.len + b.len) / 8))
        return cel_stop(run, "too much work");
    memcpy(out, a.bytes, a.len);
    memcpy(out + a.len, b.bytes, b.len);
    return cel_string((struct cel_text){out, a.len + b.len});
}

static struct cel_value join_lists(struct cel_run *run, struct cel_value a, struct cel_value b)
{
    size_t n = a.list.n + b.list.n;
    struct cel_value *items = cel_take(run, (n + 1) * sizeof *items);
    if (!items || !cel_spend(run, n))
        return cel_stop(run, "too much work");
    for (size_t i = 0; i < n; i++)
        items[i] = i < a.list.n ? a.list.items[i] : b.list.items[i - a.list.n];
    return (struct cel_value){.kind = V_LIST, .list = {items, n}};
}

/* arithmetic.c: + - * / % and the order. */
static struct cel_value cel_arithmetic(struct cel_run *run, const struct cel_node *node,
                                       const struct cel_value *args)
{
    struct cel_value a = args[0];
    struct cel_value b = args[1];
    bool joins = node->function == F_ADD && (a.kind == V_STRING || a.kind == V_LIST);
    bool is_operand = a.kind == V_INT || a.kind == V_UINT || joins ||
                      (a.kind == V_DOUBLE && node->function != F_MODULO);
    if (!is_operand)
        return no_operator(run, node);
    if (a.kind != b.kind)
        return cel_error(run, "no such overload");
    if (a.kind == V_INT)
        return of_ints(run, node->function, a.integer, b.integer);
    if (a.kind == V_UINT)
        return of_uints(run, node->function, a.natural, b.natural);
    if (a.kind == V_DOUBLE)
        return of_doubles(node->function, a.real, b.real);
    return a.kind == V_STRING ? join_strings(run, a.text, b.text) : join_lists(run, a, b);
}

static struct cel_value cel_order(struct cel_run *run, const struct cel_node *node,
                                  const struct cel_value *args)
{
    enum cel_value_kind kind = args[0].kind;
    if (kind != V_BOOL && kind != V_INT && kind != V_UINT && kind != V_DOUBLE && kind != V_STRING)
        return no_operator(run, node);
    struct cel_value order = cel_compare(run, args[0], args[1]);
    if (order.kind == V_ERROR)
        return order;
    if (node->function == F_LESS)
        return cel_bool(order.integer < 0);
    if (node->function == F_LESS_EQUAL)
        return cel_bool(order.integer <= 0);
    return cel_bool(node->function == F_GREATER ? order.integer > 0 : order.integer >= 0);
}

static struct cel_value cel_negate(struct cel_run *run, const struct cel_node *node,
                                   struct cel_value value)
{
    if (value.kind == V_INT && value.integer == INT64_MIN)
        return cel_error(run, "integer overflow");
    if (value.kind == V_INT)
        return cel_int(-value.integer);
    if (value.kind == V_DOUBLE)
        return (struct cel_value){.kind = V_DOUBLE, .real = -value.real};
    return value.kind == V_BOOL ? cel_error(run, "no such overload") : no_operator(run, node);
}

struct cel_value cel_no_overload(struct cel_run *run, const struct cel_node *node,
                                 const struct cel_value *args)
{
    struct buf text;
    buf_init(&text, 300);
    for (size_t i = 0; i < node->n_args; i++) {
        buf_add_text(&text, i > 0 ? ", " : "");
        buf_add_text(&text, cel_type_name(&args[i]));
    }
    struct cel_value error = cel_error(run, "no such overload: %.*s(%s)", (int)node->name.len,
                                       node->name.bytes, buf_text(&text));
    buf_fini(&text);
    return error;
}

static struct cel_value size_of(struct cel_run *run, struct cel_value value)
{
    if (value.kind == V_STRING)
        return cel_spend(run, value.text.len / 10) ? cel_int((int64_t)cel_utf8_count(value.text))
                                                   : cel_stop(run, "too much work");
    if (value.kind == V_LIST)
        return cel_int((int64_t)value.list.n);
    if (value.kind == V_DOMAINS || value.kind == V_FACTS)
        return cel_int((int64_t)cel_map_size(run, &value));
    if (value.kind == V_DEVICE)
        return cel_stop(run, "uses the size of the device");
    return cel_error(run, "no such overload: size");
}

static struct cel_value quantity_of(struct cel_run *run, const struct cel_node *node,
                                    const struct cel_value *args)
{
    struct cel_value value = {.kind = V_QUANTITY};
    bool is_judged;
    if (args[0].kind != V_STRING)
        return cel_no_overload(run, node, args);
    const char *fault = cel_quantity_parse(args[0].text, &value.quantity, &is_judged);
    if (!is_judged || !cel_spend(run, args[0].text.len / 4))
        return cel_stop(run, "has a quantity that is out of range");
    if (node->function == F_IS_QUANTITY)
        return cel_bool(!fault);
    return fault ? cel_error(run, "%s", fault) : value;
}

static struct cel_value semver_of(struct cel_run *run, const struct cel_node *node,
                                  const struct cel_value *args)
{
    bool normalizes = node->n_args == 2;
    if (args[0].kind != V_STRING || (normalizes && args[1].kind != V_BOOL))
        return cel_no_overload(run, node, args);
    struct cel_text text = args[0].text;
    const char *fault = NULL;
    struct cel_semver *version = cel_take(run, sizeof *version);
    if (!version || !cel_spend(run, text.len) || !cel_take(run, 30 * text.len))
        return cel_stop(run, "too much work");
    if (normalizes && args[1].boolean)
        fault = cel_semver_normalize(text, run->arena, &text);
    if (!fault)
        fault = cel_semver_parse(text, run->arena, version);
    if (node->function == F_IS_SEMVER)
        return cel_bool(!fault);
    if (fault)
        return cel_error(run, "%s", fault);
    return (struct cel_value){.kind = V_SEMVER, .semver = version};
}

static struct cel_value number_of_semver(struct cel_run *run, const struct cel_node *node,
                                         const struct cel_value *args)
{
    if (args[0].kind != V_SEMVER)
        return cel_no_overload(run, node, args);
    const struct cel_semver *version = args[0].semver;
    if (node->function == F_MAJOR)
        return cel_int((int64_t)version->major);
    return cel_int((int64_t)(node->function == F_MINOR ? version->minor : version->patch));
}

static struct cel_value compare_exactly(struct cel_run *run, const struct cel_node *node,
                                        const struct cel_value *args)
{
    int order;
    if (args[0].kind == V_QUANTITY && args[1].kind == V_QUANTITY)
        order = cel_quantity_compare(args[0].quantity, args[1].quantity);
    else if (args[0].kind == V_SEMVER && args[1].kind == V_SEMVER)
        order = cel_semver_compare(args[0].semver, args[1].semver);
    else
        return cel_no_overload(run, node, args);
    if (node->function == F_COMPARE_TO)
        return cel_int(order);
    return cel_bool(node->function == F_IS_GREATER ? order > 0 : order < 0);
}

static struct cel_value call_optional(struct cel_run *run, const struct cel_node *node,
                                      const struct cel_value *args)
{
    if (node->function == F_OPTIONAL_NONE)
        return (struct cel_value){.kind = V_OPTIONAL, .some = NULL};
    if (node->function == F_OPTIONAL_OF)
        return cel_optional(run, args[0]);
    if (args[0].kind != V_OPTIONAL)
        return cel_no_overload(run, node, args);
    if (node->function == F_HAS_VALUE)
        return cel_bool(args[0].some != NULL);
    return args[0].some ? *args[0].some : cel_error(run, "optional.none() dereference");
}

static struct cel_value call_operator(struct cel_run *run, const struct cel_node *node,
                                      const struct cel_value *args)
{
    if (node->function == F_NEGATE)
        return cel_negate(run, node, args[0]);
    if (node->function == F_NOT)
        return args[0].kind == V_BOOL ? cel_bool(!args[0].boolean)
                                      : cel_error(run, "no such overload");
    if (node->function >= F_LESS)
        return cel_order(run, node, args);
    if (node->function >= F_ADD)
        return cel_arithmetic(run, node, args);
    struct cel_value same = cel_equal(run, args[0], args[1]);
    if (node->function == F_EQUAL || run->stop.verdict != CEL_VALID)
        return same;
    return cel_bool(same.kind == V_ERROR || !same.boolean); /* != absorbs what cannot be equal */
}

static struct cel_value call_size(struct cel_run *run, const struct cel_node *node,
                                  const struct cel_value *args)
{
    (void)node;
    return size_of(run, args[0]);
}

static struct cel_value call_conversion(struct cel_run *run, const struct cel_node *node,
                                        const struct cel_value *args)
{
    return cel_convert(run, node, args[0]);
}

struct cel_value cel_call(struct cel_run *run, const struct cel_node *node,
                          const struct cel_value *args)
{
    /* Up to which function each computes; in the order of enum cel_function. */
    static const struct {
        enum cel_function last;
        struct cel_value (*call)(struct cel_run *run, const struct cel_node *node,
                                 const struct cel_value *args);
    } CALLS[] = {
        {F_GREATER_EQUAL, call_operator}, {F_SIZE, call_size},
        {F_BOOL, call_conversion},        {F_CHAR_AT, cel_string_call},
        {F_IS_QUANTITY, quantity_of},     {F_IS_SEMVER, semver_of},
        {F_PATCH, number_of_semver},      {F_COMPARE_TO, compare_exactly},
        {F_VALUE, call_optional},
    };
    size_t i = 0;
    if (run->stop.verdict != CEL_VALID)
        return cel_stop(run, "stopped");
    while (node->function > (int)CALLS[i].last)
        i++;
    return CALLS[i].call(run, node, args);
}
