/*
 * server: sockets, threads, limits and the route table of the HTTP service.
 *
 * It answers by itself: 404 (no such path), 405 (path known, method not; with Allow), 413 (body
 * over the limit), 501 (Transfer-Encoding but chunked), 503 with Retry-After where the bodies of
 * all requests together are over theirs, and 503 with Connection: close to new requests once it
 * drains. It closes without an answer who is too slow with a request or in taking an answer
 * (src/http/connection_table.h). A request line or header that is broken or too large (32 KiB
 * together) gets a 400, 414, 431 or 505 that is the library's own: not JSON, and not in the
 * metrics.
 */
#ifndef HTTP_SERVER_H
#define HTTP_SERVER_H

#include "base/buf.h"
#include "base/err.h"
#include "http/exchange.h"
#include "http/tls.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Which of the listeners serves a route; a set of bits. */
enum listener { LISTEN_VERBS = 1, LISTEN_PEOPLE = 2, LISTEN_PROBES = 4 };

enum gate_verdict {
    GATE_OPEN,
    GATE_ASK,    /* ask() decides when the request is complete */
    GATE_CLOSED, /* the gate has answered the exchange */
};

/* Decides who may use a route. A request that it closes costs no memory for its body, which is not
 * waited for either: where one follows, the answer goes out at once, as the connection's last. */
struct gate {
    /* The header is read, the body is not there. On a thread of the server: must not wait. */
    enum gate_verdict (*judge)(void *context, struct exchange *exchange);
    /* After GATE_ASK, when the request is complete, on a thread of the server: must not wait
     * either. Sooner or later, from any thread: exchange_pass(), or an answer. */
    void (*ask)(void *context, struct exchange *exchange);
    void *context;
};

/* The path must be equal; a path that ends in '/' also serves all below it. The longest path that
 * matches decides, then the method. */
struct route {
    const char *method; /* "GET" also serves HEAD */
    const char *path;
    unsigned listeners; /* on which of them */
    const char *name;   /* label of the metrics: "filter", "inventory" ... */
    /* Called on a thread of the server, several at once. It should not wait for anything: the other
     * connections of that thread wait with it. */
    void (*handle)(void *context, struct exchange *exchange);
    void *context;
    const struct gate *gate; /* NULL: always open */
};

struct server_settings {
    /* "127.0.0.1:8888", "[::1]:8888", "0.0.0.0:8888", "[::]:8888" (IPv4 too); no names. Equal ones
     * share a socket. Port 0 takes a free one. NULL: not served. */
    const char *verbs;
    const char *people;
    const char *probes;
    struct tls *tls; /* of a socket that serves verbs or people; NULL: plain HTTP */
    size_t max_body_bytes;
    /* Of all requests under way together; half of it is kept for routes of the verbs. At least
     * twice max_body_bytes, so that one of each kind always fits. */
    size_t max_bodies_bytes;
    /* In total, fewer where the process may not open so many files; each socket has an equal share,
     * and each of its threads an equal share of that. More wait until one closes. */
    unsigned max_connections;
    unsigned other_files;    /* that the rest of the program may have open */
    unsigned idle_timeout_s; /* of a kept-alive connection; must be well above 90 */
    /* From a request's first byte to its last; and how long a client may take less than 64 KiB/s of
     * an answer. At least 1. */
    unsigned request_timeout_s;
    unsigned n_threads; /* for the verbs, 0: as many as there are cores; other sockets: two */
};

struct server;

/* Listens, and serves until server_stop(). The routes (ended by one whose path is NULL) must
 * outlive it. -EADDRINUSE, -EINVAL ...: the message names the address. -EMFILE: the process may not
 * open enough files. *ret_server is set before the first handler runs, so that one may find the
 * server there; after a failure it may be NULL. The threads have the signal mask of the caller. */
int server_start(const struct server_settings *settings, const struct route *routes,
                 struct server **ret_server, struct err *err);

/* Drains: new connections are closed at once, requests in flight are answered (at most drain_ms are
 * waited for them), what is then unanswered is answered 503, at most two seconds more are given to
 * answers on their way, and all is closed and freed. The handler of a request that was answered 503
 * in its place still has its exchange, and answers it when it can, to nobody. */
void server_stop(struct server *server, unsigned drain_ms);

/* Whether ADDR:PORT is one that only this machine can reach. */
bool server_is_loopback(const char *address);

/* Closes the connections of these listeners (a set of bits) on which nothing is asked now; each of
 * the others gets Connection: close with its next answer. From any thread. New ones are taken as
 * before. (Others that share a socket with them have the same done to them.) */
void server_close_idle(struct server *server, unsigned listeners);

/* The address actually listened on ("127.0.0.1:40123"), NULL if that listener is off. */
const char *server_address(const struct server *server, enum listener listener);

/* Requests by route name and status, latency histograms, connections, bodies: Prometheus text. */
void server_metrics(struct server *server, struct buf *out);

#endif
