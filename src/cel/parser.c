/*
 * parser: the grammar of CEL (cel-go's parser/gen/CEL.g4) by precedence, into a tree. Macros are
 * expanded on the way, so their arguments are checked as upstream does.
 */
#include "lexer.h"

#include <string.h>

struct cel_parser {
    struct cel_lexer lexer;
    struct cel_token token; /* the next one */
    struct cel_fault *fault;
    unsigned depth;
    size_t n_nodes;
};

/* Arguments while they are read. */
struct cel_list {
    struct cel_node **items;
    size_t n, size;
};

/* Has(), the folds, and cel.bind() (cel-go's parser/macro.go, ext/bindings.go). */

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

/* The call, or what stands for it. args[0] of a member call is its target. */
static struct cel_node *cel_expand(struct cel_parser *parser, struct cel_node *call)
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

/* Lowest first; those of a level are left-associative. */
enum level { LEVEL_OR, LEVEL_AND, LEVEL_RELATION, LEVEL_SUM, LEVEL_PRODUCT, N_LEVELS };

static struct cel_node *parse_expr(struct cel_parser *parser);
static struct cel_node *parse_level(struct cel_parser *parser, enum level level);

static void advance(struct cel_parser *parser)
{
    parser->token = cel_next_token(&parser->lexer);
}

static bool is_next(const struct cel_parser *parser, const char *op)
{
    return cel_token_is(&parser->token, op);
}

static bool skip(struct cel_parser *parser, const char *op)
{
    if (!is_next(parser, op))
        return false;
    advance(parser);
    return true;
}

static struct cel_node *unexpected(struct cel_parser *parser)
{
    const struct cel_token *token = &parser->token;
    if (token->kind == T_END)
        (void)cel_invalid_at(parser->fault, token->at, "Syntax error: mismatched input '<EOF>'");
    else
        (void)cel_invalid_at(parser->fault, token->at, "Syntax error: mismatched input '%.*s'",
                             (int)(token->text.len < 40 ? token->text.len : 40), token->text.bytes);
    return NULL;
}

static bool expect(struct cel_parser *parser, const char *op)
{
    return skip(parser, op) || unexpected(parser);
}

static void cel_list_add(struct cel_parser *parser, struct cel_list *list, struct cel_node *node)
{
    list->items = arena_grow(parser->fault->arena, list->items, list->n, &list->size,
                             sizeof(struct cel_node *));
    list->items[list->n++] = node;
}

/* NULL with the fault if there are too many nodes, or they are too deep, or an argument is NULL. */
static struct cel_node *cel_new_node(struct cel_parser *parser, enum cel_node_kind kind, size_t at,
                                     struct cel_list args)
{
    unsigned depth = 0;
    for (size_t i = 0; i < args.n; i++) {
        if (!args.items[i])
            return NULL;
        if (args.items[i]->depth > depth)
            depth = args.items[i]->depth;
    }
    if (++parser->n_nodes > CEL_NODES_MAX || depth >= CEL_DEPTH_MAX) {
        (void)cel_not_judged(parser->fault, "it is too large or nests too deeply");
        return NULL;
    }
    struct cel_node *node = ARENA_NEW(parser->fault->arena, struct cel_node);
    node->kind = kind;
    node->at = at;
    node->args = args.items;
    node->n_args = args.n;
    node->depth = depth + 1;
    return node;
}

static struct cel_node *new_unknown(struct cel_parser *parser, size_t at, const char *what)
{
    struct cel_node *node = cel_new_node(parser, N_UNKNOWN, at, (struct cel_list){0});
    if (node)
        node->name = (struct cel_text){what, strlen(what)};
    return node;
}

static struct cel_node *new_call(struct cel_parser *parser, size_t at, struct cel_text name,
                                 struct cel_list args)
{
    struct cel_node *node = cel_new_node(parser, N_CALL, at, args);
    if (node)
        node->name = name;
    return node;
}

static struct cel_node *new_select(struct cel_parser *parser, size_t at, struct cel_node *object,
                                   struct cel_text field)
{
    struct cel_list args = {0};
    cel_list_add(parser, &args, object);
    struct cel_node *node = cel_new_node(parser, N_SELECT, at, args);
    if (node)
        node->name = field;
    return node;
}

