/*
 * reply: answers in JSON or as a table, as the query requests. Private to api.
 */
#ifndef API_REPLY_H
#define API_REPLY_H

#include "api/api.h"
#include "base/buf.h"
#include "http/exchange.h"
#include "inventory/inventory.h"
#include "types/gpu_model.h"

#include <jansson.h>
#include <stdbool.h>

/* Larger than any table: verdicts and lacks of a dry run are bounded, and so are nodes and pods. */
#define REPLY_MAX_BYTES ((size_t)1024 * 1024 * 1024)

/* Writes a whole answer as text. wide: ?wide=true (table.h). */
typedef void reply_write_table(const json_t *answer, bool wide, struct arena *arena,
                               struct buf *out);
/* Begins an answer that depends on the inventory and the query only. Returns false after answering:
 * 304 if the client has it already. ret_tag is for reply_end(); NULL for tables, which have ages.
 */
bool reply_begin(const struct api *api, struct exchange *exchange, const char **ret_tag);
/* Call before the answer, with all its data read: the tag is for it if nothing has changed since
 * reply_begin(). */
void reply_end(const struct api *api, struct exchange *exchange, const char *tag);
/* Answers with the value and takes it over: as JSON, or with ?output=table through write_table. */
void reply(struct exchange *exchange, json_t *value, reply_write_table *write_table);
/* Adds data of a fork to an answer that already has its provenance. */
typedef void reply_add_members(const struct api *api, const struct cluster *fork,
                               struct exchange *exchange, json_t *answer);
/* Answers from a new fork of the ledger, and says whether claims are counted. */
void reply_of_fork(const struct api *api, struct exchange *exchange, reply_add_members *add_members,
                   reply_write_table *write_table);
/* ?model= of the query, as in a pod's annotation. */
struct reply_model {
    bool is_given;
    struct gpu_model model;
};
/* Returns false after answering 400: it is no model. */
bool reply_read_model(const struct api *api, struct exchange *exchange,
                      struct reply_model *ret_model);
/* Whether the query has ?NAME=true. */
bool reply_flag(const struct exchange *exchange, const char *name);

/* exchange_defer() for a list of what is in the cluster, if that is much. The list of a small
 * cluster waits for no long answer. */
bool reply_defer_list(struct inventory *inventory, struct exchange *exchange);

/* Whether the inventory has data; if not, it answers 503 with what is missing. */
bool reply_from(struct inventory *inventory, struct exchange *exchange);

void reply_text(struct exchange *exchange, unsigned status, const char *content_type,
                struct buf *text);

/* This replica's role; NULL: there is only one replica. */
const char *reply_role(const struct api *api);

/* ---- query names ---- */
/* Names in the query of a list that the cluster does not have: a list that is empty because of a
 * misspelt name must not look like an empty cluster. */

/* Adds `warnings`: a {path, message} for each of ?node=, ?resource=, ?model= and ?namespace= that
 * the cluster does not have, with the nearest that it has. Takes the inventory's lock. */
void query_names_add(const struct api *api, struct exchange *exchange, json_t *answer);
/* "; did you mean X?"; "": none is near. */
const char *query_names_near_node(const struct api *api, struct exchange *exchange,
                                  const char *name);

#endif
