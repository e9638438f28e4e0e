/*
 * plain_reserve: reservations by the plain model. It shares only the names of verdicts and reasons
 * with the ledger.
 */
#ifndef DECIDE_PLAIN_RESERVE_H
#define DECIDE_PLAIN_RESERVE_H

#include "decide/reserve.h"
#include "plain.h"

struct plain_question {
    size_t pod;
    size_t node;
    const struct plain_pod *facts; /* NULL: none */
    int64_t now_ms;
};

/* node is an index or PLAIN_NOWHERE. */
struct plain_result {
    enum reserve_verdict verdict;
    enum reason reason;
    int64_t node;
};

struct plain_result plain_reserve(struct plain *plain, const struct plain_question *question);

#endif
