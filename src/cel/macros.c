/*
 * macros: has(), the folds, and cel.bind() (cel-go's parser/macro.go, ext/bindings.go).
 */
#include "parser.h"

static bool is_simple_name(struct cel_parser *parser, const struct cel_node *node,
                           const char *message)
{
    if (node->kind != N_IDENT)
        return cel_invalid_at(parser->fault, node->at, "%s", message);
    if (cel_text_is(node->name, "__result__"))
        return cel_invalid_at(parser->fault, node->at,
                              "iteration variable overwrites accumulator variable");
    return true;
}

static struct cel_node *expand_has(struct cel_parser *parser, struct cel_node *call)
{
    struct cel_node *select = call->args[0];
    if (select->kind != N_SELECT || select->is_optional || select->is_test) {
        (void)cel_invalid_at(parser->fault, select->at, "invalid argument to has() macro");
        return NULL;
    }
    select->is_test = true;
    return select;
}

static struct cel_node *expand_bind(struct cel_parser *parser, struct cel_node *call)
{
    struct cel_node *name = call->args[1];
    if (name->kind != N_IDENT) {
        (void)cel_invalid_at(parser->fault, name->at,
                             "cel.bind() variable names must be simple identifiers");
        return NULL;
    }
    call->kind = N_BIND;
    call->name = name->name;
    call->args += 2;
    call->n_args = 2;
    return call;
}

static struct cel_node *expand_fold(struct cel_parser *parser, struct cel_node *call,
                                    enum cel_fold fold)
{
    const char *message = fold == FOLD_MAP || fold == FOLD_FILTER
                              ? "argument is not an identifier"
                              : "argument must be a simple name";
    if (!is_simple_name(parser, call->args[1], message))
        return NULL;
    call->kind = N_FOLD;
    call->fold = fold;
    call->name = call->args[1]->name;
    call->args[1] = call->args[0];
    call->args++;
    call->n_args--;
    return call;
}

static bool find_fold(struct cel_text name, size_t n_args, enum cel_fold *ret)
{
    static const struct {
        const char *name;
        size_t n_args; /* with the target */
        enum cel_fold fold;
    } FOLDS[] = {
        {"all", 3, FOLD_ALL}, {"exists", 3, FOLD_EXISTS}, {"exists_one", 3, FOLD_EXISTS_ONE},
        {"map", 3, FOLD_MAP}, {"map", 4, FOLD_MAP},       {"filter", 3, FOLD_FILTER},
    };
    for (size_t i = 0; i < sizeof FOLDS / sizeof FOLDS[0]; i++) {
        if (FOLDS[i].n_args == n_args && cel_text_is(name, FOLDS[i].name)) {
            *ret = FOLDS[i].fold;
            return true;
        }
    }
    return false;
}

/* Macros of upstream that are not known here. */
static bool is_other_macro(struct cel_text name, size_t n_args)
{
    static const struct {
        const char *name;
        size_t from, to; /* arguments with the target */
    } OTHERS[] = {
        {"all", 4, 4},          {"exists", 4, 4},
        {"existsOne", 3, 4},    {"exists_one", 4, 4},
        {"optMap", 3, 3},       {"optFlatMap", 3, 3},
        {"sortBy", 3, 3},       {"transformList", 4, 5},
        {"transformMap", 4, 5}, {"transformMapEntry", 4, 5},
    };
    for (size_t i = 0; i < sizeof OTHERS / sizeof OTHERS[0]; i++)
        if (cel_text_is(name, OTHERS[i].name) && n_args >= OTHERS[i].from && n_args <= OTHERS[i].to)
            return true;
    return false;
}

struct cel_node *cel_expand(struct cel_parser *parser, struct cel_node *call)
{
    enum cel_fold fold;
    if (!call->is_member)
        return call->n_args == 1 && cel_text_is(call->name, "has") ? expand_has(parser, call)
                                                                   : call;
    if (find_fold(call->name, call->n_args, &fold))
        return expand_fold(parser, call, fold);
    const struct cel_node *target = call->args[0];
    if (call->n_args == 4 && cel_text_is(call->name, "bind") && target->kind == N_IDENT &&
        cel_text_is(target->name, "cel"))
        return expand_bind(parser, call);
    if (is_other_macro(call->name, call->n_args))
        call->kind = N_UNKNOWN;
    return call;
}
