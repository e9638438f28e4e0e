/* node_warnings: see node_warnings.h. */
#include "api/node_warnings.h"

void node_warnings_add(const struct api *api, struct exchange *exchange, json_t *warnings)
{
    struct arena *arena = exchange_arena(exchange);
    struct node_notes notes = {.n = 0};
    if (inventory_waiting_for(api->inventory))
        return;
    {
        const struct inventory_view view CLEANUP(inventory_done) = inventory_read(api->inventory);
        node_notes_add_resources(view.cluster, arena, &notes);
    }
    for (size_t i = 0; i < notes.n; i++)
        (void)json_array_append_new(warnings, json_pack("{s:s, s:s}", "path", "gpuResources",
                                                        "message", notes.items[i].what));
}
