/*
 * endpoint: the URL, address, proxy and Host header of a target, computed once. Resolves no name.
 */
#ifndef KUBE_TRANSPORT_ENDPOINT_H
#define KUBE_TRANSPORT_ENDPOINT_H

#include "kube/target.h"

struct endpoint {
    char *base_url;   /* a request's path is appended */
    char *connect_to; /* "::HOST:PORT" if the URL has another name; NULL: connect as the URL says */
    char *host;       /* Host header if the URL has another name; else NULL */
    char *proxy;      /* in libcurl's form; NULL: none configured */
    bool tls;
    bool loopback; /* proxies of the environment are ignored */
};

void endpoint_init(struct endpoint *endpoint, const struct kube_target *target);
void endpoint_fini(struct endpoint *endpoint);

#endif
