/*
 * parameters: checks the query of a request. A misspelt parameter must not be ignored: its caller
 * would take the answer for what it asked.
 */
#ifndef HTTP_PARAMETERS_H
#define HTTP_PARAMETERS_H

#include "base/arena.h"
#include "http/exchange.h"
#include "http/server.h"

/* Returns the fault of the query, with the nearest known word; NULL: none. */
const char *parameters_fault(const struct parameter *known, const struct exchange *exchange,
                             struct arena *arena);

#endif
