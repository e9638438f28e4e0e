/* kubernetes: see include/api/kubernetes.h. */
#include "api/kubernetes.h"
#include "api/kubernetes/kinds.h"
#include "base/buf.h"
#include "base/hash.h"
#include "formats/json_values.h"
#include "http/exchange.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* ---- discovery and OpenAPI of the aggregated API, made from the table of kinds ---- */

#define GROUP_VERSION "apis/" KUBERNETES_API_VERSION
#define APIS "/" GROUP_VERSION
#define OPENAPI_V3 "/openapi/v3" APIS
#define DISCOVERY "g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

static void set(json_t *object, const char *key, json_t *value)
{
    (void)json_object_set_new(object, key, value);
}

static void add(json_t *array, json_t *value)
{
    (void)json_array_append_new(array, value);
}

static json_t *gvk_json(const char *kind)
{
    return json_pack("{s:s, s:s, s:s}", "group", KUBERNETES_GROUP, "version", KUBERNETES_VERSION,
                     "kind", kind);
}

static json_t *verbs_json(const struct object_kind *kind)
{
    json_t *verbs = json_array();
    for (const char *const *verb = kind->verbs; *verb; verb++)
        add(verbs, json_string(*verb));
    return verbs;
}

/* ---- discovery ---- */

static json_t *version_json(void)
{
    return json_pack("{s:s, s:s}", "groupVersion", KUBERNETES_API_VERSION, "version",
                     KUBERNETES_VERSION);
}

static json_t *group_json(void)
{
    return json_pack("{s:s, s:s, s:s, s:[o], s:o}", "kind", "APIGroup", "apiVersion", "v1", "name",
                     KUBERNETES_GROUP, "versions", version_json(), "preferredVersion",
                     version_json());
}

/* For clients that know no other discovery. */
static json_t *groups_json(void)
{
    json_t *group = group_json();
    (void)json_object_del(group, "kind");
    (void)json_object_del(group, "apiVersion");
    return json_pack("{s:s, s:s, s:[o]}", "kind", "APIGroupList", "apiVersion", "v1", "groups",
                     group);
}

static json_t *resources_json(void)
{
    json_t *resources = json_array();
    for (const struct object_kind *kind = KUBERNETES_KINDS; kind->resource; kind++) {
        add(resources, json_pack("{s:s, s:s, s:b, s:s, s:o}", "name", kind->resource,
                                 "singularName", kind->singular, "namespaced", kind->is_namespaced,
                                 "kind", kind->name, "verbs", verbs_json(kind)));
        if (kind->explained_kind)
            add(resources,
                json_pack("{s:s+, s:s, s:b, s:s, s:[s]}", "name", kind->resource, "/explain",
                          "singularName", "", "namespaced", kind->is_namespaced, "kind",
                          kind->explained_kind, "verbs", "get"));
    }
    return json_pack("{s:s, s:s, s:s, s:o}", "kind", "APIResourceList", "apiVersion", "v1",
                     "groupVersion", KUBERNETES_API_VERSION, "resources", resources);
}

static json_t *discovered_json(const struct object_kind *kind)
{
    json_t *json =
        json_pack("{s:s, s:o, s:s, s:s, s:o}", "resource", kind->resource, "responseKind",
                  gvk_json(kind->name), "scope", kind->is_namespaced ? "Namespaced" : "Cluster",
                  "singularResource", kind->singular, "verbs", verbs_json(kind));
    if (kind->explained_kind)
        set(json, "subresources",
            json_pack("[{s:s, s:o, s:[s]}]", "subresource", "explain", "responseKind",
                      gvk_json(kind->explained_kind), "verbs", "get"));
    return json;
}

static json_t *discovery_json(void)
{
    json_t *resources = json_array();
    for (const struct object_kind *kind = KUBERNETES_KINDS; kind->resource; kind++)
        add(resources, discovered_json(kind));
    return json_pack("{s:s, s:s, s:{}, s:[{s:{s:s}, s:[{s:s, s:s, s:o}]}]}", "kind",
                     "APIGroupDiscoveryList", "apiVersion", "apidiscovery.k8s.io/v2", "metadata",
                     "items", "metadata", "name", KUBERNETES_GROUP, "versions", "version",
                     KUBERNETES_VERSION, "freshness", "Current", "resources", resources);
}

/* ---- schemas ---- */

static json_t *type_json(const char *type)
{
    if (strcmp(type, "strings") == 0)
        return json_pack("{s:s, s:{s:s}}", "type", "array", "items", "type", "string");
    if (strcmp(type, "objects") == 0)
        return json_pack("{s:s, s:{s:s, s:b}}", "type", "array", "items", "type", "object",
                         "x-kubernetes-preserve-unknown-fields", true);
    return json_pack("{s:s}", "type", type);
}

