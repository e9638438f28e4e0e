/*
 * server: a model of kube-apiserver over the truth: consistent lists in pages, watches with
 * bookmarks, GET of a pod, and Binding with all its answers (PROTOCOL 3.3 and 8.1 to 8.5).
 */
#ifndef SIM_SERVER_H
#define SIM_SERVER_H

#include "fences.h"
#include "truth.h"

#include <jansson.h>

struct world;
struct stream;

struct server_reply {
    unsigned status; /* 0: the connection was cut, and nothing was done */
    int64_t retry_after_s;
    const char *body; /* lives as long as the world */
};

struct server_watch {
    struct stream *stream;
    enum truth_kind kind;
    bool selects; /* pods that have not finished */
    size_t next;  /* in the history */
    int64_t ends_ms;
    bool is_over;
    struct server_watch *next_watch;
};

/* The Lease of our replicas. */
struct server_lease {
    json_t *object; /* NULL: it was not made yet */
    int64_t rv;
    struct binder holder; /* service NULL: nobody */
    int64_t renewed_ms;   /* stored by the holder last */
};

struct server {
    struct world *world;
    int64_t up_ms;      /* it is down before */
    int64_t ready_ms;   /* it answers 429 before */
    int64_t well_ms;    /* it answers 500 before, whatever it did */
    unsigned lifetimes; /* so often it was started */
    struct server_watch *watches;
    struct server_lease lease;
};

void server_init(struct server *server, struct world *world);
void server_fini(struct server *server);
bool server_is_up(const struct server *server);
/* It dies, and all its connections with it. */
void server_restart(struct server *server, int64_t down_ms, int64_t busy_ms);

/* It answers 500, and the watches that are open end. */
void server_sicken(struct server *server, int64_t how_long_ms);

/* A list, or one pod. */
struct server_reply server_read(struct server *server, const char *path);
/* The one there is, by GET, POST and PUT; all replicas are told of a change. (server_lease.c) */
struct server_reply server_lease(struct server *server, const struct binder *asker,
                                 const char *method, const char *body);
/* It was given up long ago. */
void server_begin_lease(struct server *server);
/* Somebody deletes it. */
void server_end_lease(struct server *server);
struct server_reply server_bind(struct server *server, const struct binder *binder, bool is_doubled,
                                const char *path, const char *body);
/* Status 200 without a body: it may begin. */
struct server_reply server_may_watch(struct server *server, const char *path);
/* From now on the stream is told. */
void server_watch(struct server *server, const char *path, struct stream *stream);
void server_unwatch(struct server *server, const struct stream *stream);

/* For server_lease.c. */
struct server_reply server_status(struct server *server, unsigned code, const char *message);
/* Status 200: it may. */
struct server_reply server_may_read(struct server *server);

#endif
