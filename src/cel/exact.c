/*
 * exact: quantities and versions, with the rules and messages of apimachinery's
 * pkg/api/resource/quantity.go and of blang/semver 4, which upstream uses.
 */
#include "cel_priv.h"

#include <string.h>

#define NANO_DIGITS 9
#define NANO 1000000000

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static const struct {
    const char *name;
    int exponent, shift;
} SUFFIXES[] = {
    {"", 0, 0},    {"n", -9, 0},  {"u", -6, 0},  {"m", -3, 0},  {"k", 3, 0},   {"M", 6, 0},
    {"G", 9, 0},   {"T", 12, 0},  {"P", 15, 0},  {"E", 18, 0},  {"Ki", 0, 10}, {"Mi", 0, 20},
    {"Gi", 0, 30}, {"Ti", 0, 40}, {"Pi", 0, 50}, {"Ei", 0, 60},
};

static const char FORMAT_WRONG[] = "quantities must match the regular expression "
                                   "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
static const char SUFFIX_WRONG[] = "unable to parse quantity's suffix";
static const char NUMBER_WRONG[] = "unable to parse numeric part of quantity";

/* "e3" and the like. False: none, or too large to be exact here. */
static bool read_exponent(struct cel_text suffix, int *ret_exponent)
{
    if (suffix.len < 2 || suffix.len > 4 || (suffix.bytes[0] != 'e' && suffix.bytes[0] != 'E'))
        return false;
    bool negative = suffix.bytes[1] == '-';
    size_t i = negative || suffix.bytes[1] == '+' ? 2 : 1;
    if (i == suffix.len)
        return false;
    int exponent = 0;
    for (; i < suffix.len; i++) {
        if (!is_digit(suffix.bytes[i]))
            return false;
        exponent = exponent * 10 + (suffix.bytes[i] - '0');
    }
    *ret_exponent = negative ? -exponent : exponent;
    return exponent <= 18;
}

static bool find_suffix(struct cel_text text, int *ret_exponent, int *ret_shift)
{
    *ret_shift = 0;
    for (size_t i = 0; i < sizeof SUFFIXES / sizeof SUFFIXES[0]; i++) {
        if (cel_text_is(text, SUFFIXES[i].name)) {
            *ret_exponent = SUFFIXES[i].exponent;
            *ret_shift = SUFFIXES[i].shift;
            return true;
        }
    }
    return read_exponent(text, ret_exponent);
}

/* A number as written, its digits before and after the point, and what follows. */
struct written {
    bool negative;
    struct cel_text whole, fraction, suffix;
    bool has_point;
};

static size_t digits_end(struct cel_text text, size_t i)
{
    while (i < text.len && is_digit(text.bytes[i]))
        i++;
    return i;
}

static struct written split(struct cel_text text)
{
    struct written out = {0};
    size_t i = 0;
    if (text.len > 0 && (text.bytes[0] == '-' || text.bytes[0] == '+'))
        out.negative = text.bytes[i++] == '-';
    size_t end = digits_end(text, i);
    out.whole = (struct cel_text){text.bytes + i, end - i};
    i = end;
    if (i < text.len && text.bytes[i] == '.') {
        out.has_point = true;
        end = digits_end(text, i + 1);
        out.fraction = (struct cel_text){text.bytes + i + 1, end - i - 1};
        i = end;
    }
    out.suffix = (struct cel_text){text.bytes + i, text.len - i};
    return out;
}

/* The rest of the scanner's grammar: letters of suffixes, a sign, digits. */
static bool suffix_has_form(struct cel_text suffix)
{
    size_t i = 0;
    while (i < suffix.len && strchr("eEinumkKMGTP", suffix.bytes[i]) && suffix.bytes[i])
        i++;
    if (i < suffix.len && (suffix.bytes[i] == '-' || suffix.bytes[i] == '+'))
        i++;
    return digits_end(suffix, i) == suffix.len;
}

static int digit_of(const struct written *number, int64_t i)
{
    int64_t n_whole = (int64_t)number->whole.len;
    if (i < 0 || i >= n_whole + (int64_t)number->fraction.len)
        return 0;
    return (i < n_whole ? number->whole.bytes[i] : number->fraction.bytes[i - n_whole]) - '0';
}

