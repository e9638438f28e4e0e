/* inventory_claims: see inventory_parts.h. */
#include "api/cluster/inventory_parts.h"
#include "api/first.h"
#include "objects/device_details.h"
#include "objects/label_text.h"

#include <string.h>
#include <utlist.h>

/* Claims, their devices and their pods, of the used and of the unused claims each: enough for
 * 40,000 GPUs. Bounds the time under the lock. */
#define ITEMS_MAX ((size_t)200000)
/* Looked up, and copied, in one hold of the lock: about two milliseconds. */
#define PODS_AT_ONCE ((size_t)4000)
#define ITEMS_AT_ONCE ((size_t)4000)

/* ---- under the lock ---- */

const char *inventory_claims_node(const struct device_claim *claim)
{
    for (size_t i = 0; i < claim->n_results; i++) {
        const struct claimed_device device = devices_of_claim(claim, i);
        if (device.is_gpu && device.node_name && device.node_name[0])
            return device.node_name;
    }
    return "";
}

static void copy_devices(const struct device_claim *claim, struct arena *arena,
                         struct claim_copy *copy)
{
    copy->devices = ARENA_ARRAY(arena, struct claimed_device, claim->n_results);
    for (size_t i = 0; i < claim->n_results; i++) {
        struct claimed_device device = devices_of_claim(claim, i);
        if (!device.is_gpu)
            continue;
        device.driver = arena_strdup(arena, device.driver);
        device.pool = arena_strdup(arena, device.pool);
        device.device = arena_strdup(arena, device.device);
        device.model_name = device.model_name ? arena_strdup(arena, device.model_name) : NULL;
        device.model = NULL;
        device.consumed = device.consumed ? arena_strdup(arena, device.consumed) : NULL;
        copy->devices[copy->n_devices++] = device;
        copy->n_held += !device.is_admin;
    }
}

static void copy_holders(const struct device_claim *claim, struct arena *arena,
                         struct claim_copy *copy)
{
    struct device_holder kept = {0};
    struct claim_holder **end = &copy->holders;
    while (devices_next_holder(claim, &kept)) {
        struct claim_holder *holder = ARENA_NEW(arena, struct claim_holder);
        *holder = (struct claim_holder){.uid = arena_strdup(arena, kept.uid),
                                        .name = arena_strdup(arena, kept.name),
                                        .node_name = ""};
        *end = holder;
        end = &holder->next;
    }
}

static struct claim_copy *copy_claim(const struct device_claim *claim, struct arena *arena)
{
    struct claim_copy *copy = ARENA_NEW(arena, struct claim_copy);
    *copy = (struct claim_copy){
        .namespace_ = arena_strdup(arena, claim->namespace_),
        .name = arena_strdup(arena, claim->name),
        .node_name = arena_strdup(arena, inventory_claims_node(claim)),
        .labels = claim->labels ? arena_strdup(arena, claim->labels) : NULL,
        .is_selected = true,
        .is_unused = devices_claim_state(claim) == CLAIM_UNUSED,
        .terminating = claim->terminating,
        .n_all_holders = claim->n_all_holders,
    };
    copy_devices(claim, arena, copy);
    copy_holders(claim, arena, copy);
    return copy;
}

static bool holds_gpus(const struct device_claim *claim)
{
    const enum claim_state state = devices_claim_state(claim);
    return state == CLAIM_USED || state == CLAIM_UNUSED;
}

static size_t n_items_of(const struct device_claim *claim)
{
    return 1 + claim->n_results + claim->n_holders;
}

bool inventory_claims_lack_labels(const struct selector_term *labels,
                                  const struct device_claim *claim)
{
    return labels->n_requirements > 0 && !claim->labels;
}

static bool is_selected(const struct selector_term *labels, const struct device_claim *claim)
{
    struct label_set set;
    if (labels->n_requirements == 0)
        return true;
    if (inventory_claims_lack_labels(labels, claim))
        return false;
    label_text_split(claim->labels, &set);
    const struct label_view view = {.labels = set.labels, .n_labels = set.n};
    return selector_term_holds(labels, &view);
}

