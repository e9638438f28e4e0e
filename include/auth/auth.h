/*
 * auth: who may ask what people ask: a bearer token is shown to the API server.
 *
 * A TokenReview says whose token it is, a SubjectAccessReview whether that user may do the verb
 * (the HTTP method in lower case) on the path, as a nonResourceURL: the same that kube-apiserver
 * asks itself about its own paths. So a ClusterRole lets people in. What came of it is kept for a
 * short time by a keyed digest of token, verb and path; what could not be asked is refused (503),
 * and not kept. Those who ask the same at the same time wait for one review. How many reviews are
 * under way, how many wait and how much is kept is bounded, and tokens that were good lately go
 * before those that nobody knows. Unknown tokens share one token bucket, 10 reviews a second and 64
 * at once: a flood of them delays a new caller, who is told to try again, and no known one.
 *
 * No thread waits: questions go to the sender, the time comes in. It is locked inside; the sender
 * and the exchanges are called without the lock. A token is in no log line and no message; it is
 * borrowed from the exchange, and what is copied of it here is overwritten before it is freed.
 *
 * Source: k8s.io/api/authentication/v1 and authorization/v1; RequestInfo of k8s.io/apiserver for
 * verb and path; RFC 6750 for the header.
 */
#ifndef AUTH_AUTH_H
#define AUTH_AUTH_H

#include "base/buf.h"
#include "http/exchange.h"
#include "kube/request.h"

struct auth;

struct auth_settings {
    int64_t allowed_ms; /* "may" is kept so long from when it was asked; 0: not at all */
    int64_t refused_ms; /* "no such token" and "may not" */
};

/* sender.send NULL: there is no API server, and no token can be checked. The sender is borrowed. */
struct auth *auth_new(const struct auth_settings *settings, struct kube_sender sender);
/* After the sender has stopped: every exchange has been answered by then. */
void auth_free(struct auth *auth);

enum auth_verdict {
    AUTH_OPEN,   /* known to be allowed */
    AUTH_ASK,    /* auth_ask(), once the request is complete */
    AUTH_CLOSED, /* the exchange has been answered: 401, 403 or 503 */
};

/* By the header alone. */
enum auth_verdict auth_judge(struct auth *auth, struct exchange *exchange, int64_t now_ms);
/* Sooner or later, from any thread: exchange_pass(), or an answer. */
void auth_ask(struct auth *auth, struct exchange *exchange, int64_t now_ms);

/* Reviews by kind and result, look-ups by result, reviews under way: Prometheus text. */
void auth_metrics(struct auth *auth, struct buf *out);

#endif
