/*
 * reads: what an expression says of devices by its text: which facts it reads, as far as literals
 * name them; comparisons of a fact with a literal that all devices must pass, those that && joins;
 * and the parts that its outermost && joins, as texts.
 */
#include "cel_priv.h"
#include "functions.h"
#include "lexer.h"

#include <string.h>

/* device.attributes (depth 0), a domain of it (1), or a fact (2). */
struct cel_path {
    bool is_capacity;
    unsigned depth;
    struct cel_text domain, name;
};

/* A name of cel.bind() or of a fold; what it stands for, if that is a path. */
struct cel_alias {
    struct cel_text name;
    bool is_path;
    struct cel_path path;
    const struct cel_alias *outer;
};

/* Whether the node is the device itself. */
static bool cel_is_device(const struct cel_node *node, const struct cel_alias *aliases)
{
    if (node->kind != N_IDENT || !cel_text_is(node->name, "device"))
        return false;
    for (; aliases; aliases = aliases->outer)
        if (cel_text_is(aliases->name, "device"))
            return false;
    return true;
}

static bool cel_path_of(const struct cel_node *node, const struct cel_alias *aliases,
                        struct cel_path *ret);

static bool extend(const struct cel_node *object, struct cel_text key,
                   const struct cel_alias *aliases, struct cel_path *ret)
{
    if (!cel_path_of(object, aliases, ret) || ret->depth == 2)
        return false;
    *(ret->depth == 0 ? &ret->domain : &ret->name) = key;
    ret->depth++;
    return true;
}

/* What the node names; false: nothing, or not by literals alone. */
static bool cel_path_of(const struct cel_node *node, const struct cel_alias *aliases,
                        struct cel_path *ret)
{
    if (node->kind == N_IDENT) {
        while (aliases && !cel_text_equal(aliases->name, node->name))
            aliases = aliases->outer;
        if (aliases)
            *ret = aliases->path;
        return aliases && aliases->is_path;
    }
    if (node->kind == N_SELECT && cel_is_device(node->args[0], aliases)) {
        bool is_capacity = cel_text_is(node->name, "capacity");
        *ret = (struct cel_path){.is_capacity = is_capacity};
        return is_capacity || cel_text_is(node->name, "attributes");
    }
    if (node->kind == N_SELECT)
        return extend(node->args[0], node->name, aliases, ret);
    bool is_index =
        node->kind == N_CALL && (node->function == F_INDEX || node->function == F_OPT_INDEX);
    if (!is_index || node->args[1]->kind != N_CONST || node->args[1]->constant.kind != V_STRING)
        return false;
    return extend(node->args[0], node->args[1]->constant.text, aliases, ret);
}

/* "name" in device.attributes["domain"], or "domain" in device.attributes. */
static bool cel_is_presence(const struct cel_node *node, const struct cel_alias *aliases,
                            struct cel_path *ret)
{
    if (node->kind != N_CALL || node->function != F_IN || node->args[0]->kind != N_CONST ||
        node->args[0]->constant.kind != V_STRING ||
        !extend(node->args[1], node->args[0]->constant.text, aliases, ret))
        return false;
    if (ret->depth == 1) { /* whether the domain is there: the name is empty */
        ret->name = (struct cel_text){"", 0};
        ret->depth = 2;
    }
    return true;
}

struct reader {
    struct cel_program *program;
    struct arena *arena;
    size_t size;
};

static void walk(struct reader *reader, const struct cel_node *node,
                 const struct cel_alias *aliases);

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static void add_read(struct reader *reader, const struct cel_path *path)
{
    struct cel_program *program = reader->program;
    struct cel_read read = {.is_capacity = path->is_capacity};
    if (path->depth >= 1)
        read.domain = arena_strndup(reader->arena, path->domain.bytes, path->domain.len);
    if (path->depth >= 2)
        read.name = arena_strndup(reader->arena, path->name.bytes, path->name.len);
    for (size_t i = 0; i < program->n_reads; i++)
        if (program->reads[i].is_capacity == read.is_capacity &&
            same_text(program->reads[i].domain, read.domain) &&
            same_text(program->reads[i].name, read.name))
            return;
    program->reads =
        arena_grow(reader->arena, program->reads, program->n_reads, &reader->size, sizeof read);
    program->reads[program->n_reads++] = read;
}

