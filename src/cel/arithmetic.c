/*
 * arithmetic: the operators on numbers, strings and lists (cel-go's common/types).
 */
#include "functions.h"

#include <string.h>

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

struct cel_value cel_arithmetic(struct cel_run *run, const struct cel_node *node,
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

struct cel_value cel_order(struct cel_run *run, const struct cel_node *node,
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

struct cel_value cel_negate(struct cel_run *run, const struct cel_node *node,
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
