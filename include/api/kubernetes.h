/*
 * kubernetes: the aggregated API v1alpha1.visibility.gpu-extender.io, which the API server forwards
 * (docs/AGGREGATED-API.md): discovery, OpenAPI, each path /v1/X as the view X, and objects of
 * several kinds.
 */
#ifndef API_KUBERNETES_H
#define API_KUBERNETES_H

#include "api/api.h"
#include "http/exchange.h"
#include "http/server.h"

#include <stdbool.h>

/* A note: the user may list ResourceSlices. */
#define KUBERNETES_SEES_DEVICES 1

struct object_kind;
struct selection;

/* The parsed path of a request; the strings belong to the exchange. */
struct kubernetes_target {
    const struct object_kind *kind; /* NULL: discovery or OpenAPI, for every user */
    const struct selection *selection;
    const char *view; /* NULL: no view */
    bool is_explanation;
    const char *attributes; /* resourceAttributes of a SubjectAccessReview, a JSON object */
    const char *action;     /* "get resource ...", for messages */
    /* resourceAttributes of a right that only adds to the answer; NULL: there is none. Whoever has
     * it is told by the note KUBERNETES_SEES_DEVICES of the exchange. */
    const char *extra;
};

/* Returns false after answering: 404, 405 for a watch or another verb, 400 for a wrong query. The
 * right and the answer both go by this reading of the request. */
bool kubernetes_read(struct exchange *exchange, struct kubernetes_target *ret_target);

struct kubernetes {
    const struct api *api;
    const struct route *routes; /* of the program: their paths /v1/X are the views */
};

/* Answers /apis, /openapi and all paths below them; context is the struct kubernetes. */
void kubernetes_handle(void *context, struct exchange *exchange);

#endif
