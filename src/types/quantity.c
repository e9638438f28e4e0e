/*
 * quantity: see include/types/quantity.h.
 *
 * A quantity is digits times 10^e times 2^s, computed exactly from the digits of the text. Digits
 * before the (shifted) point form the whole part. Those after it are multiplied by 2^s from last to
 * first, as on paper. So the number of digits is unlimited.
 */
#include "types/quantity.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define SHOWN_MAX 40 /* bytes of a bad text quoted in a message */

struct suffix {
    const char *name;
    int exponent; /* of ten */
    int shift;    /* of two */
};

static const struct suffix SUFFIXES[] = {
    {"", 0, 0},    {"n", -9, 0},  {"u", -6, 0},  {"m", -3, 0},  {"k", 3, 0},   {"M", 6, 0},
    {"G", 9, 0},   {"T", 12, 0},  {"P", 15, 0},  {"E", 18, 0},  {"Ki", 0, 10}, {"Mi", 0, 20},
    {"Gi", 0, 30}, {"Ti", 0, 40}, {"Pi", 0, 50}, {"Ei", 0, 60},
};
#define N_SUFFIXES (sizeof SUFFIXES / sizeof SUFFIXES[0])

/* A number as written; the point follows the first n_whole digits, if there are more. */
struct number {
    const char *digits;
    int64_t n_digits;
    int64_t n_whole;
    int64_t exponent;
    int shift;
    bool negative;
    bool zero;
};

/* An absolute value, rounded up to an integer. */
struct magnitude {
    uint64_t value;
    bool exact;
};

/* Bytes of text that a message quotes, never splitting a UTF-8 character. */
static int shown(const char *text, size_t len)
{
    if (len > SHOWN_MAX) {
        len = SHOWN_MAX;
        while (len > 0 && ((unsigned char)text[len] & 0xc0) == 0x80)
            len--;
    }
    return (int)len;
}

static int refuse(const char *text, const char *why, struct err *err)
{
    size_t len = strlen(text);
    int n = shown(text, len);
    return err_set(err, EINVAL, "\"%.*s%s\" is not a quantity: %s", n, text,
                   (size_t)n < len ? "..." : "", why);
}

static int refuse_size(const char *text, struct err *err)
{
    size_t len = strlen(text);
    int n = shown(text, len);
    return err_set(err, ERANGE, "\"%.*s%s\" is too large: it does not fit a signed 64-bit number",
                   n, text, (size_t)n < len ? "..." : "");
}

/* The suffix most likely meant; NULL if unclear. Never a fractional one: "MB" is not milli. */
static const char *likely_suffix(const char *suffix, size_t len)
{
    if (len > 0 && tolower((unsigned char)suffix[len - 1]) == 'b')
        len--; /* "GB", "GiB": quantities have no unit */
    for (size_t i = 0; i < N_SUFFIXES; i++)
        if (SUFFIXES[i].exponent >= 0 && strlen(SUFFIXES[i].name) == len &&
            strncasecmp(SUFFIXES[i].name, suffix, len) == 0)
            return SUFFIXES[i].name;
    return NULL;
}

static int refuse_suffix(const char *text, const char *suffix, size_t len, struct err *err)
{
    const char *likely = likely_suffix(suffix, len);
    char why[200];
    if (likely && *likely)
        (void)snprintf(why, sizeof why, "there is no suffix \"%.*s\"; did you mean \"%s\"?",
                       shown(suffix, len), suffix, likely);
    else
        (void)snprintf(why, sizeof why,
                       "there is no suffix \"%.*s\"; the suffixes are n u m k M G T P E, "
                       "Ki Mi Gi Ti Pi Ei, and exponents such as e3",
                       shown(suffix, len), suffix);
    return refuse(text, why, err);
}

/* "e3", "E-3", "e+12" up to end. An exponent above INT32_MAX is an error. */
static int read_exponent(const char *text, const char *at, const char *end, int64_t *ret_exponent,
                         struct err *err)
{
    const char *suffix = at++;
    bool negative = *at == '-';
    if (*at == '-' || *at == '+')
        at++;
    if (at == end)
        return refuse_suffix(text, suffix, (size_t)(end - suffix), err);
    int64_t exponent = 0;
    for (; at < end; at++) {
        if (!isdigit((unsigned char)*at))
            return refuse_suffix(text, suffix, (size_t)(end - suffix), err);
        exponent = exponent * 10 + (*at - '0');
        if (exponent > INT32_MAX)
            return refuse(text, "its exponent is out of range", err);
    }
    *ret_exponent = negative ? -exponent : exponent;
    return 0;
}

static int read_suffix(const char *text, const char *at, const char *end, struct number *number,
                       struct err *err)
{
    size_t len = (size_t)(end - at);
    for (size_t i = 0; i < N_SUFFIXES; i++) {
        if (strlen(SUFFIXES[i].name) == len && strncmp(SUFFIXES[i].name, at, len) == 0) {
            number->exponent = SUFFIXES[i].exponent;
            number->shift = SUFFIXES[i].shift;
            return 0;
        }
    }
    if (*at == 'e' || *at == 'E')
        return read_exponent(text, at, end, &number->exponent, err);
    return refuse_suffix(text, at, len, err);
}

