/*
 * routes: finds the row of the route table for a method and a path on a listener. The longest
 * matching path decides; the only pattern is a trailing '/', which matches all below it.
 */
#ifndef HTTP_ROUTES_H
#define HTTP_ROUTES_H

#include "base/arena.h"
#include "http/server.h"

struct route_match {
    const struct route *route; /* of that path, perhaps with another method; NULL: unknown path */
    const char *allow;         /* the methods of that path, if the method is not among them */
};

struct route_match routes_find(const struct route *routes, unsigned listeners, const char *method,
                               const char *path, struct arena *arena);
/* The routes of a listener, for messages: "POST /scheduler/filter, GET /v1/pods/...". */
const char *routes_text(const struct route *routes, unsigned listeners, struct arena *arena);

#endif
