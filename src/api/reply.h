/*
 * reply: JSON or a table, as the question asked for. Private to api.
 */
#ifndef API_REPLY_H
#define API_REPLY_H

#include "api/api.h"
#include "base/buf.h"
#include "http/exchange.h"
#include "inventory/inventory.h"

#include <jansson.h>
#include <stdbool.h>

/* No table is longer: the verdicts and lacks of a dry run are bounded, and so are nodes and pods.
 */
#define REPLY_MAX_BYTES ((size_t)1024 * 1024 * 1024)

/* Writes a whole answer for people. */
typedef void reply_write_table(const json_t *answer, struct arena *arena, struct buf *out);
/* Answers with the value, which it takes over: as JSON, or with ?output=table through write_table.
 */
void reply(struct exchange *exchange, json_t *value, reply_write_table *write_table);
/* Adds what a fork of the ledger shows to an answer that already says what it rests on. */
typedef void reply_add_members(const struct cluster *fork, struct arena *arena, json_t *answer);
/* Answers by a fork of the ledger as it is now. */
void reply_of_fork(struct inventory *inventory, struct exchange *exchange,
                   reply_add_members *add_members, reply_write_table *write_table);
/* Whether ?output= is one we know; else it has answered 400. To be asked before any work is done.
 */
bool reply_is_possible(struct exchange *exchange);

/* Whether the query has no other names than these, which NULL ends; else it has answered 400. A
 * filter that is misspelt must not answer as if it were not there. */
bool reply_knows(struct exchange *exchange, const char *const *names);

/* ?NAME=true or false; where it is not there, ret_flag stays. Whether it is one of them; else it
 * has answered 400. */
bool reply_flag(struct exchange *exchange, const char *name, bool *ret_flag);

/* Whether the inventory has something to answer from; else it has answered 503, with what is waited
 * for. */
bool reply_from(struct inventory *inventory, struct exchange *exchange);

void reply_text(struct exchange *exchange, unsigned status, const char *content_type,
                struct buf *text);

/* This replica's role; NULL: it is the only one. */
const char *reply_role(const struct api *api);

#endif
