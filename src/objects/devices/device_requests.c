/* device_requests: see include/objects/device_requests.h. */
#include "objects/device_requests.h"

#include "formats/json_values.h"

#include <string.h>
#include <strings.h>

struct request_finder {
    const char *object;
    struct arena *arena;
    struct device_request_list *list;
};

static const char *text_of(const json_t *object, const char *key, struct arena *arena)
{
    const char *text = json_string_value(json_member(object, key));
    return arena_strdup(arena, text ? text : "");
}

static void read_selectors(const struct request_finder *finder, const json_t *from,
                           struct device_request *request)
{
    const json_t *list = json_member(from, "selectors");
    request->lacks_selectors = list && !json_is_array(list);
    struct device_selector *selectors =
        ARENA_ARRAY(finder->arena, struct device_selector,
                    json_array_size(list) < DEVICE_SELECTORS_MAX ? json_array_size(list)
                                                                 : DEVICE_SELECTORS_MAX);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *cel = json_member(json_array_get(list, i), "cel");
        if (!json_is_string(json_member(cel, "expression"))) {
            request->lacks_selectors = true;
            continue;
        }
        if (finder->list->n_selectors == DEVICE_SELECTORS_MAX) {
            finder->list->is_cut = true;
            request->lacks_selectors = true;
            break;
        }
        finder->list->n_selectors++;
        selectors[request->n_selectors++] = (struct device_selector){
            arena_printf(finder->arena, "%s.selectors[%zu].cel.expression", request->path, i),
            text_of(cel, "expression", finder->arena)};
    }
    request->selectors = selectors;
}

static bool add(const struct request_finder *finder, const json_t *from,
                struct device_request request)
{
    struct device_request_list *list = finder->list;
    if (list->n == DEVICE_REQUESTS_MAX) {
        list->is_cut = true;
        list->lacks_classes |= request.is_class;
        return false;
    }
    if (!list->items)
        list->items = ARENA_ARRAY(finder->arena, struct device_request, DEVICE_REQUESTS_MAX);
    request.object = finder->object;
    read_selectors(finder, from, &request);
    list->items[list->n++] = request;
    return true;
}

static bool has_class(const struct device_request_list *list, const char *name)
{
    for (size_t i = 0; i < list->n; i++) {
        if (list->items[i].is_class && strcmp(list->items[i].class_name, name) == 0)
            return true;
    }
    return false;
}

static bool add_class(const struct request_finder *finder, const json_t *spec, const char *name)
{
    const bool counts = name[0] && !has_class(finder->list, name);
    const struct device_request request = {
        .path = "spec", .is_class = true, .class_name = arena_strdup(finder->arena, name)};
    return add(finder, spec, request) && counts;
}

static void add_request(const struct request_finder *finder, const json_t *from, const char *path)
{
    const struct device_request request = {
        .path = path, .class_name = text_of(from, "deviceClassName", finder->arena)};
    add(finder, from, request);
}

/* A request is one of three: exactly, alternatives, or, in v1beta1, itself. */
static void find_request(const struct request_finder *finder, const json_t *request,
                         const char *path)
{
    const json_t *exactly = json_member(request, "exactly");
    const json_t *alternatives = json_member(request, "firstAvailable");
    if (exactly)
        add_request(finder, exactly, arena_printf(finder->arena, "%s.exactly", path));
    for (size_t i = 0; i < json_array_size(alternatives) && !finder->list->is_cut; i++)
        add_request(finder, json_array_get(alternatives, i),
                    arena_printf(finder->arena, "%s.firstAvailable[%zu]", path, i));
    if (!exactly && !alternatives && json_member(request, "deviceClassName"))
        add_request(finder, request, path);
}

static void find_requests(const struct request_finder *finder, const json_t *spec, const char *path)
{
    const json_t *requests = json_member(json_member(spec, "devices"), "requests");
    for (size_t i = 0; i < json_array_size(requests) && !finder->list->is_cut; i++)
        find_request(finder, json_array_get(requests, i),
                     arena_printf(finder->arena, "%s.devices.requests[%zu]", path, i));
}

bool device_requests_find(const json_t *object, const char *kind, const char *namespace_,
                          const char *name, struct arena *arena, struct device_request_list *list)
{
    const json_t *spec = json_member(object, "spec");
    struct request_finder finder = {.arena = arena, .list = list};
    if (strcasecmp(kind, "DeviceClass") == 0) {
        finder.object = arena_printf(arena, "DeviceClass %s", name);
        return add_class(&finder, spec, name);
    }
    finder.object = arena_printf(arena, "%s %s/%s", kind, namespace_, name);
    if (strcasecmp(kind, "ResourceClaim") == 0)
        find_requests(&finder, spec, "spec");
    else if (strcasecmp(kind, "ResourceClaimTemplate") == 0)
        find_requests(&finder, json_member(spec, "spec"), "spec.spec");
    return false;
}

const struct device_request *
device_requests_of_class(const char *name, const struct selector_texts *texts, struct arena *arena)
{
    struct device_request *request = ARENA_NEW(arena, struct device_request);
    struct device_selector *selectors = ARENA_ARRAY(arena, struct device_selector, texts->n);
    for (size_t i = 0; i < texts->n; i++)
        selectors[i] = (struct device_selector){
            arena_printf(arena, "spec.selectors[%zu].cel.expression", i), texts->texts[i]};
    *request = (struct device_request){.object = arena_printf(arena, "DeviceClass %s", name),
                                       .path = "spec",
                                       .is_class = true,
                                       .class_name = name,
                                       .selectors = selectors,
                                       .n_selectors = texts->n,
                                       .lacks_selectors = texts->is_cut};
    return request;
}