/* Expressions up to the closing bracket, which it takes. False: a fault. */
static bool parse_list(struct cel_parser *parser, const char *closing, struct cel_list *args)
{
    if (skip(parser, closing))
        return true;
    do {
        struct cel_node *node = parse_expr(parser);
        if (!node)
            return false;
        cel_list_add(parser, args, node);
    } while (skip(parser, ","));
    return expect(parser, closing);
}

static struct cel_node *parse_list_literal(struct cel_parser *parser, size_t at)
{
    struct cel_list args = {0};
    bool has_optional = false;
    while (!is_next(parser, "]") && !is_next(parser, ",")) {
        has_optional |= skip(parser, "?");
        struct cel_node *node = parse_expr(parser);
        if (!node)
            return NULL;
        cel_list_add(parser, &args, node);
        if (!is_next(parser, ","))
            break;
        advance(parser);
        if (is_next(parser, "]"))
            break;
        if (is_next(parser, ","))
            return unexpected(parser);
    }
    if (args.n == 0)
        (void)skip(parser, ",");
    if (!expect(parser, "]"))
        return NULL;
    return has_optional ? new_unknown(parser, at, "an optional element of a list")
                        : cel_new_node(parser, N_LIST, at, args);
}

/* The entries of a map or, with fields, of a message. */
static struct cel_node *parse_entries(struct cel_parser *parser, size_t at, bool has_fields)
{
    bool first = true;
    while (!is_next(parser, "}")) {
        if (!first && !expect(parser, ","))
            return NULL;
        if (is_next(parser, "}"))
            break;
        if (first && skip(parser, ","))
            break;
        first = false;
        (void)skip(parser, "?");
        if (has_fields && parser->token.kind != T_IDENT)
            return unexpected(parser);
        if (has_fields)
            advance(parser);
        else if (!parse_expr(parser))
            return NULL;
        if (!expect(parser, ":") || !parse_expr(parser))
            return NULL;
    }
    if (!expect(parser, "}"))
        return NULL;
    return new_unknown(parser, at, has_fields ? "a message literal" : "a map literal");
}

static bool is_reserved(struct cel_text name)
{
    static const char *const WORDS[] = {
        "as",  "break", "const",   "continue",  "else",   "for", "function", "if",   "import",
        "let", "loop",  "package", "namespace", "return", "var", "void",     "while"};
    for (size_t i = 0; i < sizeof WORDS / sizeof WORDS[0]; i++)
        if (cel_text_is(name, WORDS[i]))
            return true;
    return false;
}

static struct cel_node *parse_name(struct cel_parser *parser)
{
    struct cel_token token = parser->token;
    advance(parser);
    if (is_reserved(token.text)) {
        (void)cel_invalid_at(parser->fault, token.at, "Syntax error: reserved identifier: %.*s",
                             (int)token.text.len, token.text.bytes);
        return NULL;
    }
    struct cel_list args = {0};
    if (skip(parser, "(")) {
        if (!parse_list(parser, ")", &args))
            return NULL;
        struct cel_node *call = new_call(parser, token.at, token.text, args);
        return call ? cel_expand(parser, call) : NULL;
    }
    struct cel_node *node = cel_new_node(parser, N_IDENT, token.at, args);
    if (node)
        node->name = token.text;
    return node;
}

static struct cel_node *parse_constant(struct cel_parser *parser, bool negative)
{
    struct cel_token token = parser->token;
    advance(parser);
    if (token.kind == T_BYTES)
        return new_unknown(parser, token.at, "bytes");
    struct cel_node *node = cel_new_node(parser, N_CONST, token.at, (struct cel_list){0});
    if (!node)
        return NULL;
    if (token.kind == T_OPERATOR && cel_text_is(token.text, "null"))
        node->constant = (struct cel_value){.kind = V_NULL};
    else if (token.kind == T_OPERATOR)
        node->constant = cel_bool(cel_text_is(token.text, "true"));
    else if (!cel_literal(&token, negative, parser->fault, &node->constant))
        return NULL;
    return node;
}

static bool is_literal(const struct cel_parser *parser)
{
    enum cel_token_kind kind = parser->token.kind;
    return (kind != T_END && kind != T_IDENT && kind != T_OPERATOR && kind != T_BAD) ||
           is_next(parser, "true") || is_next(parser, "false") || is_next(parser, "null");
}

