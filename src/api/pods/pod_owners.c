/* pod_owners: see pod_json.h. */
#include "api/pods/pod_json.h"
#include "api/text.h"
#include "api/verdicts/remedies.h"
#include "base/table.h"

#include <string.h>

struct pod_owner {
    const char *key;
    json_t *json; /* borrowed from the list */
    json_int_t n_pods, n_fits, n_gpus, n_missing_gpus, waits_s;
    size_t i_deciding; /* its first pod without a place, or its first pod */
    UT_hash_handle hh;
};

static void copy_member(json_t *to, const json_t *from, const char *key)
{
    json_t *value = json_object_get(from, key);
    if (value)
        (void)json_object_set(to, key, value);
}

/* The owner's row has the values of its first pod, which is also the first for kube-scheduler. */
static json_t *owner_json(const json_t *pod)
{
    static const char *const MEMBERS[] = {"namespace", "requests", "gpuModels", "priority",
                                          "summary"};
    const json_t *controller = json_object_get(pod, "controller");
    const bool has_one = json_is_object(controller);
    json_t *json = json_pack(
        "{s:s, s:s, s:s}", "kind", has_one ? text_member(controller, "kind") : "Pod", "name",
        text_member(has_one ? controller : pod, "name"), "firstPod", text_member(pod, "name"));
    for (size_t i = 0; i < sizeof MEMBERS / sizeof *MEMBERS; i++)
        copy_member(json, pod, MEMBERS[i]);
    return json;
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

/* INT64_MAX if it is too large. */
static void add_to(json_int_t *sum, json_int_t n)
{
    if (__builtin_add_overflow(*sum, n, sum))
        *sum = INT64_MAX;
}

json_int_t pod_owners_count_gpus(const json_t *pod, const struct policy *policy)
{
    json_int_t n = 0;
    const char *resource = NULL;
    json_t *amount = NULL;
    json_object_foreach (json_object_get(pod, "requests"), resource, amount) {
        if (policy_is_gpu_resource(policy, resource))
            add_to(&n, json_integer_value(amount));
    }
    return n;
}

/* As its group; or in turn, or by itself if it was not placed. kube-scheduler does not take gated
 * pods. */
static bool fits(const json_t *pod)
{
    const json_t *placed = json_object_get(pod, "placedOn");
    const json_t *verdict = json_object_get(pod, "verdict");
    if (strcmp(text_member(verdict, "cause"), "group") == 0)
        return strcmp(text_member(verdict, "result"), "fits") == 0;
    if (placed)
        return json_is_string(placed);
    return json_integer_value(json_object_get(pod, "fits")) > 0 &&
           !json_is_true(json_object_get(pod, "gated"));
}

/* The verdict is that of the first pod without a place, if there is one. */
static void add_pod(struct pod_owner *owner, size_t i, const json_t *pod,
                    const struct policy *policy)
{
    const json_int_t age = json_integer_value(json_object_get(pod, "ageSeconds"));
    const json_int_t n_gpus = pod_owners_count_gpus(pod, policy);
    const bool is_waiting = !fits(pod);
    if (owner->n_pods == 0 || (is_waiting && owner->n_fits == owner->n_pods)) {
        copy_member(owner->json, pod, "verdict");
        owner->i_deciding = i;
    }
    owner->n_pods++;
    owner->n_fits += !is_waiting;
    owner->waits_s = age > owner->waits_s ? age : owner->waits_s;
    add_to(&owner->n_gpus, n_gpus);
    add_to(&owner->n_missing_gpus, is_waiting ? n_gpus : 0);
}

/* Of all pods. */
static void finish(struct pod_owner *owner)
{
    const json_int_t n_missing = owner->n_pods - owner->n_fits;
    json_t *verdict = json_copy(json_object_get(owner->json, "verdict"));
    if (n_missing > 0 && owner->n_fits > 0)
        (void)json_object_set_new(verdict, "result", json_string("partlyFits"));
    (void)json_object_set_new(
        verdict, "missing",
        json_pack("{s:I, s:I}", "pods", n_missing, "gpus", owner->n_missing_gpus));
    json_t *sums =
        json_pack("{s:I, s:I, s:I, s:I, s:o}", "pods", owner->n_pods, "fits", owner->n_fits, "gpus",
                  owner->n_gpus, "waitsSeconds", owner->waits_s, "verdict", verdict);
    (void)json_object_update_new(owner->json, sums);
}

/* Those that would fit by themselves have the remedies of their turn. */
static bool waits_its_turn(const json_t *pod)
{
    return !fits(pod) && json_integer_value(json_object_get(pod, "fits")) > 0;
}

static bool needs_remedy(const json_t *pod)
{
    return !fits(pod) && !waits_its_turn(pod);
}

/* Those that are enough for so many pods. */
static void share_turn(json_t *owner, const json_t *pod, json_int_t n_missing)
{
    size_t i = 0;
    json_t *remedy = NULL;
    json_array_foreach (json_object_get(pod, "remedies"), i, remedy) {
        if (json_integer_value(json_object_get(remedy, "fits")) >= n_missing)
            (void)json_array_append(json_object_get(owner, "remedies"), remedy);
    }
    if (i == json_array_size(json_object_get(owner, "remedies")))
        copy_member(owner, pod, "remediesTried");
}

static void add_remedies(struct pod_owner *owner, const json_t *pods,
                         const struct pod_owners_help *help)
{
    const json_int_t n_missing = owner->n_pods - owner->n_fits;
    const json_t *deciding = json_array_get(pods, owner->i_deciding);
    if (needs_remedy(deciding)) {
        help->add_remedies(help->context, owner->i_deciding, n_missing, owner->json);
        return;
    }
    remedies_add_none(owner->json);
    if (waits_its_turn(deciding))
        share_turn(owner->json, deciding, n_missing);
}

static void share_remedies(const struct pod_owner *owner, json_t *pod)
{
    if (waits_its_turn(pod))
        return;
    remedies_add_none(pod);
    if (!needs_remedy(pod))
        return;
    copy_member(pod, owner->json, "remedies");
    copy_member(pod, owner->json, "remediesTried");
}

json_t *pod_owners_json(const json_t *pods, const struct policy *policy,
                        const struct pod_owners_help *help, struct arena *arena)
{
    struct pod_owner *owners = NULL;
    struct pod_owner **of_pods = ARENA_ARRAY(arena, struct pod_owner *, json_array_size(pods));
    json_t *list = json_array();
    size_t i = 0;
    json_t *pod = NULL;
    json_array_foreach (pods, i, pod) {
        of_pods[i] = find_owner(&owners, list, pod, arena);
        add_pod(of_pods[i], i, pod, policy);
    }
    for (struct pod_owner *owner = owners; owner; owner = owner->hh.next) {
        finish(owner);
        add_remedies(owner, pods, help);
    }
    json_array_foreach (pods, i, pod)
        share_remedies(of_pods[i], pod);
    HASH_CLEAR(hh, owners);
    return list;
}

json_int_t pod_owners_gpus(const json_t *owners)
{
    json_int_t sum = 0;
    size_t i = 0;
    json_t *owner = NULL;
    json_array_foreach (owners, i, owner) {
        add_to(&sum, json_integer_value(json_object_get(owner, "gpus")));
    }
    return sum;
}
