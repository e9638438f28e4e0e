/* parameters: checks the query of a request. A misspelt parameter must not be ignored: its caller
 * would take the answer for what it asked. */
#include "base/nearest.h"
#include "http/exchange.h"

#include <stdlib.h>
#include <string.h>

/* A list of words, joined for a message, and the one that is nearest to a given word. */
struct words {
    struct nearest nearest; /* to the given word */
    const char *joined;
    struct arena *arena;
};

static void words_add(struct words *words, const char *word, const char *separator)
{
    (void)nearest_try(&words->nearest, word);
    words->joined = arena_printf(words->arena, "%s%s%s", words->joined,
                                 words->joined[0] ? separator : "", word);
}

/* "; did you mean table?" */
static const char *hint(const struct words *words)
{
    if (!words->nearest.found)
        return "";
    return arena_printf(words->arena, "; did you mean %s?", words->nearest.found);
}

static const char *unknown_name(const struct parameter *known, const char *name,
                                struct arena *arena)
{
    struct words words = {
        .nearest = {.asked = name, .least = SIZE_MAX}, .joined = "", .arena = arena};
    for (; known->name; known++)
        words_add(&words, known->name, ", ");
    if (!words.joined[0])
        return arena_printf(arena, "?%.60s: is unknown, this path has no parameters", name);
    return arena_printf(arena, "?%.60s: is unknown, should be one of %s%s", name, words.joined,
                        hint(&words));
}

/* NULL: the value is among those of the parameter. */
static const char *wrong_value(const struct parameter *parameter, const char *value,
                               struct arena *arena)
{
    struct words words = {
        .nearest = {.asked = value, .least = SIZE_MAX}, .joined = "", .arena = arena};
    for (const char *const *right = parameter->values; *right; right++) {
        if (strcmp(*right, value) == 0)
            return NULL;
        words_add(&words, *right, right[1] ? ", " : " or ");
    }
    return arena_printf(arena, "?%s=%.60s: is unknown, should be %s%s", parameter->name, value,
                        words.joined, hint(&words));
}

/* NULL: it is a whole number from least to most. */
static const char *wrong_number(const struct parameter *parameter, const char *value,
                                struct arena *arena)
{
    const size_t len = strlen(value);
    const bool has_digits = len > 0 && len < 10 && strspn(value, "0123456789") == len;
    const long number = has_digits ? strtol(value, NULL, 10) : -1;
    if (number >= parameter->least && number <= parameter->most)
        return NULL;
    return arena_printf(arena, "?%s=%.60s: is unknown, should be a whole number from %ld to %ld",
                        parameter->name, value, parameter->least, parameter->most);
}

static const struct parameter *find(const struct parameter *known, const char *name)
{
    while (known->name && strcmp(known->name, name) != 0)
        known++;
    return known->name ? known : NULL;
}

/* Stops at the first repetition, so i is at most the number of known parameters. */
static bool is_repeated(const struct exchange *exchange, size_t i, const char *name)
{
    for (size_t j = 0; j < i; j++) {
        if (strcmp(exchange_query_name(exchange, j), name) == 0)
            return true;
    }
    return false;
}

const char *exchange_query_fault(struct exchange *exchange, const struct parameter *known)
{
    struct arena *arena = exchange_arena(exchange);
    const char *name = NULL;
    const char *fault = NULL;
    for (size_t i = 0; !fault && (name = exchange_query_name(exchange, i)); i++) {
        const struct parameter *parameter = find(known, name);
        if (!parameter)
            fault = unknown_name(known, name, arena);
        else if (is_repeated(exchange, i, name))
            fault = arena_printf(arena, "?%s: is given twice, should be given once", name);
        else if (parameter->values)
            fault = wrong_value(parameter, exchange_query(exchange, name), arena);
        else if (parameter->most > 0)
            fault = wrong_number(parameter, exchange_query(exchange, name), arena);
    }
    return fault;
}

long exchange_query_number(const struct exchange *exchange, const char *name, long otherwise)
{
    const char *value = exchange_query(exchange, name);
    return value ? strtol(value, NULL, 10) : otherwise;
}
