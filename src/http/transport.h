/*
 * transport: HTTP over one listening socket. The only other file that knows how is the library's
 * one home, transport_mhd.c.
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
    bool tls; /* as tls_open() has it */
};

struct transport;

/* Takes the listening socket, also on failure. The service must outlive it. */
int transport_start(int fd, const struct transport_settings *settings, struct service *service,
                    struct transport **ret_transport, struct err *err);
/* What server_close_idle() says. */
void transport_close_idle(struct transport *transport);
/* The handshake on the library's connection is done: for tls_set.c. */
void transport_greeted(void *connection);
/* Closes every connection, at once. Nothing may be parked (in_flight_close). */
void transport_stop(struct transport *transport);

#endif
