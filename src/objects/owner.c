/* owner: see owner.h. Which kinds: those whose pods kube-scheduler spreads by default
 * (PodTopologySpread, system default constraints). */
#include "owner.h"

#include "formats/json_get.h"
#include "meta.h"

#include <string.h>

static bool has_replicas(const char *kind)
{
    return strcmp(kind, "ReplicaSet") == 0 || strcmp(kind, "StatefulSet") == 0 ||
           strcmp(kind, "ReplicationController") == 0;
}

const char *owner_of_replica(const json_t *metadata, struct arena *arena)
{
    size_t i = 0;
    json_t *reference = NULL;
    json_array_foreach (json_member(metadata, "ownerReferences"), i, reference) {
        const char *kind = json_string_value(json_member(reference, "kind"));
        const char *uid = json_string_value(json_member(reference, "uid"));
        if (!json_is_true(json_member(reference, "controller")) || !kind || !uid)
            continue;
        return has_replicas(kind) && strlen(uid) <= META_NAME_BYTES_MAX ? arena_strdup(arena, uid)
                                                                        : "";
    }
    return "";
}
