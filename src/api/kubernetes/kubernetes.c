/* kubernetes: see include/api/kubernetes.h. */
#include "api/kubernetes.h"
#include "api/kubernetes/documents.h"
#include "base/buf.h"
#include "base/mem.h"

#include <string.h>

#define VIEWS "/apis/" KUBERNETES_GROUP "/" KUBERNETES_VERSION "/views/"

static const struct {
    const char *path;
    const char *document;
} DOCUMENTS[] = {
    {"/apis", KUBERNETES_GROUP_LIST},
    {"/apis/", KUBERNETES_GROUP_LIST},
    {"/apis/" KUBERNETES_GROUP, KUBERNETES_API_GROUP},
    {"/apis/" KUBERNETES_GROUP "/", KUBERNETES_API_GROUP},
    {"/apis/" KUBERNETES_GROUP "/" KUBERNETES_VERSION, KUBERNETES_RESOURCES},
    {"/apis/" KUBERNETES_GROUP "/" KUBERNETES_VERSION "/", KUBERNETES_RESOURCES},
    {"/openapi/v2", KUBERNETES_OPENAPI_V2},
    {"/openapi/v3", KUBERNETES_OPENAPI_PATHS},
    {"/openapi/v3/apis/" KUBERNETES_GROUP "/" KUBERNETES_VERSION, KUBERNETES_OPENAPI_V3},
};

static const char *document_of(const char *path)
{
    for (size_t i = 0; i < sizeof DOCUMENTS / sizeof *DOCUMENTS; i++) {
        if (strcmp(DOCUMENTS[i].path, path) == 0)
            return DOCUMENTS[i].document;
    }
    return NULL;
}

static bool is_read(const struct exchange *exchange)
{
    return strcmp(exchange_method(exchange), "POST") != 0;
}

static struct kubernetes_target target_of_view(struct exchange *exchange, const char *view)
{
    struct arena *arena = exchange_arena(exchange);
    const char *verb = is_read(exchange) ? "get" : "create";
    struct buf attributes;
    buf_init(&attributes, BUF_UNBOUNDED); /* part of a bounded path */
    buf_printf(&attributes,
               "{\"verb\":\"%s\",\"group\":\"" KUBERNETES_GROUP
               "\",\"version\":\"" KUBERNETES_VERSION "\",\"resource\":\"views\",\"name\":",
               verb);
    buf_add_quoted(&attributes, view);
    buf_add_text(&attributes, "}");
    const struct kubernetes_target target = {
        .view = view,
        .attributes = arena_strdup(arena, buf_text(&attributes)),
        .action = arena_printf(arena,
                               "%s resource \"views\" in API group \"" KUBERNETES_GROUP
                               "\" at the cluster scope",
                               verb),
    };
    buf_fini(&attributes);
    return target;
}

static bool wants_watch(const struct exchange *exchange)
{
    const char *watch = exchange_query(exchange, "watch");
    return watch && strcmp(watch, "false") != 0 && strcmp(watch, "0") != 0;
}

bool kubernetes_read(struct exchange *exchange, struct kubernetes_target *ret_target)
{
    const char *path = exchange_path(exchange);
    const bool is_view = strncmp(path, VIEWS, strlen(VIEWS)) == 0;
    const char *view = is_view ? path + strlen(VIEWS) : "";
    if (wants_watch(exchange)) {
        exchange_answer_error(exchange, 405, "this API cannot be watched: get it again");
        return false;
    }
    if (is_view && *view && !strchr(view, '/')) {
        *ret_target = target_of_view(exchange, view);
        return true;
    }
    *ret_target = (struct kubernetes_target){.view = NULL};
    if (document_of(path) && is_read(exchange))
        return true;
    exchange_answer_error(exchange, 404,
                          "the server could not find the requested resource: there are "
                          "discovery, OpenAPI and " VIEWS "NAME");
    return false;
}

static void answer_document(struct exchange *exchange, const char *document,
                            const char *content_type)
{
    exchange_answer(exchange, 200, content_type, mem_strdup(document), strlen(document), 0);
}

static bool wants_aggregated(const struct exchange *exchange)
{
    const char *accept = exchange_header(exchange, "Accept");
    return accept && strstr(accept, "g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList");
}

static const struct route *find_view(const struct route *routes, const char *view, bool is_read)
{
    static const char BASE[] = "/v1/";
    for (; routes->path; routes++) {
        if (strncmp(routes->path, BASE, strlen(BASE)) == 0 &&
            strcmp(routes->path + strlen(BASE), view) == 0 &&
            (strcmp(routes->method, "POST") != 0) == is_read)
            return routes;
    }
    return NULL;
}

/* Of "kubectl get views NAME", which would print an error with the whole answer in it. */
static bool wants_object(const struct exchange *exchange)
{
    const char *accept = exchange_header(exchange, "Accept");
    return accept && strstr(accept, "as=Table");
}

static void answer_view(const struct kubernetes *kubernetes, struct exchange *exchange,
                        const char *view)
{
    const struct route *route = find_view(kubernetes->routes, view, is_read(exchange));
    const char *fault = route ? exchange_query_fault(exchange, route->parameters) : NULL;
    if (wants_object(exchange))
        exchange_answer_error(exchange, 406,
                              "a view is no object: kubectl get --raw " VIEWS "NAME prints it");
    else if (!route)
        exchange_answer_error(exchange, 404,
                              arena_printf(exchange_arena(exchange),
                                           "there is no view %.60s with this method: should be X "
                                           "of a path /v1/X",
                                           view));
    else if (fault)
        exchange_answer_error(exchange, 400, fault);
    else
        route->handle(route->context, exchange);
}

void kubernetes_handle(void *context, struct exchange *exchange)
{
    struct kubernetes_target target;
    const char *path = exchange_path(exchange);
    if (!kubernetes_read(exchange, &target))
        return;
    if (target.view)
        answer_view(context, exchange, target.view);
    else if (wants_aggregated(exchange) && document_of(path) == document_of("/apis"))
        answer_document(exchange, KUBERNETES_DISCOVERY,
                        "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList");
    else
        answer_document(exchange, document_of(path), "application/json");
}
