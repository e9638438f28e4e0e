/* yaml_tags: see yaml_build.h. */
#include "base/base64.h"
#include "yaml_build.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum scalar_kind {
    SCALAR_TEXT,
    SCALAR_NULL,
    SCALAR_TRUE,
    SCALAR_FALSE,
    SCALAR_INTEGER,
    SCALAR_REAL,
    SCALAR_NOT_FINITE, /* .inf, .nan: JSON has no such numbers */
};

struct yaml_scalar {
    enum scalar_kind kind;
    int64_t integer;
    double real;
};

/* The type of a plain scalar, by kubectl's rules (go-yaml v2).
 *
 * Base 60 and timestamps are text, as there. tests/yaml has its answers. */

#define NUMBER_BYTES_MAX 400
#define DIGITS "0123456789"

static const struct {
    const char *text;
    enum scalar_kind kind;
} WORDS[] = {
    {"", SCALAR_NULL},
    {"~", SCALAR_NULL},
    {"null", SCALAR_NULL},
    {"Null", SCALAR_NULL},
    {"NULL", SCALAR_NULL},
    {"y", SCALAR_TRUE},
    {"Y", SCALAR_TRUE},
    {"yes", SCALAR_TRUE},
    {"Yes", SCALAR_TRUE},
    {"YES", SCALAR_TRUE},
    {"on", SCALAR_TRUE},
    {"On", SCALAR_TRUE},
    {"ON", SCALAR_TRUE},
    {"true", SCALAR_TRUE},
    {"True", SCALAR_TRUE},
    {"TRUE", SCALAR_TRUE},
    {"n", SCALAR_FALSE},
    {"N", SCALAR_FALSE},
    {"no", SCALAR_FALSE},
    {"No", SCALAR_FALSE},
    {"NO", SCALAR_FALSE},
    {"off", SCALAR_FALSE},
    {"Off", SCALAR_FALSE},
    {"OFF", SCALAR_FALSE},
    {"false", SCALAR_FALSE},
    {"False", SCALAR_FALSE},
    {"FALSE", SCALAR_FALSE},
    {".inf", SCALAR_NOT_FINITE},
    {".Inf", SCALAR_NOT_FINITE},
    {".INF", SCALAR_NOT_FINITE},
    {"+.inf", SCALAR_NOT_FINITE},
    {"+.Inf", SCALAR_NOT_FINITE},
    {"+.INF", SCALAR_NOT_FINITE},
    {"-.inf", SCALAR_NOT_FINITE},
    {"-.Inf", SCALAR_NOT_FINITE},
    {"-.INF", SCALAR_NOT_FINITE},
    {".nan", SCALAR_NOT_FINITE},
    {".NaN", SCALAR_NOT_FINITE},
    {".NAN", SCALAR_NOT_FINITE},
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

static bool read_integer(const char *text, struct yaml_scalar *ret_scalar)
{
    const bool is_negative = *text == '-';
    const bool is_signed = is_negative || *text == '+';
    const char *digits = text + is_signed;
    const int base = base_of(&digits);
    uint64_t value;
    if (!magnitude(digits, base, &value))
        return false;
    const bool is_small = value <= (uint64_t)INT64_MAX + is_negative;
    if (is_small)
        *ret_scalar = (struct yaml_scalar){
            .kind = SCALAR_INTEGER, .integer = is_negative ? (int64_t)(0 - value) : (int64_t)value};
    else if (!is_signed)
        *ret_scalar = (struct yaml_scalar){.kind = SCALAR_REAL, .real = (double)value};
    return is_small || !is_signed;
}

static const char *skip_sign(const char *text)
{
    return *text == '-' || *text == '+' ? text + 1 : text;
}

/* "-1.5", ".5", "1.", "08", "1e+3". */
static bool is_decimal(const char *text)
{
    text = skip_sign(text);
    const size_t n_whole = strspn(text, DIGITS);
    const bool has_point = text[n_whole] == '.';
    const size_t n_decimals = has_point ? strspn(text + n_whole + 1, DIGITS) : 0;
    text += n_whole + has_point + n_decimals;
    if (n_whole + n_decimals == 0)
        return false;
    if (*text == 'e' || *text == 'E') {
        const char *exponent = skip_sign(text + 1);
        text = exponent + strspn(exponent, DIGITS);
        return text > exponent && *text == '\0';
    }
    return *text == '\0';
}

static bool read_real(const char *text, struct yaml_scalar *ret_scalar)
{
    const double real = is_decimal(text) ? strtod(text, NULL) : INFINITY;
    if (!isfinite(real))
        return false;
    *ret_scalar = (struct yaml_scalar){.kind = SCALAR_REAL, .real = real};
    return true;
}

/* Whether the '_' is passed over: anywhere, but after a leading point only between digits. */
static bool is_separator(const char *text, size_t len, size_t i)
{
    return text[i] == '_' &&
           (text[0] != '.' || (i + 1 < len && isdigit((unsigned char)text[i - 1]) &&
                               isdigit((unsigned char)text[i + 1])));
}

/* False: too long. */
static bool compact(const char *text, size_t len, char *ret_digits)
{
    size_t n = 0;
    if (len > NUMBER_BYTES_MAX)
        return false;
    for (size_t i = 0; i < len; i++) {
        if (!is_separator(text, len, i))
            ret_digits[n++] = text[i];
    }
    ret_digits[n] = '\0';
    return true;
}

/* Integers are decimal, 0x, 0o, 0b, or octal with a leading zero, with '_' allowed. Those beyond 64
 * bits are real. A scalar of more than 400 characters is text. */
static struct yaml_scalar yaml_scalar_resolve(const char *text, size_t len)
{
    struct yaml_scalar scalar = {.kind = word_kind(text, len)};
    char digits[NUMBER_BYTES_MAX + 1];
    if (scalar.kind != SCALAR_TEXT || !strchr("+-." DIGITS, text[0]) || !compact(text, len, digits))
        return scalar;
    if (!read_integer(digits, &scalar))
        (void)read_real(digits, &scalar);
    return scalar;
}

#define STANDARD "tag:yaml.org,2002:"

static int tag_error(const struct yaml_source_event *event, const char *what, struct err *err)
{
    size_t prefix = sizeof STANDARD - 1;
    bool is_standard = strncmp(event->tag, STANDARD, prefix) == 0;
    return err_set(err, EINVAL, "%zu:%zu: the tag %s%.100s %s", event->at.line, event->at.column,
                   is_standard ? "!!" : "", is_standard ? event->tag + prefix : event->tag, what);
}

int yaml_tags_check(const struct yaml_source_event *event, struct err *err)
{
    const char *own = event->kind == SOURCE_MAPPING_BEGIN ? STANDARD "map" : STANDARD "seq";
    if (!event->tag || strcmp(event->tag, "!") == 0 || strcmp(event->tag, own) == 0)
        return 0;
    return tag_error(event, "is not supported", err);
}

static int resolve(const struct yaml_source_event *event, struct yaml_scalar *ret_scalar,
                   struct err *err)
{
    static const struct {
        const char *tag;
        unsigned kinds; /* bits 1 << enum scalar_kind */
    } TAGS[] = {
        {STANDARD "int", 1U << SCALAR_INTEGER},
        {STANDARD "bool", 1U << SCALAR_TRUE | 1U << SCALAR_FALSE},
        {STANDARD "null", 1U << SCALAR_NULL},
        {STANDARD "float", 1U << SCALAR_INTEGER | 1U << SCALAR_REAL | 1U << SCALAR_NOT_FINITE},
        {STANDARD "str", 0}, /* text, whatever it looks like */
        {"!", 0},
    };
    struct yaml_scalar scalar = yaml_scalar_resolve(event->text, event->len);
    for (size_t i = 0; i < sizeof TAGS / sizeof TAGS[0]; i++) {
        if (strcmp(event->tag, TAGS[i].tag) != 0)
            continue;
        if (TAGS[i].kinds == 0)
            scalar.kind = SCALAR_TEXT;
        else if (!(TAGS[i].kinds & 1U << scalar.kind))
            return tag_error(event, "does not fit this value", err);
        *ret_scalar = scalar;
        return 0;
    }
    return tag_error(event, "is not supported", err);
}

/* Go writes a number without fraction as a whole one, and kubectl sends it as such if it fits. */
static json_t *value_of_real(double real)
{
    const bool is_whole = fabs(real) < 0x1p63 && real == (double)(json_int_t)real;
    return is_whole ? json_integer((json_int_t)real) : json_real(real);
}

static json_t *value_of(const struct yaml_source_event *event, struct yaml_scalar scalar)
{
    switch (scalar.kind) {
    case SCALAR_NULL:
        return json_null();
    case SCALAR_TRUE:
        return json_true();
    case SCALAR_FALSE:
        return json_false();
    case SCALAR_INTEGER:
        return json_integer(scalar.integer);
    case SCALAR_REAL:
        return value_of_real(scalar.real);
    case SCALAR_NOT_FINITE:
    case SCALAR_TEXT:
        break;
    }
    return json_stringn(event->text, event->len);
}

int yaml_tags_scalar(const struct yaml_source_event *event, json_t **ret_value, struct err *err)
{
    struct yaml_scalar scalar = {.kind = SCALAR_TEXT};
    int r = 0;
    if (event->tag)
        r = resolve(event, &scalar, err);
    else if (event->is_plain)
        scalar = yaml_scalar_resolve(event->text, event->len);
    if (r == 0 && scalar.kind == SCALAR_NOT_FINITE)
        r = err_set(err, EINVAL, "%zu:%zu: %s is no number in JSON: write it in quotes",
                    event->at.line, event->at.column, event->text);
    if (r < 0)
        return r;
    json_t *value = value_of(event, scalar);
    if (!value) /* libyaml passes valid UTF-8 only */
        abort();
    *ret_value = value;
    return 0;
}
