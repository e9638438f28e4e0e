/*
 * server_harness: the server under test. /now answers at once and echoes its request. /later and
 * /hold take in the exchange, and the test answers it: /later returns at once, to be parked; /hold
 * stays on its thread until server_harness_let_go(), and so does /long, which is deferred to the
 * thread for long answers. /gated/ has a gate controlled by ?gate=:
 * "open", "closed" (401), "pass" (reviewed, passes at once), "ask" (reviewed, takes in the exchange
 * like /later).
 */
#ifndef SERVER_HARNESS_H
#define SERVER_HARNESS_H

#include "base/err.h"
#include "http/server.h"

struct server_harness;

/* The body of GET /much, all 'm': exceeds the kernel's buffers. */
#define SERVER_HARNESS_MUCH_BYTES ((size_t)20 * 1024 * 1024)

/* Four threads, 10000 bytes of body; verbs, people and probes on three addresses. */
int server_harness_start(const char *verbs, const char *people, const char *probes,
                         struct server_harness **ret_harness, struct err *err);
/* The same routes with other limits. */
int server_harness_start_with(const struct server_settings *settings,
                              struct server_harness **ret_harness, struct err *err);
/* All three listeners on one free port of 127.0.0.1. */
struct server_harness *server_harness_new(void);
/* Stops the server (within drain_ms) unless the test has, and frees everything. */
void server_harness_free(struct server_harness *harness, unsigned drain_ms);
/* For a test that stops the server itself. */
struct server *server_harness_take_server(struct server_harness *harness);
struct server *server_harness_server(const struct server_harness *harness);
/* Waits until server_metrics() has that text: a client sees an end slightly before it is counted.
 */
void server_harness_wait_for_metric(const struct server_harness *harness, const char *line);

/* Connects to that listener. */
int server_harness_client(const struct server_harness *harness, enum listener listener);
/* Waits for the next exchange from /later, /hold or the gate. */
struct exchange *server_harness_next(struct server_harness *harness);
/* Lets /hold return, from now on. */
void server_harness_let_go(struct server_harness *harness);
/* Answers 200 like /now. */
void server_harness_answer(struct exchange *exchange);

/* For a cmocka test whose state is a struct server_harness. */
int server_harness_setup(void **state);
int server_harness_teardown(void **state);
#define TEST(function)                                                                             \
    cmocka_unit_test_setup_teardown(function, server_harness_setup, server_harness_teardown)

/* Many clients send the request, which arrives at server_harness_next(). Another thread ends each
 * exchange with end() while the server stops. Each client gets one whole answer, 200 or the stop's
 * 503. */
void server_harness_race_with_stop(const char *request, void (*end)(struct exchange *exchange));

#endif