/* A copy in progress. */
struct claims_reading {
    const struct selector_term *labels;
    const struct cluster
        *cluster;             /* another ledger, of another policy, is read from its beginning */
    struct claim_place place; /* of the last claim that was read */
    size_t n_items[N_CLAIM_STATES];
    struct claims_copy *copy;
};

/* Returns the work. */
static size_t read_claim(struct claims_reading *reading, const struct device_claim *claim)
{
    struct claims_copy *copy = reading->copy;
    const enum claim_state state = devices_claim_state(claim);
    const size_t n = n_items_of(claim);
    if (!holds_gpus(claim))
        return 1;
    if (reading->n_items[state] + n > ITEMS_MAX) {
        copy->n_omitted++;
        copy->n_unused_omitted += state == CLAIM_UNUSED;
        return 1;
    }
    reading->n_items[state] += n;
    struct claim_copy *added = copy_claim(claim, copy->arena);
    added->is_selected = is_selected(reading->labels, claim);
    copy->n_unlabelled += inventory_claims_lack_labels(reading->labels, claim);
    LL_PREPEND(copy->claims, added);
    return n;
}

static void begin_reading(struct claims_reading *reading, const struct cluster *cluster)
{
    struct claims_copy *copy = reading->copy;
    *reading = (struct claims_reading){.labels = reading->labels, .cluster = cluster, .copy = copy};
    *copy = (struct claims_copy){.arena = copy->arena};
}

/* False after the last claim. */
static bool read_some_claims(struct inventory *inventory, struct claims_reading *reading)
{
    const struct inventory_view view CLEANUP(inventory_done) = inventory_read(inventory);
    const struct devices *devices = cluster_devices(view.cluster);
    const struct device_claim *last = NULL;
    if (reading->cluster != view.cluster)
        begin_reading(reading, view.cluster);
    const struct device_claim *claim = devices_claim_after(devices, &reading->place);
    for (size_t n = 0; claim && n < ITEMS_AT_ONCE; claim = devices_next_claim(devices, claim)) {
        n += read_claim(reading, claim);
        last = claim;
    }
    if (claim)
        reading->place = (struct claim_place){arena_strdup(reading->copy->arena, last->namespace_),
                                              arena_strdup(reading->copy->arena, last->name),
                                              devices_claim_serial(last)};
    return claim != NULL;
}

static int compare_names(const void *a, const void *b)
{
    const struct device_claim *left = *(const struct device_claim *const *)a;
    const struct device_claim *right = *(const struct device_claim *const *)b;
    return first_order(left->namespace_, left->name, right->namespace_, right->name);
}

static void copy_page(struct inventory *inventory, const struct claims_page *page,
                      struct claims_copy *copy)
{
    const struct inventory_view view CLEANUP(inventory_done) = inventory_read(inventory);
    const struct devices *devices = cluster_devices(view.cluster);
    struct first first CLEANUP(first_fini) = first_new(page->limit, compare_names);
    for (const struct device_claim *claim = devices_next_claim(devices, NULL); claim;
         claim = devices_next_claim(devices, claim)) {
        if (holds_gpus(claim) &&
            first_order(claim->namespace_, claim->name, page->after_namespace, page->after_name) >
                0 &&
            page->admits(page->context, claim))
            first_add(&first, claim);
    }
    first_sort(&first);
    copy->has_more = first.is_cut;
    size_t n_items = 0;
    for (size_t i = 0; i < first.n; i++) {
        n_items += n_items_of(first.items[i]);
        if (n_items > ITEMS_MAX) {
            copy->has_more = true;
            return;
        }
        struct claim_copy *added = copy_claim(first.items[i], copy->arena);
        LL_PREPEND(copy->claims, added);
    }
}

static struct inventory_problem problem_of(const struct device_pool *pool, struct arena *arena)
{
    const char *place = pool->node_name[0] ? arena_printf(arena, "on the node %s", pool->node_name)
                                           : "where several nodes reach it";
    return (struct inventory_problem){
        "ResourceSlice", arena_printf(arena, "%s/%s", pool->driver, pool->pool),
        arena_printf(arena,
                     "nothing is free in this pool %s: %s (generation %lld has %zu of %lld slices)",
                     place, pool->why, (long long)pool->generation, pool->n_there,
                     (long long)pool->n_slices)};
}

