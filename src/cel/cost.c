/*
 * cost: a bound from above of the cost that upstream estimates of an expression. kube-apiserver
 * refuses an expression whose estimate exceeds CELSelectorExpressionMaxCost ("too complex").
 *
 * As upstream (cel-go's checker/cost.go, k8s.io/apiserver/pkg/cel/library/cost.go, and
 * k8s.io/dynamic-resource-allocation/cel), it needs the size of each part: characters of a string,
 * items of a list or map. A size that is not known is as large as can be.
 */
#include "functions.h"

#define UNKNOWN UINT64_MAX
#define FACTS_MAX 32     /* of a device, and domains */
#define ATTRIBUTE_MAX 64 /* characters of a value */
#define DOMAIN_MAX 63    /* also of a driver's name */
#define NAME_MAX_LENGTH 32
#define NEW_LIST_COST 10

/* What of a device an expression is, as far as sizes go. */
enum bound_part { PART_NONE, PART_DEVICE, PART_DOMAINS, PART_FACTS };

struct bound {
    uint64_t cost, size;
    uint64_t item; /* the size of each item of a list, or of each key of a map */
    enum bound_part part;
    bool is_capacity; /* of a part */
};

/* A name that is bound by a macro. */
struct bound_scope {
    struct cel_text name;
    struct bound value;
    const struct bound_scope *outer;
};

static struct bound bound_of(const struct cel_node *node, const struct bound_scope *scope);

static uint64_t plus(uint64_t a, uint64_t b)
{
    return a > UNKNOWN - b ? UNKNOWN : a + b;
}

