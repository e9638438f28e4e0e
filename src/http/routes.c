/* routes: see routes.h. A linear search: the table has about ten rows. */
#include "routes.h"

#include <stdbool.h>
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
