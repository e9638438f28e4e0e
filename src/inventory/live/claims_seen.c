/* claims_seen: kube-scheduler asks about a pod as soon as its claims are made from templates, which
 * may be before our watches show them. See include/inventory/claim_lookup.h. */
#include "base/mem.h"
#include "dra/devices.h"
#include "inventory/claim_lookup.h"

#include <string.h>

/* The next line; NULL: none is left. */
static const char *take_line(const char **lines, struct arena *arena)
{
    if (!*lines || !(*lines)[0])
        return NULL;
    const size_t len = strcspn(*lines, "\n");
    const char *line = arena_strndup(arena, *lines, len);
    *lines += len + ((*lines)[len] != '\0');
    return line;
}

struct claims_user claims_user_seen(struct inventory *inventory, const struct claims_user *pod,
                                    struct arena *arena)
{
    const struct inventory_view view CLEANUP(inventory_done) = inventory_read(inventory);
    const struct devices *devices = cluster_devices(view.cluster);
    const struct pod *known = cluster_find_pod(view.cluster, pod->uid);
    const char *lines = pod->claims;
    const char *known_lines = known ? known->claims : NULL;
    const char *line = NULL;
    struct claims_user seen = *pod;
    seen.claims = "";
    for (uint32_t bit = 1; (line = take_line(&lines, arena)); bit <<= 1) {
        const char *known_line = take_line(&known_lines, arena);
        if (known_line && known_line[0] == '/' && line[0] != '/' &&
            !devices_find_claim(devices, pod->namespace_, line)) {
            line = known_line;
            seen.made_claims &= ~bit;
        }
        seen.claims = arena_printf(arena, "%s%s\n", seen.claims, line);
    }
    return seen;
}