static void set_property(json_t *properties, const struct kind_member *member)
{
    json_t *property = type_json(member->type);
    set(property, "description", json_string(member->description));
    set(properties, member->name, property);
}

static void set_members(json_t *properties, const char *name, const struct kind_member *members)
{
    json_t *inner = json_object();
    if (!members) {
        json_decref(inner);
        return;
    }
    for (const struct kind_member *member = members; member->name; member++)
        set_property(inner, member);
    set(properties, name, json_pack("{s:s, s:o}", "type", "object", "properties", inner));
}

static json_t *schema_json(const struct object_kind *kind)
{
    static const struct kind_member COMMON[] = {
        {"apiVersion", "string", KUBERNETES_API_VERSION},
        {"kind", "string", "The kind of the object."},
        {"metadata", "object", "Its name, its namespace, and labels and age of what it describes."},
        {0},
    };
    json_t *properties = json_object();
    for (const struct kind_member *member = COMMON; member->name; member++)
        set_property(properties, member);
    set_members(properties, "spec", kind->spec);
    set_members(properties, "status", kind->status);
    json_t *schema =
        json_pack("{s:s, s:s, s:[o]}", "type", "object", "description", kind->description,
                  "x-kubernetes-group-version-kind", gvk_json(kind->name));
    if (kind->spec || kind->status)
        (void)json_object_set(schema, "properties", properties);
    json_decref(properties);
    return schema;
}

static json_t *schemas_json(void)
{
    json_t *schemas = json_object();
    for (const struct object_kind *kind = KUBERNETES_KINDS; kind->resource; kind++) {
        json_t *name =
            json_sprintf("io.gpu-extender.visibility.%s.%s", KUBERNETES_VERSION, kind->name);
        set(schemas, json_string_value(name), schema_json(kind));
        json_decref(name);
    }
    return schemas;
}

/* ---- OpenAPI ---- */

static json_t *parameter_json(const char *name, const char *in, bool is_v3)
{
    json_t *json =
        json_pack("{s:s, s:s, s:b}", "name", name, "in", in, "required", strcmp(in, "path") == 0);
    if (is_v3) {
        set(json, "schema", json_pack("{s:s}", "type", "string"));
    } else {
        set(json, "type", json_string("string"));
        set(json, "uniqueItems", json_true());
    }
    return json;
}

static json_t *operation_json(const struct object_kind *kind, const char *verb, bool is_v3)
{
    const bool is_post = strcmp(verb, "create") == 0;
    json_t *schema = json_pack("{s:s}", "type", "object");
    json_t *operation =
        json_pack("{s:s+, s:s, s:s, s:o}", "operationId", verb, kind->name, "description",
                  kind->description, "x-kubernetes-action", is_post ? "post" : verb,
                  "x-kubernetes-group-version-kind", gvk_json(kind->name));
    if (is_v3) {
        set(operation, "responses",
            json_pack("{s:{s:s, s:{s:{s:o}}}}", "200", "description", "OK", "content",
                      "application/json", "schema", schema));
    } else {
        set(operation, "produces", json_pack("[s]", "application/json"));
        set(operation, "responses",
            json_pack("{s:{s:s, s:o}}", "200", "description", "OK", "schema", schema));
    }
    if (is_post && kind->is_namespaced)
        set(operation, "parameters",
            json_pack("[o, o, o]", parameter_json("dryRun", "query", is_v3),
                      parameter_json("fieldManager", "query", is_v3),
                      parameter_json("fieldValidation", "query", is_v3)));
    return operation;
}

static json_t *path_text(const struct object_kind *kind, bool is_named)
{
    return json_sprintf("%s/%s%s%s", APIS, kind->is_namespaced ? "namespaces/{namespace}/" : "",
                        kind->resource, is_named ? "/{name}" : "");
}

/* Of a path, for all its operations. */
static json_t *parameters_json(const struct object_kind *kind, bool is_named, bool is_v3)
{
    json_t *parameters = json_array();
    if (is_named)
        add(parameters, parameter_json("name", "path", is_v3));
    if (kind->is_namespaced)
        add(parameters, parameter_json("namespace", "path", is_v3));
    return parameters;
}

/* With the operations of these verbs, which NULL ends; nothing if the kind has none of them. */
static void add_path(json_t *paths, const struct object_kind *kind, const char *const *verbs,
                     bool is_v3)
{
    const bool is_named = strcmp(verbs[0], "get") == 0;
    json_t *item = json_object();
    json_t *path = path_text(kind, is_named);
    for (; *verbs; verbs++) {
        if (kind_has_verb(kind, *verbs))
            set(item, strcmp(*verbs, "create") == 0 ? "post" : "get",
                operation_json(kind, *verbs, is_v3));
    }
    if (json_object_size(item) > 0) {
        set(item, "parameters", parameters_json(kind, is_named, is_v3));
        (void)json_object_set(paths, json_string_value(path), item);
    }
    json_decref(item);
    json_decref(path);
}

