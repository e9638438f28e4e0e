/* groups: GET /v1/groups: the groups of pods (gpu-extender.io/gang) that are not running, and what
 * each waits for. */
#include "record/groups.h"
#include "api/api.h"
#include "api/query_names.h"
#include "api/reply.h"
#include "api/table.h"
#include "api/text.h"

static json_t *moment_or_null(int64_t at_ms, struct arena *arena)
{
    return at_ms > 0 ? json_string(text_moment(at_ms, arena)) : json_null();
}

static const char *text_of(const struct waiting_group *row, struct arena *arena)
{
    if (row->n_planned > 0)
        return arena_printf(arena, "places are kept for %zu pods; %zu of %zu are bound",
                            row->n_planned, row->n_bound, row->size);
    if (row->n_bound > 0)
        return arena_printf(arena, "%zu of %zu pods are bound; %s", row->n_bound, row->size,
                            row->text);
    return arena_printf(arena, "%zu of %zu pods wait; %s", row->n_unbound, row->size, row->text);
}

static json_t *group_json(const struct waiting_group *row, struct arena *arena)
{
    return json_pack("{s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:s, s:s, s:o, s:o, s:o}", "namespace",
                     row->namespace_, "name", row->name, "state", row->state, "size",
                     (json_int_t)row->size, "bound", (json_int_t)row->n_bound, "waiting",
                     (json_int_t)row->n_unbound, "planned", (json_int_t)row->n_planned, "reason",
                     row->why, "message", text_of(row, arena), "since",
                     moment_or_null(row->since_ms, arena), "notBefore",
                     moment_or_null(row->not_before_ms, arena), "planEnds",
                     moment_or_null(row->plan_ends_ms, arena));
}

static void write_table(const json_t *answer, bool wide, struct arena *arena, struct buf *out)
{
    static const char *const HEADINGS[] = {"NAMESPACE", "GROUP",   "STATE",   "SIZE",
                                           "BOUND",     "WAITING", "MESSAGE", NULL};
    struct table *table = table_new(arena, wide, HEADINGS);
    size_t i = 0;
    json_t *group = NULL;
    text_write_warnings(answer, arena, out);
    buf_printf(out, "gangs.mode: %s\n", text_member(answer, "mode"));
    json_array_foreach (json_object_get(answer, "groups"), i, group)
        table_add(table, (const char *[]){
                             text_member(group, "namespace"), text_member(group, "name"),
                             text_member(group, "state"), text_number(group, "size", arena),
                             text_number(group, "bound", arena),
                             text_number(group, "waiting", arena), text_member(group, "message")});
    if (i > 0)
        table_write(table, out);
}

void api_groups(void *context, struct exchange *exchange)
{
    const struct api *api = context;
    struct arena *arena = exchange_arena(exchange);
    struct waiting_group *rows = NULL;
    json_t *groups = json_array();
    const char *elsewhere =
        api->not_leading ? api->not_leading(api->elsewhere_context, arena) : NULL;
    if (elsewhere) {
        json_decref(groups);
        exchange_answer_elsewhere(exchange, elsewhere);
        return;
    }
    const struct policy *policy CLEANUP(policy_drop_ptr) = inventory_hold_policy(api->inventory);
    const size_t n =
        api->groups ? groups_list(api->groups, exchange_query(exchange, "namespace"), arena, &rows)
                    : 0;
    for (size_t i = 0; i < n; i++)
        (void)json_array_append_new(groups, group_json(&rows[i], arena));
    json_t *answer =
        json_pack("{s:s, s:o}", "mode", gangs_mode_name(policy->gangs.mode), "groups", groups);
    query_names_add(api, exchange, answer);
    reply(exchange, answer, write_table);
}
