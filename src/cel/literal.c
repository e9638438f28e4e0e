/*
 * literal: see literal.h.
 */
#include "literal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NUMBER_MAX 400 /* digits of a number that are read */

size_t cel_utf8_put(uint32_t point, char *out)
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
