/*
 * routes: which row of the route table serves a method and a path on a listener. The longest path
 * that matches decides; no patterns beyond "all below a path that ends in '/'".
 */
#ifndef HTTP_ROUTES_H
#define HTTP_ROUTES_H

#include "base/arena.h"
#include "http/server.h"

struct route_match {
    const struct route *route; /* of that path, perhaps with another method; NULL: no such path */
    const char *allow;         /* the methods of that path, where the method is not among them */
};

struct route_match routes_find(const struct route *routes, unsigned listeners, const char *method,
                               const char *path, struct arena *arena);
/* What there is on a listener, for people: "POST /scheduler/filter, GET /v1/pods/...". */
const char *routes_text(const struct route *routes, unsigned listeners, struct arena *arena);

#endif
