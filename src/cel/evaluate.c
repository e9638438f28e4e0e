/*
 * evaluate: the tree over the facts of one device. Errors are values: && || and the folds absorb
 * them where the other terms decide. A stop ends the run at once, whatever is around it.
 */
#include "functions.h"

#include <string.h>

bool cel_spend(struct cel_run *run, uint64_t cost)
{
    run->cost += cost;
    if (run->cost > CEL_COST_MAX)
        (void)cel_stop(run, "it may exceed the limit of work");
    return run->stop.verdict == CEL_VALID;
}

void *cel_take(struct cel_run *run, size_t bytes)
{
    run->bytes += bytes;
    if (run->bytes > CEL_VALUES_BYTES_MAX || bytes > CEL_VALUES_BYTES_MAX) {
        (void)cel_stop(run, "its values are too large");
        return NULL;
    }
    return arena_alloc_unset(run->arena, bytes);
}

static struct cel_value run_name(struct cel_run *run, const struct cel_node *node)
{
    for (struct cel_scope *scope = run->scope; scope; scope = scope->outer) {
        if (!cel_text_equal(scope->name, node->name))
            continue;
        if (scope->value)
            return *scope->value;
        /* cel.bind() computes its value when it is used first. */
        struct cel_scope *inner = run->scope;
        run->scope = scope->outer;
        struct cel_value value = cel_run_node(run, scope->lazy);
        run->scope = inner;
        if (value.kind == V_LIST && value.list.n == 0)
            return cel_stop(run, "binds an empty list"); /* upstream lets it grow in place */
        struct cel_value *kept = cel_take(run, sizeof value);
        if (kept)
            *kept = value;
        scope->value = kept;
        return value;
    }
    return (struct cel_value){.kind = V_DEVICE};
}

static struct cel_value run_select(struct cel_run *run, const struct cel_node *node)
{
    struct cel_value object = cel_run_node(run, node->args[0]);
    if (object.kind == V_ERROR)
        return object;
    if (node->is_test)
        return cel_has(run, object, node->name);
    return cel_lookup(run, object, cel_string(node->name), node->is_optional);
}

/* The next term of && or ||, where `absorbing` decides. True: *result is the answer. */
static bool absorbs(struct cel_run *run, struct cel_value term, bool absorbing,
                    struct cel_value *result)
{
    if (run->stop.verdict != CEL_VALID || (term.kind == V_BOOL && term.boolean == absorbing)) {
        *result = term;
        return true;
    }
    if (term.kind != V_BOOL && result->kind != V_ERROR)
        *result = term.kind == V_ERROR ? term : cel_error(run, "no such overload");
    return false;
}

static struct cel_value run_logical(struct cel_run *run, const struct cel_node *node)
{
    bool absorbing = node->kind == N_OR;
    struct cel_value result = cel_bool(!absorbing);
    for (size_t i = 0; i < node->n_args; i++)
        if (absorbs(run, cel_run_node(run, node->args[i]), absorbing, &result))
            break;
    return result;
}

static struct cel_value run_list(struct cel_run *run, const struct cel_node *node)
{
    struct cel_value *items = cel_take(run, (node->n_args + 1) * sizeof *items);
    if (!items || !cel_spend(run, 10 + node->n_args))
        return cel_stop(run, "too much work");
    for (size_t i = 0; i < node->n_args; i++) {
        items[i] = cel_run_node(run, node->args[i]);
        if (items[i].kind == V_ERROR)
            return items[i];
    }
    return (struct cel_value){.kind = V_LIST, .list = {items, node->n_args}};
}

/* A fold under way. */
struct fold {
    struct cel_value result; /* of all, exists; an error of the others */
    size_t n;                /* true ones; items of the list */
    struct cel_value *items;
};

static bool is_list_fold(const struct cel_node *node)
{
    return node->fold == FOLD_MAP || node->fold == FOLD_FILTER;
}

/* The item passes the condition of the fold, if it has one. */
static bool passes(struct cel_run *run, const struct cel_node *node, struct fold *fold)
{
    if (node->fold == FOLD_MAP && node->n_args == 2)
        return true;
    struct cel_value value = cel_run_node(run, node->args[1]);
    if (value.kind == V_BOOL)
        return value.boolean;
    fold->result = value.kind == V_ERROR ? value : cel_error(run, "no such overload");
    return false;
}

/* map, filter, exists_one: an error stays, and a later one of a condition replaces it. */
static void fold_item(struct cel_run *run, const struct cel_node *node, struct fold *fold,
                      struct cel_value item)
{
    if (!passes(run, node, fold))
        return;
    struct cel_value value =
        node->fold == FOLD_MAP ? cel_run_node(run, node->args[node->n_args - 1]) : item;
    if (fold->result.kind == V_ERROR)
        return;
    if (value.kind == V_ERROR)
        fold->result = value;
    else if (fold->items)
        fold->items[fold->n] = value;
    fold->n++;
}

static struct cel_value fold_result(const struct cel_node *node, const struct fold *fold)
{
    if (fold->result.kind == V_ERROR || node->fold == FOLD_ALL || node->fold == FOLD_EXISTS)
        return fold->result;
    if (node->fold == FOLD_EXISTS_ONE)
        return cel_bool(fold->n == 1);
    return (struct cel_value){.kind = V_LIST, .list = {fold->items, fold->n}};
}

