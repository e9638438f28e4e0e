/*
 * strangers: what unknown tokens cost, by the network that they come from: each has a token bucket,
 * and half of the places for strangers. So the tokens of one network keep no other one out.
 *
 * The number of networks is fixed, and a new one takes the place of the one that was seen longest
 * ago: whoever has more of them is bounded by the places alone. No lock, no clock.
 */
#ifndef AUTH_STRANGERS_H
#define AUTH_STRANGERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/* Never NULL; valid until the next call unless something of it is in progress. now_ms: above 0. */
struct stranger *strangers_find(struct strangers *strangers, uint64_t network, int64_t now_ms);
/* Whether its places are taken: for an exchange, and for the inquiry that it would begin. */
bool stranger_is_full(const struct stranger *stranger, bool begins);
bool stranger_has_ticket(const struct stranger *stranger);
void stranger_take_ticket(struct stranger *stranger);

#endif
