/*
 * checker: gives every node its type, as cel-go's checker/checker.go does for kube-scheduler's
 * environment: device.driver is a string, attributes are of any type, capacities are quantities.
 */
#include "functions.h"

#include <string.h>

#define MESSAGE_MAX 300

struct type_scope {
    struct cel_text name;
    const struct cel_type *type;
    struct type_scope *outer;
};

struct checker {
    struct cel_types types;
    struct cel_fault *fault;
    struct type_scope *scope;
};

static bool check(struct checker *checker, struct cel_node *node);

static bool assignable(struct checker *checker, const struct cel_type *from,
                       const struct cel_type *to)
{
    return cel_assignable(&checker->types, &from, &to, 1);
}

static const struct cel_type *resolved(struct checker *checker, const struct cel_type *type)
{
    return cel_substitute(&checker->types, type, false);
}

static bool mismatch(struct checker *checker, const struct cel_node *node, const char *format,
                     const struct cel_type *a, const struct cel_type *b)
{
    struct buf texts[2];
    const struct cel_type *types[2] = {a, b};
    for (size_t i = 0; i < 2; i++) {
        buf_init(&texts[i], MESSAGE_MAX);
        if (types[i])
            cel_format_type(&texts[i], cel_substitute(&checker->types, types[i], true));
    }
    struct buf message;
    buf_init(&message, BUF_UNBOUNDED);
    for (const char *at = format; *at; at++) {
        if (*at == '1' || *at == '2')
            buf_add_text(&message, buf_text(&texts[*at - '1']));
        else
            buf_add(&message, at, 1);
    }
    (void)cel_invalid_at(checker->fault, node->at, "%s", buf_text(&message));
    buf_fini(&message);
    buf_fini(&texts[0]);
    buf_fini(&texts[1]);
    return false;
}

static bool undeclared(struct checker *checker, const struct cel_node *node, struct cel_text name)
{
    return cel_invalid_at(checker->fault, node->at,
                          "undeclared reference to '%.*s' (in container '')",
                          (int)(name.len < 100 ? name.len : 100), name.bytes);
}

static bool check_name(struct checker *checker, struct cel_node *node)
{
    for (struct type_scope *scope = checker->scope; scope; scope = scope->outer) {
        if (cel_text_equal(scope->name, node->name)) {
            node->type = scope->type;
            return true;
        }
    }
    if (cel_text_is(node->name, "device")) {
        node->type = cel_simple_type(K_DEVICE);
        return true;
    }
    if (cel_is_type_name(node->name))
        return cel_not_judged(checker->fault, "uses the type %.*s", (int)node->name.len,
                              node->name.bytes);
    return undeclared(checker, node, node->name);
}

/* NULL, with the fault: there is no such field. */
static const struct cel_type *device_field(struct checker *checker, const struct cel_node *node)
{
    const struct cel_type *string = cel_simple_type(K_STRING);
    struct cel_types *types = &checker->types;
    if (cel_text_is(node->name, "driver"))
        return string;
    if (cel_text_is(node->name, "allowMultipleAllocations"))
        return cel_simple_type(K_BOOL);
    if (cel_text_is(node->name, "attributes") || cel_text_is(node->name, "capacity")) {
        enum cel_kind kind = node->name.bytes[0] == 'a' ? K_ANY : K_QUANTITY;
        const struct cel_type *inner = cel_new_type(types, K_MAP, string, cel_simple_type(kind));
        return cel_new_type(types, K_MAP, string, inner);
    }
    (void)cel_invalid_at(checker->fault, node->at, "undefined field '%.*s'",
                         (int)(node->name.len < 100 ? node->name.len : 100), node->name.bytes);
    return NULL;
}

static bool check_select(struct checker *checker, struct cel_node *node)
{
    if (!check(checker, node->args[0]))
        return false;
    const struct cel_type *operand = resolved(checker, node->args[0]->type);
    bool is_optional = operand->kind == K_OPTIONAL;
    const struct cel_type *target = is_optional ? operand->of[0] : operand;
    const struct cel_type *result = cel_simple_type(K_DYN);
    if (target->kind == K_MAP) {
        result = target->of[1];
    } else if (target->kind == K_DEVICE) {
        result = device_field(checker, node);
        if (!result)
            return false;
    } else if (target->kind == K_VAR) {
        (void)assignable(checker, result, target);
    } else if (target->kind == K_QUANTITY || target->kind == K_SEMVER) {
        return mismatch(checker, node, "unexpected failed resolution of '1'", target, NULL);
    } else if (!cel_is_dyn(target)) {
        return mismatch(checker, node, "type '1' does not support field selection", target, NULL);
    }
    if (node->is_test)
        result = cel_simple_type(K_BOOL);
    else if (is_optional || node->is_optional)
        result = cel_new_type(&checker->types, K_OPTIONAL, result, NULL);
    node->type = resolved(checker, result);
    return true;
}

