/*
 * bind_harness: bindings over a small live ledger, a fake API server, and a clock that the test
 * sets. Nodes a (1 GPU), b (2 GPUs) and c (none); pods ml/p-1, p-2 and p-3 need one GPU each and
 * have the UIDs u-1, u-2 and u-3.
 */
#ifndef BIND_HARNESS_H
#define BIND_HARNESS_H

#include "extender/binds.h"
#include "fake_sender.h"
#include "live_cluster.h"

#define TIMEOUT_MS 5000
#define POST_LIFE_MS 4000
#define CONFIRM_MS 30000
#define BOUND_BY "0.1.0/test"

struct caller {
    unsigned n_answers;
    char *error; /* NULL: bound */
};

struct bind_harness {
    struct live_cluster live;
    struct policy next; /* for inventory_take_policy() */
    struct fake_sender server;
    struct binds *binds;
    int64_t now_ms;
    bool refuses;          /* no POST may be sent */
    int64_t held_until_ms; /* no POST before that time */
    struct caller callers[16];
    unsigned n_callers;
};

int bind_harness_setup(void **state);
int bind_harness_teardown(void **state);
#define BIND_TEST(function)                                                                        \
    cmocka_unit_test_setup_teardown(function, bind_harness_setup, bind_harness_teardown)

/* Calls bind and returns the caller's number. pod: 1 to 3; another one is unknown to the ledger. */
unsigned call(struct bind_harness *harness, int pod, const char *node);
unsigned call_as(struct bind_harness *harness, const struct bind_args *args);
/* Advances the clock, then ticks. */
void pass(struct bind_harness *harness, int64_t ms);

void check_waits(const struct bind_harness *harness, unsigned caller);
void check_bound(const struct bind_harness *harness, unsigned caller);
/* text: whole, without the prefix "gpu-extender: ". */
void check_error(const struct bind_harness *harness, unsigned caller, const char *text);
/* node NULL: the pod has no reservation. */
void check_held(const struct bind_harness *harness, int pod, const char *node);
/* No request is in progress. */
void check_silence(const struct bind_harness *harness);

/* These expect the next request and answer it. Bodies use ' for ". */
void posted(struct bind_harness *harness, int pod, const char *node, unsigned status,
            const char *body);
/* The request has a connection and may leave. */
void posted_in_time(struct bind_harness *harness, int pod, const char *node, unsigned status,
                    const char *body);
/* The request has a connection, but may not leave any more, and does not. */
void posted_too_late(struct bind_harness *harness, int pod, const char *node);
void posted_retry(struct bind_harness *harness, int pod, const char *node, unsigned status,
                  int64_t retry_after_s);
void posted_failed(struct bind_harness *harness, int pod, const char *node,
                   enum kube_outcome outcome);
void got(struct bind_harness *harness, int pod, unsigned status, const char *body);
void got_failed(struct bind_harness *harness, int pod);

/* Replaces ' by ". The caller owns it. */
char *quotes(const char *text);

/* metadata and spec start with a comma unless empty. */
#define POD_JSON(n, metadata, spec, status)                                                        \
    "{'kind':'Pod','metadata':{'name':'p-" n "','namespace':'ml','uid':'u-" n "'" metadata         \
    "},'spec':{'containers':[{'name':'c','resources':{'limits':{'nvidia.com/gpu':'1'}}}]" spec     \
    "},'status':{" status "}}"
#define OURS ",'annotations':{'gpu-extender.io/bound-by':'" BOUND_BY "'}"
#define STATUS(text) "{'kind':'Status','status':'Failure','message':'" text "'}"
#define CREATED "{'kind':'Status','status':'Success','code':201}"

/* Events of the watch. */
void ledger_shows(struct bind_harness *harness, const char *pod);
void ledger_removes(struct bind_harness *harness, const char *pod);
/* The value of a metric, by the start of its line. */
double metric(struct bind_harness *harness, const char *line);

#endif
