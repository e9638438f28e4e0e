/*
 * bind_entry: pods being bound, and the calls that wait for them. Data only, under the lock of
 * binds. Private to extender.
 *
 * An entry lives until its attempt has nothing left to do; that of a bound pod, until the ledger
 * shows the binding. No entry is removed while one of its requests is in progress.
 */
#ifndef EXTENDER_BIND_BIND_ENTRY_H
#define EXTENDER_BIND_BIND_ENTRY_H

#include "base/metrics.h"
#include "base/mutex.h"
#include "base/table.h"
#include "extender/bind/bind_attempt.h"
#include "extender/binds.h"

/* Further calls fail as busy. No cluster's burst has so many pods in progress. */
#define BINDS_OPEN_MAX 4096
/* Bound pods remembered until the ledger sees them. */
#define BINDS_BOUND_MAX 16384

/* The outcome of a call of bind. Same order as the names in bind_entry.c. */
enum bind_outcome {
    BIND_OUTCOME_BOUND,
    BIND_OUTCOME_ALREADY_BOUND, /* known before, or bound by another client */
    BIND_OUTCOME_REFUSED,       /* by the ledger, or an invalid name */
    BIND_OUTCOME_CONFLICT,      /* bound, or being bound, to another node */
    BIND_OUTCOME_GONE,
    BIND_OUTCOME_FAILED, /* surely not bound: the API server rejected it or was never reached */
    BIND_OUTCOME_UNKNOWN,
    BIND_OUTCOME_BUSY, /* too many, or stopping */
    N_BIND_OUTCOMES
};

struct bind_caller {
    bind_answer *answer;
    void *context;
    struct bind_args args; /* owns its strings: bind_entry_free_args() */
    int64_t called_ms;
    int64_t deadline_ms;
    struct bind_caller *prev, *next;
};

struct bind_entry {
    struct binds *binds;
    struct bind_args args; /* owns its strings; unchanged while a request is in progress */
    struct bind_attempt attempt;
    uint64_t serial; /* of the reservation */
    /* In force when the room was reserved last; held. NULL: not yet. */
    const struct policy *judged_by;
    struct bind_caller *callers; /* callers for another node wait for this one's outcome */
    /* The answer to callers if the attempt fails now. */
    enum bind_outcome outcome;
    char *why;
    bool is_bound; /* counted in n_bound */
    UT_hash_handle hh;
};

struct binds {
    char *bound_by;
    struct bind_timing timing;
    int64_t timeout_ms;
    int64_t leave_ms; /* a POST must leave within it after the call; 0: while the caller waits */
    uint64_t seed;
    bool (*may_post)(void *context, int64_t now_ms); /* NULL: always */
    void *may_post_context;
    int64_t (*held_until_ms)(void *context, int64_t now_ms); /* NULL: never held */
    void *held_context;
    struct inventory *inventory;
    struct kube_sender sender;

    struct mutex lock; /* guards all down to stopped; taken before the inventory's lock */
    struct bind_entry *entries;
    size_t n_bound;
    int64_t due_ms;       /* nothing is due earlier */
    int64_t reconcile_ms; /* next check of reservations */
    bool stopped;

    struct mutex sending; /* guards closed; never taken under lock */
    bool closed;

    struct counter outcomes[N_BIND_OUTCOMES];
    struct counter settled[N_BIND_FINDINGS];
    struct counter settled_by_ledger;
    struct counter unconfirmed;
    struct histogram duration;
};

const char *bind_entry_outcome_name(enum bind_outcome outcome);

/* The copy owns its strings. */
struct bind_args bind_entry_copy_args(const struct bind_args *args);
void bind_entry_free_args(const struct bind_args *args);

/* Copies the strings of args. */
struct bind_entry *bind_entry_new(struct binds *binds, const struct bind_args *args);
void bind_entry_remove(struct bind_entry *entry);
/* Takes over the hold of the policy. */
void bind_entry_judged(struct bind_entry *entry, const struct policy *policy);
uint64_t bind_entry_seed(const struct bind_entry *entry);
void bind_entry_fails(struct bind_entry *entry, enum bind_outcome outcome, const char *why);
void bind_entry_move(struct bind_entry *entry, const char *node_name);

/* Whether a caller still listens within its deadline. Under the lock. */
bool bind_entry_is_awaited(const struct bind_entry *entry, int64_t now_ms);
/* kube_request.may_leave of a binding; the context is the entry. False also if another policy is in
 * force than when the room was reserved: it is judged again. Takes the lock. */
bool bind_entry_may_leave(void *entry_context, int64_t now_ms);

#endif
