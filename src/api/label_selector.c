/* label_selector: see label_selector.h. Source: Kubernetes' document on labels and selectors. */
#include "api/label_selector.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BETWEEN " \t"

struct selector_reading {
    struct arena *arena;
    const char *at;
    struct requirement *requirements;
    size_t n_requirements;
    size_t n_terms;
};

static bool is_one_of(char c, const char *set)
{
    return c && strchr(set, c);
}

static void skip_spaces(struct selector_reading *reading)
{
    reading->at += strspn(reading->at, BETWEEN);
}

static bool take(struct selector_reading *reading, const char *text)
{
    skip_spaces(reading);
    if (strncmp(reading->at, text, strlen(text)) != 0)
        return false;
    reading->at += strlen(text);
    return true;
}

/* A key or a value; "" without one. */
static const char *take_word(struct selector_reading *reading)
{
    skip_spaces(reading);
    const char *from = reading->at;
    while (isalnum((unsigned char)*reading->at) || is_one_of(*reading->at, "-_./"))
        reading->at++;
    return arena_strndup(reading->arena, from, (size_t)(reading->at - from));
}

static bool add_value(struct selector_reading *reading, struct requirement *requirement)
{
    if (reading->n_terms++ == LABEL_SELECTOR_TERMS_MAX)
        return false;
    const char **values = ARENA_ARRAY(reading->arena, const char *, requirement->n_values + 1);
    for (size_t i = 0; i < requirement->n_values; i++)
        values[i] = requirement->values[i];
    values[requirement->n_values++] = take_word(reading);
    requirement->values = values;
    return true;
}

/* "(a, b)" */
static bool read_values(struct selector_reading *reading, struct requirement *requirement)
{
    if (!take(reading, "("))
        return false;
    do {
        if (!add_value(reading, requirement))
            return false;
    } while (take(reading, ","));
    return take(reading, ")");
}

/* A value of a label has no sign. */
static bool is_integer(const char *text)
{
    char *end = NULL;
    errno = 0;
    (void)strtoll(text, &end, 10);
    return isdigit((unsigned char)*text) && *end == '\0' && errno == 0;
}

/* The operand of > or <. */
static bool read_bound(struct selector_reading *reading, struct requirement *requirement)
{
    return add_value(reading, requirement) && is_integer(requirement->values[0]);
}

/* Reads the operator, after the key. */
static bool read_operator(struct selector_reading *reading, struct requirement *requirement)
{
    static const struct {
        const char *text;
        enum selector_operator op;
        bool (*read)(struct selector_reading *reading, struct requirement *requirement);
    } OPERATORS[] = {
        {"==", SELECTOR_IN, add_value},          {"=", SELECTOR_IN, add_value},
        {"!=", SELECTOR_NOT_IN, add_value},      {">", SELECTOR_GREATER, read_bound},
        {"<", SELECTOR_LESS, read_bound},        {"in", SELECTOR_IN, read_values},
        {"notin", SELECTOR_NOT_IN, read_values},
    };
    for (size_t i = 0; i < sizeof OPERATORS / sizeof *OPERATORS; i++) {
        if (!take(reading, OPERATORS[i].text))
            continue;
        requirement->op = OPERATORS[i].op;
        return OPERATORS[i].read(reading, requirement);
    }
    requirement->op = SELECTOR_EXISTS;
    return true;
}

static bool read_requirement(struct selector_reading *reading)
{
    struct requirement *requirement = &reading->requirements[reading->n_requirements];
    if (reading->n_terms++ == LABEL_SELECTOR_TERMS_MAX)
        return false;
    reading->n_requirements++;
    const bool is_absence = take(reading, "!");
    requirement->key = take_word(reading);
    if (!*requirement->key)
        return false;
    requirement->op = SELECTOR_DOES_NOT_EXIST;
    return is_absence || read_operator(reading, requirement);
}

static const char RIGHT[] =
    "should be requirements separated by commas: a=b, a!=b, a in (b, c), a notin (b), a or !a; at "
    "most 64 keys and values";

const char *label_selector_read(const char *text, struct arena *arena,
                                struct selector_term *ret_term)
{
    struct selector_reading reading = {.arena = arena, .at = text ? text : ""};
    skip_spaces(&reading);
    if (!*reading.at)
        return NULL;
    reading.requirements = ARENA_ARRAY(arena, struct requirement, LABEL_SELECTOR_TERMS_MAX);
    do {
        if (!read_requirement(&reading))
            return RIGHT;
    } while (take(&reading, ","));
    skip_spaces(&reading);
    if (*reading.at)
        return arena_printf(arena, "stops being a selector at \"%.20s\"; %s", reading.at, RIGHT);
    *ret_term = (struct selector_term){reading.requirements, reading.n_requirements};
    return NULL;
}

bool label_selector_of_query(struct exchange *exchange, const char *parameter,
                             struct selector_term *ret_term)
{
    const char *text = exchange_query(exchange, parameter);
    const char *right = label_selector_read(text, exchange_arena(exchange), ret_term);
    if (right)
        exchange_answer_error(
            exchange, 400,
            arena_printf(exchange_arena(exchange), "?%s=%.100s: %s", parameter, text, right));
    return !right;
}