static bool no_overload(struct checker *checker, const struct cel_node *node)
{
    struct buf signature;
    buf_init(&signature, MESSAGE_MAX);
    for (size_t i = 0; i < node->n_args; i++) {
        const struct cel_type *type = cel_substitute(&checker->types, node->args[i]->type, true);
        if (type->kind == K_NULL) { /* fits types that are not known here */
            buf_fini(&signature);
            return cel_not_judged(checker->fault, "uses null as an argument");
        }
        buf_add_text(&signature, i == 0 ? "" : i == 1 && node->is_member ? "" : ", ");
        cel_format_type(&signature, type);
        if (i == 0 && node->is_member)
            buf_add_text(&signature, ".(");
    }
    (void)cel_invalid_at(
        checker->fault, node->at, "found no matching overload for '%.*s' applied to '%s%s)'",
        (int)node->name.len, node->name.bytes, node->is_member ? "" : "(", buf_text(&signature));
    buf_fini(&signature);
    return false;
}

static bool resolve_overload(struct checker *checker, struct cel_node *node)
{
    const struct cel_type *result = NULL;
    const struct cel_type *args[CEL_ARGS_MAX];
    struct cel_overload overload;
    if (node->n_args > CEL_ARGS_MAX)
        return no_overload(checker, node);
    for (size_t i = 0; i < node->n_args; i++)
        args[i] = node->args[i]->type;
    for (size_t i = 0; cel_overload_at(&checker->types, node->function, i, &overload); i++) {
        if (overload.is_member != node->is_member || overload.n_args != node->n_args ||
            !cel_assignable(&checker->types, args, overload.args, node->n_args))
            continue;
        const struct cel_type *type = resolved(checker, overload.result);
        if (!result)
            result = type;
        else if (!cel_is_dyn(result) && !cel_is_same_type(&checker->types, type, result))
            result = cel_simple_type(K_DYN);
    }
    if (!result)
        return no_overload(checker, node);
    node->type = result;
    return checker->fault->verdict == CEL_VALID;
}

/* "optional.of(x)" is a call of optional.of, not of a member of optional. */
static void qualify(struct checker *checker, struct cel_node *node)
{
    if (!node->is_member || node->args[0]->kind != N_IDENT)
        return;
    struct cel_text prefix = node->args[0]->name;
    size_t len = prefix.len + 1 + node->name.len;
    char *name = arena_alloc_unset(checker->fault->arena, len);
    memcpy(name, prefix.bytes, prefix.len);
    name[prefix.len] = '.';
    memcpy(name + prefix.len + 1, node->name.bytes, node->name.len);
    if (!cel_is_declared((struct cel_text){name, len}))
        return;
    node->name = (struct cel_text){name, len};
    node->is_member = false;
    node->args++;
    node->n_args--;
}

static bool check_call(struct checker *checker, struct cel_node *node)
{
    qualify(checker, node);
    for (size_t i = 0; i < node->n_args; i++)
        if (!check(checker, node->args[i]))
            return false;
    node->function = cel_find_function(node->name);
    if (node->function >= 0)
        return resolve_overload(checker, node);
    if (cel_is_declared(node->name))
        return cel_not_judged(checker->fault, "uses %.*s()", (int)node->name.len, node->name.bytes);
    return undeclared(checker, node, node->name);
}

static bool check_logical(struct checker *checker, struct cel_node *node)
{
    node->type = cel_simple_type(K_BOOL);
    for (size_t i = 0; i < node->n_args; i++) {
        if (!check(checker, node->args[i]))
            return false;
        if (!assignable(checker, node->args[i]->type, node->type))
            return mismatch(checker, node->args[i], "expected type '1' but found '2'", node->type,
                            node->args[i]->type);
    }
    return true;
}

static bool check_list(struct checker *checker, struct cel_node *node)
{
    const struct cel_type *item = NULL;
    for (size_t i = 0; i < node->n_args; i++) {
        if (!check(checker, node->args[i]))
            return false;
        const struct cel_type *type = node->args[i]->type;
        if (item && !assignable(checker, item, type))
            return mismatch(checker, node->args[i], "expected type '1' but found '2'", item, type);
        item = item ? cel_most_general(&checker->types, item, type) : type;
    }
    if (!item)
        item = cel_new_var(&checker->types);
    node->type = cel_new_type(&checker->types, K_LIST, item, NULL);
    return true;
}

