/* inventory_holders: see inventory_parts.h. */
#include "api/cluster/inventory_parts.h"
#include "api/pods/pod_json.h"
#include "base/clock.h"
#include "ledger/nominate.h"

#include <string.h>

/* ---- under the lock ---- */

struct holder_traits holder_traits_copy(const struct pod *pod, struct arena *arena)
{
    return (struct holder_traits){
        .controller = pod->controller ? arena_strdup(arena, pod->controller) : NULL,
        .priority = pod->priority,
        .created_s = pod->created_s,
        .terminating = pod->terminating,
    };
}

static struct holder copy_holder(const struct pod *pod, struct arena *arena)
{
    return (struct holder){
        .namespace_ = arena_strdup(arena, pod->namespace_),
        .name = arena_strdup(arena, pod->name),
        .uid = arena_strdup(arena, pod->uid),
        .gpus = pod_gpus_copy(pod->shape, arena),
        .traits = holder_traits_copy(pod, arena),
    };
}

static size_t count_pods(const struct node *node)
{
    size_t n = 0;
    for (const struct pod *pod = node_next_pod(node, NULL); pod; pod = node_next_pod(node, pod))
        n += pod->shape->n_gpu_needs > 0;
    return n;
}

static void copy_pods(const struct node *node, struct arena *arena, struct holder_list *list)
{
    list->items = ARENA_ARRAY(arena, struct holder, count_pods(node));
    for (const struct pod *pod = node_next_pod(node, NULL); pod; pod = node_next_pod(node, pod)) {
        if (pod->shape->n_gpu_needs > 0)
            list->items[list->n++] = copy_holder(pod, arena);
    }
}

static size_t count_nominations(const struct node *node)
{
    size_t n = 0;
    for (const struct nomination *promised = nomination_next_on(node, NULL); promised;
         promised = nomination_next_on(node, promised))
        n++;
    return n;
}

static void copy_nominations(const struct cluster *cluster, const struct node *node,
                             struct arena *arena, struct holder_list *list)
{
    list->items = ARENA_ARRAY(arena, struct holder, count_nominations(node));
    for (const struct nomination *promised = nomination_next_on(node, NULL); promised;
         promised = nomination_next_on(node, promised)) {
        const struct pod *pod = cluster_find_pod(cluster, promised->uid);
        if (pod && pod->shape->n_gpu_needs > 0)
            list->items[list->n++] = copy_holder(pod, arena);
    }
}

static size_t count_reservations(const struct node *node)
{
    size_t n = 0;
    for (const struct reservation *held = reservation_next_on(node, NULL); held;
         held = reservation_next_on(node, held))
        n++;
    return n;
}

static void copy_reservations(const struct node *node, struct arena *arena,
                              struct holder_list *list)
{
    list->items = ARENA_ARRAY(arena, struct holder, count_reservations(node));
    for (const struct reservation *held = reservation_next_on(node, NULL); held;
         held = reservation_next_on(node, held))
        list->items[list->n++] = (struct holder){
            .namespace_ = arena_strdup(arena, held->namespace_),
            .name = arena_strdup(arena, held->name),
            .uid = arena_strdup(arena, held->uid),
            .gpus = pod_gpus_copy(held->shape, arena),
            .made_ms = held->made_ms,
        };
}

struct node_holders node_holders_copy(const struct cluster *cluster, const struct node *node,
                                      struct arena *arena)
{
    struct node_holders holders = {0};
    copy_pods(node, arena, &holders.pods);
    copy_nominations(cluster, node, arena, &holders.nominations);
    copy_reservations(node, arena, &holders.reservations);
    return holders;
}

static size_t count_astray(const struct cluster *cluster)
{
    size_t n = 0;
    for (const struct node *node = cluster_next_missing_node(cluster, NULL); node;
         node = cluster_next_missing_node(cluster, node))
        n += count_pods(node);
    return n;
}

static void copy_astray_of(const struct node *node, struct arena *arena, struct holder_list *list)
{
    for (const struct pod *pod = node_next_pod(node, NULL); pod; pod = node_next_pod(node, pod)) {
        if (pod->shape->n_gpu_needs == 0)
            continue;
        struct holder *holder = &list->items[list->n++];
        *holder = copy_holder(pod, arena);
        holder->node_name = arena_strdup(arena, pod->node_name);
    }
}

struct holder_list holders_copy_astray(const struct cluster *cluster, struct arena *arena)
{
    struct holder_list list = {ARENA_ARRAY(arena, struct holder, count_astray(cluster)), 0};
    for (const struct node *node = cluster_next_missing_node(cluster, NULL); node;
         node = cluster_next_missing_node(cluster, node))
        copy_astray_of(node, arena, &list);
    return list;
}

/* ---- without it ---- */

void holder_traits_add_json(const struct holder_traits *traits, json_t *holder)
{
    char created[TEXT_TIME_SIZE];
    json_t *time =
        traits->created_s != 0 ? json_string(text_time(traits->created_s, created)) : json_null();
    (void)json_object_set_new(holder, "priority", json_integer((json_int_t)traits->priority));
    (void)json_object_set_new(holder, "terminating", json_boolean(traits->terminating));
    (void)json_object_set_new(holder, "created", time);
    (void)json_object_set_new(holder, "controller", pod_json_controller(traits->controller));
}

static json_t *holder_json(const struct holder *holder)
{
    return json_pack("{s:s, s:s, s:s, s:o}", "namespace", holder->namespace_, "pod", holder->name,
                     "uid", holder->uid, "gpus", pod_gpus_json(&holder->gpus));
}

json_t *holders_json_nominations(const struct holder_list *holders)
{
    json_t *list = json_array();
    for (size_t i = 0; i < holders->n; i++) {
        json_t *holder = holder_json(&holders->items[i]);
        holder_traits_add_json(&holders->items[i].traits, holder);
        (void)json_array_append_new(list, holder);
    }
    return list;
}

json_t *holders_json(const struct holder_list *holders)
{
    size_t i = 0;
    json_t *holder = NULL;
    json_t *list = holders_json_nominations(holders);
    json_array_foreach (list, i, holder)
        (void)json_object_set_new(holder, "devices", json_object());
    return list;
}

json_t *holders_json_reservations(const struct holder_list *holders)
{
    json_t *list = json_array();
    const int64_t now_ms = clock_ms();
    for (size_t i = 0; i < holders->n; i++) {
        json_t *holder = holder_json(&holders->items[i]);
        (void)json_object_set_new(holder, "ageSeconds",
                                  json_integer((now_ms - holders->items[i].made_ms) / 1000));
        (void)json_array_append_new(list, holder);
    }
    return list;
}

json_t *holders_json_astray(const struct holder_list *holders)
{
    json_t *list = json_array();
    for (size_t i = 0; i < holders->n; i++) {
        json_t *holder = holder_json(&holders->items[i]);
        (void)json_object_set_new(holder, "node", json_string(holders->items[i].node_name));
        (void)json_array_append_new(list, holder);
    }
    return list;
}
