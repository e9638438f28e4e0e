/*
 * harness: a reflector driven by a test, which provides clock, network and store.
 *
 * The store keeps the set of names. A failed expectation fails the test.
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
    int n_too_large;                /* their names are stored too */
    int n_told;                     /* failures that were news */
    struct reflector_status status; /* of the last flush */
    char why[500];
    int64_t now_ms;
    int64_t lag_since_ms; /* last reported */
    /* The request in flight. */
    char path[20000];
    struct kube_request request;
    struct buf shown;
};

void harness_init(struct harness *harness, const char *field_selector);
/* For a collection that the server may not know. */
void harness_init_optional(struct harness *harness);
/* The same, with two older versions. */
void harness_init_versions(struct harness *harness);
void harness_init_seeded(struct harness *harness, const char *field_selector, uint64_t seed);
void harness_fini(struct harness *harness);
/* A test's state is a harness that it has to init; the teardown finishes it. */
int harness_setup(void **state);
int harness_teardown(void **state);
#define HARNESS_TEST(function)                                                                     \
    cmocka_unit_test_setup_teardown(function, harness_setup, harness_teardown)

/* Expects a request for this path; a final "..." matches anything. */
void harness_expect_request(struct harness *harness, const char *path);
void harness_expect_cancel(struct harness *harness);
/* Expects a wait in this range, and advances the clock to its end. */
void harness_expect_wait(struct harness *harness, int64_t at_least_ms, int64_t at_most_ms);
/* Expects no request for at least that long. */
void harness_expect_quiet(struct harness *harness, int64_t ms);

void harness_head(struct harness *harness, unsigned status);
/* Sends bytes with nothing unread behind them. */
void harness_bytes(struct harness *harness, const char *text);
/* Sends bytes with more unread behind them. */
void harness_bytes_before_others(struct harness *harness, const char *text);
/* Sends n times 'x'. */
void harness_many_bytes(struct harness *harness, size_t n);
void harness_end(struct harness *harness, enum kube_outcome outcome);
/* Sends head, body and end. */
void harness_answer(struct harness *harness, unsigned status, const char *body);
void harness_refuse(struct harness *harness, unsigned status, int64_t retry_after_s,
                    const char *body);

/* Sends a whole list with one-letter names. */
void harness_answer_list(struct harness *harness, const char *version, const char *letters,
                         const char *continue_);
void harness_event(struct harness *harness, const char *type, char letter, const char *version);
/* Listed "ab" at "100", with an open, silent watch. */
void harness_begin(struct harness *harness);

/* Names in the store: "abc". Valid until the next call. */
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
