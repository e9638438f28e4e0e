/* policy_json: GET /v1/policy: the policy in force. */
#include "api/api.h"
#include "api/reply.h"
#include "api/table.h"
#include "api/text.h"
#include "formats/json_parse.h"
#include "formats/json_values.h"

#include <string.h>

static void add_rows(struct table *table, const char *path, const json_t *values,
                     struct arena *arena)
{
    const char *key = NULL;
    json_t *value = NULL;
    json_object_foreach ((json_t *)(uintptr_t)values, key, value) {
        const char *name = path[0] ? arena_printf(arena, "%s.%s", path, key) : key;
        if (!path[0] && json_is_object(value) && json_object_size(value) > 0) {
            add_rows(table, name, value, arena);
            continue;
        }
        struct buf text;
        buf_init(&text, REPLY_MAX_BYTES);
        json_put(value, JSON_COMPACT | JSON_ENCODE_ANY, &text);
        table_add(table, (const char *[]){name, arena_strndup(arena, buf_text(&text), text.len)});
        buf_fini(&text);
    }
}

static void write_table(const json_t *answer, bool wide, struct arena *arena, struct buf *out)
{
    static const char *const HEADINGS[] = {"KEY", "VALUE", NULL};
    struct table *table = table_new(arena, wide, HEADINGS);
    size_t i = 0;
    json_t *item = NULL;
    const json_t *fault = json_object_get(answer, "fault");
    const json_t *file = json_object_get(answer, "file");
    table_write_line(arena_printf(arena, "digest %s, in force since %s, file %s",
                                  text_member(answer, "digest"),
                                  text_member(answer, "inForceSince"),
                                  json_is_string(file) ? json_string_value(file) : "-"),
                     0, TABLE_MORE, out);
    if (json_is_string(fault))
        table_write_line(arena_printf(arena,
                                      "the file is unusable, and the next start will fail: %s",
                                      json_string_value(fault)),
                         0, TABLE_MORE, out);
    json_array_foreach (json_object_get(answer, "needsRestart"), i, item)
        table_write_line(arena_printf(arena, "restart needed: %s: %s in force, %s in the file",
                                      text_member(item, "key"), text_member(item, "inForce"),
                                      text_member(item, "inFile")),
                         0, TABLE_MORE, out);
    buf_add_text(out, "\n");
    add_rows(table, "", json_object_get(answer, "values"), arena);
    table_write(table, out);
}

void api_policy(void *context, struct exchange *exchange)
{
    const struct api *api = context;
    const char *text = api->policy(api->policy_context, exchange_arena(exchange));
    json_t *answer = NULL;
    struct err err;
    if (json_parse(text, strlen(text), 0, &JSON_OWN, &answer, &err) < 0) {
        exchange_answer_error(exchange, 500, err.text);
        return;
    }
    (void)json_object_set_new(answer, "version", json_string(GPU_EXTENDER_VERSION));
    reply(exchange, answer, write_table);
}