static void copy_pools(struct inventory *inventory, struct claims_copy *copy)
{
    const struct inventory_view view CLEANUP(inventory_done) = inventory_read(inventory);
    struct device_pool pool = {0};
    copy->pools = ARENA_ARRAY(copy->arena, struct inventory_problem, UNUSABLE_POOLS_MAX);
    while (devices_next_unusable(cluster_devices(view.cluster), &pool)) {
        copy->n_all_pools++;
        if (copy->n_pools < UNUSABLE_POOLS_MAX)
            copy->pools[copy->n_pools++] = problem_of(&pool, copy->arena);
    }
}

static int compare_claims(const struct claim_copy *a, const struct claim_copy *b)
{
    return first_order(a->namespace_, a->name, b->namespace_, b->name);
}

static void name_pod(const struct cluster *cluster, struct arena *arena,
                     struct claim_holder *holder)
{
    const struct pod *pod = cluster_find_pod(cluster, holder->uid);
    if (!pod)
        return;
    holder->is_in_ledger = true;
    holder->name = arena_strdup(arena, pod->name);
    holder->node_name = pod->node_name ? arena_strdup(arena, pod->node_name) : "";
    holder->traits = holder_traits_copy(pod, arena);
}

/* Returns the first claim that is not done. */
static struct claim_copy *name_some_pods(struct inventory *inventory, struct claim_copy *claim,
                                         struct arena *arena)
{
    const struct inventory_view view CLEANUP(inventory_done) = inventory_read(inventory);
    for (size_t n = 0; claim && n < PODS_AT_ONCE; claim = claim->next) {
        struct claim_holder *holder = NULL;
        LL_FOREACH (claim->holders, holder) {
            name_pod(view.cluster, arena, holder);
            n++;
        }
    }
    return claim;
}

/* A claim that was replaced while they were read is there twice: first as it was copied last. */
static void drop_older(struct claim_copy *claim)
{
    for (; claim; claim = claim->next) {
        while (claim->next && compare_claims(claim, claim->next) == 0)
            claim->next = claim->next->next;
    }
}

static void name_pods_and_sort(struct inventory *inventory, struct claims_copy *copy)
{
    for (struct claim_copy *claim = copy->claims; claim;)
        claim = name_some_pods(inventory, claim, copy->arena);
    LL_SORT(copy->claims, compare_claims);
    drop_older(copy->claims);
}

struct claims_copy inventory_claims_copy(struct inventory *inventory,
                                         const struct selector_term *labels, struct arena *arena)
{
    struct claims_copy copy = {.arena = arena};
    struct claims_reading reading = {.labels = labels, .copy = &copy};
    while (read_some_claims(inventory, &reading))
        ;
    copy_pools(inventory, &copy);
    name_pods_and_sort(inventory, &copy);
    return copy;
}

struct claims_copy inventory_claims_page(struct inventory *inventory,
                                         const struct claims_page *page, struct arena *arena)
{
    struct claims_copy copy = {.arena = arena};
    copy_page(inventory, page, &copy);
    name_pods_and_sort(inventory, &copy);
    return copy;
}

/* ---- without it ---- */

static json_t *device_json(const struct claimed_device *device)
{
    json_t *json = json_pack("{s:s, s:s, s:s, s:s, s:b, s:b, s:b, s:b}", "driver", device->driver,
                             "pool", device->pool, "device", device->device, "model",
                             device->model_name ? device->model_name : "", "published",
                             device->model_name != NULL, "partition", device->is_partition,
                             "shared", device->is_shared, "adminAccess", device->is_admin);
    consumed_capacity_write(device->consumed, json);
    return json;
}

