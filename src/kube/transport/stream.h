/*
 * stream: the requests of one loop, each from its opening to its end: its time, a refused
 * credential, and what its handler is told. All on the loop's thread, but for stream_new().
 */
#ifndef KUBE_TRANSPORT_STREAM_H
#define KUBE_TRANSPORT_STREAM_H

#include "client.h"
#include "kube/credentials.h"
#include "kube/loop.h"

enum stream_state {
    STREAM_NEW,     /* to be sent in the next step */
    STREAM_SENT,    /* a transfer carries it */
    STREAM_REFUSED, /* 401: waits for a newer credential */
};

struct kube_stream {
    struct kube_request request; /* path and body are its own */
    struct kube_stream_handler handler;
    bool is_whole;    /* its time is for the whole of it, and a stop ends it with an event */
    bool cancelled;   /* freed in the next step, or with the transfer's end */
    bool was_refused; /* had its first 401 */
    bool told;        /* the handler knows that */
    bool has_head;    /* the handler has been told */
    bool sent;        /* may have taken effect */
    bool is_kept;     /* it had a connection, and might not leave any more */
    enum stream_state state;
    int64_t deadline_ms;
    int64_t renewed_by_ms; /* when a refused one waits no longer */
    uint64_t version;      /* of the credential it was sent with */
    struct transfer *transfer;
    struct streams *streams;
    struct kube_stream *prev, *next;
};

struct streams {
    struct client *client;
    struct kube_credentials *credentials;
    struct kube_stream *list;
    int64_t now_ms;
    bool touched; /* a handler was called since this was last cleared */
    bool renewed; /* there may be a newer credential */
};

/* Any thread. Copies the request and the handler. */
struct kube_stream *stream_new(const struct kube_request *request,
                               const struct kube_stream_handler *handler, bool is_whole);

/* Takes it over; it is sent in the next step. */
void streams_add(struct streams *streams, struct kube_stream *stream);
/* Sends what is new or has a newer credential, frees what was cancelled. */
void streams_step(struct streams *streams);
/* Ends what is out of time; after all that has arrived was handed over. */
void streams_expire(struct streams *streams);
/* When the next step or end is due. */
int64_t streams_due_ms(const struct streams *streams);
/* A stream has a handler that must hear on_drained regularly. */
bool streams_are_looked_at(const struct streams *streams);
/* Ends all there are, with an event where is_whole. */
void streams_stop(struct streams *streams);

#endif
