/*
 * server: a model of kube-apiserver over the truth: consistent paged lists, watches with bookmarks,
 * GET of a pod, and Binding with all its answers (PROTOCOL 3.3 and 8.1 to 8.5).
 */
#ifndef SIM_SERVER_H
#define SIM_SERVER_H

#include "fences.h"
#include "truth.h"

#include <jansson.h>

struct world;
struct stream;

struct server_reply {
    unsigned status; /* 0: connection cut, nothing done */
    int64_t retry_after_s;
    const char *body; /* lives as long as the world */
};

struct server_watch {
    struct stream *stream;
    enum truth_kind kind;
    const char *path; /* with its selector */
    size_t next;      /* index in the history */
    int64_t ends_ms;
    bool is_over;
    struct server_watch *next_watch;
};

/* The Lease of our replicas. */
struct server_lease {
    json_t *object; /* NULL: not created yet */
    int64_t rv;
    struct binder holder; /* service NULL: no holder */
    int64_t renewed_ms;   /* last write of the holder */
};

struct server {
    struct world *world;
    int64_t up_ms;      /* down before that */
    int64_t ready_ms;   /* answers 429 before that */
    int64_t well_ms;    /* answers 500 before that, whatever it did */
    unsigned lifetimes; /* number of restarts */
    struct server_watch *watches;
    struct server_lease lease;
};

void server_init(struct server *server, struct world *world);
void server_fini(struct server *server);
bool server_is_up(const struct server *server);
/* It dies, with all its connections. */
void server_restart(struct server *server, int64_t down_ms, int64_t busy_ms);

/* Answers 500 for a while; open watches end. */
void server_sicken(struct server *server, int64_t how_long_ms);

/* A list or one pod. */
struct server_reply server_read(struct server *server, const char *path);
/* The one Lease, by GET, POST and PUT; all replicas get changes. (server_lease.c) */
struct server_reply server_lease(struct server *server, const struct binder *asker,
                                 const char *method, const char *body);
/* Starts with a Lease released long ago. */
void server_begin_lease(struct server *server);
/* A client deletes it. */
void server_end_lease(struct server *server);
struct server_reply server_bind(struct server *server, const struct binder *binder, bool is_doubled,
                                const char *path, const char *body);
/* Status 200 without a body: the watch may start. */
struct server_reply server_may_watch(struct server *server, const char *path);
/* From now on the stream gets events. */
void server_watch(struct server *server, const char *path, struct stream *stream);
void server_unwatch(struct server *server, const struct stream *stream);

/* For server_lease.c. */
struct server_reply server_status(struct server *server, unsigned code, const char *message);
/* Status 200: reading is allowed. */
struct server_reply server_may_read(struct server *server);

#endif
