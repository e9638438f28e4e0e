/* kubernetes: see include/api/kubernetes.h. */
#include "api/kubernetes.h"
#include "api/kubernetes/documents.h"
#include "api/kubernetes/kinds.h"
#include "api/kubernetes/pods.h"
#include "base/buf.h"

#include <string.h>

#define BASE "/apis/" KUBERNETES_API_VERSION "/"
#define VIEWS BASE "views/"

static bool is_read(const struct exchange *exchange)
{
    return strcmp(exchange_method(exchange), "POST") != 0;
}

/* ---- the path: [namespaces/NAMESPACE/]RESOURCE[/NAME[/SUBRESOURCE]] ---- */

struct path {
    const struct object_kind *kind;
    const char *namespace_, *name, *subresource; /* "": none */
};

/* The part up to the next '/'; *path: what follows it, NULL: nothing. */
static const char *take_part(const char **path, struct arena *arena)
{
    const size_t len = strcspn(*path, "/");
    const char *part = arena_strndup(arena, *path, len);
    *path = (*path)[len] ? *path + len + 1 : NULL;
    return part;
}

static bool is_complete(const struct path *path)
{
    if (path->kind->is_namespaced)
        return !*path->name || *path->namespace_;
    return !*path->namespace_;
}

static bool has_subresource(const struct path *path)
{
    return path->kind->explained_kind && strcmp(path->subresource, "explain") == 0;
}

static bool read_path(const char *text, struct arena *arena, struct path *ret_path)
{
    struct path path = {.namespace_ = "", .name = "", .subresource = ""};
    if (strncmp(text, "namespaces/", 11) == 0) {
        text += 11;
        path.namespace_ = take_part(&text, arena);
        if (!*path.namespace_ || !text)
            return false;
    }
    const char *resource = take_part(&text, arena);
    path.kind = kind_find(resource, strlen(resource));
    if (text) {
        path.name = take_part(&text, arena);
        if (!*path.name)
            return false;
    }
    if (text)
        path.subresource = text;
    if (!path.kind || !is_complete(&path) || (text && !has_subresource(&path)))
        return false;
    *ret_path = path;
    return true;
}

/* ---- the right ---- */

#define SLICES_RIGHT                                                                               \
    "{\"verb\":\"list\",\"group\":\"resource.k8s.io\",\"version\":\"*\","                          \
    "\"resource\":\"resourceslices\"}"

static const char *verb_of(const struct exchange *exchange, const struct path *path)
{
    if (!is_read(exchange))
        return "create";
    return *path->name ? "get" : "list";
}

static void add_attribute(struct buf *attributes, const char *name, const char *value)
{
    if (!*value)
        return;
    buf_printf(attributes, ",\"%s\":", name);
    buf_add_quoted(attributes, value);
}

/* As the API server asks: a list of one name has that name. */
static void set_right(const struct path *path, const char *verb, struct arena *arena,
                      struct kubernetes_target *target)
{
    const char *slash = *path->subresource ? "/" : "";
    const char *name = *path->name ? path->name : selection_only_name(target->selection);
    struct buf attributes;
    buf_init(&attributes, BUF_UNBOUNDED); /* parts of a bounded path */
    buf_printf(&attributes,
               "{\"verb\":\"%s\",\"group\":\"" KUBERNETES_GROUP
               "\",\"version\":\"" KUBERNETES_VERSION "\",\"resource\":\"%s\"",
               verb, path->kind->resource);
    add_attribute(&attributes, "subresource", path->subresource);
    add_attribute(&attributes, "namespace", path->namespace_);
    add_attribute(&attributes, "name", name);
    buf_add_text(&attributes, "}");
    target->attributes = arena_strdup(arena, buf_text(&attributes));
    target->extra = path->kind->create ? SLICES_RIGHT : NULL;
    buf_fini(&attributes);
    const char *where = *path->namespace_
                            ? arena_printf(arena, "in the namespace \"%.253s\"", path->namespace_)
                            : "at the cluster scope";
    target->action =
        arena_printf(arena, "%s resource \"%s%s%s\" in API group \"" KUBERNETES_GROUP "\" %s", verb,
                     path->kind->resource, slash, path->subresource, where);
}

static bool wants_watch(const struct exchange *exchange)
{
    const char *watch = exchange_query(exchange, "watch");
    return watch && strcmp(watch, "false") != 0 && strcmp(watch, "0") != 0;
}

static bool refuse(struct exchange *exchange, unsigned status, const char *message)
{
    exchange_answer_error(exchange, status, message);
    return false;
}

static bool read_target(struct exchange *exchange, const struct path *path,
                        struct kubernetes_target *ret_target)
{
    struct arena *arena = exchange_arena(exchange);
    const char *verb = verb_of(exchange, path);
    const bool is_view = !path->kind->find && !path->kind->is_namespaced;
    struct selection *selection = ARENA_NEW(arena, struct selection);
    selection->namespace_ = path->namespace_;
    selection->name = *path->name ? path->name : NULL;
    if (is_view && !selection->name)
        return refuse(exchange, 404, "there is no list of views: should be " VIEWS "NAME");
    if (!kind_has_verb(path->kind, verb) || (selection->name && !is_read(exchange) && !is_view) ||
        (!is_read(exchange) && path->kind->is_namespaced && !*path->namespace_))
        return refuse(exchange, 405,
                      arena_printf(arena, "%s has no verb %s here", path->kind->resource, verb));
    const char *fault = is_view ? NULL : selection_read(exchange, path->kind->field, selection);
    if (fault)
        return refuse(exchange, 400, fault);
    *ret_target = (struct kubernetes_target){.kind = path->kind,
                                             .selection = selection,
                                             .view = is_view ? path->name : NULL,
                                             .is_explanation = *path->subresource != '\0'};
    set_right(path, verb, arena, ret_target);
    return true;
}

bool kubernetes_read(struct exchange *exchange, struct kubernetes_target *ret_target)
{
    const char *text = exchange_path(exchange);
    struct path path;
    if (wants_watch(exchange))
        return refuse(exchange, 405, "this API cannot be watched: get it again");
    *ret_target = (struct kubernetes_target){.kind = NULL};
    if (documents_have(text) && is_read(exchange))
        return true;
    if (strncmp(text, BASE, strlen(BASE)) == 0 &&
        read_path(text + strlen(BASE), exchange_arena(exchange), &path))
        return read_target(exchange, &path, ret_target);
    return refuse(exchange, 404,
                  "the server could not find the requested resource: discovery lists those that "
                  "there are");
}

/* ---- views ---- */

static const struct route *find_view(const struct route *routes, const char *view, bool is_read)
{
    static const char V1[] = "/v1/";
    for (; routes->path; routes++) {
        if (strncmp(routes->path, V1, strlen(V1)) == 0 &&
            strcmp(routes->path + strlen(V1), view) == 0 &&
            (strcmp(routes->method, "POST") != 0) == is_read)
            return routes;
    }
    return NULL;
}

/* For "kubectl get views NAME", which would print an error with the whole answer in it. */
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
    const struct kubernetes *kubernetes = context;
    struct kubernetes_target target;
    if (!kubernetes_read(exchange, &target))
        return;
    const struct objects_query query = {kubernetes->api, target.kind, target.selection, exchange,
                                        exchange_arena(exchange)};
    if (!target.kind)
        documents_answer(exchange);
    else if (target.view)
        answer_view(kubernetes, exchange, target.view);
    else if (target.is_explanation)
        pods_explain(&query);
    else if (target.kind->create)
        target.kind->create(&query);
    else
        objects_answer(&query);
}
