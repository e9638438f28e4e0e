/*
 * bind_attempt: what to do next about one pod that is to be bound. Private to extender.
 *
 * A state machine without I/O and without a clock: what happened and the time go in, the next step
 * comes out. It knows no names, no texts and no callers: bind_steps.c carries the steps out.
 * At any moment it has at most one question under way.
 *
 * Room that is held is given up only when nothing of ours can take effect any more: every POST was
 * answered definitely, or the pod was seen unbound by a GET that was sent when the API server had
 * given the last POST up. Source: extender contract 3.3 to 3.5.
 */
#ifndef EXTENDER_BIND_BIND_ATTEMPT_H
#define EXTENDER_BIND_BIND_ATTEMPT_H

#include "decide/reserve.h"

#include <stdbool.h>
#include <stdint.h>

enum bind_next {
    BIND_WAIT,    /* for what is under way, or until wake_ms */
    BIND_RESERVE, /* hold room in the ledger; bind_attempt_reserved() follows at once */
    BIND_POST,    /* bind_attempt_posted() follows */
    BIND_GET,     /* bind_attempt_found() follows */
    BIND_END,     /* nothing is left to do */
};

enum bind_tell { BIND_TELL_NOTHING, BIND_TELL_BOUND, BIND_TELL_FAILED };

struct bind_step {
    enum bind_next next;
    int64_t timeout_ms;  /* of the POST or GET */
    enum bind_tell tell; /* first, to all who wait */
    bool release;        /* first: the room that was held when the question was asked */
};

enum bind_state {
    BIND_RESERVING,
    BIND_POSTING,
    BIND_ASKING,
    BIND_WAITING_TO_POST,
    BIND_WAITING_TO_ASK,
    BIND_BOUND, /* bound, by the API server's word; the ledger will see it */
};

struct bind_timing {
    int64_t post_life_ms;
    int64_t confirm_ms;
};

/* To be read by all, to be changed by bind_attempt_*() only. */
struct bind_attempt {
    const struct bind_timing *timing;
    enum bind_state state;
    int64_t wake_ms;  /* of the waiting states; CLOCK_NEVER otherwise */
    int64_t until_ms; /* somebody waits until then */
    int64_t asked_ms; /* when the last GET was sent */
    int64_t quiet_ms; /* from when on no POST of ours can take effect; 0: all were answered */
    unsigned n_posts;
    unsigned n_delays; /* of the back-off */
    bool holds;        /* room in the ledger */
    bool refused;      /* to post again would be in vain */
    bool background;   /* the back-off is the slow one */
    bool wants_facts;  /* the ledger does not know the pod: the GET is to show it */
    bool ambiguous;    /* the GET is to say what came of a POST */
    uint64_t random;
};

/* For somebody who waits until until_ms. */
struct bind_step bind_attempt_begin(struct bind_attempt *attempt, const struct bind_timing *timing,
                                    uint64_t seed, int64_t until_ms);
/* Only to find out what became of room that is held, for nobody. */
struct bind_step bind_attempt_check(struct bind_attempt *attempt, const struct bind_timing *timing,
                                    uint64_t seed, int64_t now_ms);

/* Another one waits for the same: where nobody waited any more the binding is posted again. */
struct bind_step bind_attempt_joined(struct bind_attempt *attempt, int64_t now_ms,
                                     int64_t until_ms);
/* Somebody else wants to know what became of it. */
struct bind_step bind_attempt_hurry(struct bind_attempt *attempt, int64_t now_ms);
/* wake_ms has come. */
struct bind_step bind_attempt_time(struct bind_attempt *attempt, int64_t now_ms);

/* with_facts: what a GET showed of the pod was given. */
struct bind_step bind_attempt_reserved(struct bind_attempt *attempt, int64_t now_ms,
                                       enum reserve_verdict verdict, bool with_facts);

enum bind_posted {
    POSTED_BOUND,
    POSTED_GONE,      /* there is no such pod */
    POSTED_CONFLICT,  /* bound already, another UID, being deleted, gated */
    POSTED_REFUSED,   /* it never will be accepted */
    POSTED_UNKNOWN,   /* it may have taken effect, or still may */
    POSTED_THROTTLED, /* not looked at */
    POSTED_NOT_SENT,
};
struct bind_step bind_attempt_posted(struct bind_attempt *attempt, int64_t now_ms,
                                     enum bind_posted posted, int64_t retry_after_ms);

/* Instead of the POST: it may be sent from until_ms on. It waits where a whole post_life_ms is left
 * then; else it fails at once. */
struct bind_step bind_attempt_held(struct bind_attempt *attempt, int64_t now_ms, int64_t until_ms);

/* From when on no POST of it can take effect; in the past: none can. */
int64_t bind_attempt_quiet_ms(const struct bind_attempt *attempt, int64_t now_ms);

enum bind_finding {
    FOUND_BOUND, /* under its UID, to the node that is asked for */
    FOUND_ELSEWHERE,
    FOUND_GONE,    /* not there, another UID, or not bound and never to be */
    FOUND_UNBOUND, /* so far */
    FOUND_NOTHING, /* the API server did not say */
    N_BIND_FINDINGS
};
/* finished: a bound pod that uses nothing any more. */
struct bind_step bind_attempt_found(struct bind_attempt *attempt, int64_t now_ms,
                                    enum bind_finding finding, bool finished,
                                    int64_t retry_after_ms);

#endif
