/*
 * server: sockets, threads, limits and the route table of the HTTP service.
 *
 * It answers by itself: 404 (no such path), 405 (path known, method not; with Allow), 413 (body
 * over the limit), 431 (header), and 503 with Connection: close to new requests once it drains.
 */
#ifndef HTTP_SERVER_H
#define HTTP_SERVER_H

#include "base/buf.h"
#include "base/err.h"
#include "http/exchange.h"

#include <stddef.h>
#include <stdint.h>

/* Which of the listeners serves a route; a set of bits. */
enum listener { LISTEN_VERBS = 1, LISTEN_PEOPLE = 2, LISTEN_PROBES = 4 };

/* The path must be equal; a path that ends in '/' also serves all below it. */
struct route {
    const char *method; /* "GET" also serves HEAD */
    const char *path;
    unsigned listeners; /* on which of them */
    const char *name;   /* label of the metrics: "filter", "inventory" ... */
    void (*handle)(void *context, struct exchange *exchange);
    void *context;
};

struct server_settings {
    /* "127.0.0.1:8888", "[::1]:8888", "0.0.0.0:8888"; equal ones share a socket. Port 0 takes a
     * free one. NULL: not served. */
    const char *verbs;
    const char *people;
    const char *probes;
    size_t max_body_bytes;
    unsigned max_connections; /* in total, over all sockets */
    unsigned idle_timeout_s;  /* of a kept-alive connection; must be well above 90 */
    unsigned n_threads;       /* 0: as many as there are cores */
};

struct server;

/* Listens, and serves until server_stop(). The routes (ended by one whose path is NULL) must
 * outlive it. -EADDRINUSE, -EINVAL ...: the message names the address. */
int server_start(const struct server_settings *settings, const struct route *routes,
                 struct server **ret_server, struct err *err);

/* Drains: no new connections, requests in flight are answered (at most drain_ms are waited for
 * them), then all is closed and freed. */
void server_stop(struct server *server, unsigned drain_ms);

/* The address actually listened on ("127.0.0.1:40123"), NULL if that listener is off. */
const char *server_address(const struct server *server, enum listener listener);

/* Requests by route name and status, latency histograms, open connections: Prometheus text. */
void server_metrics(const struct server *server, struct buf *out);

#endif
