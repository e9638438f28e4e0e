/* groups: GET /v1/groups: the groups of pods (gpu-extender.io/gang) that are not running, and what
 * each waits for. */
#include "record/groups.h"
#include "api/api.h"
#include "api/pods/group_text.h"
#include "api/reply.h"
#include "api/table.h"
#include "api/tables.h"
#include "api/text.h"

#include <time.h>

void tables_write_groups(const json_t *answer, bool wide, struct arena *arena, struct buf *out)
{
    static const char *const HEADINGS[] = {"NAMESPACE", "GROUP", "STATE", "BOUND", NULL};
    struct table *table = table_new(arena, wide, HEADINGS);
    size_t i = 0;
    json_t *group = NULL;
    text_write_warnings(answer, arena, out);
    json_array_foreach (json_object_get(answer, "groups"), i, group) {
        table_add(table, (const char *[]){text_member(group, "namespace"),
                                          text_member(group, "name"), text_member(group, "state"),
                                          arena_printf(arena, "%s of %s",
                                                       text_number(group, "bound", arena),
                                                       text_number(group, "size", arena))});
        table_add_note(table, text_member(group, "message"));
    }
    buf_printf(out, "%s (gangs.mode: %s)\n",
               i == 0 ? "No group of pods waits"
                      : arena_printf(arena, "%zu group%s of pods wait%s", i, i == 1 ? "" : "s",
                                     i == 1 ? "s" : ""),
               text_member(answer, "mode"));
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
        (void)json_array_append_new(groups,
                                    group_text_json(&rows[i], (int64_t)time(NULL) * 1000, arena));
    json_t *answer =
        json_pack("{s:s, s:o}", "mode", gangs_mode_name(policy->gangs.mode), "groups", groups);
    query_names_add(api, exchange, answer);
    reply(exchange, answer, tables_write_groups);
}
