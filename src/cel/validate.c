/*
 * validate: what upstream's compiler does after the types: literals of lists have items of one
 * type, patterns of matches() compile, and conversions of constants are computed.
 */
#include "functions.h"
#include "regex.h"

static bool is_conversion(const struct cel_node *node)
{
    return node->kind == N_CALL && node->n_args == 1 && !node->is_member &&
           (node->function == F_INT || node->function == F_DOUBLE || node->function == F_STRING ||
            node->function == F_BOOL || node->function == F_DYN);
}

/* "x in []" is false, whatever x is. */
static bool is_in_nothing(const struct cel_node *node)
{
    return node->kind == N_CALL && node->function == F_IN && node->args[1]->kind == N_LIST &&
           node->args[1]->n_args == 0;
}

bool cel_is_constant(const struct cel_node *node)
{
    if (is_in_nothing(node))
        return true;
    if (node->kind != N_CONST && node->kind != N_LIST && !is_conversion(node))
        return false;
    for (size_t i = 0; i < node->n_args; i++)
        if (!cel_is_constant(node->args[i]))
            return false;
    return true;
}

static bool same(const struct cel_type *a, const struct cel_type *b)
{
    if (a->kind != b->kind)
        return false;
    for (size_t i = 0; i < 2; i++)
        if (a->of[i] && !same(a->of[i], b->of[i]))
            return false;
    return true;
}

static bool check_items(const struct cel_node *node, struct cel_fault *fault)
{
    for (size_t i = 1; i < node->n_args; i++)
        if (!same(node->args[0]->type, node->args[i]->type))
            return cel_invalid_at(fault, node->args[i]->at,
                                  "expected another type in a list: all items of a literal have "
                                  "the same type");
    return true;
}

/* Upstream checks the first argument of any call of that name, also of matches(text, pattern). */
static bool check_pattern(struct cel_node *node, struct cel_fault *fault)
{
    const struct cel_node *first = node->args[node->is_member ? 1 : 0];
    const struct cel_node *pattern = node->args[1];
    enum cel_verdict verdict = CEL_VALID;
    if (first->kind == N_CONST && first->constant.kind == V_STRING)
        (void)cel_regex_compile(first->constant.text, fault->arena, &verdict);
    if (verdict == CEL_VALID && pattern->kind == N_CONST && pattern->constant.kind == V_STRING)
        node->regex = cel_regex_compile(pattern->constant.text, fault->arena, &verdict);
    if (verdict == CEL_INVALID)
        return cel_invalid_at(fault, first->at, "invalid matches argument");
    if (verdict == CEL_NOT_JUDGED)
        return cel_not_judged(fault, "has a pattern in matches() that uses Unicode classes, "
                                     "letters beyond ASCII without case, or is too large");
    return true;
}

static bool convert(const struct cel_node *node, struct cel_fault *fault)
{
    struct cel_run run = {.arena = fault->arena};
    run.stop.arena = fault->arena;
    struct cel_value value = cel_run_node(&run, node);
    if (run.stop.verdict == CEL_NOT_JUDGED)
        return cel_not_judged(fault, "%s", run.stop.message);
    if (value.kind == V_ERROR)
        return cel_invalid(fault, "program instantiation failed: %.*s", (int)value.text.len,
                           value.text.bytes);
    return true;
}

bool cel_validate(struct cel_node *node, struct cel_fault *fault)
{
    for (size_t i = 0; i < node->n_args; i++)
        if (!cel_validate(node->args[i], fault))
            return false;
    if (node->kind == N_LIST)
        return check_items(node, fault);
    if (node->kind == N_CALL && node->function == F_MATCHES)
        return check_pattern(node, fault);
    return !is_conversion(node) || !cel_is_constant(node) || convert(node, fault);
}
