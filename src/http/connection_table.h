/*
 * connection_table: which connections of one socket have to go, and why. Pure: the time and the
 * kernel's byte counts go in, and what is to be closed comes out. No lock, no clock, no socket:
 * connections.c has those.
 *
 * A request has a time to come in, header and body together, and its answer must be taken with some
 * speed: both hold memory. One that its client has broken off is not waited for. Between two
 * requests a connection holds its place only, and kube-scheduler counts on finding it again. So
 * quiet ones stay, unless the socket is crowded: then the oldest strangers go, connections on which
 * nobody was let in yet to what the socket is there for. So whoever may use the verbs always gets
 * in. A burst of new ones is no crowd: they have some time to say who they are.
 */
#ifndef HTTP_CONNECTION_TABLE_H
#define HTTP_CONNECTION_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a client must take of an answer, at least, in each period of request_ms. */
#define ANSWER_BYTES_PER_S 65536

enum connection_phase {
    CONNECTION_QUIET,     /* nothing has come of its first request, or of the next one */
    CONNECTION_ASKING,    /* a request is coming in */
    CONNECTION_WAITING,   /* for us: the request is complete */
    CONNECTION_ANSWERING, /* the answer is going out */
};

enum connection_end {
    CONNECTION_NOT_ENDED, /* not by us. In metrics, of closed ones: other */
    CONNECTION_SILENT,
    CONNECTION_SLOW_REQUEST,
    CONNECTION_SLOW_READER,
    CONNECTION_CROWDED,
    CONNECTION_TOLD, /* connection_table_close_quiet() */
    N_CONNECTION_ENDS
};

/* "slow_request" ...: the label of the metrics. */
const char *connection_end_name(enum connection_end end);

struct connection_limits {
    size_t places;
    int64_t request_ms; /* for a request, from when its first byte was noticed */
    int64_t silence_ms; /* until the first byte of a new connection's first request */
    bool has_handshake; /* which comes before that, in request_ms */
};

/* What the kernel has counted of a socket. */
struct connection_bytes {
    uint64_t received;
    uint64_t taken;        /* by the client, of what was sent */
    bool has_more_to_take; /* some of what was sent is still here */
    bool has_no_more;      /* the client has ended its input, and all of it was read */
};

struct connection {
    int fd;
    enum connection_phase phase;
    enum connection_end ended; /* it is to be closed, and will be */
    bool is_known;             /* no stranger */
    bool is_last;              /* its next answer says Connection: close */
    bool was_said;             /* that one has said so */
    int64_t came_ms;
    int64_t deadline_ms;       /* of this phase, but ANSWERING */
    uint64_t n_received;       /* when the request before, or the handshake, was complete */
    int64_t reader_ms;         /* when it is looked at how much was taken */
    uint64_t n_taken;          /* at the last look */
    struct connections *owner; /* connections.c's own */
    struct connection *prev;
    struct connection *next;
};

struct connection_table {
    struct connection_limits limits;
    struct connection *all;
    size_t n_open; /* not ended */
};

/* A new connection, zeroed but for its fd. */
void connection_table_add(struct connection_table *table, struct connection *connection,
                          int64_t now_ms);
/* It is closed. The caller frees it. */
void connection_table_remove(struct connection_table *table, struct connection *connection);

/* The handshake is done. */
void connection_table_greet(struct connection_table *table, struct connection *connection,
                            int64_t now_ms, struct connection_bytes bytes);
/* A header is complete. is_welcome: it is let in to what this socket is there for. */
void connection_table_begin(struct connection_table *table, struct connection *connection,
                            int64_t now_ms, bool is_welcome);
/* The request is complete. False: it has ended, so the answer would reach nobody. Once more, when
 * its answer is there, changes nothing. */
bool connection_table_complete(struct connection *connection, struct connection_bytes bytes);
/* The answer goes out. True: it must say Connection: close. */
bool connection_table_answer(struct connection_table *table, struct connection *connection,
                             int64_t now_ms);
/* The request is over, with its answer sent or not; is_welcome as before. True if it has ended now,
 * as it was told to when it was too late to say so. */
bool connection_table_rest(struct connection_table *table, struct connection *connection,
                           bool is_welcome);

/* Whether it is too slow now; sets ended. */
bool connection_table_judge(struct connection_table *table, struct connection *connection,
                            int64_t now_ms, struct connection_bytes bytes);
/* Whether few places are left. */
bool connection_table_is_crowded(const struct connection_table *table);
/* One that has to go as they are, and has ended now; or NULL. */
struct connection *connection_table_crowd_out(struct connection_table *table, int64_t now_ms);
/* By command: true if it is quiet, and has ended now; else its next answer will be the last one. */
bool connection_table_close_quiet(struct connection_table *table, struct connection *connection,
                                  struct connection_bytes bytes);

#endif
