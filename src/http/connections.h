/*
 * connections: the open connections of one socket, and the thread that closes those which are too
 * slow (connection_table.h says which). The transport tells what happens on each, on whatever
 * thread it happens.
 *
 * To close is shutdown(2), under the lock under which a connection is removed: so whoever owns the
 * socket must remove it here before closing it, and the number cannot be another socket's by then.
 * The owner sees an end of the connection as if the client had made it. Nothing of the owner's is
 * called from here, so the lock is the last one to be taken.
 */
#ifndef HTTP_CONNECTIONS_H
#define HTTP_CONNECTIONS_H

#include "base/err.h"
#include "connection_table.h"
#include "traffic.h"

struct connections;

int connections_start(const struct connection_limits *limits, struct traffic *traffic,
                      struct connections **ret_connections, struct err *err);
/* All must have been removed. */
void connections_stop(struct connections *connections);

/* Whether the client of a socket has ended its input, and all of it was read. */
bool connections_has_no_more(int fd);
/* Whether it has ended its input, whatever of it is still to be read, or the connection is gone. */
bool connections_has_left(int fd);

struct connection *connections_add(struct connections *connections, int fd);
void connections_remove(struct connections *connections, struct connection *connection);

/* The TLS handshake on it is done. */
void connections_greet(struct connection *connection);
/* As in connection_table.h, in this order for each request. */
void connections_begin(struct connections *connections, struct connection *connection,
                       bool is_welcome);
bool connections_complete(struct connections *connections, struct connection *connection);
bool connections_answer(struct connections *connections, struct connection *connection);
void connections_rest(struct connections *connections, struct connection *connection,
                      bool is_welcome);

/* Closes those that are quiet; the next answer of each of the others will be its last. */
void connections_close_quiet(struct connections *connections);

#endif