static void walk_scope(struct reader *reader, const struct cel_node *node,
                       const struct cel_alias *aliases)
{
    struct cel_alias alias = {.name = node->name, .outer = aliases};
    alias.is_path = node->kind == N_BIND && cel_path_of(node->args[0], aliases, &alias.path) &&
                    alias.path.depth < 2;
    if (!alias.is_path)
        walk(reader, node->args[0], aliases);
    for (size_t i = 1; i < node->n_args; i++)
        walk(reader, node->args[i], &alias);
}

static void walk(struct reader *reader, const struct cel_node *node,
                 const struct cel_alias *aliases)
{
    struct cel_path path;
    if (cel_path_of(node, aliases, &path) || cel_is_presence(node, aliases, &path)) {
        add_read(reader, &path);
    } else if (cel_is_device(node, aliases)) { /* as a value: any of its facts */
        add_read(reader, &(struct cel_path){.is_capacity = false});
        add_read(reader, &(struct cel_path){.is_capacity = true});
    } else if (node->kind == N_SELECT && cel_is_device(node->args[0], aliases)) {
        return; /* driver, allowMultipleAllocations */
    } else if (node->kind == N_FOLD || node->kind == N_BIND) {
        walk_scope(reader, node, aliases);
    } else {
        for (size_t i = 0; i < node->n_args; i++)
            walk(reader, node->args[i], aliases);
    }
}

void cel_find_reads(struct cel_program *program, struct arena *arena)
{
    struct reader reader = {.program = program, .arena = arena};
    walk(&reader, program->root, NULL);
}

/* Comparisons of a fact with a literal that all devices must pass: those that && joins. */

struct term_finder {
    struct cel_program *program;
    struct arena *arena;
    size_t size;
};

static const struct cel_node *without_case(const struct cel_node *node)
{
    bool folds = node->kind == N_CALL && (node->function == F_LOWER || node->function == F_UPPER);
    return folds ? node->args[0] : node;
}

static bool is_text(const struct cel_node *node)
{
    return node->kind == N_CONST && node->constant.kind == V_STRING;
}

/* quantity("40Gi"). */
static bool is_quantity(const struct cel_node *node)
{
    return node->kind == N_CALL && node->function == F_QUANTITY && is_text(node->args[0]);
}

static void add_term(struct term_finder *finder, const struct cel_node *node,
                     enum cel_term_kind kind, const struct cel_path *path, struct cel_text literal)
{
    struct cel_program *program = finder->program;
    struct arena *arena = finder->arena;
    if (path->depth != 2)
        return;
    program->terms =
        arena_grow(arena, program->terms, program->n_terms, &finder->size, sizeof *program->terms);
    program->terms[program->n_terms++] = (struct cel_kept_term){
        .node = node,
        .shown = {.kind = kind,
                  .read = {path->is_capacity,
                           arena_strndup(arena, path->domain.bytes, path->domain.len),
                           arena_strndup(arena, path->name.bytes, path->name.len)},
                  .literal = arena_strndup(arena, literal.bytes, literal.len)}};
}

/* A comparison with a text on either side. */
static void add_equal(struct term_finder *finder, const struct cel_node *node,
                      const struct cel_alias *aliases)
{
    struct cel_path path;
    for (size_t i = 0; i < 2; i++)
        if (is_text(node->args[i]) && cel_path_of(without_case(node->args[1 - i]), aliases, &path))
            add_term(finder, node, CEL_TERM_EQUAL, &path, node->args[i]->constant.text);
}

static void add_text(struct term_finder *finder, const struct cel_node *node,
                     const struct cel_alias *aliases)
{
    struct cel_path path;
    if (is_text(node->args[1]) && cel_path_of(without_case(node->args[0]), aliases, &path))
        add_term(finder, node, CEL_TERM_TEXT, &path, node->args[1]->constant.text);
}

/* x.isGreaterThan(quantity("1")), or the same of a comparison of x.compareTo(). */
static void add_quantity(struct term_finder *finder, const struct cel_node *term,
                         const struct cel_node *node, const struct cel_alias *aliases)
{
    struct cel_path path;
    bool compares =
        node->kind == N_CALL && node->function >= F_IS_GREATER && node->function <= F_COMPARE_TO;
    if (compares && is_quantity(node->args[1]) && cel_path_of(node->args[0], aliases, &path))
        add_term(finder, term, CEL_TERM_QUANTITY, &path, node->args[1]->args[0]->constant.text);
}

