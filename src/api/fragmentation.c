/* fragmentation: GET /v1/fragmentation. See include/api/api.h. */
#include "api/api.h"
#include "basis.h"
#include "fork_reply.h"
#include "fragmentation_json.h"
#include "json_text.h"
#include "table.h"

#include <inttypes.h>

static const char *summary_of(const struct fragmentations *all, struct arena *arena)
{
    int64_t free = 0;
    double fragmented = 0;
    for (size_t i = 0; i < all->n; i++) {
        free += all->items[i].free;
        fragmented += all->items[i].fragmented;
    }
    return arena_printf(arena, "of %" PRId64 " free GPUs %.1f are of no use to the typical pod",
                        free, fragmented);
}

static void write_table(const json_t *answer, struct arena *arena, struct buf *out)
{
    static const char *const HEADINGS[] = {"RESOURCE",  "MODEL",         "NODES",       "FREE",
                                           "OF NO USE", "LARGEST BLOCK", "WHOLE NODES", NULL};
    struct table *table = table_new(arena, HEADINGS);
    size_t i = 0;
    json_t *item = NULL;
    basis_write_warning(answer, arena, out);
    (void)buf_printf(out, "%s\n\n", json_text_of(answer, "summary"));
    json_array_foreach (json_object_get(answer, "models"), i, item)
        table_add(table,
                  (const char *[]){json_text_of(item, "resource"), json_text_of(item, "model"),
                                   json_number_text(item, "nodes", arena),
                                   json_number_text(item, "free", arena),
                                   json_decimal_text(item, "fragmented", arena),
                                   json_number_text(item, "largestBlock", arena),
                                   json_number_text(item, "wholeNodes", arena)});
    table_write(table, out);
}

static void tell(const struct cluster *fork, struct arena *arena, json_t *answer)
{
    const struct fragmentations all = fragmentation_of(fork, arena);
    (void)json_object_set_new(answer, "summary", json_string(summary_of(&all, arena)));
    (void)json_object_set_new(answer, "models", fragmentation_list(&all));
}

void api_fragmentation(void *context, struct exchange *exchange)
{
    static const struct fork_telling TELLING = {tell, write_table};
    const struct api *api = context;
    fork_reply(api->inventory, exchange, &TELLING);
}
