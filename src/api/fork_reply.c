/* fork_reply: see fork_reply.h. */
#include "fork_reply.h"
#include "basis.h"
#include "reply.h"

void fork_reply(struct inventory *inventory, struct exchange *exchange,
                const struct fork_telling *telling)
{
    struct arena *arena = exchange_arena(exchange);
    if (!reply_is_possible(exchange) || !reply_from(inventory, exchange))
        return;
    const struct basis basis = basis_of(inventory, arena);
    struct cluster *fork = inventory_fork(inventory);
    json_t *answer = basis_json(&basis);
    telling->tell(fork, arena, answer);
    inventory_fork_free(inventory, fork);
    reply(exchange, answer, telling->write_table);
}
