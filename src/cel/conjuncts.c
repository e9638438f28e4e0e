/* conjuncts: the parts of an expression that its outermost && join, as texts. */
#include "lexer.h"

#include <string.h>

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

static void add(struct splitter *splitter, size_t to)
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
            add(splitter, lexer.source.len);
            return true;
        }
        if (depth == 0 && cel_token_is(&token, "&&")) {
            add(splitter, token.at);
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
        add(&splitter, strlen(splitter.expression));
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
