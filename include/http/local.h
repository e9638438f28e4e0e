/*
 * local: one request to a table of routes within the process: no socket, gate or limit.
 */
#ifndef HTTP_LOCAL_H
#define HTTP_LOCAL_H

#include "http/server.h"

struct local_parameter {
    const char *name, *value;
};

struct local_request {
    const char *method;
    const char *path;
    const struct local_parameter *query; /* ends with a name NULL; NULL: none */
    const char *body;                    /* NULL: none */
    size_t len;
};

struct local_answer {
    unsigned status;
    char *body; /* the caller's (free()); NULL: empty */
    size_t len;
};

/* The route's handler must answer before it returns. */
void local_ask(const struct route *routes, const struct local_request *request,
               struct local_answer *ret_answer);

#endif
