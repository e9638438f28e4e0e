/*
 * lexer: see lexer.h. As ANTLR does, the longest token wins.
 */
#include "lexer.h"
#include "literal.h"

#include <string.h>

static int at(const struct cel_lexer *lexer, size_t i)
{
    return i < lexer->source.len ? (unsigned char)lexer->source.bytes[i] : -1;
}

static bool is_digit(int c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(int c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_hex(int c)
{
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static void skip_blanks(struct cel_lexer *lexer)
{
    for (;;) {
        int c = at(lexer, lexer->at);
        if (c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f') {
            lexer->at++;
        } else if (c == '/' && at(lexer, lexer->at + 1) == '/') {
            while (lexer->at < lexer->source.len && at(lexer, lexer->at) != '\n')
                lexer->at++;
        } else {
            return;
        }
    }
}

static size_t digits_end(const struct cel_lexer *lexer, size_t i)
{
    while (is_digit(at(lexer, i)))
        i++;
    return i;
}

/* The end of an exponent that begins at i; i if there is none. */
static size_t exponent_end(const struct cel_lexer *lexer, size_t i)
{
    if (at(lexer, i) != 'e' && at(lexer, i) != 'E')
        return i;
    size_t first = i + 1;
    if (at(lexer, first) == '+' || at(lexer, first) == '-')
        first++;
    return is_digit(at(lexer, first)) ? digits_end(lexer, first) : i;
}

static enum cel_token_kind number(const struct cel_lexer *lexer, size_t i, size_t *ret_end)
{
    enum cel_token_kind kind = T_INT;
    size_t end;
    if (at(lexer, i) == '0' && at(lexer, i + 1) == 'x' && is_hex(at(lexer, i + 2))) {
        for (end = i + 2; is_hex(at(lexer, end));)
            end++;
    } else {
        end = digits_end(lexer, i);
        size_t whole = end;
        if (at(lexer, end) == '.' && is_digit(at(lexer, end + 1)))
            end = digits_end(lexer, end + 1);
        end = exponent_end(lexer, end);
        if (end > whole) {
            *ret_end = end;
            return T_DOUBLE;
        }
    }
    if (at(lexer, end) == 'u' || at(lexer, end) == 'U') {
        kind = T_UINT;
        end++;
    }
    *ret_end = end;
    return kind;
}

static size_t quotes_at(const struct cel_lexer *lexer, size_t i)
{
    int quote = at(lexer, i);
    if (quote != '"' && quote != '\'')
        return 0;
    return at(lexer, i + 1) == quote && at(lexer, i + 2) == quote ? 3 : 1;
}

/* The end of a string whose quotes begin at i; 0 if it does not end. */
static size_t quoted_end(const struct cel_lexer *lexer, size_t i, size_t n_quotes, bool is_raw)
{
    int quote = at(lexer, i);
    for (size_t j = i + n_quotes; j < lexer->source.len; j++) {
        int c = at(lexer, j);
        if (c == '\\' && !is_raw)
            j++;
        else if (n_quotes == 1 && (c == '\n' || c == '\r'))
            return 0;
        else if (c == quote && (n_quotes == 1 || quotes_at(lexer, j) == 3))
            return j + n_quotes;
    }
    return 0;
}

/* The end of a string or bytes literal at i; 0: there is none. */
static size_t string_end(const struct cel_lexer *lexer, size_t i, bool *ret_is_bytes)
{
    int c = at(lexer, i);
    *ret_is_bytes = c == 'b' || c == 'B';
    if (*ret_is_bytes)
        c = at(lexer, ++i);
    bool is_raw = c == 'r' || c == 'R';
    if (is_raw)
        i++;
    size_t n_quotes = quotes_at(lexer, i);
    if (n_quotes == 0)
        return 0;
    size_t end = quoted_end(lexer, i, n_quotes, is_raw);
    /* Three quotes without an end are an empty string and the beginning of another. */
    return end == 0 && n_quotes == 3 ? i + 2 : end;
}

static size_t operator_end(const struct cel_lexer *lexer, size_t i)
{
    static const char *const TWO[] = {"==", "!=", "<=", ">=", "&&", "||"};
    for (size_t k = 0; k < sizeof TWO / sizeof TWO[0]; k++)
        if (at(lexer, i) == TWO[k][0] && at(lexer, i + 1) == TWO[k][1])
            return i + 2;
    int c = at(lexer, i);
    return c > 0 && strchr("<>[]{}().,-!?:+*/%", c) ? i + 1 : i;
}

static bool is_word_operator(struct cel_text text)
{
    return cel_text_is(text, "in") || cel_text_is(text, "true") || cel_text_is(text, "false") ||
           cel_text_is(text, "null");
}

struct cel_token cel_next_token(struct cel_lexer *lexer)
{
    skip_blanks(lexer);
    size_t from = lexer->at;
    size_t end = from;
    bool is_bytes = false;
    enum cel_token_kind kind = T_BAD;
    int c = at(lexer, from);
    if (c < 0) {
        kind = T_END;
    } else if (is_digit(c) || (c == '.' && is_digit(at(lexer, from + 1)))) {
        kind = number(lexer, from, &end);
    } else if ((end = string_end(lexer, from, &is_bytes)) > 0) {
        kind = is_bytes ? T_BYTES : T_STRING;
    } else if (is_letter(c)) {
        for (end = from; is_letter(at(lexer, end)) || is_digit(at(lexer, end));)
            end++;
        kind = T_IDENT;
    } else if ((end = operator_end(lexer, from)) > from) {
        kind = T_OPERATOR;
    }
    struct cel_token token = {kind, {lexer->source.bytes + from, end - from}, from};
    if (kind == T_IDENT && is_word_operator(token.text))
        token.kind = T_OPERATOR;
    if (kind == T_BAD) {
        size_t next = from;
        (void)cel_utf8_get(lexer->source, &next);
        token.text.len = next - from;
    }
    lexer->at = from + token.text.len;
    return token;
}

bool cel_token_is(const struct cel_token *token, const char *op)
{
    return token->kind == T_OPERATOR && cel_text_is(token->text, op);
}
