/*
 * bind_entry: the pods on their way to being bound, and who waits for them: data, under the lock of
 * binds. Private to extender.
 *
 * An attempt's entry lives until there is nothing left to do for it, and then only ends in an event
 * of its own: while a question of it is under way it stays.
 */
#ifndef EXTENDER_BIND_BIND_ENTRY_H
#define EXTENDER_BIND_BIND_ENTRY_H

#include "base/metrics.h"
#include "base/mutex.h"
#include "base/table.h"
#include "extender/bind/bind_attempt.h"
#include "extender/binds.h"

/* Beyond it a call is refused: so many pods on their way is no cluster's burst. */
#define BINDS_OPEN_MAX 4096
/* Bound ones that are remembered until the ledger sees them. */
#define BINDS_BOUND_MAX 16384

/* Of a call. The order is that of the names in bind_entry.c. */
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

struct bind_caller {
    bind_answer *answer;
    bool (*hung_up)(void *context); /* NULL: unknown */
    void *context;
    char *uid, *namespace_, *name, *node_name;
    int64_t called_ms;
    int64_t deadline_ms;
    struct bind_caller *prev, *next;
};

struct bind_entry {
    struct binds *binds;
    /* Owned. While a question is under way they do not change. */
    char *uid, *namespace_, *name, *node_name;
    struct bind_attempt attempt;
    uint64_t serial;             /* of the room that is held */
    struct bind_caller *callers; /* those for another node wait for what becomes of this one */
    /* What is told if it fails now. */
    enum bind_outcome outcome;
    char *why;
    bool is_bound; /* counted in n_bound */
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

    struct mutex lock; /* guards all down to stopped; before the inventory's lock */
    struct bind_entry *entries;
    size_t n_bound;
    int64_t due_ms;       /* nothing's time comes earlier */
    int64_t reconcile_ms; /* when reservations are looked after next */
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

/* The names are copied. */
struct bind_entry *bind_entry_new(struct binds *binds, const struct bind_args *args);
void bind_entry_remove(struct bind_entry *entry);
struct bind_args bind_entry_args(const struct bind_entry *entry);
uint64_t bind_entry_seed(const struct bind_entry *entry);
void bind_entry_fails(struct bind_entry *entry, enum bind_outcome outcome, const char *why);
void bind_entry_move(struct bind_entry *entry, const char *node_name);

/* Whether somebody who still listens, and whose time is not over, waits for the binding. Under the
 * lock. */
bool bind_entry_is_awaited(const struct bind_entry *entry, int64_t now_ms);
/* kube_request.may_leave of a binding; the context is the entry. Takes the lock. */
bool bind_entry_may_leave(void *entry_context, int64_t now_ms);

#endif
