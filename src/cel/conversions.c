/*
 * conversions: int(), double(), string(), bool(), dyn().
 */
#include "functions.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DIGITS_MAX 40

static struct cel_value wrong_type(struct cel_run *run, const struct cel_value *value,
                                   const char *to)
{
    return cel_error(run, "type conversion error from '%s' to '%s'", cel_type_name(value), to);
}

/* strconv.ParseInt(text, 10, 64). */
static struct cel_value int_of_text(struct cel_run *run, const struct cel_value *value)
{
    char text[DIGITS_MAX + 1];
    if (value->text.len == 0)
        return wrong_type(run, value, "int");
    if (value->text.len > DIGITS_MAX)
        return cel_stop(run, "converts a long text to a number");
    memcpy(text, value->text.bytes, value->text.len);
    text[value->text.len] = '\0';
    size_t sign = text[0] == '-' || text[0] == '+' ? 1 : 0;
    size_t digits = strspn(text + sign, "0123456789");
    errno = 0;
    int64_t number = strtoll(text, NULL, 10);
    if (digits == 0 || sign + digits != value->text.len || errno != 0)
        return wrong_type(run, value, "int");
    return cel_int(number);
}

static struct cel_value to_int(struct cel_run *run, const struct cel_node *node,
                               const struct cel_value *value)
{
    if (value->kind == V_INT)
        return *value;
    if (value->kind == V_STRING)
        return int_of_text(run, value);
    if (value->kind == V_UINT)
        return value->natural > INT64_MAX ? cel_error(run, "integer overflow")
                                          : cel_int((int64_t)value->natural);
    if (value->kind != V_DOUBLE)
        return cel_no_overload(run, node, value);
    if (!(value->real > (double)INT64_MIN && value->real < (double)INT64_MAX))
        return cel_error(run, "integer overflow");
    return cel_int((int64_t)value->real);
}

static struct cel_value to_double(struct cel_run *run, const struct cel_node *node,
                                  const struct cel_value *value)
{
    double real = value->real;
    if (value->kind == V_STRING)
        return cel_stop(run, "converts a text to a double");
    if (value->kind == V_INT)
        real = (double)value->integer;
    else if (value->kind == V_UINT)
        real = (double)value->natural;
    else if (value->kind != V_DOUBLE)
        return cel_no_overload(run, node, value);
    return (struct cel_value){.kind = V_DOUBLE, .real = real};
}

static struct cel_value to_string(struct cel_run *run, const struct cel_node *node,
                                  const struct cel_value *value)
{
    char text[32];
    if (value->kind == V_STRING)
        return *value;
    if (value->kind == V_BOOL)
        return cel_string(value->boolean ? CEL_TEXT("true") : CEL_TEXT("false"));
    if (value->kind == V_DOUBLE)
        return cel_stop(run, "converts a double to a text");
    if (value->kind == V_INT)
        (void)snprintf(text, sizeof text, "%" PRId64, value->integer);
    else if (value->kind == V_UINT)
        (void)snprintf(text, sizeof text, "%" PRIu64, value->natural);
    else
        return cel_no_overload(run, node, value);
    size_t len = strlen(text);
    char *out = cel_take(run, len);
    if (!out)
        return cel_stop(run, "too much memory");
    memcpy(out, text, len); // NOLINT(bugprone-not-null-terminated-result): the length is kept
    return cel_string((struct cel_text){out, len});
}

/* strconv.ParseBool. */
static struct cel_value to_bool(struct cel_run *run, const struct cel_node *node,
                                const struct cel_value *value)
{
    static const char *const WORDS[] = {"1", "t", "T", "true",  "TRUE",  "True",
                                        "0", "f", "F", "false", "FALSE", "False"};
    if (value->kind == V_BOOL)
        return *value;
    if (value->kind != V_STRING)
        return cel_no_overload(run, node, value);
    for (size_t i = 0; i < sizeof WORDS / sizeof WORDS[0]; i++)
        if (cel_text_is(value->text, WORDS[i]))
            return cel_bool(i < 6);
    return wrong_type(run, value, "bool");
}

struct cel_value cel_convert(struct cel_run *run, const struct cel_node *node,
                             struct cel_value value)
{
    if (node->function == F_INT)
        return to_int(run, node, &value);
    if (node->function == F_DOUBLE)
        return to_double(run, node, &value);
    if (node->function == F_STRING)
        return to_string(run, node, &value);
    return node->function == F_BOOL ? to_bool(run, node, &value) : value;
}
