/* claims_seen: kube-scheduler asks about a pod as soon as its claims are made from templates, which
 * may be before our watches show them. See include/inventory/claim_lookup.h. */
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

struct claims_user claims_user_seen(const struct cluster *cluster, const struct pod_facts *pod,
                                    struct arena *arena)
{
    const struct devices *devices = cluster_devices(cluster);
    const char *lines = pod->claims;
    const char *templates = pod->templates;
    const char *line = NULL;
    struct claims_user seen = {pod->namespace_, pod->claims, pod->uid, pod->made_claims};
    if (seen.made_claims == 0)
        return seen;
    seen.claims = "";
    for (uint32_t bit = 1; (line = take_line(&lines, arena)); bit <<= 1) {
        const char *template = take_line(&templates, arena);
        if (seen.made_claims & bit && !devices_find_claim(devices, pod->namespace_, line)) {
            line = template;
            seen.made_claims &= ~bit;
        }
        seen.claims = arena_printf(arena, "%s%s\n", seen.claims, line);
    }
    return seen;
}