static struct cel_node *parse_primary(struct cel_parser *parser)
{
    struct cel_token token = parser->token;
    if (token.kind == T_IDENT)
        return parse_name(parser);
    if (is_literal(parser))
        return parse_constant(parser, false);
    if (skip(parser, "(")) {
        struct cel_node *node = parse_expr(parser);
        return node && expect(parser, ")") ? node : NULL;
    }
    if (skip(parser, "["))
        return parse_list_literal(parser, token.at);
    if (skip(parser, "{"))
        return parse_entries(parser, token.at, false);
    if (skip(parser, ".")) {
        if (parser->token.kind != T_IDENT)
            return unexpected(parser);
        return parse_name(parser) ? new_unknown(parser, token.at, "a name with a leading dot")
                                  : NULL;
    }
    return unexpected(parser);
}

static struct cel_node *parse_member(struct cel_parser *parser, struct cel_node *object)
{
    size_t at = parser->token.at;
    advance(parser);
    bool is_optional = skip(parser, "?");
    struct cel_token name = parser->token;
    if (name.kind != T_IDENT)
        return unexpected(parser);
    advance(parser);
    if (is_optional || !is_next(parser, "(")) {
        struct cel_node *node = new_select(parser, at, object, name.text);
        if (node)
            node->is_optional = is_optional;
        return node;
    }
    struct cel_list args = {0};
    size_t opening = parser->token.at;
    advance(parser);
    cel_list_add(parser, &args, object);
    if (!parse_list(parser, ")", &args))
        return NULL;
    struct cel_node *call = new_call(parser, opening, name.text, args);
    if (!call)
        return NULL;
    call->is_member = true;
    return cel_expand(parser, call);
}

static struct cel_node *parse_index(struct cel_parser *parser, struct cel_node *object)
{
    struct cel_list args = {0};
    size_t at = parser->token.at;
    advance(parser);
    bool is_optional = skip(parser, "?");
    cel_list_add(parser, &args, object);
    struct cel_node *key = parse_expr(parser);
    if (!key || !expect(parser, "]"))
        return NULL;
    cel_list_add(parser, &args, key);
    return new_call(parser, at, is_optional ? CEL_TEXT("_[?_]") : CEL_TEXT("_[_]"), args);
}

/* A name, or names with dots, which '{' makes a message. */
static bool is_path(const struct cel_node *node)
{
    while (node->kind == N_SELECT && !node->is_optional && !node->is_test)
        node = node->args[0];
    return node->kind == N_IDENT;
}

static struct cel_node *parse_postfix(struct cel_parser *parser, struct cel_node *node,
                                      bool is_nested)
{
    while (node) {
        if (is_next(parser, "."))
            node = parse_member(parser, node);
        else if (is_next(parser, "["))
            node = parse_index(parser, node);
        else if (is_next(parser, "{") && !is_nested && is_path(node) && skip(parser, "{"))
            node = parse_entries(parser, node->at, true);
        else
            break;
    }
    return node;
}

static struct cel_node *parse_operand(struct cel_parser *parser)
{
    bool is_nested = is_next(parser, "(");
    return parse_postfix(parser, parse_primary(parser), is_nested);
}

static bool is_number(const struct cel_parser *parser)
{
    return parser->token.kind == T_INT || parser->token.kind == T_DOUBLE;
}

/* Pairs of the same sign cancel out, unchecked, as upstream does. */
static struct cel_node *parse_unary(struct cel_parser *parser)
{
    const char *op = is_next(parser, "!") ? "!" : "-";
    size_t at = parser->token.at;
    size_t n = 0;
    while (skip(parser, op))
        n++;
    struct cel_node *node;
    if (*op == '-' && n > 0 && is_number(parser)) { /* the last sign is the number's */
        n--;
        node = parse_postfix(parser, parse_constant(parser, true), false);
    } else if (*op == '!' && is_next(parser, "-")) {
        advance(parser);
        if (!is_number(parser))
            return unexpected(parser);
        node = parse_postfix(parser, parse_constant(parser, true), false);
    } else {
        node = parse_operand(parser);
    }
    if (!node || n % 2 == 0)
        return node;
    struct cel_list args = {0};
    cel_list_add(parser, &args, node);
    return new_call(parser, at, *op == '!' ? CEL_TEXT("!_") : CEL_TEXT("-_"), args);
}

