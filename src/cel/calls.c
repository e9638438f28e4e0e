/*
 * calls: which function computes a call; quantities, versions and optionals.
 */
#include "base/buf.h"
#include "functions.h"
#include "literal.h"

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
