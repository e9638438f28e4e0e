/*
 * binds_priv: how the pods on their way are kept. Private to the files binds*.c, which each take
 * one part: binds.c the calls and the time, binds_steps.c what an attempt wants done, binds_leave.c
 * whether a binding may still be sent, binds_care.c the reservations that nothing confirms,
 * binds_turn.c what is done without the lock, binds_metrics.c.
 *
 * An attempt's entry lives until there is nothing left to do for it, and then only ends in an event
 * of its own: while a question of it is under way it stays.
 */
#ifndef EXTENDER_BINDS_PRIV_H
#define EXTENDER_BINDS_PRIV_H

#include "base/log.h"
#include "base/metrics.h"
#include "base/table.h"
#include "bind_attempt.h"
#include "bind_wire.h"
#include "extender/binds.h"

#include <pthread.h>

/* Beyond it a call is refused: so many pods on their way is no cluster's burst. */
#define BINDS_OPEN_MAX 4096
/* Bound ones that are remembered until the ledger sees them. */
#define BINDS_RESTING_MAX 16384

/* Of a call. The order is that of the names in binds_metrics.c. */
enum bind_outcome {
    BIND_OUTCOME_BOUND,
    BIND_OUTCOME_ALREADY_BOUND, /* known before, or by somebody else */
    BIND_OUTCOME_REFUSED,       /* by the ledger, or a name that is none */
    BIND_OUTCOME_CONFLICT,      /* bound, or being bound, to another node */
    BIND_OUTCOME_GONE,
    BIND_OUTCOME_FAILED, /* surely not bound: the API server refused it, or was never reached */
    BIND_OUTCOME_UNKNOWN,
    BIND_OUTCOME_BUSY, /* too many, or stopping */
    N_BIND_OUTCOMES
};

struct waiter {
    bind_answer *answer;
    bool (*hung_up)(void *context); /* NULL: unknown */
    void *context;
    char *uid, *namespace_, *name, *node_name;
    int64_t called_ms;
    int64_t deadline_ms;
    struct waiter *prev, *next;
};

struct entry {
    struct binds *binds;
    /* Owned. While a question is under way they do not change. */
    char *uid, *namespace_, *name, *node_name;
    struct bind_attempt attempt;
    uint64_t serial;        /* of the room that is held */
    struct waiter *waiters; /* those for another node wait for what becomes of this one */
    /* What is told if it fails now. */
    enum bind_outcome outcome;
    char *why;
    bool rests; /* counted in n_resting */
    UT_hash_handle hh;
};

struct binds {
    char *bound_by;
    struct bind_timing timing;
    int64_t timeout_ms;
    int64_t leave_ms; /* 0: as long as the caller waits */
    uint64_t seed;
    bool (*may_post)(void *context, int64_t now_ms); /* NULL: always */
    void *may_post_context;
    int64_t (*held_until_ms)(void *context, int64_t now_ms); /* NULL: never held */
    void *held_context;
    struct inventory *inventory;
    const struct policy *policy;
    struct kube_sender sender;

    pthread_mutex_t lock; /* guards all down to stopped; before the inventory's lock */
    struct entry *entries;
    size_t n_resting;
    int64_t due_ms;  /* nothing's time comes earlier */
    int64_t care_ms; /* when reservations are looked after next */
    bool stopped;

    pthread_mutex_t sending; /* guards closed; taken without any other */
    bool closed;

    struct counter outcomes[N_BIND_OUTCOMES];
    struct counter settled[N_BIND_FINDINGS];
    struct counter settled_by_ledger;
    struct counter unconfirmed;
    struct histogram duration;
};

/* What is done for one event: under the lock it is decided, and once that is given back the
 * questions are sent, the callers answered and the log written. */
struct turn {
    struct binds *binds;
    struct arena *arena;
    int64_t now_ms;
    struct question *questions;
    struct told *told;
    struct notice *notices;
};

void binds_turn_init(struct turn *turn, struct binds *binds, int64_t now_ms);
void binds_turn_lock(struct turn *turn);
/* Gives the lock back and does what was collected. */
void binds_turn_end(struct turn *turn);
/* After it nothing is sent. */
void binds_turn_close(struct binds *binds);

void binds_turn_post(struct turn *turn, struct entry *entry, int64_t timeout_ms, kube_done *done);
void binds_turn_get(struct turn *turn, struct entry *entry, int64_t timeout_ms, kube_done *done);
/* One caller is answered, and the log has a line of it; it is no entry's waiter any more. text
 * NULL: bound. */
void binds_turn_tell(struct turn *turn, struct waiter *waiter, enum bind_outcome outcome,
                     const char *text);
/* A line of the log about the pod; the message and the key are literals. */
void binds_turn_note(struct turn *turn, const struct entry *entry, enum log_level level,
                     const char *message, const char *key, const char *value);

const char *binds_outcome_name(enum bind_outcome outcome);

/* The names are copied. */
struct entry *binds_entry_new(struct binds *binds, const struct bind_args *args);
void binds_entry_remove(struct entry *entry);
struct bind_args binds_entry_args(const struct entry *entry);
uint64_t binds_entry_seed(const struct entry *entry);
void binds_entry_fails(struct entry *entry, enum bind_outcome outcome, const char *why);
void binds_entry_move(struct entry *entry, const char *node_name);

/* Does what the attempt wants done next. facts: what a GET showed of the pod; NULL: nothing. The
 * entry may be gone then. */
void binds_steps_take(struct turn *turn, struct entry *entry, struct bind_step step,
                      const struct pod_facts *facts);
/* outcome and why as the entry has them; why NULL: bound. */
void binds_steps_tell(struct turn *turn, struct entry *entry, struct waiter *waiter,
                      enum bind_outcome outcome, const char *why);

/* Whether somebody who still listens, and whose time is not over, waits for the binding. Under the
 * lock. */
bool binds_leave_is_awaited(const struct entry *entry, int64_t now_ms);
/* kube_request.may_leave of a binding; the context is the entry. Takes the lock. */
bool binds_leave_may(void *entry_context, int64_t now_ms);

/* Entries whose room the ledger has let go are removed; the others, and reservations without an
 * entry, are asked about when they are old. */
void binds_care(struct turn *turn);

#endif
