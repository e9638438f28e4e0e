/* reply: see reply.h. */
#include "api/reply.h"
#include "api/provenance.h"
#include "api/tables.h"
#include "base/hash.h"
#include "dra/devices.h"
#include "formats/json_values.h"

#include <inttypes.h>
#include <string.h>

/* Nodes, pods and claims of a cluster whose lists take a few milliseconds. */
#define SHORT_LIST_MAX ((size_t)500)

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

static size_t count_listed(struct inventory *inventory)
{
    const struct inventory_view view CLEANUP(inventory_done) = inventory_read(inventory);
    return cluster_n_nodes(view.cluster) + cluster_n_pods(view.cluster) +
           devices_count(cluster_devices(view.cluster), DEVICES_CLAIMS);
}

bool reply_defer_list(struct inventory *inventory, struct exchange *exchange)
{
    return count_listed(inventory) > SHORT_LIST_MAX && exchange_defer(exchange);
}

static const char *tag_of(const struct api *api, struct exchange *exchange)
{
    const char *role = reply_role(api);
    const char *name = NULL;
    struct buf text;
    buf_init(&text, BUF_UNBOUNDED); /* the query and the path are bounded */
    inventory_edition(api->inventory, &text);
    if (api->groups)
        buf_printf(&text, "%" PRIu64 "\n", groups_edition(api->groups));
    buf_printf(&text, "%s\n%s\n", role ? role : "", exchange_path(exchange));
    for (size_t i = 0; (name = exchange_query_name(exchange, i)); i++)
        buf_printf(&text, "%s=%s\n", name, exchange_query(exchange, name));
    /* The process's key: tags of other replicas and of earlier lives never match. */
    struct siphash hash = siphash_begin(hash_key(), true);
    siphash_add(&hash, buf_text(&text), text.len, HASH_ROUNDS);
    const struct siphash128 digest = siphash_end128(&hash, HASH_ROUNDS, HASH_LAST_ROUNDS);
    buf_fini(&text);
    return arena_printf(exchange_arena(exchange), "W/\"%016" PRIx64 "%016" PRIx64 "\"", digest.high,
                        digest.low);
}

bool reply_begin(const struct api *api, struct exchange *exchange, const char **ret_tag)
{
    *ret_tag = wants_table(exchange) ? NULL : tag_of(api, exchange);
    if (!*ret_tag || !exchange_knows_tag(exchange, *ret_tag))
        return true;
    exchange_set_tag(exchange, *ret_tag);
    exchange_answer(exchange, 304, "application/json", NULL, 0, 0);
    return false;
}

void reply_end(const struct api *api, struct exchange *exchange, const char *tag)
{
    if (tag && strcmp(tag, tag_of(api, exchange)) == 0)
        exchange_set_tag(exchange, tag);
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

/* As in the text: the verdict, what would help, where the pods go. */
static void order_members(json_t *judged)
{
    static const char *const FIRST[] = {"kind",     "namespace",     "name",
                                        "pods",     "fits",          "verdict",
                                        "remedies", "remediesTried", "placements"};
    if (!json_object_get(judged, "verdict"))
        return;
    json_auto_t *all = json_copy(judged);
    (void)json_object_clear(judged);
    for (size_t i = 0; i < sizeof FIRST / sizeof *FIRST; i++) {
        if (json_object_get(all, FIRST[i]))
            (void)json_object_set(judged, FIRST[i], json_object_get(all, FIRST[i]));
    }
    (void)json_object_update_missing(judged, all);
}

/* Of all that an answer judges. */
static void order_judged(json_t *answer)
{
    static const char *const LISTS[] = {"jobs", "workloads", "owners", "pods"};
    size_t i = 0;
    json_t *judged = NULL;
    for (size_t list = 0; list < sizeof LISTS / sizeof *LISTS; list++) {
        json_array_foreach (json_object_get(answer, LISTS[list]), i, judged)
            order_members(judged);
    }
    order_members(json_object_get(answer, "pod"));
}

void reply(struct exchange *exchange, json_t *value, reply_write_table *write_table)
{
    if (!wants_table(exchange)) {
        size_t len = 0;
        order_judged(value);
        char *text = json_take_text(value, JSON_INDENT(1), &len);
        exchange_answer(exchange, 200, "application/json", text, len, 0);
        return;
    }
    struct buf out;
    buf_init(&out, REPLY_MAX_BYTES);
    tables_set_width((size_t)exchange_query_number(exchange, "width", 0));
    write_table(value, reply_flag(exchange, "wide"), exchange_arena(exchange), &out);
    json_decref(value);
    reply_text(exchange, 200, "text/plain; charset=utf-8", &out);
}

void reply_of_fork(const struct api *api, struct exchange *exchange, reply_add_members *add_members,
                   reply_write_table *write_table)
{
    struct arena *arena = exchange_arena(exchange);
    const char *tag = NULL;
    if (!reply_from(api->inventory, exchange) || !reply_begin(api, exchange, &tag))
        return;
    const struct provenance provenance = provenance_of(api->inventory, arena);
    struct cluster *fork = inventory_fork(api->inventory, PEERS_NONE);
    json_t *answer = provenance_json(&provenance);
    provenance_add_claims(&provenance, answer);
    add_members(api, fork, exchange, answer);
    inventory_fork_free(api->inventory, fork);
    query_names_add(api, exchange, answer);
    reply_end(api, exchange, tag);
    reply(exchange, answer, write_table);
}

bool reply_read_model(const struct api *api, struct exchange *exchange,
                      struct reply_model *ret_model)
{
    const char *text = exchange_query(exchange, "model");
    const struct policy *policy CLEANUP(policy_drop_ptr) = inventory_hold_policy(api->inventory);
    *ret_model = (struct reply_model){.is_given = text != NULL};
    if (!text || gpu_model_parse(text, policy->aliases, policy->n_aliases, &ret_model->model))
        return true;
    exchange_answer_error(exchange, 400,
                          arena_printf(exchange_arena(exchange),
                                       "?model=%.60s: names no GPU model, should be one, such as "
                                       "A100 or T4",
                                       text));
    return false;
}

const char *reply_role(const struct api *api)
{
    return api->role ? api->role(api->role_context) : NULL;
}
