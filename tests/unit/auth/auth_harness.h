/*
 * auth_harness: auth with a fake API server, a clock that the test sets, and guests that request a
 * path.
 */
#ifndef AUTH_HARNESS_H
#define AUTH_HARNESS_H

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

struct auth_harness {
    struct auth *auth;
    struct fake_sender server;
    int64_t now_ms;
    uint64_t network; /* of the guests to come */
};

struct guest {
    enum auth_verdict verdict;
    struct exchange *exchange;
};

int auth_harness_setup(void **state);
int auth_harness_teardown(void **state);
#define TEST(function)                                                                             \
    cmocka_unit_test_setup_teardown(function, auth_harness_setup, auth_harness_teardown)

/* Comes to the gate with "GET path" and "Bearer token", and starts a review if the gate asks for
 * one. */
struct guest come(struct auth_harness *harness, const char *path, const char *token);
struct guest come_as(struct auth_harness *harness, const struct fake_question *question);
/* The guest got this status and whole message; NULL: none. */
void check_answer(struct guest *guest, unsigned status, const char *message);
/* The gate let the guest pass, or admitted it after a review. */
void check_in(struct guest *guest);

/* The oldest request to the API server has this path and body, with ' for "; body NULL: any. */
void check_asked(struct auth_harness *harness, const char *path, const char *body);
void check_silence(struct auth_harness *harness);
void answer(struct auth_harness *harness, unsigned status, const char *body);
void answer_len(struct auth_harness *harness, unsigned status, const char *body, size_t len);
void no_answer(struct auth_harness *harness, enum kube_outcome outcome);

/* Complete answers to the oldest request. */
void token_is_of(struct auth_harness *harness, const char *user);
void token_is_nobodys(struct auth_harness *harness);
void may(struct auth_harness *harness, bool allowed);

/* Comes, and gets only positive answers. */
void let_in(struct auth_harness *harness, const char *path, const char *token);
/* The guest was rejected for lack of an answer. That is not cached: the next one with "t" starts a
 * review again. */
void check_not_asked(struct auth_harness *harness, struct guest *guest);

double metric(struct auth_harness *harness, const char *line);
char *quotes(const char *text);

#endif
