/*
 * auth_priv: the state of auth. Private to auth*.c: auth.c is the gate and writes the metrics,
 * auth_inquiry.c runs the reviews.
 *
 * An inquiry is a token, a verb and a path under review, and the exchanges that wait for it. It
 * borrows from the first of them, which is not answered before the inquiry ends.
 */
#ifndef AUTH_AUTH_PRIV_H
#define AUTH_AUTH_PRIV_H

#include "answers.h"
#include "auth/auth.h"
#include "base/metrics.h"
#include "base/mutex.h"
#include "base/table.h"
#include "review.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What unknown tokens cost, by the network that they come from: each has a token bucket, and half
 * of the places for strangers. So the tokens of one network keep no other one out.
 *
 * The number of networks is fixed, and a new one takes the place of the one that was seen longest
 * ago: whoever has more of them is bounded by the places alone. No lock, no clock. */

/* Above WAITING_OF_STRANGERS_MAX, so one that nobody waits for can always be replaced. */
#define STRANGERS_MAX 512
/* Places of all strangers, which are part of those of all users (auth_inquiry.c); each network gets
 * half. */
#define INQUIRIES_OF_STRANGERS_MAX 24
#define WAITING_OF_STRANGERS_MAX 192

struct stranger {
    uint64_t network;      /* exchange_network() */
    int64_t seen_ms;       /* 0: never */
    int64_t tickets_milli; /* new reviews × 1000, as of seen_ms */
    size_t n_inquiries;    /* in progress */
    size_t n_waiting;      /* exchanges */
};

struct strangers {
    struct stranger all[STRANGERS_MAX];
};

enum review_kind { TOKEN_REVIEW, ACCESS_REVIEW, N_REVIEW_KINDS };
enum lookup { LOOKUP_HIT, LOOKUP_MISS, LOOKUP_BUSY, LOOKUP_LIMITED, N_LOOKUPS };
/* Whether an exchange may wait for a review. */
enum inquiry_room { ROOM_YES, ROOM_FULL, ROOM_LIMITED };

/* The request of an exchange; borrowed from it, except the key. */
struct asking {
    struct bearer bearer;
    const char *verb;
    const char *path;
    const struct auth_question *question; /* NULL: by the bearer */
    struct answer_key key;
    uint64_t network; /* without a question */
};

/* In the exchange's arena. */
struct waiting {
    struct exchange *exchange;
    const struct auth_question *question; /* its own; NULL: by the bearer */
    struct stranger *stranger;            /* NULL: none */
    struct waiting *next;
};

struct inquiry {
    struct auth *auth;
    struct asking asking;
    int64_t began_ms;
    struct stranger *stranger; /* who began it; NULL: none */
    struct waiting *waiting;   /* guarded by auth.lock; `asking` borrows from the first */
    struct review_user user;   /* between the two reviews */
    UT_hash_handle hh;
};

struct auth {
    struct auth_settings settings;
    struct kube_sender sender;
    struct key_secret secret;

    struct mutex lock; /* guards all down to log_ms */
    struct answers answers;
    struct inquiry *inquiries;
    size_t n_waiting;
    struct strangers strangers;
    int64_t log_ms; /* no failure is logged before */

    struct counter reviews[N_REVIEW_KINDS][N_REVIEW_RESULTS];
    struct counter lookups[N_LOOKUPS];
};

/* Kubernetes' name of the review. */
const char *auth_review_name(enum review_kind kind);

/* Answers the exchange, lets it pass, or asks for the extra right. question: of the asking.
 * ANSWER_NONE: the API server could not be asked. Call it without the lock. */
void auth_settle(struct auth *auth, struct exchange *exchange, const struct auth_question *question,
                 const struct auth_answer *answer, int64_t now_ms);

/* ROOM_FULL: too many inquiries or waiting exchanges. ROOM_LIMITED: a new inquiry of a stranger
 * whose token bucket is empty. */
enum inquiry_room auth_inquiry_room(struct auth *auth, const struct asking *asking, int64_t now_ms)
    REQUIRES(auth->lock);
/* After ROOM_YES. Adds the exchange to an inquiry. Returns a new inquiry, to be passed to
 * auth_inquiry_send() without the lock; NULL: it joined one. */
struct inquiry *auth_inquiry_join(struct auth *auth, const struct asking *asking,
                                  struct exchange *exchange, int64_t now_ms) REQUIRES(auth->lock);
void auth_inquiry_send(struct inquiry *inquiry);

#endif
