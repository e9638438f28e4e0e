/*
 * oracle_reserve: reservations by the oracle. It shares only the names of verdicts and reasons
 * with the ledger.
 */
#ifndef DECIDE_ORACLE_RESERVE_H
#define DECIDE_ORACLE_RESERVE_H

#include "decide/reserve.h"
#include "oracle.h"

struct oracle_question {
    size_t pod;
    size_t node;
    const struct oracle_pod *facts; /* NULL: none */
    int64_t now_ms;
};

/* node is an index or ORACLE_NOWHERE. */
struct oracle_result {
    enum reserve_verdict verdict;
    enum reason reason;
    int64_t node;
};

struct oracle_result oracle_reserve(struct oracle *oracle, const struct oracle_question *question);

#endif
