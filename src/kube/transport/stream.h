/*
 * stream: the requests of one loop, from opening to end: deadlines, rejected credentials, handler
 * events. All on the loop's thread, except stream_new().
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
    struct kube_request request; /* path and body are owned */
    struct kube_stream_handler handler;
    bool is_whole;    /* the deadline is for the whole answer, and a stop ends it with an event */
    bool cancelled;   /* to be freed in the next step, or at the transfer's end */
    bool was_refused; /* had its first 401 */
    bool reported;    /* the handler knows of the 401 */
    bool has_head;    /* the handler has the head */
    bool sent;        /* may have taken effect */
    bool is_kept;     /* may_leave() forbade it */
    enum stream_state state;
    int64_t deadline_ms;
    int64_t renewed_by_ms; /* a rejected request waits until then */
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
    bool touched; /* a handler was called since the tasks ran */
    bool renewed; /* there may be a newer credential */
};

/* From any thread. Copies the request and the handler. */
struct kube_stream *stream_new(const struct kube_request *request,
                               const struct kube_stream_handler *handler, bool is_whole);

/* Takes ownership; the next step sends it. */
void streams_add(struct streams *streams, struct kube_stream *stream);
/* Sends new requests and those with a newer credential; frees cancelled ones. */
void streams_step(struct streams *streams);
/* Ends late requests. Call after all arrivals were delivered. */
void streams_expire(struct streams *streams);
/* When the next step or end is due. */
int64_t streams_due_ms(const struct streams *streams);
/* Whether any handler needs on_drained regularly. */
bool streams_are_looked_at(const struct streams *streams);
/* Ends all streams; those with is_whole get an event. */
void streams_stop(struct streams *streams);

#endif