static bool check_within(struct checker *checker, struct cel_node *node, struct cel_text name,
                         const struct cel_type *type)
{
    struct type_scope scope = {name, type, checker->scope};
    checker->scope = &scope;
    bool ok = check(checker, node);
    checker->scope = scope.outer;
    return ok;
}

/* What the variable of a fold over such a range is; NULL with the fault: not a range. */
static const struct cel_type *item_type(struct checker *checker, const struct cel_node *range)
{
    const struct cel_type *type = resolved(checker, range->type);
    const struct cel_type *dyn = cel_simple_type(K_DYN);
    if (type->kind == K_LIST || type->kind == K_MAP)
        return type->of[0];
    if (type->kind != K_DYN && type->kind != K_VAR) {
        (void)mismatch(checker, range,
                       "expression of type '1' cannot be range of a comprehension (must be list, "
                       "map, or dynamic)",
                       type, NULL);
        return NULL;
    }
    (void)assignable(checker, dyn, type);
    return dyn;
}

static bool check_fold(struct checker *checker, struct cel_node *node)
{
    const struct cel_type *boolean = cel_simple_type(K_BOOL);
    if (!check(checker, node->args[0]))
        return false;
    const struct cel_type *item = item_type(checker, node->args[0]);
    if (!item)
        return false;
    size_t n_conditions = node->n_args - (node->fold == FOLD_MAP ? 2 : 1);
    for (size_t i = 1; i < node->n_args; i++) {
        struct cel_node *body = node->args[i];
        if (!check_within(checker, body, node->name, item))
            return false;
        if (i > n_conditions || assignable(checker, body->type, boolean))
            continue;
        const char *message = node->fold == FOLD_ALL || node->fold == FOLD_EXISTS
                                  ? "expected type '1' but found '2'"
                                  : "found no matching overload for '_?_:_' applied to '(2, ...)'";
        return mismatch(checker, body, message, boolean, body->type);
    }
    node->type = boolean;
    if (node->fold == FOLD_MAP || node->fold == FOLD_FILTER) {
        const struct cel_type *of =
            node->fold == FOLD_MAP ? node->args[node->n_args - 1]->type : item;
        node->type = cel_new_type(&checker->types, K_LIST, resolved(checker, of), NULL);
    }
    return true;
}

static bool check_bind(struct checker *checker, struct cel_node *node)
{
    if (!check(checker, node->args[0]) ||
        !check_within(checker, node->args[1], node->name, node->args[0]->type))
        return false;
    node->type = resolved(checker, node->args[1]->type);
    return true;
}

static bool check_constant(struct cel_node *node)
{
    static const enum cel_kind KINDS[] = {
        [V_NULL] = K_NULL, [V_BOOL] = K_BOOL,     [V_INT] = K_INT,
        [V_UINT] = K_UINT, [V_DOUBLE] = K_DOUBLE, [V_STRING] = K_STRING,
    };
    node->type = cel_simple_type(KINDS[node->constant.kind]);
    return true;
}

static bool check(struct checker *checker, struct cel_node *node)
{
    switch (node->kind) {
    case N_CONST:
        return check_constant(node);
    case N_IDENT:
        return check_name(checker, node);
    case N_SELECT:
        return check_select(checker, node);
    case N_CALL:
        return check_call(checker, node);
    case N_AND:
    case N_OR:
        return check_logical(checker, node);
    case N_LIST:
        return check_list(checker, node);
    case N_FOLD:
        return check_fold(checker, node);
    case N_BIND:
        return check_bind(checker, node);
    case N_UNKNOWN:
        break;
    }
    return cel_not_judged(checker->fault, "uses %.*s%s", (int)node->name.len, node->name.bytes,
                          node->is_member ? "()" : "");
}

static void finish_types(struct checker *checker, struct cel_node *node)
{
    node->type = cel_substitute(&checker->types, node->type, true);
    for (size_t i = 0; i < node->n_args; i++)
        finish_types(checker, node->args[i]);
}

bool cel_check(struct cel_node *root, struct cel_fault *fault)
{
    struct checker checker = {.types = {.fault = fault}, .fault = fault};
    if (!check(&checker, root))
        return false;
    finish_types(&checker, root);
    if (fault->verdict == CEL_VALID && !cel_validate(root, fault))
        return false;
    if (fault->verdict == CEL_VALID && root->type->kind != K_BOOL && root->type->kind != K_ANY) {
        struct buf text;
        buf_init(&text, MESSAGE_MAX);
        cel_format_type(&text, root->type);
        (void)cel_invalid(fault, "must evaluate to bool or the unknown type, not %s",
                          buf_text(&text));
        buf_fini(&text);
    }
    return fault->verdict == CEL_VALID;
}
