/* socket: kernel options of a connection to the API server. */
#ifndef KUBE_TRANSPORT_SOCKET_H
#define KUBE_TRANSPORT_SOCKET_H

#include <stdbool.h>
#include <stdint.h>

/* Default of TCP_USER_TIMEOUT. */
#define SOCKET_UNACKED_MS 30000

/* Sets the options of a new socket. is_tcp: a TCP connection. unacked_ms: TCP_USER_TIMEOUT. */
void socket_prepare(int fd, bool is_tcp, int64_t unacked_ms);
/* Like close(). abort: resets the connection, so written data that have not arrived never do. */
int socket_close(int fd, bool abort);

#endif