/* The function of the binary operator that comes next; an empty text: none of that level. */
static struct cel_text operator_at(const struct cel_parser *parser, enum level level)
{
    static const struct {
        enum level level;
        const char *op, *function;
    } OPERATORS[] = {
        {LEVEL_OR, "||", "_||_"},       {LEVEL_AND, "&&", "_&&_"},
        {LEVEL_RELATION, "<", "_<_"},   {LEVEL_RELATION, "<=", "_<=_"},
        {LEVEL_RELATION, ">", "_>_"},   {LEVEL_RELATION, ">=", "_>=_"},
        {LEVEL_RELATION, "==", "_==_"}, {LEVEL_RELATION, "!=", "_!=_"},
        {LEVEL_RELATION, "in", "@in"},  {LEVEL_SUM, "+", "_+_"},
        {LEVEL_SUM, "-", "_-_"},        {LEVEL_PRODUCT, "*", "_*_"},
        {LEVEL_PRODUCT, "/", "_/_"},    {LEVEL_PRODUCT, "%", "_%_"},
    };
    for (size_t i = 0; i < sizeof OPERATORS / sizeof OPERATORS[0]; i++)
        if (OPERATORS[i].level == level && is_next(parser, OPERATORS[i].op))
            return (struct cel_text){OPERATORS[i].function, strlen(OPERATORS[i].function)};
    return (struct cel_text){"", 0};
}

/* All terms of || or && are one node: chains are long, and this keeps the tree flat. */
static struct cel_node *parse_logical(struct cel_parser *parser, enum level level)
{
    struct cel_node *node = parse_level(parser, level + 1);
    struct cel_list args = {0};
    size_t at = parser->token.at;
    while (node && operator_at(parser, level).len > 0) {
        if (args.n == 0)
            cel_list_add(parser, &args, node);
        advance(parser);
        node = parse_level(parser, level + 1);
        cel_list_add(parser, &args, node);
    }
    if (!node || args.n == 0)
        return node;
    return cel_new_node(parser, level == LEVEL_OR ? N_OR : N_AND, at, args);
}

static struct cel_node *parse_level(struct cel_parser *parser, enum level level)
{
    if (level == N_LEVELS)
        return parse_unary(parser);
    if (level == LEVEL_OR || level == LEVEL_AND)
        return parse_logical(parser, level);
    struct cel_node *node = parse_level(parser, level + 1);
    for (;;) {
        struct cel_text function = operator_at(parser, level);
        if (!node || function.len == 0)
            return node;
        struct cel_list args = {0};
        size_t at = parser->token.at;
        advance(parser);
        cel_list_add(parser, &args, node);
        cel_list_add(parser, &args, parse_level(parser, level + 1));
        node = new_call(parser, at, function, args);
    }
}

static struct cel_node *parse_conditional(struct cel_parser *parser)
{
    struct cel_node *condition = parse_level(parser, LEVEL_OR);
    if (!condition || !is_next(parser, "?"))
        return condition;
    struct cel_list args = {0};
    size_t at = parser->token.at;
    advance(parser);
    cel_list_add(parser, &args, condition);
    struct cel_node *then = parse_level(parser, LEVEL_OR);
    if (!then || !expect(parser, ":"))
        return NULL;
    cel_list_add(parser, &args, then);
    cel_list_add(parser, &args, parse_expr(parser));
    return new_call(parser, at, CEL_TEXT("_?_:_"), args);
}

static struct cel_node *parse_expr(struct cel_parser *parser)
{
    if (++parser->depth > CEL_DEPTH_MAX) {
        (void)cel_not_judged(parser->fault, "it nests too deeply");
        return NULL;
    }
    struct cel_node *node = parse_conditional(parser);
    parser->depth--;
    return node;
}

struct cel_node *cel_parse(struct cel_text source, struct cel_fault *fault)
{
    struct cel_parser parser = {.lexer = {.source = source}, .fault = fault};
    advance(&parser);
    struct cel_node *node = parse_expr(&parser);
    if (node && parser.token.kind != T_END)
        return unexpected(&parser);
    return node;
}