static void find(struct term_finder *finder, const struct cel_node *node,
                 const struct cel_alias *aliases)
{
    if (node->kind == N_AND) {
        for (size_t i = 0; i < node->n_args; i++)
            find(finder, node->args[i], aliases);
    }
    if (node->kind != N_CALL || node->n_args != 2)
        return;
    if (node->function == F_EQUAL)
        add_equal(finder, node, aliases);
    if (node->function >= F_CONTAINS && node->function <= F_MATCHES)
        add_text(finder, node, aliases);
    if (node->function == F_EQUAL ||
        (node->function >= F_LESS && node->function <= F_GREATER_EQUAL))
        add_quantity(finder, node, node->args[0], aliases);
    add_quantity(finder, node, node, aliases);
}

/* Terms in cel.bind() are terms of the whole, but cannot be computed alone: they are left out. */
void cel_find_terms(struct cel_program *program, struct arena *arena)
{
    struct term_finder finder = {.program = program, .arena = arena};
    find(&finder, program->root, NULL);
}

/* The parts of an expression that its outermost && join, as texts. */

struct splitter {
    struct arena *arena;
    const char *expression;
    const char **parts;
    size_t n, room;
    size_t from; /* where the next part begins */
};

static bool is_blank(char c)
{
    return c && strchr(" \t\r\n\f", c);
}

static void add_part(struct splitter *splitter, size_t to)
{
    const char *text = splitter->expression;
    size_t from = splitter->from;
    while (from < to && is_blank(text[from]))
        from++;
    while (to > from && is_blank(text[to - 1]))
        to--;
    splitter->parts = arena_grow(splitter->arena, splitter->parts, splitter->n, &splitter->room,
                                 sizeof *splitter->parts);
    splitter->parts[splitter->n++] = arena_strndup(splitter->arena, text + from, to - from);
}

static int depth_change(const struct cel_token *token)
{
    const bool is_bracket = token->kind == T_OPERATOR && token->text.len == 1;
    if (is_bracket && strchr("([{", token->text.bytes[0]))
        return 1;
    return is_bracket && strchr(")]}", token->text.bytes[0]) ? -1 : 0;
}

/* It binds less than &&. A question mark after a dot selects an optional field. */
static bool binds_less(const struct cel_token *token, bool is_after_dot)
{
    return cel_token_is(token, "||") || (cel_token_is(token, "?") && !is_after_dot);
}

/* False: the outermost operator is another one. */
static bool split(struct splitter *splitter)
{
    struct cel_lexer lexer = {.source = {splitter->expression, strlen(splitter->expression)}};
    bool is_after_dot = false;
    int depth = 0;
    for (;;) {
        const struct cel_token token = cel_next_token(&lexer);
        if (token.kind == T_BAD || depth < 0 || (depth == 0 && binds_less(&token, is_after_dot)))
            return false;
        if (token.kind == T_END) {
            add_part(splitter, lexer.source.len);
            return true;
        }
        if (depth == 0 && cel_token_is(&token, "&&")) {
            add_part(splitter, token.at);
            splitter->from = token.at + token.text.len;
        }
        depth += depth_change(&token);
        is_after_dot = cel_token_is(&token, ".");
    }
}

const char *const *cel_conjuncts(const struct cel_program *program, struct arena *arena,
                                 size_t *ret_n)
{
    struct splitter splitter = {.arena = arena, .expression = program->expression};
    if (!split(&splitter)) {
        splitter.n = 0;
        splitter.from = 0;
        add_part(&splitter, strlen(splitter.expression));
    }
    *ret_n = splitter.n;
    return splitter.parts;
}

/* NULL: not a text without escapes. */
static const char *plain_text(const struct cel_token *token, struct arena *arena)
{
    const char *bytes = token->text.bytes;
    const size_t len = token->text.len;
    const char stops[] = {bytes[0], '\\', '\0'};
    const bool is_plain = token->kind == T_STRING && len >= 2 && strchr("'\"", bytes[0]) &&
                          strcspn(bytes + 1, stops) == len - 2;
    return is_plain ? arena_strndup(arena, bytes + 1, len - 2) : NULL;
}

const char *cel_driver(const char *expression, struct arena *arena)
{
    static const char *const BEGINNING[] = {"device", ".", "driver", "=="};
    struct splitter splitter = {.arena = arena, .expression = expression};
    if (!split(&splitter))
        return "";
    struct cel_lexer lexer = {.source = {splitter.parts[0], strlen(splitter.parts[0])}};
    for (size_t i = 0; i < sizeof BEGINNING / sizeof *BEGINNING; i++) {
        const struct cel_token token = cel_next_token(&lexer);
        if (!cel_text_is(token.text, BEGINNING[i]))
            return "";
    }
    const struct cel_token token = cel_next_token(&lexer);
    const char *driver = plain_text(&token, arena);
    return driver && cel_next_token(&lexer).kind == T_END ? driver : "";
}
