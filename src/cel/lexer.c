/*
 * lexer: see lexer.h. As ANTLR does, the longest token wins.
 */
#include "lexer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NUMBER_MAX 400 /* digits of a number that are read */

/* Writes the code point as UTF-8; the number of bytes, 0 if it is none. */
static size_t cel_utf8_put(uint32_t point, char *out)
{
    unsigned char *bytes = (unsigned char *)out;
    if (point < 0x80) {
        bytes[0] = (unsigned char)point;
        return 1;
    }
    if (point < 0x800) {
        bytes[0] = (unsigned char)(0xc0 | point >> 6);
        bytes[1] = (unsigned char)(0x80 | (point & 0x3f));
        return 2;
    }
    if (point < 0x10000) {
        bytes[0] = (unsigned char)(0xe0 | point >> 12);
        bytes[1] = (unsigned char)(0x80 | (point >> 6 & 0x3f));
        bytes[2] = (unsigned char)(0x80 | (point & 0x3f));
        return point >= 0xd800 && point < 0xe000 ? 0 : 3;
    }
    bytes[0] = (unsigned char)(0xf0 | point >> 18);
    bytes[1] = (unsigned char)(0x80 | (point >> 12 & 0x3f));
    bytes[2] = (unsigned char)(0x80 | (point >> 6 & 0x3f));
    bytes[3] = (unsigned char)(0x80 | (point & 0x3f));
    return point > 0x10ffff ? 0 : 4;
}

uint32_t cel_utf8_get(struct cel_text text, size_t *at)
{
    const unsigned char *bytes = (const unsigned char *)text.bytes + *at;
    size_t left = text.len - *at;
    size_t n = bytes[0] < 0x80 ? 1 : bytes[0] < 0xe0 ? 2 : bytes[0] < 0xf0 ? 3 : 4;
    if (n > left)
        n = 1;
    uint32_t point = n == 1 ? bytes[0] : bytes[0] & (0x7fU >> n);
    for (size_t i = 1; i < n; i++)
        point = point << 6 | (bytes[i] & 0x3fU);
    *at += n;
    return point;
}

bool cel_utf8_is_valid(struct cel_text text)
{
    for (size_t i = 0; i < text.len;) {
        size_t from = i;
        char again[4];
        if ((unsigned char)text.bytes[i] < 0x80) {
            i++;
            continue;
        }
        size_t n = cel_utf8_put(cel_utf8_get(text, &i), again);
        if (n != i - from || memcmp(again, text.bytes + from, n) != 0)
            return false;
    }
    return true;
}

size_t cel_utf8_count(struct cel_text text)
{
    size_t n = 0;
    for (size_t i = 0; i < text.len; i++)
        n += ((unsigned char)text.bytes[i] & 0xc0) != 0x80;
    return n;
}

static bool read_integer(const char *digits, bool negative, bool is_unsigned, struct cel_value *ret)
{
    bool is_hex = digits[0] == '0' && digits[1] == 'x';
    errno = 0;
    uint64_t magnitude = strtoull(is_hex ? digits + 2 : digits, NULL, is_hex ? 16 : 10);
    if (errno != 0)
        return false;
    if (is_unsigned) {
        *ret = (struct cel_value){.kind = V_UINT, .natural = magnitude};
        return true;
    }
    if (magnitude > (uint64_t)INT64_MAX + (negative ? 1 : 0))
        return false;
    *ret = (struct cel_value){.kind = V_INT,
                              .integer = (int64_t)(negative ? 0 - magnitude : magnitude)};
    return true;
}

