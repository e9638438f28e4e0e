/*
 * given_question: what of given.h asks for decisions.
 */
#ifndef DECIDE_GIVEN_QUESTION_H
#define DECIDE_GIVEN_QUESTION_H

#include "decide/fit.h"
#include "decide/reserve.h"
#include "given.h"

/* Of a pod that the ledger knows; what else is said of it is in the result, which may be NULL. */
enum reserve_verdict given_reserve(struct given *given, const char *uid, const char *node,
                                   struct reserve_result *ret_result);
/* Fails where no room is held by it. */
void given_reservation(struct given *given, const char *uid, const char *node);

/* The question that judges all, of the shape resolved against the ledger. */
struct fit_question given_question(struct given *given, const struct shape_facts *facts);
/* "gpu_free": may a pod with this demand and nothing else run there? */
const char *given_verdict(struct given *given, const char *node, const char *demand);

#endif