/* kubectl leaves validation to the server if the PATCH of a kind has fieldValidation. Of a kind
 * without any PATCH it lists CustomResourceDefinitions, which tenants may not. */
static void add_patch(json_t *paths, const struct object_kind *kind, bool is_v3)
{
    static const char REFUSED[] = "Never done: the object is not stored.";
    json_t *path = path_text(kind, true);
    json_t *patch = json_pack("{s:s+, s:s, s:s, s:o, s:[o], s:{s:{s:s}}}", "operationId", "patch",
                              kind->name, "description", REFUSED, "x-kubernetes-action", "patch",
                              "x-kubernetes-group-version-kind", gvk_json(kind->name), "parameters",
                              parameter_json("fieldValidation", "query", is_v3), "responses", "405",
                              "description", REFUSED);
    set(paths, json_string_value(path),
        json_pack("{s:o, s:o}", "patch", patch, "parameters", parameters_json(kind, true, is_v3)));
    json_decref(path);
}

static json_t *paths_json(bool is_v3)
{
    static const char *const OF_OBJECT[] = {"get", NULL};
    static const char *const OF_LIST[] = {"list", "create", NULL};
    static const char *const OF_VIEW[] = {"get", "create", NULL};
    json_t *paths = json_object();
    for (const struct object_kind *kind = KUBERNETES_KINDS; kind->resource; kind++) {
        const bool is_view = !kind->find && !kind->is_namespaced;
        add_path(paths, kind, is_view ? OF_VIEW : OF_OBJECT, is_v3);
        if (!is_view)
            add_path(paths, kind, OF_LIST, is_v3);
        if (kind->create)
            add_patch(paths, kind, is_v3);
    }
    return paths;
}

static json_t *info_json(void)
{
    return json_pack("{s:s, s:s}", "title", "gpu-extender", "version", KUBERNETES_VERSION);
}

static json_t *openapi_v2_json(void)
{
    return json_pack("{s:s, s:o, s:o, s:o}", "swagger", "2.0", "info", info_json(), "paths",
                     paths_json(false), "definitions", schemas_json());
}

static json_t *openapi_v3_json(void)
{
    return json_pack("{s:s, s:o, s:o, s:{s:o}}", "openapi", "3.0.0", "info", info_json(), "paths",
                     paths_json(true), "components", "schemas", schemas_json());
}

/* The hash is that of the document, the same in all replicas: clients keep it by its address. */
static json_t *openapi_paths_json(void)
{
    size_t len = 0;
    char *text = json_take_text(openapi_v3_json(), JSON_COMPACT, &len);
    struct siphash hash = siphash_begin((struct siphash_key){0}, false);
    siphash_add(&hash, text, len, 2);
    json_t *address = json_sprintf("%s?hash=%016" PRIx64, OPENAPI_V3, siphash_end(&hash, 2, 4));
    free(text);
    return json_pack("{s:{s:{s:o}}}", "paths", GROUP_VERSION, "serverRelativeURL", address);
}

/* ---- answers ---- */

static const struct {
    const char *path; /* also with a slash */
    json_t *(*document)(void);
} DOCUMENTS[] = {
    {"/apis", groups_json},
    {"/apis/" KUBERNETES_GROUP, group_json},
    {APIS, resources_json},
    {"/openapi/v2", openapi_v2_json},
    {"/openapi/v3", openapi_paths_json},
    {OPENAPI_V3, openapi_v3_json},
};

static bool is_path(const char *path, const char *document)
{
    const size_t len = strlen(document);
    return strncmp(path, document, len) == 0 && (!path[len] || strcmp(path + len, "/") == 0);
}

static bool documents_have(const char *path)
{
    for (size_t i = 0; i < sizeof DOCUMENTS / sizeof *DOCUMENTS; i++) {
        if (is_path(path, DOCUMENTS[i].path))
            return true;
    }
    return false;
}

static void answer_json(struct exchange *exchange, const char *content_type, json_t *value)
{
    size_t len = 0;
    char *text = json_take_text(value, JSON_COMPACT, &len);
    exchange_answer(exchange, 200, content_type, text, len, 0);
}

/* Answers with the document of such a path. */
static void documents_answer(struct exchange *exchange)
{
    const char *path = exchange_path(exchange);
    const char *accept = exchange_header(exchange, "Accept");
    if (is_path(path, "/apis") && accept && strstr(accept, DISCOVERY)) {
        answer_json(exchange, "application/json;" DISCOVERY, discovery_json());
        return;
    }
    for (size_t i = 0; i < sizeof DOCUMENTS / sizeof *DOCUMENTS; i++) {
        if (is_path(path, DOCUMENTS[i].path)) {
            answer_json(exchange, "application/json", DOCUMENTS[i].document());
            return;
        }
    }
}

/* ---- kubernetes ---- */

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
