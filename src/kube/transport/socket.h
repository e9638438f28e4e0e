/* socket: what is asked of the kernel for a connection to the API server, at its begin and end. */
#ifndef KUBE_TRANSPORT_SOCKET_H
#define KUBE_TRANSPORT_SOCKET_H

#include <stdbool.h>
#include <stdint.h>

/* A connection ends if written data are not acknowledged for so long. */
#define SOCKET_UNACKED_MS 30000

/* Sets the options of a new socket. is_tcp: it will be a TCP connection. unacked_ms:
 * TCP_USER_TIMEOUT. */
void socket_prepare(int fd, bool is_tcp, int64_t unacked_ms);
/* As close(). abort: nothing more of what was written is sent; what has not arrived by now never
 * does. */
int socket_close(int fd, bool abort);

#endif
