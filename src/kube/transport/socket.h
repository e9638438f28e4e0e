/* socket: kernel options of a connection to the API server. */
#ifndef KUBE_TRANSPORT_SOCKET_H
#define KUBE_TRANSPORT_SOCKET_H

#include "kube/target.h"

#include <stdbool.h>
#include <stdint.h>

/* Default of TCP_USER_TIMEOUT. */
#define SOCKET_UNACKED_MS 30000

/* Sets the options of a new socket. is_tcp: a TCP connection. unacked_ms: TCP_USER_TIMEOUT. */
void socket_prepare(int fd, bool is_tcp, int64_t unacked_ms);
/* Like close(). abort: resets the connection, so written data that have not arrived never do. */
int socket_close(int fd, bool abort);

/* ---- endpoint ---- */
/* The URL, address, proxy and Host header of a target, computed once. Resolves no name. */

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

/* ---- waits for sets of sockets, and for a bell that any thread may ring ---- */

struct poller {
    int epoll_fd, bell_fd;
};

/* 0, or a negative errno. */
int poller_init(struct poller *poller);
void poller_fini(struct poller *poller);
/* Returns when a socket of a set is ready, the bell was rung, or after timeout_ms (< 0:
 * unlimited). */
void poller_wait(struct poller *poller, int64_t timeout_ms);
void poller_ring(struct poller *poller);

/* A new set, which the caller closes with close(); or a negative errno. */
int poller_new_set(struct poller *poller);

struct poller_event {
    int fd;
    bool in, out, broken;
};
/* in: wait for input; out: for room to write. Neither: remove fd. */
void poller_watch(int set, int fd, bool in, bool out);
/* Returns how many are ready, without waiting. */
int poller_ready(int set, struct poller_event *ret_events, int max);

#endif
