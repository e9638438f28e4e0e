/* eviction: see placement_run.h. Victims are found and copied under the ledger's lock. */
#include "api/dry_run/placement_run.h"
#include "api/pod_gpus.h"
#include "api/table.h"
#include "api/text.h"
#include "base/mem.h"
#include "base/table.h"
#include "decide/claim_rules.h"
#include "decide/preempt.h"
#include "dra/devices.h"
#include "ledger/peer.h"
#include "types/quantity.h"

#include <inttypes.h>
#include <string.h>

/* Further victims are only counted. */
#define VICTIMS_LISTED ((size_t)100)

struct victim {
    const char *namespace_;
    const char *name;
    int64_t priority;
    struct pod_gpus gpus;
};

struct victims {
    const struct node *node; /* of the fork; NULL: no eviction would help */
    struct victim *items;
    size_t n;         /* in items */
    size_t n_all;     /* in total */
    size_t n_hidden;  /* of these, in namespaces that are not named */
    bool is_cut;      /* as in struct eviction */
    bool is_replaced; /* the ledger, since it was forked: its resources are others */
};

static struct victim copy_of(const struct pod *pod, struct arena *arena)
{
    return (struct victim){arena_strdup(arena, pod->namespace_), arena_strdup(arena, pod->name),
                           pod->priority, pod_gpus_copy(pod->shape, arena)};
}

static struct victims find_victims(struct inventory *inventory, const struct cluster *fork,
                                   const struct fit_question *question, const char *only,
                                   struct arena *arena)
{
    const struct inventory_view view CLEANUP(inventory_done) = inventory_read(inventory);
    if (!cluster_is_fork_of(fork, view.cluster))
        return (struct victims){.is_replaced = true};
    const struct eviction eviction = evict_for(view.cluster, fork, question, arena);
    struct victims victims = {
        .node = eviction.node, .n_all = eviction.n_victims, .is_cut = eviction.is_cut};
    victims.items = ARENA_ARRAY(arena, struct victim, VICTIMS_LISTED);
    for (size_t i = 0; i < eviction.n_victims; i++) {
        if (only && strcmp(eviction.victims[i]->namespace_, only) != 0)
            victims.n_hidden++;
        else if (victims.n < VICTIMS_LISTED)
            victims.items[victims.n++] = copy_of(eviction.victims[i], arena);
    }
    return victims;
}

/* "ml/train-0 (priority 0, 2 nvidia.com/gpu)" */
static const char *victim_text(const struct victim *victim, struct arena *arena)
{
    const char *text = arena_printf(arena, "%s/%s (priority %" PRId64, victim->namespace_,
                                    victim->name, victim->priority);
    for (size_t i = 0; i < victim->gpus.n; i++)
        text = arena_printf(arena, "%s, %" PRId64 " %s", text, victim->gpus.items[i].amount,
                            victim->gpus.items[i].resource);
    return arena_printf(arena, "%s)", text);
}

static const char *victims_text(const struct victims *victims, struct arena *arena)
{
    struct name_list shown = {.text = ""};
    for (size_t i = 0; i < victims->n; i++)
        text_names_add(&shown,
                       text_names_are_full(&shown) ? NULL : victim_text(&victims->items[i], arena),
                       arena);
    shown.n = victims->n_all - victims->n_hidden;
    const char *text = shown.n > 0 ? text_names(&shown, arena) : "";
    if (victims->n_hidden == 0)
        return text;
    return arena_printf(arena, "%s%s%zu in other namespaces", text, text[0] ? " and " : "",
                        victims->n_hidden);
}

static const char *summary_of(const struct victims *victims, int64_t priority, struct arena *arena)
{
    if (victims->is_cut)
        return "whether evicting pods would help is not judged, as comparing labels and terms of "
               "pods would take too long";
    if (victims->is_replaced)
        return "whether evicting pods would help is not judged, as the policy or the cluster file "
               "was reloaded meanwhile; ask again";
    if (!victims->node)
        return arena_printf(
            arena, "evicting pods of a priority below %" PRId64 " makes room on no node", priority);
    return arena_printf(arena,
                        "for the next one, kube-scheduler would evict %zu pod%s from %s: %s; "
                        "PodDisruptionBudgets are not read",
                        victims->n_all, victims->n_all == 1 ? "" : "s", node_name(victims->node),
                        victims_text(victims, arena));
}

