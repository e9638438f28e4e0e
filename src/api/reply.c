/* reply: see reply.h. */
#include "api/reply.h"
#include "api/provenance.h"
#include "formats/json_put.h"

#include <string.h>

static bool wants_table(const struct exchange *exchange)
{
    const char *output = exchange_query(exchange, "output");
    return output && strcmp(output, "table") == 0;
}

bool reply_flag(const struct exchange *exchange, const char *name)
{
    const char *value = exchange_query(exchange, name);
    return value && strcmp(value, "true") == 0;
}

bool reply_from(struct inventory *inventory, struct exchange *exchange)
{
    const char *waiting_for = inventory_waiting_for(inventory);
    if (!waiting_for)
        return true;
    exchange_answer_error(
        exchange, 503,
        arena_printf(exchange_arena(exchange), "not ready: waiting for %s", waiting_for));
    return false;
}

void reply_text(struct exchange *exchange, unsigned status, const char *content_type,
                struct buf *text)
{
    const size_t len = text->len;
    if (!text->overflowed) {
        exchange_answer(exchange, status, content_type, buf_take(text), len, 0);
        return;
    }
    buf_fini(text);
    exchange_answer_error(exchange, 500, "the answer would be larger than 1 GiB");
}

void reply(struct exchange *exchange, json_t *value, reply_write_table *write_table)
{
    if (!wants_table(exchange)) {
        size_t len = 0;
        char *text = json_take_text(value, JSON_INDENT(1), &len);
        exchange_answer(exchange, 200, "application/json", text, len, 0);
        return;
    }
    struct buf out;
    buf_init(&out, REPLY_MAX_BYTES);
    write_table(value, reply_flag(exchange, "wide"), exchange_arena(exchange), &out);
    json_decref(value);
    reply_text(exchange, 200, "text/plain; charset=utf-8", &out);
}

void reply_of_fork(struct inventory *inventory, struct exchange *exchange,
                   reply_add_members *add_members, reply_write_table *write_table)
{
    struct arena *arena = exchange_arena(exchange);
    if (!reply_from(inventory, exchange))
        return;
    const struct provenance provenance = provenance_of(inventory, arena);
    struct cluster *fork = inventory_fork(inventory);
    json_t *answer = provenance_json(&provenance);
    provenance_add_claims(&provenance, answer);
    add_members(fork, arena, answer);
    inventory_fork_free(inventory, fork);
    reply(exchange, answer, write_table);
}

const char *reply_role(const struct api *api)
{
    return api->role ? api->role(api->role_context) : NULL;
}
