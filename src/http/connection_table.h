/*
 * connection_table: decides which connections of one socket to close. Pure: the time and the
 * kernel's byte counts go in, connections to close come out. No lock, clock or socket:
 * connections.c has those.
 *
 * A request must arrive completely within a time limit, and its answer must be read at a minimum
 * speed, as both hold memory. A request that its client has broken off ends early. Between requests
 * a connection only occupies a place, and kube-scheduler relies on reusing it. So quiet connections
 * stay, unless the socket is crowded. Then the oldest strangers are closed: connections without any
 * request admitted to the socket's main routes. So authorized clients of the verbs always get a
 * place. A new connection gets STRANGER_MS to send a request header before it may be closed.
 *
 * On a crowded socket for users nobody keeps more than a share of the places: strangers of one
 * network go first, at any age, and then the oldest connections of a client that has more.
 */
#ifndef HTTP_CONNECTION_TABLE_H
#define HTTP_CONNECTION_TABLE_H

#include "base/buf.h"
#include "http/server.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Least reading speed of an answer, in each period of request_ms. */
#define ANSWER_BYTES_PER_S 65536

enum connection_phase {
    CONNECTION_QUIET,     /* no byte of the first or next request has arrived */
    CONNECTION_ASKING,    /* a request is arriving */
    CONNECTION_WAITING,   /* the request is complete; the server works on it */
    CONNECTION_ANSWERING, /* the answer is being sent */
};

enum connection_end {
    CONNECTION_NOT_ENDED, /* not by us; in metrics of closed connections: "other" */
    CONNECTION_SILENT,
    CONNECTION_SLOW_REQUEST,
    CONNECTION_SLOW_READER,
    CONNECTION_CROWDED,
    CONNECTION_TOLD, /* connection_table_close_quiet() */
    N_CONNECTION_ENDS
};

/* "slow_request" ...: label of the metrics. */
const char *connection_end_name(enum connection_end end);

struct connection_limits {
    size_t places;
    size_t share;       /* of the places, for one client or network; 0: no limit */
    int64_t request_ms; /* for a request, from its first noticed byte */
    int64_t silence_ms; /* until the first byte of the first request */
    bool has_handshake; /* a handshake comes first, within request_ms */
};

/* The kernel's counts for a socket. */
struct connection_bytes {
    uint64_t received;
    uint64_t taken;        /* acknowledged by the client */
    bool has_more_to_take; /* sent bytes are still unacknowledged or queued */
    bool has_no_more;      /* the client has ended its input, and all of it was read */
};

struct connection {
    int fd;
    enum connection_phase phase;
    enum connection_end ended; /* to be closed, for this cause */
    uint64_t network;          /* address_network() */
    uint64_t known_as;         /* the client of its last admitted request; 0: a stranger */
    bool is_last;              /* its next answer says Connection: close */
    bool was_said;             /* that answer has been sent */
    int64_t came_ms;
    int64_t deadline_ms;       /* of this phase, except ANSWERING */
    uint64_t n_received;       /* received when the last request or handshake was complete */
    int64_t reader_ms;         /* when to compare n_taken next */
    uint64_t n_taken;          /* acknowledged at the last comparison */
    struct connections *owner; /* set by connections.c */
    struct connection *prev;
    struct connection *next;
};

struct connection_table {
    struct connection_limits limits;
    struct connection *all;
    size_t n_open; /* not ended */
};

/* Adds a new connection, zeroed except its fd and network. */
void connection_table_add(struct connection_table *table, struct connection *connection,
                          int64_t now_ms);
/* The connection is closed. The caller frees it. */
void connection_table_remove(struct connection_table *table, struct connection *connection);

/* The handshake is complete. */
void connection_table_greet(struct connection_table *table, struct connection *connection,
                            int64_t now_ms, struct connection_bytes bytes);
/* A header is complete. client: the number of the client if it is admitted to the main routes of
 * this socket, else 0. */
void connection_table_begin(struct connection_table *table, struct connection *connection,
                            int64_t now_ms, uint64_t client);
/* The request is complete. Returns false if the connection has ended, so no answer can be sent. A
 * second call has no effect. */
bool connection_table_complete(struct connection *connection, struct connection_bytes bytes);
/* The answer is being sent. Returns true if it must say Connection: close. */
bool connection_table_answer(struct connection_table *table, struct connection *connection,
                             int64_t now_ms);
/* The request is over, answered or not; client as above. Returns true if the connection ends
 * now, as connection_table_close_quiet() came too late for a header. */
bool connection_table_rest(struct connection_table *table, struct connection *connection,
                           uint64_t client);

/* Returns whether the connection is too slow now, and sets ended. */
bool connection_table_judge(struct connection_table *table, struct connection *connection,
                            int64_t now_ms, struct connection_bytes bytes);
/* Whether few places are left. */
bool connection_table_is_crowded(const struct connection_table *table);
/* Ends one connection that must make room, and returns it; NULL: none. */
struct connection *connection_table_crowd_out(struct connection_table *table, int64_t now_ms);
/* Returns true if the connection is quiet, and ends it; otherwise its next answer will be the
 * last. A connection without any request yet has the rest of its STRANGER_MS for the first one. */
bool connection_table_close_quiet(struct connection_table *table, struct connection *connection,
                                  int64_t now_ms, struct connection_bytes bytes);

/* ---- traffic ---- */
/* Metrics of the HTTP service. Labels are the names of the route table ("other" for unknown
 * paths), a fixed set of status codes ("other" for the rest), and the causes of closed
 * connections. */

struct traffic;

struct traffic *traffic_new(const struct route *routes);
void traffic_free(struct traffic *traffic);

/* route NULL: unknown path. All from any thread. */
void traffic_add_request(struct traffic *traffic, const struct route *route, unsigned status,
                         uint64_t ns);
void traffic_add_connection(struct traffic *traffic);
/* how: the cause. */
void traffic_remove_connection(struct traffic *traffic, enum connection_end how);

void traffic_write(const struct traffic *traffic, struct buf *out);

#endif
