/*
 * fork_reply: an answer that is told by a fork of the ledger as it is now. Private to api.
 */
#ifndef API_FORK_REPLY_H
#define API_FORK_REPLY_H

#include "base/buf.h"
#include "http/exchange.h"
#include "inventory/inventory.h"

#include <jansson.h>

struct fork_telling {
    /* Adds to an answer that says already what it rests on. */
    void (*tell)(const struct cluster *fork, struct arena *arena, json_t *answer);
    void (*write_table)(const json_t *answer, struct arena *arena, struct buf *out);
};

void fork_reply(struct inventory *inventory, struct exchange *exchange,
                const struct fork_telling *telling);

#endif
