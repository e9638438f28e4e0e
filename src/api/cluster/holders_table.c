/* holders_table: the pods that hold GPUs, one line each; see include/api/tables.h. */
#include "api/provenance.h"
#include "api/table.h"
#include "api/tables.h"
#include "api/text.h"

/* "8 H100-80GB-HBM3, 1 T4-SHARED" */
static const char *gpus_of(const json_t *pod, struct arena *arena)
{
    const char *text = "";
    const char *model = NULL;
    json_t *n = NULL;
    json_object_foreach (json_object_get(pod, "models"), model, n)
        text = arena_printf(arena, "%s%s%lld %s", text, *text ? ", " : "",
                            (long long)json_integer_value(n), model);
    return text;
}

static const char *age_of(const json_t *pod, struct arena *arena)
{
    const json_t *age = json_object_get(pod, "ageSeconds");
    return json_is_integer(age) ? text_age(json_integer_value(age), arena) : "";
}

void tables_write_holders(const json_t *answer, bool wide, struct arena *arena, struct buf *out)
{
    const char *const headings[] = {"NAMESPACE",
                                    (TABLE_MAY_GO_LAST "OWNER"),
                                    (TABLE_MAY_GO "KIND"),
                                    "POD",
                                    (TABLE_MAY_GO "NODE"),
                                    "GPUS",
                                    (TABLE_MAY_GO_LAST "AGE"),
                                    wide ? "PRIORITY" : NULL,
                                    "STATE",
                                    NULL};
    const json_t *pods = json_object_get(answer, "pods");
    struct table *table = table_new(arena, wide, headings);
    size_t i = 0;
    json_t *pod = NULL;
    provenance_write_warning(answer, arena, out);
    json_array_foreach (pods, i, pod) {
        const bool ends = json_is_true(json_object_get(pod, "terminating"));
        const json_t *owner = json_object_get(pod, "controller");
        const char *const cells[] = {text_member(pod, "namespace"),
                                     text_member(owner, "name"),
                                     text_member(owner, "kind"),
                                     text_member(pod, "name"),
                                     text_member(pod, "node"),
                                     gpus_of(pod, arena),
                                     age_of(pod, arena),
                                     text_number(pod, "priority", arena),
                                     ends ? "ends" : "runs"};
        table_add(table, cells);
    }
    if (json_array_size(pods) > 0)
        table_write(table, out);
}
