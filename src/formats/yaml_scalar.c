/* yaml_scalar: see yaml_scalar.h. Source: resolve.go in gopkg.in/yaml.v2. */
#include "yaml_scalar.h"
#include "base/hex.h"

#include <stdbool.h>
#include <string.h>

/* Enough for sign, prefix and 64 binary digits. Longer text cannot be a 64-bit integer, except with
 * leading zeros. */
#define DIGITS_MAX 72

static const struct {
    const char *text;
    enum scalar_kind kind;
} WORDS[] = {
    {"", SCALAR_NULL},       {"~", SCALAR_NULL},      {"null", SCALAR_NULL},
    {"Null", SCALAR_NULL},   {"NULL", SCALAR_NULL},   {"y", SCALAR_TRUE},
    {"Y", SCALAR_TRUE},      {"yes", SCALAR_TRUE},    {"Yes", SCALAR_TRUE},
    {"YES", SCALAR_TRUE},    {"on", SCALAR_TRUE},     {"On", SCALAR_TRUE},
    {"ON", SCALAR_TRUE},     {"true", SCALAR_TRUE},   {"True", SCALAR_TRUE},
    {"TRUE", SCALAR_TRUE},   {"n", SCALAR_FALSE},     {"N", SCALAR_FALSE},
    {"no", SCALAR_FALSE},    {"No", SCALAR_FALSE},    {"NO", SCALAR_FALSE},
    {"off", SCALAR_FALSE},   {"Off", SCALAR_FALSE},   {"OFF", SCALAR_FALSE},
    {"false", SCALAR_FALSE}, {"False", SCALAR_FALSE}, {"FALSE", SCALAR_FALSE},
};
#define WORD_LEN_MAX 5

static enum scalar_kind word_kind(const char *text, size_t len)
{
    if (len > WORD_LEN_MAX)
        return SCALAR_TEXT;
    for (size_t i = 0; i < sizeof WORDS / sizeof WORDS[0]; i++)
        if (strlen(WORDS[i].text) == len && memcmp(WORDS[i].text, text, len) == 0)
            return WORDS[i].kind;
    return SCALAR_TEXT;
}

/* Whether text is not empty, has only digits of the base, and fits. */
static bool magnitude(const char *text, int base, uint64_t *ret_value)
{
    uint64_t value = 0;
    if (!*text)
        return false;
    for (; *text; text++) {
        int digit = hex_digit(*text);
        if (digit < 0 || digit >= base || __builtin_mul_overflow(value, (uint64_t)base, &value) ||
            __builtin_add_overflow(value, (uint64_t)digit, &value))
            return false;
    }
    *ret_value = value;
    return true;
}

/* The base of the prefix; moves *text after it. */
static int base_of(const char **text)
{
    static const char PREFIXES[] = "xXoObB";
    static const int BASES[] = {16, 16, 8, 8, 2, 2};
    if ((*text)[0] != '0' || (*text)[1] == '\0')
        return 10;
    const char *prefix = strchr(PREFIXES, (*text)[1]);
    if (!prefix)
        return 8;
    *text += 2;
    return BASES[prefix - PREFIXES];
}

static bool integer_from(const char *text, int64_t *ret_value)
{
    bool negative = *text == '-';
    if (*text == '-' || *text == '+')
        text++;
    const char *digits = text;
    int base = base_of(&digits);
    uint64_t value;
    /* 08 is no octal number; go-yaml reads it as 8. */
    if (!magnitude(digits, base, &value) && (base != 8 || !magnitude(text, 10, &value)))
        return false;
    if (value > (uint64_t)INT64_MAX + negative)
        return false;
    *ret_value = negative ? (int64_t)(0 - value) : (int64_t)value;
    return true;
}

/* Removes '_'. False: too long. */
static bool compact(const char *text, size_t len, char *ret_digits)
{
    size_t n = 0;
    for (size_t i = 0; i < len; i++) {
        if (text[i] == '_')
            continue;
        if (n == DIGITS_MAX)
            return false;
        ret_digits[n++] = text[i];
    }
    ret_digits[n] = '\0';
    return true;
}

struct yaml_scalar yaml_scalar_resolve(const char *text, size_t len)
{
    struct yaml_scalar scalar = {word_kind(text, len), 0};
    char digits[DIGITS_MAX + 1];
    if (scalar.kind != SCALAR_TEXT || !strchr("+-0123456789", text[0]))
        return scalar;
    if (compact(text, len, digits) && integer_from(digits, &scalar.integer))
        scalar.kind = SCALAR_INTEGER;
    return scalar;
}
