/*
 * bind_attempt: what to do next about one pod that is to be bound. Private to extender.
 *
 * A state machine without I/O and without a clock: what happened and the time go in, the next step
 * comes out. It knows no names, no texts and no callers: bind_steps.c carries the steps out.
 * At any moment it has at most one question under way.
 *
 * A reservation is released only when none of our POSTs can take effect any more: each got a
 * definite answer, or a GET showed the pod unbound that was sent after the API server had given up
 * on the last POST. Source: PROTOCOL 3.3 to 3.6.
 */
#ifndef EXTENDER_BIND_BIND_ATTEMPT_H
#define EXTENDER_BIND_BIND_ATTEMPT_H

#include "decide/reserve.h"

#include <stdbool.h>
#include <stdint.h>

enum bind_next {
    BIND_WAIT,    /* for the request in progress, or until wake_ms */
    BIND_RESERVE, /* reserve in the ledger; bind_attempt_reserved() follows at once */
    BIND_POST,    /* bind_attempt_posted() follows */
    BIND_GET,     /* bind_attempt_found() follows */
    BIND_END,     /* done */
};

enum bind_report { BIND_REPORT_NOTHING, BIND_REPORT_BOUND, BIND_REPORT_FAILED };

struct bind_step {
    enum bind_next next;
    int64_t timeout_ms;      /* of the POST or GET */
    enum bind_report report; /* send first, to all waiting callers */
    bool release;            /* first: release the reservation that bind_entry.serial names */
};

enum bind_state {
    BIND_RESERVING,
    BIND_POSTING,
    BIND_ASKING,
    BIND_WAITING_TO_POST,
    BIND_WAITING_TO_ASK,
    BIND_BOUND, /* the API server confirmed the binding; the ledger has yet to see it */
};

struct bind_timing {
    int64_t post_life_ms;
    int64_t confirm_ms;
};

/* Read by all; changed by bind_attempt_*() only. */
struct bind_attempt {
    const struct bind_timing *timing;
    enum bind_state state;
    int64_t wake_ms;  /* of the waiting states; else CLOCK_NEVER */
    int64_t until_ms; /* a caller waits until then */
    int64_t asked_ms; /* when the last GET was sent */
    int64_t quiet_ms; /* no POST of ours can take effect afterwards; 0: all were answered */
    unsigned n_posts;
    unsigned n_delays; /* steps of the back-off */
    bool holds;        /* a reservation in the ledger */
    bool refused;      /* another POST would fail */
    bool background;   /* use the slow back-off */
    bool wants_facts;  /* the pod is not in the ledger: the GET must provide it */
    bool ambiguous;    /* the GET must settle the outcome of a POST */
    uint64_t random;
};

/* Starts a binding for a caller that waits until until_ms. */
struct bind_step bind_attempt_begin(struct bind_attempt *attempt, const struct bind_timing *timing,
                                    uint64_t seed, int64_t until_ms);
/* Starts a check of a reservation that no caller waits for. */
struct bind_step bind_attempt_check(struct bind_attempt *attempt, const struct bind_timing *timing,
                                    uint64_t seed, int64_t now_ms);

/* Another caller wants the same binding. It is posted again if no caller was left. */
struct bind_step bind_attempt_joined(struct bind_attempt *attempt, int64_t now_ms,
                                     int64_t until_ms);
/* A caller for another node waits for the outcome. */
struct bind_step bind_attempt_hurry(struct bind_attempt *attempt, int64_t now_ms);
/* Call at wake_ms. */
struct bind_step bind_attempt_time(struct bind_attempt *attempt, int64_t now_ms);

/* with_facts: the facts of a GET were passed to the reservation. */
struct bind_step bind_attempt_reserved(struct bind_attempt *attempt, int64_t now_ms,
                                       enum reserve_verdict verdict, bool with_facts);

/* Whether reserving should not wait for the pod's resource claims any more: after half a second or
 * so. */
bool bind_attempt_has_waited_for_claims(const struct bind_attempt *attempt);

enum bind_posted {
    POSTED_BOUND,
    POSTED_GONE,      /* no such pod */
    POSTED_CONFLICT,  /* bound already, another UID, being deleted, gated */
    POSTED_REFUSED,   /* permanently rejected */
    POSTED_UNKNOWN,   /* it may have taken effect, or still may */
    POSTED_THROTTLED, /* rejected unread by rate limiting */
    POSTED_NOT_SENT,
};
struct bind_step bind_attempt_posted(struct bind_attempt *attempt, int64_t now_ms,
                                     enum bind_posted posted, int64_t retry_after_ms);

/* Replaces the POST: sending is blocked until until_ms. The attempt waits if post_life_ms would
 * then remain; else it fails at once. */
struct bind_step bind_attempt_held(struct bind_attempt *attempt, int64_t now_ms, int64_t until_ms);

/* When no POST of it can take effect any more; in the past: none can now. */
int64_t bind_attempt_quiet_ms(const struct bind_attempt *attempt, int64_t now_ms);

enum bind_finding {
    FOUND_BOUND, /* with its UID, on the requested node */
    FOUND_ELSEWHERE,
    FOUND_GONE,    /* absent, another UID, or unbound and never to be bound */
    FOUND_UNBOUND, /* still unbound */
    FOUND_NOTHING, /* the API server gave no usable answer */
    N_BIND_FINDINGS
};
/* finished: a bound pod that has ended and uses nothing. */
struct bind_step bind_attempt_found(struct bind_attempt *attempt, int64_t now_ms,
                                    enum bind_finding finding, bool finished,
                                    int64_t retry_after_ms);

#endif
