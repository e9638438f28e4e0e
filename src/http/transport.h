/*
 * transport: HTTP over one listening socket. Only transport_mhd.c knows the library.
 */
#ifndef HTTP_TRANSPORT_H
#define HTTP_TRANSPORT_H

#include "base/err.h"
#include "service.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

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

/* ---- address ---- */
/* "127.0.0.1:8888", "[::1]:8888" and their listening sockets. Resolves no names. */

struct address {
    struct sockaddr_storage storage;
    socklen_t len;
};

/* -EINVAL with "listen on TEXT: what is wrong". */
int address_parse(const char *text, struct address *ret_address, struct err *err);
bool address_equal(const struct address *a, const struct address *b);
bool address_is_loopback(const struct address *address);

/* Opens a listening socket, which the caller owns; or returns a negative errno with "listen on
 * TEXT: ...". [::] also accepts IPv4. */
int address_listen(const struct address *address, const char *text, int *ret_fd, struct err *err);
/* The IPv4 address, or the first 64 bits of the IPv6 address. An IPv4 address in an IPv6 address is
 * the former. 0: another family. */
uint64_t address_network(const struct sockaddr *address);

/* The actual address of a listening socket. The caller frees it. */
char *address_of_socket(int fd);

#endif