static struct cel_value run_items(struct cel_run *run, const struct cel_node *node,
                                  struct cel_value range)
{
    struct fold fold = {.result = cel_bool(node->fold == FOLD_ALL)};
    if (is_list_fold(node))
        fold.items = cel_take(run, (range.list.n + 1) * sizeof *fold.items);
    for (size_t i = 0; i < range.list.n; i++) {
        struct cel_scope scope = {node->name, &range.list.items[i], NULL, run->scope};
        if (!cel_spend(run, is_list_fold(node) ? 14 : 4))
            return cel_stop(run, "too much work");
        run->scope = &scope;
        bool is_done = false;
        if (node->fold == FOLD_ALL || node->fold == FOLD_EXISTS)
            is_done = absorbs(run, cel_run_node(run, node->args[1]), node->fold == FOLD_EXISTS,
                              &fold.result);
        else
            fold_item(run, node, &fold, range.list.items[i]);
        run->scope = scope.outer;
        if (is_done)
            break;
    }
    return fold_result(node, &fold);
}

static struct cel_value run_fold(struct cel_run *run, const struct cel_node *node)
{
    struct cel_value range = cel_run_node(run, node->args[0]);
    if (range.kind == V_ERROR)
        return range;
    bool is_map = range.kind == V_DOMAINS || range.kind == V_FACTS;
    if (is_map)
        range = cel_map_keys(run, &range);
    if (range.kind != V_LIST)
        return cel_stop(run, "goes over a value that is no list");
    /* Upstream goes over the keys in no order. */
    bool is_unordered = is_map && range.list.n > 1;
    if (is_unordered && is_list_fold(node))
        return cel_stop(run, "makes a list of the keys of a map");
    struct cel_value result = run_items(run, node, range);
    if (is_unordered && run->stop.verdict == CEL_INVALID)
        run->stop.verdict = CEL_NOT_JUDGED;
    return result;
}

static struct cel_value run_bind(struct cel_run *run, const struct cel_node *node)
{
    struct cel_scope scope = {node->name, NULL, node->args[0], run->scope};
    run->scope = &scope;
    struct cel_value result = cel_run_node(run, node->args[1]);
    run->scope = scope.outer;
    return result;
}

static struct cel_value run_conditional(struct cel_run *run, const struct cel_node *node)
{
    struct cel_value condition = cel_run_node(run, node->args[0]);
    if (condition.kind == V_ERROR)
        return condition;
    if (condition.kind != V_BOOL)
        return cel_error(run, "no such overload");
    return cel_run_node(run, node->args[condition.boolean ? 1 : 2]);
}

/* x.or(y), x.orValue(y): y counts only if x has no value. */
static struct cel_value run_or(struct cel_run *run, const struct cel_node *node)
{
    struct cel_value optional = cel_run_node(run, node->args[0]);
    if (optional.kind != V_OPTIONAL)
        return optional;
    if (!optional.some)
        return cel_run_node(run, node->args[1]);
    return node->function == F_OR ? optional : *optional.some;
}

static struct cel_value run_index(struct cel_run *run, const struct cel_node *node)
{
    struct cel_value object = cel_run_node(run, node->args[0]);
    if (object.kind == V_ERROR)
        return object;
    if (object.kind == V_OPTIONAL && !object.some)
        return object;
    struct cel_value key = cel_run_node(run, node->args[1]);
    if (key.kind == V_ERROR)
        return key;
    return cel_lookup(run, object, key, node->function == F_OPT_INDEX);
}

static struct cel_value run_in(struct cel_run *run, const struct cel_node *node)
{
    bool is_constant = cel_is_constant(node->args[1]) && node->args[1]->type->kind == K_LIST;
    if (is_constant && node->args[1]->kind == N_LIST && node->args[1]->n_args == 0)
        return cel_bool(false); /* upstream does not look at the item */
    struct cel_value item = cel_run_node(run, node->args[0]);
    struct cel_value within = cel_run_node(run, node->args[1]);
    if (item.kind == V_ERROR || within.kind == V_ERROR)
        return item.kind == V_ERROR ? item : within;
    if (within.kind == V_DOMAINS || within.kind == V_FACTS)
        return cel_bool(cel_map_has(run, &within, item));
    if (within.kind != V_LIST)
        return cel_error(run, "no such overload");
    return cel_contains(run, item, within, is_constant);
}

static struct cel_value run_strict(struct cel_run *run, const struct cel_node *node)
{
    struct cel_value args[CEL_ARGS_MAX];
    struct cel_value error = {.kind = V_NULL};
    for (size_t i = 0; i < node->n_args; i++) {
        args[i] = cel_run_node(run, node->args[i]);
        if (args[i].kind == V_ERROR && error.kind != V_ERROR)
            error = args[i];
        if (error.kind == V_ERROR && node->n_args > 2)
            return error;
    }
    return error.kind == V_ERROR ? error : cel_call(run, node, args);
}

static struct cel_value run_call(struct cel_run *run, const struct cel_node *node)
{
    if (node->function == F_CONDITIONAL)
        return run_conditional(run, node);
    if (node->function == F_OR || node->function == F_OR_VALUE)
        return run_or(run, node);
    if (node->function == F_INDEX || node->function == F_OPT_INDEX)
        return run_index(run, node);
    return node->function == F_IN ? run_in(run, node) : run_strict(run, node);
}

struct cel_value cel_run_node(struct cel_run *run, const struct cel_node *node)
{
    if (!cel_spend(run, 1))
        return cel_stop(run, "too much work");
    switch (node->kind) {
    case N_CONST:
        return node->constant;
    case N_IDENT:
        return run_name(run, node);
    case N_SELECT:
        return run_select(run, node);
    case N_CALL:
        return run_call(run, node);
    case N_AND:
    case N_OR:
        return run_logical(run, node);
    case N_LIST:
        return run_list(run, node);
    case N_FOLD:
        return run_fold(run, node);
    case N_BIND:
        return run_bind(run, node);
    case N_UNKNOWN:
        break;
    }
    return cel_stop(run, "uses what is not known here");
}