/* The absolute value of digits * 10^exponent * 2^shift, rounded up to nanos. False: too large. */
static bool measure(const struct written *number, int exponent, int shift, struct cel_quantity *ret)
{
    int64_t point = (int64_t)number->whole.len + exponent;
    int64_t end = (int64_t)(number->whole.len + number->fraction.len);
    __extension__ typedef unsigned __int128 wide;
    const wide max = (wide)INT64_MAX * NANO / 2;
    wide nanos = 0;
    bool is_exact = true;
    for (int64_t i = 0; i < (point + NANO_DIGITS > end ? point + NANO_DIGITS : end); i++) {
        if (i < point + NANO_DIGITS && nanos > max)
            return false;
        if (i < point + NANO_DIGITS)
            nanos = nanos * 10 + (unsigned)digit_of(number, i);
        else
            is_exact = is_exact && digit_of(number, i) == 0;
    }
    /* Digits beyond nanos times a power of two are nanos again: not exact here. */
    if (nanos > max >> shift || (!is_exact && shift > 0))
        return false;
    nanos = (nanos << shift) + (is_exact ? 0 : 1);
    *ret = (struct cel_quantity){(int64_t)(nanos / NANO), (int32_t)(nanos % NANO)};
    return true;
}

const char *cel_quantity_parse(struct cel_text text, struct cel_quantity *ret, bool *ret_is_judged)
{
    int exponent = 0;
    int shift = 0;
    *ret_is_judged = true;
    if (text.len == 0)
        return FORMAT_WRONG;
    struct written number = split(text);
    if (!suffix_has_form(number.suffix))
        return FORMAT_WRONG;
    if (!find_suffix(number.suffix, &exponent, &shift)) {
        char first = number.suffix.bytes[0];
        *ret_is_judged = first != 'e' && first != 'E';
        return SUFFIX_WRONG;
    }
    if (number.whole.len + number.fraction.len == 0) {
        *ret_is_judged = false; /* upstream takes some of these for 0 */
        return NUMBER_WRONG;
    }
    *ret_is_judged = measure(&number, exponent, shift, ret);
    if (number.negative && ret->nano > 0)
        *ret = (struct cel_quantity){-ret->whole - 1, NANO - ret->nano};
    else if (number.negative)
        ret->whole = -ret->whole;
    return NULL;
}

int cel_quantity_compare(struct cel_quantity a, struct cel_quantity b)
{
    if (a.whole != b.whole)
        return a.whole < b.whole ? -1 : 1;
    return a.nano < b.nano ? -1 : a.nano > b.nano;
}

/* Up to the next separator, which is skipped. */
static struct cel_text cut(struct cel_text *rest, char separator, bool *ret_found)
{
    const char *end = memchr(rest->bytes, separator, rest->len);
    *ret_found = end != NULL;
    struct cel_text part = {rest->bytes, end ? (size_t)(end - rest->bytes) : rest->len};
    size_t n = part.len + (end ? 1 : 0);
    *rest = (struct cel_text){rest->bytes + n, rest->len - n};
    return part;
}

static bool is_all_digits(struct cel_text text)
{
    return digits_end(text, 0) == text.len;
}

static bool is_all_alphanumeric(struct cel_text text)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.bytes[i];
        if (!is_digit(c) && !((c | 0x20) >= 'a' && (c | 0x20) <= 'z') && c != '-')
            return false;
    }
    return true;
}

static bool has_leading_zero(struct cel_text text)
{
    return text.len > 1 && text.bytes[0] == '0';
}

/* NULL: read. */
static const char *read_number(struct cel_text text, uint64_t *ret)
{
    if (!is_all_digits(text))
        return "Invalid character(s) found in a number of the version";
    if (has_leading_zero(text))
        return "a number of the version must not contain leading zeroes";
    if (text.len == 0)
        return "strconv.ParseUint: parsing \"\": invalid syntax";
    *ret = 0;
    for (size_t i = 0; i < text.len; i++)
        if (__builtin_mul_overflow(*ret, 10, ret) ||
            __builtin_add_overflow(*ret, (uint64_t)(text.bytes[i] - '0'), ret))
            return "strconv.ParseUint: value out of range";
    return NULL;
}

static const char *read_prereleases(struct cel_text text, struct arena *arena,
                                    struct cel_semver *ret)
{
    size_t size = 1;
    for (size_t i = 0; i < text.len; i++)
        size += text.bytes[i] == '.';
    struct cel_prerelease *parts = ARENA_ARRAY(arena, struct cel_prerelease, size);
    bool more = true;
    while (more) {
        struct cel_text part = cut(&text, '.', &more);
        struct cel_prerelease *out = &parts[ret->n_prereleases++];
        if (part.len == 0)
            return "Prerelease is empty";
        if (is_all_digits(part)) {
            const char *fault = read_number(part, &out->number);
            if (fault)
                return fault;
        } else if (is_all_alphanumeric(part)) {
            out->text = part;
        } else {
            return "Invalid character(s) found in prerelease";
        }
    }
    ret->prereleases = parts;
    return NULL;
}

