/*
 * fixture_question: decisions for the ledgers of fixture.h.
 */
#ifndef DECIDE_FIXTURE_QUESTION_H
#define DECIDE_FIXTURE_QUESTION_H

#include "decide/fit.h"
#include "decide/reserve.h"
#include "fixture.h"

/* For a pod known to the ledger. ret_result may be NULL. */
enum reserve_verdict fixture_reserve(struct fixture *fixture, const char *uid, const char *node,
                                     struct reserve_result *ret_result);
/* Reserves; fails the test if rejected. */
void fixture_must_reserve(struct fixture *fixture, const char *uid, const char *node);

/* The question in scope FIT_ALL, with the shape resolved against the ledger. */
struct fit_question fixture_question(struct fixture *fixture, const struct shape_facts *facts);
/* "gpu_free": the verdict on a pod with only this demand. */
const char *fixture_verdict(struct fixture *fixture, const char *node, const char *demand);

#endif
