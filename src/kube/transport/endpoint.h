/*
 * endpoint: where requests go, worked out of a target once: what stands in the URL, what is
 * connected to and through what, what the server is called in the Host header. Resolves no name.
 */
#ifndef KUBE_TRANSPORT_ENDPOINT_H
#define KUBE_TRANSPORT_ENDPOINT_H

#include "kube/target.h"

struct endpoint {
    char *base_url;   /* a request's path follows it */
    char *connect_to; /* "::HOST:PORT" where the URL names something else; NULL: as the URL says */
    char *host;       /* of the Host header where the URL names something else; else NULL */
    char *proxy;      /* as libcurl calls it; NULL: none was asked for */
    bool tls;
    bool loopback; /* never to be reached through a proxy from the environment */
};

void endpoint_init(struct endpoint *endpoint, const struct kube_target *target);
void endpoint_fini(struct endpoint *endpoint);

#endif
