/*
 * connections: the open connections of one socket, and a thread that closes the slow ones
 * (connection_table.h decides). The transport reports events, on any thread.
 *
 * Closing is shutdown(2), under the lock that also covers removal. So the owner of a socket must
 * remove it here before closing it; otherwise its number could belong to another socket. The owner
 * sees the end as if the client had made it. No function of the owner is called under the lock, so
 * it is the innermost.
 */
#ifndef HTTP_CONNECTIONS_H
#define HTTP_CONNECTIONS_H

#include "base/err.h"
#include "connection_table.h"

struct connections;

int connections_start(const struct connection_limits *limits, struct traffic *traffic,
                      struct connections **ret_connections, struct err *err);
/* All connections must have been removed. */
void connections_stop(struct connections *connections);

/* Whether the client has ended its input, and all of it was read. */
bool connections_has_no_more(int fd);
/* Whether the client has ended its input, read or not, or the connection is gone. */
bool connections_has_left(int fd);

struct connection *connections_add(struct connections *connections, int fd, uint64_t network);
void connections_remove(struct connections *connections, struct connection *connection);

/* The TLS handshake is complete. */
void connections_greet(struct connection *connection);
/* As in connection_table.h, in this order for each request. Each takes the lock. */
void connections_begin(struct connections *connections, struct connection *connection,
                       uint64_t client);
bool connections_complete(struct connections *connections, struct connection *connection);
bool connections_answer(struct connections *connections, struct connection *connection);
void connections_rest(struct connections *connections, struct connection *connection,
                      uint64_t client);

/* Closes the quiet connections; each other one closes after its next answer. */
void connections_close_quiet(struct connections *connections);

#endif
