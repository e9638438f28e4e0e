/*
 * server: sockets, threads, limits and the route table of the HTTP service.
 *
 * The server itself answers 400 (unknown parameter or value), 404 (unknown path), 405 (known path,
 * other method; with Allow), 413 (body over the limit), 501 (Transfer-Encoding other than chunked),
 * 503 with Retry-After if all bodies together exceed their limit or too many requests wait for the
 * thread of long answers (exchange_defer()), and 503 with Connection: close to new requests while
 * it drains. It closes connections that are too slow in sending a request or in reading an answer,
 * without an answer (src/http/connection_table.h). A malformed or too large (32 KiB) request line
 * and header get the library's own 400, 414, 431 or 505: not JSON, and not in the metrics.
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

/* A set of bits: the listeners that serve a route. */
enum listener { LISTEN_VERBS = 1, LISTEN_PEOPLE = 2, LISTEN_PROBES = 4 };

enum gate_verdict {
    GATE_OPEN,
    GATE_OPEN_TO_ALL, /* needs no right, so it secures no place among the connections */
    GATE_ASK,         /* ask() decides when the request is complete */
    GATE_CLOSED,      /* the gate has answered the exchange */
};

/* Decides who may use a route. The server keeps and awaits no body of a rejected request: if one
 * follows, the answer is sent at once, as the connection's last. */
struct gate {
    /* Called after the header, before the body, on a thread of the server: must not block. */
    enum gate_verdict (*judge)(void *context, struct exchange *exchange);
    /* Called after GATE_ASK, when the request is complete, on a thread of the server: must not
     * block. Now or later, from any thread, it must call exchange_pass() or answer. */
    void (*ask)(void *context, struct exchange *exchange);
    void *context;
    /* NULL, or called instead of judge() if a web page of another site may have sent the request,
     * which gets a 403 with this fault. Must not answer. */
    void (*note_foreign)(void *context, const struct exchange *exchange, const char *fault);
};

/* The path must be equal; a trailing '/' also matches all below it, but for "/" alone. The longest
 * matching path decides, then the method. */
struct route {
    const char *method; /* "GET" also serves HEAD */
    const char *path;
    unsigned listeners; /* bits of enum listener */
    const char *name;   /* label of the metrics: "filter", "inventory" ... */
    /* Called on a thread of the server, several at once. It should not block, as that thread serves
     * other connections too; an answer that takes long is deferred (exchange_defer()). */
    void (*handle)(void *context, struct exchange *exchange);
    void *context;
    const struct gate *gate; /* NULL: always open */
    /* Queries with others, or with a parameter twice, get a 400. NULL: any query is passed on. */
    const struct parameter *parameters;
};

struct server_settings {
    /* "127.0.0.1:8888", "[::1]:8888", "0.0.0.0:8888", "[::]:8888" (IPv4 too); no names. Equal
     * addresses share a socket. Port 0: any free one. NULL: not served. */
    const char *verbs;
    const char *people;
    const char *probes;
    struct tls *tls; /* of sockets for verbs or people; NULL: plain HTTP */
    size_t max_body_bytes;
    size_t max_user_body_bytes; /* of a route that the verbs' listener does not serve */
    /* Limits all requests in flight together; half is reserved for routes of the verbs. At least
     * twice max_body_bytes, so that one of each kind always fits. */
    size_t max_bodies_bytes;
    /* In total, fewer if the process may not open so many files. Each socket has an equal share,
     * and each of its threads an equal share of that. Further connections wait until one closes. */
    unsigned max_connections;
    unsigned other_files;    /* that other parts of the program may have open */
    unsigned idle_timeout_s; /* of a kept-alive connection; must be well above 90 */
    /* From a request's first byte to its last. Also how long a client may read an answer at less
     * than 64 KiB/s. At least 1. */
    unsigned request_timeout_s;
    unsigned n_threads; /* for the verbs, 0: one per core; other sockets: two */
};

struct server;

/* Listens, and serves until server_stop(). The routes (the last has path NULL) must outlive the
 * server. -EADDRINUSE, -EINVAL ...: the message names the address. -EMFILE: the process may not
 * open enough files. Sets *ret_server before the first handler runs, so handlers may use it; after
 * a failure it may be NULL. The threads inherit the caller's signal mask. */
int server_start(const struct server_settings *settings, const struct route *routes,
                 struct server **ret_server, struct err *err);

/* Drains. Closes new connections at once and waits at most drain_ms for answers to requests in
 * flight. Answers the others with 503, gives unsent answers two more seconds, then closes and frees
 * all. The handler of a request that got that 503 keeps its exchange and must still answer it; that
 * answer is dropped. */
void server_stop(struct server *server, unsigned drain_ms);

/* Whether only this machine can reach ADDR:PORT. */
bool server_is_loopback(const char *address);

/* Closes the idle connections of these listeners (a set of bits). Busy ones, and those that opened
 * a moment ago and may have sent their first request, get Connection: close with their next answer.
 * New connections are accepted as before. Listeners that share a socket are affected too. From any
 * thread. */
void server_close_idle(struct server *server, unsigned listeners);

/* The actual address ("127.0.0.1:40123"); NULL if that listener is off. */
const char *server_address(const struct server *server, enum listener listener);

/* Writes requests by route and status, latencies, connections and bodies: Prometheus text. */
void server_metrics(struct server *server, struct buf *out);

#endif