static const char *check_build(struct cel_text text)
{
    bool more = true;
    while (more) {
        struct cel_text part = cut(&text, '.', &more);
        if (part.len == 0)
            return "Build meta data is empty";
        if (!is_all_alphanumeric(part))
            return "Invalid character(s) found in build meta data";
    }
    return NULL;
}

const char *cel_semver_parse(struct cel_text text, struct arena *arena, struct cel_semver *ret)
{
    bool has_minor, has_patch, has_build, has_prerelease;
    if (text.len == 0)
        return "Version string empty";
    struct cel_text rest = text;
    struct cel_text major = cut(&rest, '.', &has_minor);
    struct cel_text minor = cut(&rest, '.', &has_patch);
    if (!has_minor || !has_patch)
        return "No Major.Minor.Patch elements found";
    struct cel_text build = rest;
    struct cel_text prerelease = cut(&build, '+', &has_build);
    struct cel_text patch = cut(&prerelease, '-', &has_prerelease);
    struct cel_text numbers[3] = {major, minor, patch};
    uint64_t values[3];
    for (size_t i = 0; i < 3; i++) {
        const char *fault = read_number(numbers[i], &values[i]);
        if (fault)
            return fault;
    }
    *ret = (struct cel_semver){.major = values[0], .minor = values[1], .patch = values[2]};
    const char *fault = has_prerelease ? read_prereleases(prerelease, arena, ret) : NULL;
    return fault ? fault : has_build ? check_build(build) : NULL;
}

/* Without leading zeros, but with one digit. */
static struct cel_text without_zeros(struct cel_text part)
{
    size_t n = 0;
    while (part.len > 1 && n < part.len && part.bytes[n] == '0')
        n++;
    if (n > 0 && (n == part.len || !is_digit(part.bytes[n])))
        n--;
    return (struct cel_text){part.bytes + n, part.len - n};
}

const char *cel_semver_normalize(struct cel_text text, struct arena *arena, struct cel_text *ret)
{
    if (text.len > 0 && text.bytes[0] == 'v')
        text = (struct cel_text){text.bytes + 1, text.len - 1};
    struct cel_text parts[3];
    size_t n = 0;
    bool more = true;
    while (more && n < 2)
        parts[n++] = cut(&text, '.', &more);
    if (more)
        parts[n++] = text;
    struct cel_text last = parts[n - 1];
    if (n < 3 && (memchr(last.bytes, '+', last.len) || memchr(last.bytes, '-', last.len)))
        return "short version cannot contain PreRelease/Build meta data";
    while (n < 3)
        parts[n++] = CEL_TEXT("0");
    char *out = arena_alloc_unset(arena, parts[0].len + parts[1].len + parts[2].len + 8);
    size_t len = 0;
    for (size_t i = 0; i < 3; i++) {
        struct cel_text part = without_zeros(parts[i]);
        if (i > 0)
            out[len++] = '.';
        if (part.len > 1 && !is_digit(part.bytes[0])) /* upstream puts a zero before it */
            out[len++] = '0';
        memcpy(out + len, part.bytes, part.len);
        len += part.len;
    }
    *ret = (struct cel_text){out, len};
    return NULL;
}

static int compare_prerelease(const struct cel_prerelease *a, const struct cel_prerelease *b)
{
    if ((a->text.len == 0) != (b->text.len == 0))
        return a->text.len == 0 ? -1 : 1;
    if (a->text.len > 0)
        return cel_text_compare(a->text, b->text);
    return a->number < b->number ? -1 : a->number > b->number;
}

int cel_semver_compare(const struct cel_semver *a, const struct cel_semver *b)
{
    if (a->major != b->major)
        return a->major < b->major ? -1 : 1;
    if (a->minor != b->minor)
        return a->minor < b->minor ? -1 : 1;
    if (a->patch != b->patch)
        return a->patch < b->patch ? -1 : 1;
    if (a->n_prereleases == 0 || b->n_prereleases == 0)
        return (a->n_prereleases == 0) - (b->n_prereleases == 0);
    for (size_t i = 0; i < a->n_prereleases && i < b->n_prereleases; i++) {
        int order = compare_prerelease(&a->prereleases[i], &b->prereleases[i]);
        if (order != 0)
            return order;
    }
    return a->n_prereleases < b->n_prereleases ? -1 : a->n_prereleases > b->n_prereleases;
}
