/* pod_owners: see pod_owners.h. */
#include "api/pods/pod_owners.h"
#include "api/text.h"
#include "base/table.h"

#include <string.h>

struct pod_owner {
    const char *key;
    json_t *json; /* borrowed from the list */
    json_int_t n_pods;
    UT_hash_handle hh;
};

/* The owner's row has the values of its first pod, which is also the first for kube-scheduler. */
static json_t *owner_json(const json_t *pod)
{
    const json_t *controller = json_object_get(pod, "controller");
    const char *kind = "Pod";
    const char *name = text_member(pod, "name");
    if (json_is_object(controller)) {
        kind = text_member(controller, "kind");
        name = text_member(controller, "name");
    }
    return json_pack("{s:O, s:s, s:s, s:i, s:O, s:O, s:O, s:O, s:O}", "namespace",
                     json_object_get(pod, "namespace"), "kind", kind, "name", name, "pods", 0,
                     "firstPod", json_object_get(pod, "name"), "requests",
                     json_object_get(pod, "requests"), "priority", json_object_get(pod, "priority"),
                     "summary", json_object_get(pod, "summary"), "verdict",
                     json_object_get(pod, "verdict"));
}

static struct pod_owner *find_owner(struct pod_owner **owners, json_t *list, const json_t *pod,
                                    struct arena *arena)
{
    struct pod_owner *owner = NULL;
    json_t *json = owner_json(pod);
    const char *key = arena_printf(arena, "%s/%s/%s", text_member(json, "namespace"),
                                   text_member(json, "kind"), text_member(json, "name"));
    HASH_FIND_STR(*owners, key, owner);
    if (owner) {
        json_decref(json);
        return owner;
    }
    owner = ARENA_NEW(arena, struct pod_owner);
    owner->key = key;
    owner->json = json;
    (void)json_array_append_new(list, json);
    HASH_ADD_KEYPTR(hh, *owners, owner->key, strlen(owner->key), owner);
    return owner;
}

json_t *pod_owners_json(const json_t *pods, struct arena *arena)
{
    struct pod_owner *owners = NULL;
    json_t *list = json_array();
    size_t i = 0;
    json_t *pod = NULL;
    json_array_foreach (pods, i, pod) {
        struct pod_owner *owner = find_owner(&owners, list, pod, arena);
        owner->n_pods++;
        (void)json_object_set_new(owner->json, "pods", json_integer(owner->n_pods));
    }
    HASH_CLEAR(hh, owners);
    return list;
}