static uint64_t times(uint64_t a, uint64_t b)
{
    return b != 0 && a > UNKNOWN / b ? UNKNOWN : a * b;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Upstream multiplies by 0.1 and rounds up, with errors of doubles. */
static uint64_t traversal(uint64_t size)
{
    return size == UNKNOWN ? UNKNOWN : size / 10 + 1;
}

static uint64_t size_of_type(const struct cel_type *type)
{
    if (type->kind == K_OPTIONAL)
        return size_of_type(type->of[0]);
    const bool is_scalar = type->kind == K_BOOL || type->kind == K_INT || type->kind == K_UINT ||
                           type->kind == K_DOUBLE;
    return is_scalar ? 1 : UNKNOWN;
}

static struct bound bound_of_ident(const struct cel_node *node, const struct bound_scope *scope)
{
    for (; scope; scope = scope->outer) {
        if (!cel_text_equal(scope->name, node->name))
            continue;
        struct bound bound = scope->value;
        bound.cost = 1;
        return bound;
    }
    return (struct bound){.cost = 1,
                          .size = UNKNOWN,
                          .item = UNKNOWN,
                          .part = cel_text_is(node->name, "device") ? PART_DEVICE : PART_NONE};
}

/* A value of a map or list. */
static struct bound part_of(const struct bound *whole, const struct cel_type *type, uint64_t cost)
{
    struct bound bound = {.cost = cost,
                          .size = size_of_type(type),
                          .item = UNKNOWN,
                          .is_capacity = whole->is_capacity};
    if (whole->part == PART_DOMAINS) {
        bound.part = PART_FACTS;
        bound.size = FACTS_MAX;
        bound.item = NAME_MAX_LENGTH;
    } else if (whole->part == PART_FACTS) {
        bound.size = whole->is_capacity ? UNKNOWN : ATTRIBUTE_MAX;
    } else if (whole->part == PART_NONE) {
        bound.size = larger(bound.size, whole->item);
    }
    return bound;
}

static struct bound bound_of_select(const struct cel_node *node, const struct bound_scope *scope)
{
    const struct bound whole = bound_of(node->args[0], scope);
    const uint64_t cost = plus(whole.cost, 1);
    struct bound bound = {.cost = cost, .size = size_of_type(node->type), .item = UNKNOWN};
    /* Of attributes.domain, unlike attributes["domain"], upstream knows no sizes. */
    if (node->is_optional || node->is_test || whole.part == PART_DOMAINS)
        return bound;
    if (whole.part != PART_DEVICE)
        return part_of(&whole, node->type, cost);
    bound.is_capacity = cel_text_is(node->name, "capacity");
    if (bound.is_capacity || cel_text_is(node->name, "attributes")) {
        bound.part = PART_DOMAINS;
        bound.size = FACTS_MAX;
        bound.item = DOMAIN_MAX;
    } else if (cel_text_is(node->name, "driver")) {
        bound.size = DOMAIN_MAX;
    }
    return bound;
}

/* The cost of the call alone. */
static uint64_t cost_of_comparison(const struct cel_node *node, const struct bound *args)
{
    const enum cel_kind left = node->args[0]->type->kind;
    if (node->function == F_EQUAL && left == node->args[1]->type->kind &&
        (left == K_QUANTITY || left == K_SEMVER))
        return 1;
    return traversal(smaller(args[0].size, args[1].size));
}

static uint64_t cost_of_search(const struct cel_node *node, const struct bound *args)
{
    const uint64_t text = traversal(plus(args[0].size, 1));
    if (node->function == F_MATCHES)
        return times(text, plus(args[1].size, 3) / 4);
    if (node->function == F_CONTAINS)
        return times(text, traversal(args[1].size));
    return larger(1, traversal(args[1].size)); /* starts, ends */
}

/* What the cost of a call follows; COST_ONE: nothing. */
enum call_cost {
    COST_ONE,
    COST_COMPARISON,
    COST_MEMBERSHIP,
    COST_SEARCH,
    COST_JOINED,  /* the sizes of both arguments */
    COST_TARGET,  /* the size of the first one */
    COST_REWRITE, /* twice that */
    COST_VALUE,   /* that of a value, which may be bytes */
    COST_UNKNOWN
};

static const unsigned char COSTS[N_FUNCTIONS] = {
    [F_EQUAL] = COST_COMPARISON,   [F_NOT_EQUAL] = COST_COMPARISON,
    [F_LESS] = COST_COMPARISON,    [F_LESS_EQUAL] = COST_COMPARISON,
    [F_GREATER] = COST_COMPARISON, [F_GREATER_EQUAL] = COST_COMPARISON,
    [F_IN] = COST_MEMBERSHIP,      [F_MATCHES] = COST_SEARCH,
    [F_CONTAINS] = COST_SEARCH,    [F_STARTS_WITH] = COST_SEARCH,
    [F_ENDS_WITH] = COST_SEARCH,   [F_ADD] = COST_JOINED,
    [F_REPLACE] = COST_REWRITE,    [F_SPLIT] = COST_REWRITE,
    [F_LOWER] = COST_TARGET,       [F_UPPER] = COST_TARGET,
    [F_SUBSTRING] = COST_TARGET,   [F_TRIM] = COST_TARGET,
    [F_INDEX_OF] = COST_TARGET,    [F_QUANTITY] = COST_TARGET,
    [F_IS_QUANTITY] = COST_TARGET, [F_SEMVER] = COST_TARGET,
    [F_IS_SEMVER] = COST_TARGET,   [F_STRING] = COST_VALUE,
    [F_JOIN] = COST_UNKNOWN, /* upstream does not know the items' sizes */
};

static uint64_t cost_of_call(const struct cel_node *node, const struct bound *args)
{
    switch ((enum call_cost)COSTS[node->function]) {
    case COST_COMPARISON:
        return cost_of_comparison(node, args);
    case COST_MEMBERSHIP:
        return node->args[1]->type->kind == K_MAP ? 1 : larger(1, args[1].size);
    case COST_SEARCH:
        return cost_of_search(node, args);
    case COST_JOINED:
        return traversal(plus(args[0].size, args[1].size));
    case COST_TARGET:
        return traversal(args[0].size);
    case COST_REWRITE:
        return times(2, traversal(args[0].size));
    case COST_VALUE:
        return cel_is_dyn(node->args[0]->type) ? traversal(args[0].size) : 1;
    case COST_UNKNOWN:
        return UNKNOWN;
    case COST_ONE:
    default:
        return 1;
    }
}

static void set_size_of_call(const struct cel_node *node, const struct bound *args,
                             struct bound *bound)
{
    switch (node->function) {
    case F_ADD:
        if (bound->size == UNKNOWN) {
            bound->size = plus(args[0].size, args[1].size);
            bound->item = larger(args[0].item, args[1].item);
        }
        break;
    case F_CONDITIONAL:
        bound->size = larger(args[1].size, args[2].size);
        bound->item = larger(args[1].item, args[2].item);
        break;
    case F_DYN:
        bound->size = args[0].size;
        bound->item = args[0].item;
        break;
    case F_LOWER:
    case F_UPPER:
    case F_SUBSTRING:
    case F_TRIM:
    case F_SPLIT:
        bound->size = args[0].size;
        break;
    case F_REPLACE:
        bound->size = plus(times(plus(args[0].size, 1), args[2].size), args[0].size);
        break;
    default:
        break;
    }
}

static struct bound bound_of_call(const struct cel_node *node, const struct bound_scope *scope)
{
    struct bound args[CEL_ARGS_MAX] = {0};
    uint64_t cost = 0;
    for (size_t i = 0; i < node->n_args && i < CEL_ARGS_MAX; i++) {
        args[i] = bound_of(node->args[i], scope);
        cost = plus(cost, args[i].cost);
    }
    cost = plus(cost, cost_of_call(node, args));
    if (node->function == F_INDEX)
        return part_of(&args[0], node->type, cost);
    struct bound bound = {.cost = cost, .size = size_of_type(node->type), .item = UNKNOWN};
    set_size_of_call(node, args, &bound);
    return bound;
}

static struct bound bound_of_list(const struct cel_node *node, const struct bound_scope *scope)
{
    struct bound bound = {.cost = NEW_LIST_COST, .size = node->n_args};
    for (size_t i = 0; i < node->n_args; i++) {
        const struct bound item = bound_of(node->args[i], scope);
        bound.cost = plus(bound.cost, item.cost);
        bound.item = larger(bound.item, item.size);
    }
    return bound;
}

/* Of the loops that upstream makes of macros: what they cost once, and each time besides the body.
 */
static struct bound bound_of_fold(const struct cel_node *node, const struct bound_scope *scope)
{
    static const struct {
        uint64_t once, each;
        bool makes_list;
    } LOOPS[] = {[FOLD_ALL] = {1, 3, false},
                 [FOLD_EXISTS] = {1, 4, false},
                 [FOLD_EXISTS_ONE] = {3, 3, false},
                 [FOLD_MAP] = {NEW_LIST_COST + 1, 13, true},
                 [FOLD_FILTER] = {NEW_LIST_COST + 1, 14, true}};
    const struct bound range = bound_of(node->args[0], scope);
    const struct bound_scope inner = {
        .name = node->name,
        .value = {.cost = 1, .size = range.item, .item = UNKNOWN},
        .outer = scope,
    };
    struct bound body = {0};
    uint64_t each = LOOPS[node->fold].each;
    for (size_t i = 1; i < node->n_args; i++) {
        body = bound_of(node->args[i], &inner);
        each = plus(each, body.cost);
    }
    struct bound bound = {.size = 1, .item = UNKNOWN};
    bound.cost = plus(plus(range.cost, LOOPS[node->fold].once), times(range.size, each));
    if (LOOPS[node->fold].makes_list) {
        bound.size = range.size;
        bound.item = node->fold == FOLD_FILTER ? range.item : body.size;
    }
    return bound;
}

static struct bound bound_of_bind(const struct cel_node *node, const struct bound_scope *scope)
{
    const struct bound value = bound_of(node->args[0], scope);
    const struct bound_scope inner = {.name = node->name, .value = value, .outer = scope};
    struct bound body = bound_of(node->args[1], &inner);
    body.cost = plus(body.cost, plus(value.cost, NEW_LIST_COST));
    return body;
}

/* && and || cost what their sides cost. */
static struct bound bound_of_logic(const struct cel_node *node, const struct bound_scope *scope)
{
    struct bound bound = {.size = 1, .item = UNKNOWN};
    for (size_t i = 0; i < node->n_args; i++)
        bound.cost = plus(bound.cost, bound_of(node->args[i], scope).cost);
    return bound;
}

static struct bound bound_of_constant(const struct cel_node *node)
{
    const bool is_text = node->constant.kind == V_STRING;
    return (struct bound){.size = is_text ? node->constant.text.len : 1, .item = UNKNOWN};
}

static struct bound bound_of(const struct cel_node *node, const struct bound_scope *scope)
{
    switch (node->kind) {
    case N_CONST:
        return bound_of_constant(node);
    case N_IDENT:
        return bound_of_ident(node, scope);
    case N_SELECT:
        return bound_of_select(node, scope);
    case N_CALL:
        return bound_of_call(node, scope);
    case N_AND:
    case N_OR:
        return bound_of_logic(node, scope);
    case N_LIST:
        return bound_of_list(node, scope);
    case N_FOLD:
        return bound_of_fold(node, scope);
    case N_BIND:
        return bound_of_bind(node, scope);
    case N_UNKNOWN:
    default:
        return (struct bound){UNKNOWN, UNKNOWN, UNKNOWN, PART_NONE, false};
    }
}

uint64_t cel_cost_bound(const struct cel_node *root)
{
    return bound_of(root, NULL).cost;
}
