/*
 * given_question: decisions for the ledgers of given.h.
 */
#ifndef DECIDE_GIVEN_QUESTION_H
#define DECIDE_GIVEN_QUESTION_H

#include "decide/fit.h"
#include "decide/reserve.h"
#include "given.h"

/* For a pod known to the ledger. ret_result may be NULL. */
enum reserve_verdict given_reserve(struct given *given, const char *uid, const char *node,
                                   struct reserve_result *ret_result);
/* Reserves; fails the test if rejected. */
void given_reservation(struct given *given, const char *uid, const char *node);

/* The question in scope FIT_ALL, with the shape resolved against the ledger. */
struct fit_question given_question(struct given *given, const struct shape_facts *facts);
/* "gpu_free": the verdict on a pod with only this demand. */
const char *given_verdict(struct given *given, const char *node, const char *demand);

#endif