/* Reads digits and point. Returns their end. */
static const char *read_digits(const char *at, const char *end, struct number *number)
{
    number->digits = at;
    number->zero = true;
    bool point = false;
    for (; at < end && (isdigit((unsigned char)*at) || (*at == '.' && !point)); at++) {
        if (*at == '.') {
            point = true;
            continue;
        }
        number->n_digits++;
        number->n_whole += !point;
        number->zero = number->zero && *at == '0';
    }
    return at;
}

static int read_number(const char *text, struct number *ret_number, struct err *err)
{
    struct number number = {0};
    const char *at = text;
    const char *end = text + strlen(text);
    while (isspace((unsigned char)*at))
        at++;
    while (end > at && isspace((unsigned char)end[-1]))
        end--;
    number.negative = *at == '-';
    if (at < end && (*at == '-' || *at == '+'))
        at++;
    at = read_digits(at, end, &number);
    if (number.n_digits == 0 && strncmp(at, "{{", 2) == 0)
        return refuse(text, "it is an expression; write the amount that it stands for", err);
    if (number.n_digits == 0)
        return refuse(text, "it must begin with a number, as in \"1\", \"500m\" or \"40Gi\"", err);
    int r = read_suffix(text, at, end, &number, err);
    if (r < 0)
        return r;
    *ret_number = number;
    return 0;
}

static unsigned digit_at(const struct number *number, int64_t i)
{
    return (unsigned)(number->digits[i < number->n_whole ? i : i + 1] - '0');
}

/* The digits before the point, which may be beyond the last digit. False: too large. */
static bool whole_part(const struct number *number, int64_t point, uint64_t *ret_whole)
{
    uint64_t whole = 0;
    for (int64_t i = 0; i < point; i++) {
        unsigned digit = i < number->n_digits ? digit_at(number, i) : 0;
        if (__builtin_mul_overflow(whole, 10, &whole) ||
            __builtin_add_overflow(whole, digit, &whole))
            return false;
    }
    *ret_whole = whole;
    return true;
}

/* The digits after the point times 2^shift: whole part, and whether it is exact. A carry is below
 * 2^shift <= 2^60, so 9 * 2^60 plus a carry fits 64 bits. Zeros between the point and the first
 * digit (point < 0) come from exponents only; then shift and carry are 0. */
static struct magnitude fraction_part(const struct number *number, int64_t point)
{
    struct magnitude part = {0, true};
    for (int64_t i = number->n_digits - 1; i >= point && i >= 0; i--) {
        uint64_t sum = ((uint64_t)digit_at(number, i) << number->shift) + part.value;
        part.exact = part.exact && sum % 10 == 0;
        part.value = sum / 10;
    }
    return part;
}

/* The absolute value times 10^scale, rounded up. False: does not fit an int64_t. */
static bool measure(const struct number *number, int scale, struct magnitude *ret_magnitude)
{
    *ret_magnitude = (struct magnitude){0, true};
    if (number->zero)
        return true;
    int64_t point = number->n_whole + number->exponent + scale;
    uint64_t whole;
    if (!whole_part(number, point, &whole) ||
        __builtin_mul_overflow(whole, UINT64_C(1) << number->shift, &whole))
        return false;
    *ret_magnitude = fraction_part(number, point);
    uint64_t up = ret_magnitude->exact ? 0 : 1;
    return !__builtin_add_overflow(ret_magnitude->value + up, whole, &ret_magnitude->value) &&
           ret_magnitude->value <= INT64_MAX;
}

static int scaled(const char *text, int scale, int64_t *ret_value, struct err *err)
{
    struct number number = {0};
    int r = read_number(text, &number, err);
    if (r < 0)
        return r;
    struct magnitude magnitude;
    if (!measure(&number, scale, &magnitude))
        return refuse_size(text, err);
    *ret_value = number.negative ? -(int64_t)magnitude.value : (int64_t)magnitude.value;
    return 0;
}

int quantity_value(const char *text, int64_t *ret_value, struct err *err)
{
    return scaled(text, 0, ret_value, err);
}

int quantity_milli(const char *text, int64_t *ret_milli, struct err *err)
{
    return scaled(text, 3, ret_milli, err);
}

int quantity_whole(const char *text, int64_t *ret_value, struct err *err)
{
    struct number number = {0};
    int r = read_number(text, &number, err);
    if (r < 0)
        return r;
    const char *fault = number.negative && !number.zero ? "negative" : NULL;
    struct magnitude magnitude = {0, true};
    if (!fault && !measure(&number, 0, &magnitude))
        return refuse_size(text, err);
    if (!magnitude.exact)
        fault = "not whole";
    if (fault) {
        size_t len = strlen(text);
        int n = shown(text, len);
        return err_set(err, EINVAL, "\"%.*s%s\" is %s: it must be a whole number, 0 or more", n,
                       text, (size_t)n < len ? "..." : "", fault);
    }
    *ret_value = (int64_t)magnitude.value;
    return 0;
}

const char *quantity_bytes_text(int64_t bytes, char *text)
{
    static const char *const BINARY[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
    size_t i = 0;
    while (bytes != 0 && bytes % 1024 == 0 && i + 1 < sizeof BINARY / sizeof BINARY[0]) {
        bytes /= 1024;
        i++;
    }
    (void)snprintf(text, 32, "%" PRId64 "%s", bytes, BINARY[i]);
    return text;
}
