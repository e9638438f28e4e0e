/* routes: see routes.h and include/http/local.h. A linear search: the table has about ten rows. */
#include "routes.h"
#include "base/nearest.h"
#include "exchange_priv.h"
#include "http/exchange.h"
#include "http/local.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool path_matches(const struct route *route, const char *path)
{
    size_t len = strlen(route->path);
    if (len > 0 && route->path[len - 1] == '/')
        return strncmp(route->path, path, len) == 0;
    return strcmp(route->path, path) == 0;
}

static bool method_matches(const struct route *route, const char *method)
{
    return strcmp(route->method, method) == 0 ||
           (strcmp(route->method, "GET") == 0 && strcmp(method, "HEAD") == 0);
}

static const struct route *longest_match(const struct route *routes, unsigned listeners,
                                         const char *path)
{
    const struct route *best = NULL;
    for (const struct route *route = routes; route->path; route++) {
        if (!(route->listeners & listeners) || !path_matches(route, path))
            continue;
        if (!best || strlen(route->path) > strlen(best->path))
            best = route;
    }
    return best;
}

struct route_match routes_find(const struct route *routes, unsigned listeners, const char *method,
                               const char *path, struct arena *arena)
{
    struct route_match match = {.route = longest_match(routes, listeners, path)};
    if (!match.route)
        return match;
    const char *allow = "";
    for (const struct route *route = match.route; route->path; route++) {
        if (!(route->listeners & listeners) || strcmp(route->path, match.route->path) != 0)
            continue;
        if (method_matches(route, method)) {
            match.route = route;
            return match;
        }
        const char *also = strcmp(route->method, "GET") == 0 ? ", HEAD" : "";
        allow = arena_printf(arena, "%s%s%s%s", allow, *allow ? ", " : "", route->method, also);
    }
    match.allow = allow;
    return match;
}

const char *routes_text(const struct route *routes, unsigned listeners, struct arena *arena)
{
    const char *text = "";
    for (const struct route *route = routes; route->path; route++) {
        const size_t len = strlen(route->path);
        const bool has_more = len > 0 && route->path[len - 1] == '/';
        if (route->listeners & listeners)
            text = arena_printf(arena, "%s%s%s %s%s", text, *text ? ", " : "", route->method,
                                route->path, has_more ? "..." : "");
    }
    return text;
}

/* Checks the query of a request. A misspelt parameter must not be ignored: its caller would take
 * the answer for what it asked. */

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

static void handle(const struct route_match *match, struct exchange *exchange)
{
    const struct route *route = match->route;
    const char *fault = NULL;
    if (!route || match->allow) {
        exchange_answer_error(exchange, route ? 405 : 404, "no such path with this method");
        return;
    }
    if (route->parameters)
        fault = exchange_query_fault(exchange, route->parameters);
    if (fault)
        exchange_answer_error(exchange, 400, fault);
    else
        route->handle(route->context, exchange);
}

void local_ask(const struct route *routes, const struct local_request *request,
               struct local_answer *ret_answer)
{
    struct exchange *exchange = exchange_new(request->method, request->path, BUF_UNBOUNDED);
    const struct local_parameter *parameter = request->query;
    for (; parameter && parameter->name; parameter++)
        exchange_add_query(exchange, parameter->name, parameter->value);
    if (request->body)
        buf_add(&exchange->body, request->body, request->len);
    const struct route_match match =
        routes_find(routes, ~0U, request->method, request->path, exchange_arena(exchange));
    exchange_lend(exchange);
    handle(&match, exchange);
    const struct answer answer = exchange_take_answer(exchange);
    *ret_answer = (struct local_answer){answer.status, answer.body, answer.len};
    exchange_drop(exchange);
}
