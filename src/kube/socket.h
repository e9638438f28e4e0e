/* socket: what is asked of the kernel for a connection to the API server, at its begin and end. */
#ifndef KUBE_SOCKET_H
#define KUBE_SOCKET_H

#include <stdbool.h>
#include <stdint.h>

/* What was written and is not acknowledged after so long ends a connection. */
#define SOCKET_UNACKED_MS 30000

/* Of a new socket; is_tcp: what it is to become a connection of. unacked_ms: TCP_USER_TIMEOUT. */
void socket_prepare(int fd, bool is_tcp, int64_t unacked_ms);
/* As close(). abort: nothing more of what was written is sent; what has not arrived by now never
 * does. */
int socket_close(int fd, bool abort);

#endif
