/*
 * bind_harness: bindings over a small live ledger, an API server that says what the test wants, and
 * a clock that moves when the test does. Nodes a (1 GPU), b (2 GPUs) and c (none); the pods ml/p-1,
 * p-2 and p-3, which want one GPU each and have the UIDs u-1, u-2 and u-3.
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
    struct fake_sender server;
    struct binds *binds;
    int64_t now_ms;
    bool refuses;          /* to let anything be posted */
    int64_t held_until_ms; /* before then nothing may be */
    struct caller callers[16];
    unsigned n_callers;
};

int bind_harness_setup(void **state);
int bind_harness_teardown(void **state);

/* The number of the caller, for the checks. pod: 1 to 3; another is a pod the ledger has not. */
unsigned call(struct bind_harness *harness, int pod, const char *node);
unsigned call_as(struct bind_harness *harness, const struct bind_args *args);
/* The clock goes on, then the tick. */
void pass(struct bind_harness *harness, int64_t ms);

void check_waits(const struct bind_harness *harness, unsigned caller);
void check_bound(const struct bind_harness *harness, unsigned caller);
/* The whole text, without the prefix "gpu-extender: ". */
void check_error(const struct bind_harness *harness, unsigned caller, const char *text);
/* NULL: no room is held for the pod. */
void check_held(const struct bind_harness *harness, int pod, const char *node);
/* Nothing is under way. */
void check_silence(const struct bind_harness *harness);

/* The next request is this, and is answered. Bodies with ' for ". */
void posted(struct bind_harness *harness, int pod, const char *node, unsigned status,
            const char *body);
/* It has a connection, and may leave. */
void posted_in_time(struct bind_harness *harness, int pod, const char *node, unsigned status,
                    const char *body);
/* It has a connection, and is to leave: it might not, and does not. */
void posted_too_late(struct bind_harness *harness, int pod, const char *node);
void posted_retry(struct bind_harness *harness, int pod, const char *node, unsigned status,
                  int64_t retry_after_s);
void posted_failed(struct bind_harness *harness, int pod, const char *node,
                   enum kube_outcome outcome);
void got(struct bind_harness *harness, int pod, unsigned status, const char *body);
void got_failed(struct bind_harness *harness, int pod);

/* ' becomes ". The caller's. */
char *quotes(const char *text);

/* metadata and spec begin with a comma where they are not empty. */
#define POD_JSON(n, metadata, spec, status)                                                        \
    "{'kind':'Pod','metadata':{'name':'p-" n "','namespace':'ml','uid':'u-" n "'" metadata         \
    "},'spec':{'containers':[{'name':'c','resources':{'limits':{'nvidia.com/gpu':'1'}}}]" spec     \
    "},'status':{" status "}}"
#define OURS ",'annotations':{'gpu-extender.io/bound-by':'" BOUND_BY "'}"
#define STATUS(text) "{'kind':'Status','status':'Failure','message':'" text "'}"
#define CREATED "{'kind':'Status','status':'Success','code':201}"

/* What the watch brings. */
void ledger_shows(struct bind_harness *harness, const char *pod);
void ledger_removes(struct bind_harness *harness, const char *pod);
/* The value of a metric, by the beginning of its line. */
double metric(struct bind_harness *harness, const char *line);

#endif
