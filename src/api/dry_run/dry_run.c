/* dry_run: POST /v1/dry-run. See include/api/api.h; one workload: placement_run.c. */
#include "api/dry_run/dry_run_table.h"
#include "api/dry_run/manifest.h"
#include "api/dry_run/placement_run.h"
#include "api/reply.h"

/* Each workload is judged against each node, which may lack each resource: an answer has so many
 * verdicts and lacks at the most (some 400 bytes each). */
#define MAX_VERDICTS ((size_t)1000000)

/* For each of so many workloads all pods are looked at, under the ledger's lock. */
#define MAX_EVICTIONS ((size_t)16)

static json_t *skipped_json(const struct workload_list *list)
{
    json_t *skipped = json_array();
    for (size_t i = 0; i < list->n_skipped; i++)
        (void)json_array_append_new(
            skipped, json_pack("{s:s, s:s, s:s}", "kind", list->skipped[i].kind, "name",
                               list->skipped[i].name, "why", list->skipped[i].why));
    return skipped;
}

static const char *summary(const struct dry_run *dry_run, const struct workload_list *list,
                           const json_t *workloads)
{
    if (list->n == 0)
        return "nothing in it holds pods";
    if (list->n == 1)
        return json_string_value(json_object_get(json_array_get(workloads, 0), "summary"));
    return arena_printf(dry_run->arena, "%zu of %zu workloads can be placed whole",
                        dry_run->n_placed_whole, list->n);
}

static json_t *run(struct dry_run *dry_run, const struct workload_list *list)
{
    json_t *workloads = json_array();
    for (size_t i = 0; i < list->n; i++)
        (void)json_array_append_new(workloads, placement_run_json(dry_run, &list->items[i]));
    json_t *answer = provenance_json(&dry_run->provenance);
    json_t *rest = json_pack("{s:s, s:o, s:o}", "summary", summary(dry_run, list, workloads),
                             "workloads", workloads, "skipped", skipped_json(list));
    (void)json_object_update_new(answer, rest);
    return answer;
}

/* Answers what cannot be asked; else gives the workloads. */
static bool read_manifest(const struct api *api, struct exchange *exchange,
                          struct workload_list *ret_list)
{
    struct err err;
    size_t len = 0;
    const char *body = exchange_body(exchange, &len);
    if (!reply_from(api->inventory, exchange))
        return false;
    int r = manifest_read(body, len, api, exchange_arena(exchange), ret_list, &err);
    if (r < 0)
        exchange_answer_error(exchange, r == -EMSGSIZE ? 413 : 400, err.text);
    return r == 0;
}

static bool is_too_much(const struct workload_list *list, const struct cluster *fork,
                        struct exchange *exchange)
{
    const size_t n_nodes = cluster_n_nodes(fork);
    size_t n_a_node = 0;
    for (size_t i = 0; i < list->n; i++)
        n_a_node += 1 + list->items[i].pod.shape.n_demand;
    if (n_nodes == 0 || n_a_node <= MAX_VERDICTS / n_nodes)
        return false;
    exchange_answer_error(exchange, 413,
                          arena_printf(exchange_arena(exchange),
                                       "manifest: its %zu workloads over %zu nodes would need "
                                       "more than %zu verdicts; ask in several requests",
                                       list->n, n_nodes, MAX_VERDICTS));
    return true;
}

void api_dry_run(void *context, struct exchange *exchange)
{
    const struct api *api = context;
    struct workload_list list = {0};
    bool explain = false;
    if (!reply_is_possible(exchange) || !reply_flag(exchange, "explain", &explain) ||
        !read_manifest(api, exchange, &list))
        return;
    struct dry_run dry_run = {
        .api = api,
        .provenance = provenance_of(api->inventory, exchange_arena(exchange)),
        .fork = inventory_fork(api->inventory),
        .arena = exchange_arena(exchange),
        .n_replicas_left = api->max_replicas,
        .n_evictions_left = MAX_EVICTIONS,
        .explain = explain,
    };
    if (!is_too_much(&list, dry_run.fork, exchange))
        reply(exchange, run(&dry_run, &list), dry_run_table_write);
    inventory_fork_free(api->inventory, dry_run.fork);
}
