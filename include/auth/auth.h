/*
 * auth: authorizes users by bearer token, through the API server.
 *
 * A TokenReview returns the token's user. A SubjectAccessReview returns whether that user may do
 * the verb (the HTTP method in lower case) on the path, as a nonResourceURL, as kube-apiserver does
 * for its own paths. So a ClusterRole grants access. Results are cached briefly by a keyed digest
 * of token, verb and path. If the API server cannot be asked, the answer is 503, uncached. Equal
 * concurrent requests share one review. The reviews in flight, the waiting requests and the cache
 * are bounded; recently valid tokens, and users of a front proxy, go before unknown tokens. Those
 * of one network (exchange_network()) share a token bucket, 10 reviews a second and 64 at once: a
 * flood of them delays new callers of the same network, who must retry, and nobody else.
 *
 * No thread blocks: requests go to the sender, the time comes in. auth.lock is taken inside; the
 * sender and the exchanges are called without it. No log line or message has a token. Tokens are
 * borrowed from the exchange, and copies are overwritten before they are freed.
 *
 * Source: PROTOCOL 10.2; RFC 6750 for the header.
 */
#ifndef AUTH_AUTH_H
#define AUTH_AUTH_H

#include "base/buf.h"
#include "http/exchange.h"
#include "kube/request.h"

#include <stdint.h>

struct auth;

struct auth_settings {
    int64_t allowed_ms; /* how long "may" is cached, from the start of the review; 0: never */
    int64_t refused_ms; /* the same for "no such token" and "may not" */
};

/* sender.send NULL: no API server, so no token can be checked. Borrows the sender. */
struct auth *auth_new(const struct auth_settings *settings, struct kube_sender sender);
/* Call after the sender has stopped; every exchange has been answered by then. */
void auth_free(struct auth *auth);

/* The functions below set the caller of an exchange that passes, except of a question. */
enum auth_verdict {
    AUTH_OPEN,   /* cached as allowed */
    AUTH_ASK,    /* call auth_ask() once the request is complete */
    AUTH_CLOSED, /* the exchange has been answered: 401, 403 or 503 */
};

/* Judges the header. Called on threads of the server; never blocks. */
enum auth_verdict auth_judge(struct auth *auth, struct exchange *exchange, int64_t now_ms);
/* Calls exchange_pass() or answers, now or later, on any thread. */
void auth_ask(struct auth *auth, struct exchange *exchange, int64_t now_ms);

/* A request of a user whom the API server has authenticated; borrowed from the exchange. */
struct auth_question {
    const char *user;       /* name, for messages */
    const char *members;    /* of a SubjectAccessReview's spec: user, groups, uid, extra */
    const char *attributes; /* resourceAttributes, a JSON object */
    const char *action;     /* for messages: "get resource ..." */
    /* A further right, asked for once this one is there; NULL: none. It only decides whether the
     * exchange passes with its note: not if the API server could not be asked. */
    const struct auth_question *extra;
    int note; /* of an extra right; 0: it is none */
};
/* The same for such a request: a SubjectAccessReview for each right, in the same cache and limits.
 */
enum auth_verdict auth_judge_question(struct auth *auth, struct exchange *exchange,
                                      const struct auth_question *question, int64_t now_ms);
void auth_ask_question(struct auth *auth, struct exchange *exchange,
                       const struct auth_question *question, int64_t now_ms);

/* Writes reviews by kind and result, cache hits and reviews in flight: Prometheus text. */
void auth_metrics(struct auth *auth, struct buf *out);

/* Who asks, as a number: a keyed digest of the user's name and groups. It does not depend on how
 * the user was authenticated, nor on the order of the groups, which end with NULL. Never 0. */
uint64_t auth_caller_of(const char *name, const char *const *groups);

#endif
