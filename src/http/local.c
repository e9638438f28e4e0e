/* local: see include/http/local.h. */
#include "http/local.h"
#include "exchange_priv.h"
#include "routes.h"

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