static bool read_number(const struct cel_token *token, bool negative, struct cel_fault *fault,
                        struct cel_value *ret)
{
    char digits[NUMBER_MAX + 1];
    if (token->text.len > NUMBER_MAX)
        return cel_not_judged(fault, "has a number of more than %d digits", NUMBER_MAX);
    memcpy(digits, token->text.bytes, token->text.len);
    digits[token->text.len] = '\0';
    if (token->kind != T_DOUBLE)
        return read_integer(digits, negative, token->kind == T_UINT, ret) ||
               cel_invalid_at(fault, token->at, "Syntax error: invalid int literal");
    double real = strtod(digits, NULL);
    if (real > 1.7e308)
        return cel_not_judged(fault, "has a number near the end of the range");
    *ret = (struct cel_value){.kind = V_DOUBLE, .real = negative ? -real : real};
    return true;
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* n digits of the base at *at. False if there are fewer. */
static bool read_point(struct cel_text body, size_t *at, size_t n, int base, uint32_t *ret)
{
    *ret = 0;
    for (size_t i = 0; i < n; i++) {
        int digit = *at < body.len ? hex_value(body.bytes[*at]) : -1;
        if (digit < 0 || digit >= base)
            return false;
        *ret = *ret * (uint32_t)base + (uint32_t)digit;
        (*at)++;
    }
    return true;
}

/* The escape after the backslash at *at. False: none of CEL. */
static bool read_escape(struct cel_text body, size_t *at, uint32_t *ret)
{
    static const char NAMES[] = "abfnrtv\\'\"`?";
    static const char VALUES[] = "\a\b\f\n\r\t\v\\'\"`?";
    if (*at >= body.len)
        return false;
    char c = body.bytes[(*at)++];
    const char *name = c ? strchr(NAMES, c) : NULL;
    if (name) {
        *ret = (unsigned char)VALUES[name - NAMES];
        return true;
    }
    if (c == 'x' || c == 'X')
        return read_point(body, at, 2, 16, ret);
    if (c == 'u')
        return read_point(body, at, 4, 16, ret);
    if (c == 'U')
        return read_point(body, at, 8, 16, ret);
    (*at)--;
    return c >= '0' && c <= '3' && read_point(body, at, 3, 8, ret);
}

/* The text between the quotes, without carriage returns. */
static struct cel_text unquote(struct cel_text text, bool *ret_is_raw, struct arena *arena)
{
    *ret_is_raw = text.bytes[0] == 'r' || text.bytes[0] == 'R';
    size_t from = *ret_is_raw ? 1 : 0;
    char quote = text.bytes[from];
    size_t n =
        text.len - from >= 6 && text.bytes[from + 1] == quote && text.bytes[from + 2] == quote ? 3
                                                                                               : 1;
    char *out = arena_alloc_unset(arena, text.len);
    size_t len = 0;
    for (size_t i = from + n; i + n < text.len + 0; i++) {
        char c = text.bytes[i];
        if (c == '\r' && i + n + 1 < text.len && text.bytes[i + 1] == '\n')
            continue;
        out[len++] = c == '\r' ? '\n' : c;
    }
    return (struct cel_text){out, len};
}

static bool read_string(const struct cel_token *token, struct cel_fault *fault,
                        struct cel_value *ret)
{
    bool is_raw;
    struct cel_text body = unquote(token->text, &is_raw, fault->arena);
    char *out = arena_alloc_unset(fault->arena, body.len + 4);
    size_t len = 0;
    for (size_t i = 0; i < body.len;) {
        uint32_t point;
        if (is_raw || body.bytes[i] != '\\') {
            out[len++] = body.bytes[i++];
            continue;
        }
        i++;
        size_t n = read_escape(body, &i, &point) ? cel_utf8_put(point, out + len) : 0;
        if (n == 0)
            return cel_invalid_at(fault, token->at, "Syntax error: unable to unescape string");
        len += n;
    }
    *ret = cel_string((struct cel_text){out, len});
    return true;
}

bool cel_literal(const struct cel_token *token, bool negative, struct cel_fault *fault,
                 struct cel_value *ret)
{
    if (token->kind == T_STRING)
        return read_string(token, fault, ret);
    return read_number(token, negative, fault, ret);
}

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