static json_t *victim_json(const struct victim *victim)
{
    return json_pack("{s:s, s:s, s:I, s:o}", "namespace", victim->namespace_, "name", victim->name,
                     "priority", (json_int_t)victim->priority, "gpus",
                     pod_gpus_json(&victim->gpus));
}

static json_t *victims_json(const struct victims *victims)
{
    json_t *list = json_array();
    for (size_t i = 0; i < victims->n; i++)
        (void)json_array_append_new(list, victim_json(&victims->items[i]));
    return list;
}

static json_t *json_of(const struct victims *victims, int64_t priority, const char *summary)
{
    return json_pack("{s:I, s:s, s:o, s:o, s:I}", "priority", (json_int_t)priority, "summary",
                     summary, "node",
                     victims->node ? json_string(node_name(victims->node)) : json_null(), "victims",
                     victims_json(victims), "victimCount", (json_int_t)victims->n_all);
}

json_t *eviction_json_of_never(const struct fit_question *question)
{
    static const struct victims NONE;
    return json_of(&NONE, question->asker.priority,
                   "its preemptionPolicy is Never: no pod is evicted for it");
}

json_t *eviction_json(struct inventory *inventory, const struct cluster *fork,
                      const struct fit_question *question, const char *only, struct arena *arena)
{
    claim_rules_judge_all(question->devices, fork); /* not under the lock */
    const struct victims victims = find_victims(inventory, fork, question, only, arena);
    const int64_t priority = question->asker.priority;
    const char *summary = summary_of(&victims, priority, arena);
    if (question->devices)
        summary = arena_printf(arena, "%s; kube-scheduler evicts no pod for the devices of claims",
                               summary);
    return json_of(&victims, priority, summary);
}

void eviction_write(const json_t *preemption, struct arena *arena, struct buf *out)
{
    if (!json_is_string(json_object_get(preemption, "node")))
        return;
    buf_add_text(out, "\n");
    table_write_line(arena_printf(arena, "Preemption: %s", text_member(preemption, "summary")), 0,
                     TABLE_MORE, out);
}

/* ---- the pods that run already ---- */

struct own_pods {
    const char *key; /* "ml/StatefulSet/db" */
    json_int_t n, n_gpus;
    UT_hash_handle hh;
};

static void add_gpus(json_int_t *sum, const struct pod_shape *shape)
{
    for (size_t i = 0; i < shape->n_gpu_needs; i++)
        *sum = amount_add(*sum, shape->needs[i].amount);
}

/* Of the pod itself, or of what made it: the Deployment, not its ReplicaSet. */
static struct own_pods *find_own(struct own_pods *all, const struct pod *pod, struct arena *arena)
{
    static const char REPLICA_SET[] = "ReplicaSet/";
    struct own_pods *own = NULL;
    const char *key = arena_printf(arena, "%s/Pod/%s", pod->namespace_, pod->name);
    if (pod->controller)
        key = arena_printf(arena, "%s/%s", pod->namespace_, pod->controller);
    HASH_FIND_STR(all, key, own);
    if (own || !pod->controller || strncmp(pod->controller, REPLICA_SET, strlen(REPLICA_SET)) != 0)
        return own;
    const char *name = pod->controller + strlen(REPLICA_SET);
    const char *hash = strrchr(name, '-');
    if (!hash)
        return NULL;
    key = arena_printf(arena, "%s/Deployment/%.*s", pod->namespace_, (int)(hash - name), name);
    HASH_FIND_STR(all, key, own);
    return own;
}

/* Most pods are of other namespaces, which is found without a key. */
static void count_on(const struct node *node, struct own_pods *all, struct seen_name *namespaces,
                     struct arena *arena)
{
    for (const struct pod *pod = node_next_pod(node, NULL); pod; pod = node_next_pod(node, pod)) {
        struct seen_name *is_wanted = NULL;
        HASH_FIND_STR(namespaces, pod->namespace_, is_wanted);
        struct own_pods *own = is_wanted && !pod->finished ? find_own(all, pod, arena) : NULL;
        if (!own)
            continue;
        own->n++;
        add_gpus(&own->n_gpus, pod->shape);
    }
}

#define NODES_AT_ONCE 500

/* The nodes behind this one, NULL: from the first. Returns the last, in the arena; NULL: there are
 * no more, or this one has gone meanwhile, and the count is too small. */
