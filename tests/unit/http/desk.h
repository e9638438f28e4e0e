/*
 * desk: the server under test. Its route table has handlers that answer now (/now echoes what they
 * see) and some that only take the exchange in, for the test to answer when it likes: /later
 * returns at once, to be parked, /hold stays on its thread until the test lets it go. What is below
 * /gated/ has a gate, which does what ?gate= says: "open", "closed" (401), "pass" (asked, it passes
 * at once), "ask" (asked, it takes the exchange in like /later).
 */
#ifndef DESK_H
#define DESK_H

#include "base/err.h"
#include "http/server.h"

struct desk;

/* What GET /much answers, all 'm': more than the kernel's buffers hold. */
#define DESK_MUCH_BYTES ((size_t)20 * 1024 * 1024)

/* Four threads, 10000 bytes of body; verbs, people and probes on the three addresses. */
int desk_start(const char *verbs, const char *people, const char *probes, struct desk **ret_desk,
               struct err *err);
/* The same routes, with limits of the test's own. */
int desk_start_with(const struct server_settings *settings, struct desk **ret_desk,
                    struct err *err);
/* All three on one free port of 127.0.0.1. */
struct desk *desk_new(void);
/* Stops the server (within drain_ms) if the test has not, and frees all. */
void desk_free(struct desk *desk, unsigned drain_ms);
/* For a test that stops the server itself. */
struct server *desk_take_server(struct desk *desk);
struct server *desk_server(const struct desk *desk);

/* A connection to that listener. */
int desk_client(const struct desk *desk, enum listener listener);
/* The next exchange that arrived on /later, /hold or at the gate; waits for it. */
struct exchange *desk_next(struct desk *desk);
/* Lets /hold return, now and from now on. */
void desk_let_go(struct desk *desk);
/* Answers 200 with what /now would have said. */
void desk_answer(struct exchange *exchange);

/* Of a cmocka test whose state is a desk of its own. */
int desk_set_up(void **state);
int desk_tear_down(void **state);

/* Many clients send the request, which comes to desk_next(), and another thread ends each exchange
 * so, while the server stops: every client gets one whole answer, 200 or the stop's 503. */
void desk_race_with_stop(const char *request, void (*end)(struct exchange *exchange));

#endif
