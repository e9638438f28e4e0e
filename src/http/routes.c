/* routes: see exchange_priv.h and include/http/local.h. A linear search: the table has about ten
 * rows. */
#include "exchange_priv.h"
#include "http/exchange.h"
#include "http/local.h"

#include <stdbool.h>
#include <string.h>

static bool has_more(const struct route *route)
{
    const size_t len = strlen(route->path);
    return len > 1 && route->path[len - 1] == '/';
}

static bool path_matches(const struct route *route, const char *path)
{
    return has_more(route) ? strncmp(route->path, path, strlen(route->path)) == 0
                           : strcmp(route->path, path) == 0;
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
        if (route->listeners & listeners)
            text = arena_printf(arena, "%s%s%s %s%s", text, *text ? ", " : "", route->method,
                                route->path, has_more(route) ? "..." : "");
    }
    return text;
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
