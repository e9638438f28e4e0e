/*
 * fake_api: an API server played by the test byte by byte, and requests to it through a loop. The
 * loop's clock is the hand clock, so a time-out comes when the test says. Every wait ends with its
 * event; only a hang reaches the limit of 120 s.
 */
#ifndef FAKE_API_H
#define FAKE_API_H

#include "kube/loop.h"
#include "unit.h"

/* ---- the server ---- */

/* Returns a listening socket on a free loopback port. */
int fake_api_listen(int *ret_port);
int fake_api_accept(int listener);
/* Reads one request with its body. The caller frees the text; NULL: the client closed. */
char *fake_api_read(int connection);
/* Reads a request and checks its beginning. */
void fake_api_expect(int connection, const char *begin);
/* Accepts the next connection, whose request must begin like this. */
int fake_api_take(int listener, const char *begin);
void fake_api_write(int connection, const char *text);
/* Sends "HTTP/1.1 STATUS" with this body. */
void fake_api_answer(int connection, int status, const char *body);
/* Waits until the client has closed. */
void fake_api_expect_closed(int connection);

/* ---- the client ---- */

#define FAKE_API_UNACKED_MS 700
/* Of every request. */
#define FAKE_API_TIMEOUT_MS INT64_C(60000)
#define FAKE_API_NO_ANSWER "no answer in 60000 ms"

struct fake_api {
    int listener, port;
    struct kube_target target;
    struct kube_credentials *credentials; /* fake_credentials.h */
    struct kube_loop *loop;
    struct kube_sender sender;
};

/* A server, and a loop for it that has not started. scheme: "http". */
void fake_api_open(struct fake_api *api, const char *scheme);
void fake_api_start(struct fake_api *api);
void fake_api_close(struct fake_api *api);
/* Lets this time pass for the loop, which has taken all requests before and notices at once. */
void fake_api_pass(struct fake_api *api, int64_t ms);

/* One request and its answer. */
struct box;
struct box *box_new(void);
void box_free(struct box *box);
void box_done(void *context, const struct kube_answer *answer); /* a kube_done */
/* Waits. Valid until box_free(). */
const struct kube_answer *box_wait(struct box *box);
bool box_is_filled(struct box *box);

struct kube_request fake_api_get(const char *path);
struct kube_request fake_api_post(const char *path, const char *body);
struct box *fake_api_ask(struct fake_api *api, const struct kube_request *request);
/* A request that arrived on a new connection. */
struct call {
    struct box *box;
    int connection;
};
struct call fake_api_call(struct fake_api *api, struct kube_request request);
/* Answers, expects this answer in the box, and frees the box. */
void fake_api_serve(const struct call *call, int status, const char *body);
/* Waits for the answer, checks it and frees the box. */
void fake_api_expect_answer(struct box *box, unsigned status, const char *body);
void fake_api_expect_outcome(struct box *box, enum kube_outcome outcome, const char *why);

#endif
