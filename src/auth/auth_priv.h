/*
 * auth_priv: what is kept of those who ask. Private to the files auth*.c: auth.c is the gate,
 * auth_inquiry.c what is under review, auth_metrics.c.
 *
 * An inquiry is a token, a verb and a path that are under review, and the exchanges that wait for
 * it. What it asks with is borrowed from the first of them, which is not answered before.
 */
#ifndef AUTH_AUTH_PRIV_H
#define AUTH_AUTH_PRIV_H

#include "answers.h"
#include "auth/auth.h"
#include "base/metrics.h"
#include "base/mutex.h"
#include "base/table.h"
#include "bearer.h"
#include "key.h"
#include "review.h"

enum review_kind { TOKEN_REVIEW, ACCESS_REVIEW, N_REVIEW_KINDS };
enum lookup { LOOKUP_HIT, LOOKUP_MISS, LOOKUP_BUSY, LOOKUP_LIMITED, N_LOOKUPS };
/* Whether an exchange may wait for an answer. */
enum inquiry_room { ROOM_YES, ROOM_FULL, ROOM_LIMITED };

/* What an exchange asks for. All but the key is borrowed from it. */
struct asking {
    struct bearer bearer;
    const char *verb;
    const char *path;
    struct answer_key key;
};

/* In the exchange's arena. */
struct waiting {
    struct exchange *exchange;
    struct waiting *next;
};

struct inquiry {
    struct auth *auth;
    struct asking asking;
    int64_t began_ms;
    struct waiting *waiting; /* the lock's; the first is the asking's */
    struct review_user user; /* between the two reviews */
    UT_hash_handle hh;
};

struct auth {
    struct auth_settings settings;
    struct kube_sender sender;
    struct key_secret secret;

    struct mutex lock; /* guards all down to tickets_ms */
    struct answers answers;
    struct inquiry *inquiries;
    size_t n_waiting;
    int64_t tell_ms; /* no failure is told before */
    /* The token bucket of unknown callers, in reviews × 1000; as of tickets_ms. */
    int64_t tickets_milli;
    int64_t tickets_ms;

    struct counter reviews[N_REVIEW_KINDS][N_REVIEW_RESULTS];
    struct counter lookups[N_LOOKUPS];
};

/* Of a review, as Kubernetes calls it. */
const char *auth_review_name(enum review_kind kind);

/* Answers the exchange, or lets it pass. ANSWER_NONE: the API server could not be asked. */
void auth_settle(struct exchange *exchange, const struct auth_answer *answer);

/* ROOM_FULL: too many inquiries are open, or exchanges wait.
 * ROOM_LIMITED: this would be a new inquiry about an unknown token, of which too many were begun
 * lately. */
enum inquiry_room auth_inquiry_room(struct auth *auth, const struct answer_key *key, int64_t now_ms)
    REQUIRES(auth->lock);
/* After ROOM_YES. The exchange waits. An inquiry that is new is for auth_inquiry_send(), without
 * the lock; else NULL. */
struct inquiry *auth_inquiry_join(struct auth *auth, const struct asking *asking,
                                  struct exchange *exchange, int64_t now_ms) REQUIRES(auth->lock);
void auth_inquiry_send(struct inquiry *inquiry);

#endif