json_t *inventory_claims_json_of(const struct claim_copy *claim)
{
    json_t *devices = json_array();
    json_t *holders = json_array();
    const struct claim_holder *holder = NULL;
    for (size_t i = 0; i < claim->n_devices; i++)
        (void)json_array_append_new(devices, device_json(&claim->devices[i]));
    LL_FOREACH (claim->holders, holder)
        (void)json_array_append_new(
            holders, json_pack("{s:s, s:s}", "pod", holder->name, "uid", holder->uid));
    return json_pack("{s:s, s:s, s:s, s:b, s:b, s:o, s:o, s:I}", "namespace", claim->namespace_,
                     "name", claim->name, "node", claim->node_name, "unused", claim->is_unused,
                     "terminating", claim->terminating, "devices", devices, "reservedFor", holders,
                     "reservedForCount", (json_int_t)claim->n_all_holders);
}

json_t *inventory_claims_json(const struct claims_copy *copy)
{
    json_t *claims = json_array();
    const struct claim_copy *claim = NULL;
    LL_FOREACH (copy->claims, claim) {
        if (claim->is_selected)
            (void)json_array_append_new(claims, inventory_claims_json_of(claim));
    }
    return claims;
}

void inventory_claims_add_warning(const struct claims_copy *copy, json_t *warnings)
{
    const size_t n = copy->n_unlabelled;
    if (n == 0)
        return;
    (void)json_array_append_new(
        warnings, json_pack("{s:s, s:o}", "path", "?claimSelector", "message",
                            json_sprintf("%zu claim%s more labels than are kept, and match%s no "
                                         "selector",
                                         n, n == 1 ? " has" : "s have", n == 1 ? "es" : "")));
}

/* The nodes and the holders that the answer has so far. */
struct answer_index {
    json_t *nodes;   /* by name */
    json_t *holders; /* by UID of the pod */
};

static struct answer_index index_of(json_t *nodes)
{
    struct answer_index index = {json_object(), json_object()};
    size_t i = 0;
    size_t k = 0;
    json_t *node = NULL;
    json_t *holder = NULL;
    json_array_foreach (nodes, i, node) {
        const char *name = json_string_value(json_object_get(node, "name"));
        (void)json_object_set(index.nodes, name, node);
        json_array_foreach (json_object_get(node, "holders"), k, holder) {
            const char *uid = json_string_value(json_object_get(holder, "uid"));
            (void)json_object_set(index.holders, uid, holder);
        }
    }
    return index;
}

/* Borrowed; NULL: the pod or its node is not in the inventory. */
static json_t *find_holder(const struct answer_index *index, const struct claim_copy *claim,
                           const struct claim_holder *pod)
{
    json_t *holder = json_object_get(index->holders, pod->uid);
    const char *name = pod->node_name[0] ? pod->node_name : claim->node_name;
    json_t *node = json_object_get(index->nodes, name);
    if (holder || !node || !pod->is_in_ledger)
        return holder;
    holder = json_pack("{s:s, s:s, s:s, s:{}, s:{}}", "namespace", claim->namespace_, "pod",
                       pod->name, "uid", pod->uid, "gpus", "devices");
    holder_traits_add_json(&pod->traits, holder);
    (void)json_array_append_new(json_object_get(node, "holders"), holder);
    (void)json_object_set(index->holders, pod->uid, holder);
    return holder;
}

static void add(json_t *numbers, const char *key, json_int_t n)
{
    const json_int_t before = json_integer_value(json_object_get(numbers, key));
    (void)json_object_set_new(numbers, key, json_integer(before + n));
}

static void add_holders_of(const struct claim_copy *claim, const struct answer_index *index)
{
    json_t *devices = json_object(); /* by driver */
    const struct claim_holder *pod = NULL;
    for (size_t i = 0; i < claim->n_devices; i++) {
        if (!claim->devices[i].is_admin)
            add(devices, claim->devices[i].driver, 1);
    }
    LL_FOREACH (claim->holders, pod) {
        json_t *held = json_object_get(find_holder(index, claim, pod), "devices");
        const char *driver = NULL;
        json_t *n = NULL;
        json_object_foreach (devices, driver, n)
            add(held, driver, json_integer_value(n));
    }
    json_decref(devices);
}

void inventory_claims_add_holders(const struct claims_copy *copy, json_t *nodes)
{
    struct answer_index index = index_of(nodes);
    const struct claim_copy *claim = NULL;
    LL_FOREACH (copy->claims, claim)
        add_holders_of(claim, &index);
    json_decref(index.nodes);
    json_decref(index.holders);
}
