/*
 * wire: the network between our service and the API server: delays, losses, duplicated requests,
 * cut and silent connections. It carries requests of binds (as a kube_sender) and streams of
 * reflectors.
 */
#ifndef SIM_WIRE_H
#define SIM_WIRE_H

#include "kube/request.h"

struct world;
struct service;

/* A list or watch of one reflector, in one life of the service. */
struct stream {
    struct world *world;
    struct service *service;
    unsigned life;
    size_t kind;
    const char *path;
    int64_t head_timeout_ms;
    int64_t idle_ms;
    int64_t heard_ms; /* last input, or when it was opened */
    int64_t last_ms;  /* later sends arrive no earlier */
    unsigned n_late;  /* arrived pieces that wait until the service wakes */
    bool has_head;
    bool is_finished; /* the server has sent the end */
    bool is_over;     /* nothing more arrives */
    bool is_silent;   /* nothing more arrives, without an end */
    struct stream *next;
};

struct call;
struct wire {
    struct world *world;
    struct service *service;
    struct call *calls; /* of this life of the service, last first */
    struct stream *streams;
    int64_t no_lease_until_ms; /* Lease requests are lost until then */
    int64_t blind_until_ms;    /* may neither list nor watch until then */
    bool is_dead; /* new streams are silent too, until another connection is requested */
};

void wire_init(struct wire *wire, struct service *service);
struct kube_sender wire_sender(struct wire *wire);
/* Answers all pending requests as unknown: the service ends. */
void wire_stop(struct wire *wire);

struct stream *stream_open(struct wire *wire, size_t kind, const struct kube_request *request);
/* Called by the client. */
void stream_cancel(struct stream *stream);
/* Called by the server. */
void stream_send(struct stream *stream, const char *text);
void stream_finish(struct stream *stream);
/* The connection breaks. */
void stream_cut(struct stream *stream);

/* The server died. */
void wire_cut_all(struct wire *wire);
/* Cuts a random stream. */
void wire_cut_one(struct wire *wire);
/* Until then it may neither list nor watch, and its watches end. Lease and bindings are
 * unaffected. */
void wire_blind(struct wire *wire, int64_t until_ms);
/* Until then Lease requests are lost; bindings are not. */
void wire_lose_lease(struct wire *wire, int64_t until_ms);
/* Whether a binding of that UID is unanswered. */
bool wire_posts(const struct wire *wire, const char *uid);
/* How many policies the service had had when it first posted a binding of the pod, in this life. */
size_t wire_first_posted(const struct wire *wire, const char *uid);
bool wire_is_blind(const struct wire *wire);
/* The connection of all streams goes silent. */
void wire_black_hole(struct wire *wire);

#endif
