/*
 * wire: what lies between our service and the API server: delays, losses, doubled questions, cut
 * and silent connections. It carries the questions of binds (as a kube_sender) and the streams of
 * the reflectors.
 */
#ifndef SIM_WIRE_H
#define SIM_WIRE_H

#include "kube/request.h"

struct world;
struct service;

/* A list or a watch, of one reflector of one life of the service. */
struct stream {
    struct world *world;
    struct service *service;
    unsigned life;
    size_t kind;
    const char *path;
    int64_t head_timeout_ms;
    int64_t idle_ms;
    int64_t heard_ms; /* or when it was opened */
    int64_t last_ms;  /* what is sent now comes no sooner */
    unsigned n_late;  /* pieces that have arrived and wait until the service wakes */
    bool has_head;
    bool is_finished; /* the server has sent its end */
    bool is_over;     /* nothing more comes of it */
    bool is_silent;   /* nothing more comes of it, and nobody knows */
    struct stream *next;
};

struct call;
struct wire {
    struct world *world;
    struct service *service;
    struct call *calls; /* of this life of the service, the last first */
    struct stream *streams;
    int64_t no_lease_until_ms; /* until then what it asks about the Lease is lost */
    int64_t blind_until_ms;    /* until then it may neither list nor watch */
    bool is_dead; /* new streams are silent, too, until another connection is asked for */
};

void wire_init(struct wire *wire, struct service *service);
struct kube_sender wire_sender(struct wire *wire);
/* All that was not answered is, as unknown: the service's end. */
void wire_stop(struct wire *wire);

struct stream *stream_open(struct wire *wire, size_t kind, const struct kube_request *request);
/* By who opened it. */
void stream_cancel(struct stream *stream);
/* By the server. */
void stream_send(struct stream *stream, const char *text);
void stream_finish(struct stream *stream);
/* The connection breaks. */
void stream_cut(struct stream *stream);

/* The server died. */
void wire_cut_all(struct wire *wire);
/* One of the streams, by chance. */
void wire_cut_one(struct wire *wire);
/* Until then it may neither list nor watch, and all its watches end; the Lease and bindings are
 * another matter. */
void wire_blind(struct wire *wire, int64_t until_ms);
/* Until then what it asks about the Lease is lost; bindings are not. */
void wire_lose_lease(struct wire *wire, int64_t until_ms);
bool wire_is_blind(const struct wire *wire);
/* The connection of all streams says nothing any more. */
void wire_black_hole(struct wire *wire);

#endif
