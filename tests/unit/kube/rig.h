/*
 * rig: a reflector in the hands of a test, which is its clock, its network and its store.
 *
 * The store keeps the set of names; every expectation fails the test where it does not hold.
 */
#ifndef RIG_H
#define RIG_H

#include "base/buf.h"
#include "kube/reflector.h"

#define RIG_SILENCE_MS 60000
#define RIG_OBJECT_MAX ((size_t)2000)

struct rig_name;
struct rig {
    struct reflector *reflector;
    struct rig_name *names;
    bool is_listing;
    int n_flushes;
    int n_too_large;                /* their names are kept, too */
    int n_told;                     /* times that a failure was news */
    struct reflector_status status; /* as last flushed */
    char why[500];
    int64_t now_ms;
    int64_t lag_since_ms; /* as last told */
    /* The request in flight. */
    char path[20000];
    struct kube_request request;
    struct buf shown;
};

void rig_init(struct rig *rig, const char *field_selector);
/* Of a collection that the server may not know. */
void rig_init_optional(struct rig *rig);
void rig_init_seeded(struct rig *rig, const char *field_selector, uint64_t seed);
void rig_fini(struct rig *rig);

/* Sends a request: its path is what is given; "..." at the end stands for anything. */
void rig_expect_request(struct rig *rig, const char *path);
void rig_expect_cancel(struct rig *rig);
/* For so long, from now; the clock is moved on to the end of it. */
void rig_expect_wait(struct rig *rig, int64_t at_least_ms, int64_t at_most_ms);
/* It waits for an event alone, or longer than that. */
void rig_expect_quiet(struct rig *rig, int64_t ms);

void rig_head(struct rig *rig, unsigned status);
/* Nothing more is unread behind them. */
void rig_bytes(struct rig *rig, const char *text);
/* More is. */
void rig_bytes_before_others(struct rig *rig, const char *text);
/* So many 'x'. */
void rig_many_bytes(struct rig *rig, size_t n);
void rig_end(struct rig *rig, enum kube_outcome outcome);
/* Head, body and end. */
void rig_answer(struct rig *rig, unsigned status, const char *body);
void rig_refuse(struct rig *rig, unsigned status, int64_t retry_after_s, const char *body);

/* A whole list: its names have one letter each. */
void rig_answer_list(struct rig *rig, const char *version, const char *letters,
                     const char *continue_);
void rig_event(struct rig *rig, const char *type, char letter, const char *version);
/* Listed "ab" at "100", and an open watch that has said nothing yet. */
void rig_begin(struct rig *rig);

/* In the store: "abc". Valid until the next call. */
const char *rig_names(struct rig *rig);

#define RIG_WATCH(version)                                                                         \
    "/api/v1/pods?watch=true&resourceVersion=" version                                             \
    "&allowWatchBookmarks=true&timeoutSeconds=..."
#define RIG_CATCH_UP(version)                                                                      \
    "/api/v1/pods?watch=true&resourceVersion=" version "&allowWatchBookmarks=true&timeoutSeconds=" \
    "8"
#define RIG_LIST "/api/v1/pods?limit=500"
#define RIG_PROBE "/api/v1/pods?limit=1"

#endif
