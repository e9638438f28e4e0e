/*
 * live_status: the reflectors' status, for reading from any thread. Private to inventory. Its lock
 * may be taken under the inventory's, never before it.
 */
#ifndef INVENTORY_LIVE_LIVE_STATUS_H
#define INVENTORY_LIVE_LIVE_STATUS_H

#include "base/mutex.h"
#include "inventory/live.h"

#include <stdatomic.h>

struct kind_status {
    struct reflector_status reflector; /* except its why, which is below */
    struct err why;
    struct err too_many;  /* "": within the limit */
    char waiting_for[64]; /* "the first list of pods" */
    /* Set only in the copies that live_status_get() returns. */
    int64_t lag_ms;
    bool behind;  /* lag_ms is over the limit */
    bool awaited; /* decisions wait for the kind's first list */
};

struct live_status {
    struct mutex mutex;
    struct kind_status kinds[N_CLUSTER_KINDS];
    int64_t began_ms;
    bool claims_counted;             /* as live_status_claims_turn() last saw it; true at first */
    bool templates_known;            /* the same of live_status_templates_turn() */
    atomic_bool usable;              /* the last judgement; every decision reads it */
    atomic_int_fast64_t complete_ms; /* when all essential kinds were last complete; 0: never */
    /* reflector_lag_ms(). Readers compare it with the clock, because the read loop may be stuck. */
    atomic_int_fast64_t lag_since_ms[N_CLUSTER_KINDS];
    int64_t max_lag_ms;
};

/* max_lag_ms 0: lag is reported, but never makes the data unusable. */
void live_status_init(struct live_status *status, int64_t max_lag_ms);
void live_status_fini(struct live_status *status);

enum live_turn { LIVE_AS_BEFORE, LIVE_USABLE_AGAIN, LIVE_UNUSABLE_NOW };

/* Stores a feed's status of its kind; too_many: message, or "". Returns whether usability
 * changed. */
enum live_turn live_status_set(struct live_status *status, enum cluster_kind kind,
                               const struct reflector_status *reflector, const char *too_many);

/* Stores the kind's lag, in the form of reflector_lag_ms(). Takes no lock if usability stays. */
enum live_turn live_status_lags(struct live_status *status, enum cluster_kind kind,
                                int64_t lag_since_ms);

/* See inventory_waiting_for(), inventory_usable() and inventory_counts_claims(). */
const char *live_status_waiting_for(struct live_status *status);
bool live_status_usable(struct live_status *status, struct err *ret_why);
bool live_status_counts_claims(struct live_status *status, struct err *ret_why);
/* See inventory_serves_oldest(). */
bool live_status_serves_oldest(struct live_status *status, enum cluster_kind kind);
/* Whether the result of live_status_counts_claims() has changed since the last call. LIVE_AS_BEFORE
 * while a kind that claims need was neither listed nor given up. */
enum live_turn live_status_claims_turn(struct live_status *status, struct err *ret_why);
/* The same for templates of claims: whether their list is current. */
enum live_turn live_status_templates_turn(struct live_status *status, struct err *ret_why);
/* When all essential kinds were last complete, in seconds since 1970; 0: never. Reads the clocks.
 */
int64_t live_status_as_of_s(const struct live_status *status);
void live_status_get(struct live_status *status, enum cluster_kind kind,
                     struct kind_status *ret_kind);

#endif
