/*
 * desk: the server under test. /now answers at once and echoes its request. /later and /hold take
 * in the exchange, and the test answers it: /later returns at once, to be parked; /hold stays on
 * its thread until desk_let_go(). /gated/ has a gate controlled by ?gate=: "open", "closed" (401),
 * "pass" (reviewed, passes at once), "ask" (reviewed, takes in the exchange like /later).
 */
#ifndef DESK_H
#define DESK_H

#include "base/err.h"
#include "http/server.h"

struct desk;

/* The body of GET /much, all 'm': exceeds the kernel's buffers. */
#define DESK_MUCH_BYTES ((size_t)20 * 1024 * 1024)

/* Four threads, 10000 bytes of body; verbs, people and probes on three addresses. */
int desk_start(const char *verbs, const char *people, const char *probes, struct desk **ret_desk,
               struct err *err);
/* The same routes with other limits. */
int desk_start_with(const struct server_settings *settings, struct desk **ret_desk,
                    struct err *err);
/* All three listeners on one free port of 127.0.0.1. */
struct desk *desk_new(void);
/* Stops the server (within drain_ms) unless the test has, and frees everything. */
void desk_free(struct desk *desk, unsigned drain_ms);
/* For a test that stops the server itself. */
struct server *desk_take_server(struct desk *desk);
struct server *desk_server(const struct desk *desk);

/* Connects to that listener. */
int desk_client(const struct desk *desk, enum listener listener);
/* Waits for the next exchange from /later, /hold or the gate. */
struct exchange *desk_next(struct desk *desk);
/* Lets /hold return, from now on. */
void desk_let_go(struct desk *desk);
/* Answers 200 like /now. */
void desk_answer(struct exchange *exchange);

/* For a cmocka test whose state is a desk. */
int desk_set_up(void **state);
int desk_tear_down(void **state);

/* Many clients send the request, which arrives at desk_next(). Another thread ends each exchange
 * with end() while the server stops. Each client gets one whole answer, 200 or the stop's 503. */
void desk_race_with_stop(const char *request, void (*end)(struct exchange *exchange));

#endif
