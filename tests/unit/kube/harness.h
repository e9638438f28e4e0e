/*
 * harness: a reflector in the hands of a test, which is its clock, its network and its store.
 *
 * The store keeps the set of names; every expectation fails the test where it does not hold.
 */
#ifndef HARNESS_H
#define HARNESS_H

#include "base/buf.h"
#include "kube/reflector.h"

#define HARNESS_SILENCE_MS 60000
#define HARNESS_OBJECT_MAX ((size_t)2000)

struct harness_name;
struct harness {
    struct reflector *reflector;
    struct harness_name *names;
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

void harness_init(struct harness *harness, const char *field_selector);
/* Of a collection that the server may not know. */
void harness_init_optional(struct harness *harness);
void harness_init_seeded(struct harness *harness, const char *field_selector, uint64_t seed);
void harness_fini(struct harness *harness);

/* Sends a request: its path is what is given; "..." at the end stands for anything. */
void harness_expect_request(struct harness *harness, const char *path);
void harness_expect_cancel(struct harness *harness);
/* For so long, from now; the clock is moved on to the end of it. */
void harness_expect_wait(struct harness *harness, int64_t at_least_ms, int64_t at_most_ms);
/* It waits for an event alone, or longer than that. */
void harness_expect_quiet(struct harness *harness, int64_t ms);

void harness_head(struct harness *harness, unsigned status);
/* Nothing more is unread behind them. */
void harness_bytes(struct harness *harness, const char *text);
/* More is. */
void harness_bytes_before_others(struct harness *harness, const char *text);
/* So many 'x'. */
void harness_many_bytes(struct harness *harness, size_t n);
void harness_end(struct harness *harness, enum kube_outcome outcome);
/* Head, body and end. */
void harness_answer(struct harness *harness, unsigned status, const char *body);
void harness_refuse(struct harness *harness, unsigned status, int64_t retry_after_s,
                    const char *body);

/* A whole list: its names have one letter each. */
void harness_answer_list(struct harness *harness, const char *version, const char *letters,
                         const char *continue_);
void harness_event(struct harness *harness, const char *type, char letter, const char *version);
/* Listed "ab" at "100", and an open watch that has said nothing yet. */
void harness_begin(struct harness *harness);

/* In the store: "abc". Valid until the next call. */
const char *harness_names(struct harness *harness);

#define HARNESS_WATCH(version)                                                                     \
    "/api/v1/pods?watch=true&resourceVersion=" version                                             \
    "&allowWatchBookmarks=true&timeoutSeconds=..."
#define HARNESS_CATCH_UP(version)                                                                  \
    "/api/v1/pods?watch=true&resourceVersion=" version "&allowWatchBookmarks=true&timeoutSeconds=" \
    "8"
#define HARNESS_LIST "/api/v1/pods?limit=500"
#define HARNESS_PROBE "/api/v1/pods?limit=1"

#endif