static const char *count_some(struct inventory *inventory, const char *behind, struct own_pods *all,
                              struct seen_name *namespaces, struct arena *arena)
{
    const struct inventory_view view CLEANUP(inventory_done) = inventory_read(inventory);
    const struct node *node = behind ? cluster_find_node(view.cluster, behind) : NULL;
    struct arena *keys CLEANUP(arena_free_ptr) = arena_new();
    if (behind && !node)
        return NULL;
    for (size_t i = 0; i < NODES_AT_ONCE; i++) {
        node = cluster_next_node(view.cluster, node);
        if (!node)
            return NULL;
        count_on(node, all, namespaces, keys);
    }
    return arena_strdup(arena, node_name(node));
}

static json_int_t gpus_of_claim(const struct device_claim *claim)
{
    json_int_t n = 0;
    for (size_t i = 0; i < claim->n_results; i++) {
        const struct claimed_device device = devices_of_claim(claim, i);
        n += device.is_gpu && !device.is_admin;
    }
    return n;
}

/* Once for pods of one workload that share the claim. What the pod asks for as a resource counts as
 * that. */
static void count_claim(const struct cluster *cluster, const struct device_claim *claim,
                        struct own_pods *all, struct arena *arena)
{
    struct device_holder holder = {0};
    const struct own_pods *last = NULL;
    while (!claim->extended_for_uid[0] && devices_next_holder(claim, &holder)) {
        const struct pod *pod = cluster_find_pod(cluster, holder.uid);
        struct own_pods *own =
            pod && pod->node_name[0] && !pod->finished ? find_own(all, pod, arena) : NULL;
        if (own && own != last)
            own->n_gpus += gpus_of_claim(claim);
        last = own ? own : last;
    }
}

#define CLAIMS_AT_ONCE 4000

/* As count_some(), with the place of the last claim. */
static bool count_some_claims(struct inventory *inventory, struct claim_place *place,
                              struct own_pods *all, struct seen_name *namespaces,
                              struct arena *arena)
{
    const struct inventory_view view CLEANUP(inventory_done) = inventory_read(inventory);
    const struct devices *devices = cluster_devices(view.cluster);
    struct arena *keys CLEANUP(arena_free_ptr) = arena_new();
    const struct device_claim *claim = devices_claim_after(devices, place);
    for (size_t i = 0; claim; claim = devices_next_claim(devices, claim)) {
        struct seen_name *is_wanted = NULL;
        HASH_FIND_STR(namespaces, claim->namespace_, is_wanted);
        if (is_wanted)
            count_claim(view.cluster, claim, all, keys);
        if (++i < CLAIMS_AT_ONCE)
            continue;
        *place =
            (struct claim_place){arena_strdup(arena, claim->namespace_),
                                 arena_strdup(arena, claim->name), devices_claim_serial(claim)};
        return true;
    }
    return false;
}

/* In short holds of the lock. */
static void count_own(struct inventory *inventory, struct own_pods *all,
                      struct seen_name *namespaces, struct arena *arena)
{
    const char *behind = NULL;
    do
        behind = count_some(inventory, behind, all, namespaces, arena);
    while (behind);
    struct claim_place place = {0};
    while (count_some_claims(inventory, &place, all, namespaces, arena))
        ;
}

void eviction_add_running(struct inventory *inventory, const json_t *jobs, struct arena *arena)
{
    struct own_pods *all = NULL;
    struct seen_name *namespaces = NULL;
    const size_t n = json_array_size(jobs);
    struct own_pods **of_jobs = ARENA_ARRAY(arena, struct own_pods *, n);
    for (size_t i = 0; i < n; i++) {
        const json_t *job = json_array_get(jobs, i);
        const char *namespace_ = text_member(job, "namespace");
        const char *key = arena_printf(arena, "%s/%s/%s", namespace_, text_member(job, "kind"),
                                       text_member(job, "name"));
        (void)models_here_see(&namespaces, namespace_, arena);
        HASH_FIND_STR(all, key, of_jobs[i]);
        if (of_jobs[i])
            continue;
        of_jobs[i] = ARENA_NEW(arena, struct own_pods);
        of_jobs[i]->key = key;
        HASH_ADD_KEYPTR(hh, all, of_jobs[i]->key, strlen(key), of_jobs[i]);
    }
    if (n > 0)
        count_own(inventory, all, namespaces, arena);
    for (size_t i = 0; i < n; i++) {
        if (of_jobs[i]->n > 0)
            (void)json_object_set_new(
                json_array_get(jobs, i), "running",
                json_pack("{s:I, s:I}", "pods", of_jobs[i]->n, "gpus", of_jobs[i]->n_gpus));
    }
    HASH_CLEAR(hh, all);
    HASH_CLEAR(hh, namespaces);
}
