/*
 * transport: HTTP over one listening socket. Only transport_mhd.c knows the library.
 */
#ifndef HTTP_TRANSPORT_H
#define HTTP_TRANSPORT_H

#include "base/err.h"
#include "service.h"

#include <stdbool.h>

struct transport_settings {
    unsigned listeners; /* enum listener bits that this socket serves */
    unsigned max_connections;
    unsigned idle_timeout_s;
    unsigned request_timeout_s; /* as in server_settings */
    unsigned silence_timeout_s; /* until the first request begins; with TLS, after the handshake */
    unsigned n_threads;
    bool is_loopback; /* the socket's address */
    bool tls;         /* uses the certificate of tls_open() */
};

struct transport;

/* Takes ownership of the listening socket, also on failure. The service must outlive the
 * transport. */
int transport_start(int fd, const struct transport_settings *settings, struct service *service,
                    struct transport **ret_transport, struct err *err);
/* See server_close_idle(). */
void transport_close_idle(struct transport *transport);
/* The library's connection has completed its handshake; called by tls_set.c. */
void transport_greeted(void *connection);
/* Closes every connection at once. No exchange may be parked (in_flight_close()). */
void transport_stop(struct transport *transport);

#endif
