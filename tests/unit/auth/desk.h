/*
 * desk: auth with a fake API server, a clock that the test sets, and guests that request a path.
 */
#ifndef DESK_H
#define DESK_H

#include "auth/auth.h"
#include "base/mem.h"
#include "fake_exchange.h"
#include "fake_sender.h"
#include "unit.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ALLOWED_MS 10000
#define REFUSED_MS 2000
#define INQUIRY_MS 10000

#define TOKENS "/apis/authentication.k8s.io/v1/tokenreviews"
#define ACCESS "/apis/authorization.k8s.io/v1/subjectaccessreviews"

#define NOT_ASKED "the API server could not verify the token and its permissions: try again"

struct desk {
    struct auth *auth;
    struct fake_sender server;
    int64_t now_ms;
};

struct guest {
    enum auth_verdict verdict;
    struct exchange *exchange;
};

int desk_setup(void **state);
int desk_teardown(void **state);

/* Comes to the gate with "GET path" and "Bearer token", and starts a review if the gate asks for
 * one. */
struct guest come(struct desk *desk, const char *path, const char *token);
struct guest come_as(struct desk *desk, const struct fake_question *question);
/* The guest got this status and whole message; NULL: none. */
void check_answer(struct guest *guest, unsigned status, const char *message);
/* The gate let the guest pass, or admitted it after a review. */
void check_in(struct guest *guest);

/* The oldest request to the API server has this path and body, with ' for "; body NULL: any. */
void check_asked(struct desk *desk, const char *path, const char *body);
void check_silence(struct desk *desk);
void answer(struct desk *desk, unsigned status, const char *body);
void answer_len(struct desk *desk, unsigned status, const char *body, size_t len);
void no_answer(struct desk *desk, enum kube_outcome outcome);

/* Complete answers to the oldest request. */
void token_is_of(struct desk *desk, const char *user);
void token_is_nobodys(struct desk *desk);
void may(struct desk *desk, bool allowed);

/* Comes, and gets only positive answers. */
void let_in(struct desk *desk, const char *path, const char *token);
/* The guest was rejected for lack of an answer. That is not cached: the next one with "t" starts a
 * review again. */
void check_not_asked(struct desk *desk, struct guest *guest);

double metric(struct desk *desk, const char *line);
char *quotes(const char *text);

#endif
