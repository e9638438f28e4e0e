/* pod_copy: see pod_copy.h. */
#include "api/pods/pod_copy.h"
#include "api/first.h"
#include "base/mem.h"
#include "decide/quota.h"
#include "ledger/admit.h"
#include "ledger/shape_limits.h"

#include <stdlib.h>
#include <string.h>

/* Pods of a namespace that name claims. */
struct namespace_turns {
    UT_hash_handle hh;
    size_t n;
};

struct copying {
    struct arena *arena;
    struct pod_copies copies;
    struct namespace_turns *namespaces;
};

static bool has_quotas(const struct copying *copying, const struct cluster *cluster,
                       const char *namespace_)
{
    const size_t *quotas = NULL;
    return namespace_usage_find_quotas(cluster, namespace_, copying->arena, &quotas) > 0;
}

static struct shared_shape *share_shape(struct copying *copying, const struct cluster *cluster,
                                        const struct pod *pod)
{
    struct shared_shape *copy = NULL;
    const bool alone = has_quotas(copying, cluster, pod->namespace_);
    const struct kind_of_pod kind = {pod->shape, alone ? pod->namespace_ : NULL};
    HASH_FIND(hh, copying->copies.shapes, &kind, sizeof kind, copy);
    if (copy)
        return copy;
    copy = ARENA_NEW(copying->arena, struct shared_shape);
    copy->origin = kind;
    copy->facts = shape_copy(&pod->shape->facts, copying->arena);
    HASH_ADD(hh, copying->copies.shapes, origin, sizeof copy->origin, copy);
    return copy;
}

static struct shared_peers *share_peers(struct copying *copying, const struct pod *pod)
{
    struct shared_peers *copy = NULL;
    const struct kind_of_peer kind = {pod->labels, pod->terms, pod->namespace_, pod->shape};
    HASH_FIND(hh, copying->copies.peers, &kind, sizeof kind, copy);
    if (copy)
        return copy;
    copy = ARENA_NEW(copying->arena, struct shared_peers);
    copy->origin = kind;
    copy->pod.namespace_ = arena_strdup(copying->arena, pod->namespace_);
    if (pod->labels) {
        copy->labels = peer_copy(pod->labels, copying->arena);
        copy->pod.labels = &copy->labels;
    }
    if (pod->terms) {
        copy->terms = peer_copy(pod->terms, copying->arena);
        copy->pod.terms = &copy->terms;
    }
    HASH_ADD(hh, copying->copies.peers, origin, sizeof copy->origin, copy);
    return copy;
}

static void copy_reservation(const struct cluster *cluster, struct pod_copy *copy,
                             struct arena *arena)
{
    const struct reservation *reservation = cluster_find_reservation(cluster, copy->pod.uid);
    if (!reservation)
        return;
    copy->reserved_node = arena_strdup(arena, reservation->node_name);
    copy->reserved_ms = reservation->made_ms;
}

static void copy_pod(struct copying *copying, const struct cluster *cluster, const struct pod *pod)
{
    struct arena *arena = copying->arena;
    struct pod_copy *copy = &copying->copies.items[copying->copies.n++];
    copy->shape = share_shape(copying, cluster, pod);
    copy->peers = share_peers(copying, pod);
    copy->pod = cluster_copy_pod(pod, arena);
    copy->group = pod_groups_find(cluster, pod->namespace_, pod->group);
    copy->hold = gangs_domain(cluster, pod, arena);
    copy->replica_of = arena_strdup(arena, owners_uid(pod->owner));
    copy_reservation(cluster, copy, arena);
}

/* Adds lines to those that are not evaluated. NULL: none. */
static void add_not_evaluated(struct pod *pod, const char *lines, struct arena *arena)
{
    const char *before = pod->not_evaluated;
    if (lines)
        pod->not_evaluated = arena_printf(arena, "%s%s%s", before ? before : "",
                                          before && before[0] ? "\n" : "", lines);
}

/* Names belong to the arena. */
static size_t next_turn(struct copying *copying, const char *namespace_)
{
    struct namespace_turns *found = NULL;
    HASH_FIND_STR(copying->namespaces, namespace_, found);
    if (!found) {
        found = ARENA_NEW(copying->arena, struct namespace_turns);
        HASH_ADD_KEYPTR(hh, copying->namespaces, namespace_, strlen(namespace_), found);
    }
    return ++found->n;
}

static void copy_claims(struct copying *copying, const struct cluster *cluster,
                        const struct pod *pod, struct pod_copy *copy)
{
    const struct asker asker = asker_from_pod(pod);
    const struct claims_question question = {
        .namespace_ = pod->namespace_, .claims = pod->claims, .asker = &asker};
    copy->asked = asked_claims_for_fork(cluster, &question, copying->arena);
    add_not_evaluated(&copy->pod, asked_claims_unknown(cluster, &question, copying->arena),
                      copying->arena);
}

/* Copies the claims that quotas may count of at most POD_COPIES_ASKED_MAX of the n copied pods. A
 * namespace gets its next one if each other got as many, or has no more. */
static void copy_asked(struct copying *copying, const struct cluster *cluster,
                       const struct pod *const *pods, size_t n)
{
    struct pod_copy *copies = copying->copies.items;
    size_t *n_of_turn = ARENA_ARRAY(copying->arena, size_t, n + 2);
    size_t turn = 1;                      /* the first that not all get, */
    size_t n_left = POD_COPIES_ASKED_MAX; /* and how many do */
    for (size_t i = 0; i < n; i++) {
        copies[i].is_not_asked =
            copies[i].turn > 0 && has_quotas(copying, cluster, pods[i]->namespace_);
        n_of_turn[copies[i].turn] += copies[i].is_not_asked;
    }
    for (; turn <= n && n_of_turn[turn] <= n_left; turn++)
        n_left -= n_of_turn[turn];
    for (size_t i = 0; i < n; i++) {
        const bool is_last = copies[i].turn == turn;
        if (!copies[i].is_not_asked || copies[i].turn > turn || (is_last && n_left == 0))
            continue;
        copies[i].is_not_asked = false;
        n_left -= is_last;
        copy_claims(copying, cluster, pods[i], &copies[i]);
    }
}

/* Copies n pods. Those of a namespace take their turns in that order. */
static void copy_pods(struct copying *copying, const struct cluster *cluster,
                      const struct pod *const *pods, size_t n)
{
    copying->copies.items = ARENA_ARRAY(copying->arena, struct pod_copy, n);
    for (size_t i = 0; i < n; i++) {
        copy_pod(copying, cluster, pods[i]);
        struct pod_copy *copy = &copying->copies.items[i];
        if (pods[i]->claims && !pods[i]->node_name[0])
            copy->turn = next_turn(copying, copy->pod.namespace_);
    }
    HASH_CLEAR(hh, copying->namespaces);
    copy_asked(copying, cluster, pods, n);
}

/* A waiting pod with its sort keys, copied because sorting compares often. */
struct queued_pod {
    int64_t priority;
    int64_t created_s;
    size_t position;
    const struct pod *pod;
};

#define COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

static int compare_waiting(const void *a, const void *b)
{
    const struct queued_pod *left = a;
    const struct queued_pod *right = b;
    if (left->priority != right->priority)
        return COMPARE(right->priority, left->priority);
    if (left->created_s != right->created_s)
        return COMPARE(left->created_s, right->created_s);
    return COMPARE(left->position, right->position);
}

bool pod_copy_is_pending(const struct pod *pod)
{
    return !pod->node_name[0] && !pod->finished && !pod->terminating &&
           (pod->shape->n_gpu_needs > 0 || pod->claims);
}

/* Which pods to copy. */
struct pod_choice {
    bool (*is_chosen)(void *context, const struct pod *pod);
    void *context;
};

static struct queued_pod *collect_waiting(const struct cluster *cluster,
                                          const struct pod_choice *choice, size_t *ret_n)
{
    struct queued_pod *queued = MEM_ARRAY(struct queued_pod, cluster_n_pods(cluster));
    size_t n = 0;
    for (const struct pod *pod = cluster_next_pod(cluster, NULL); pod;
         pod = cluster_next_pod(cluster, pod)) {
        if (pod->node_name[0] || pod->finished || !choice->is_chosen(choice->context, pod))
            continue;
        queued[n] = (struct queued_pod){pod->priority, pod->created_s, n, pod};
        n++;
    }
    if (n > 1)
        qsort(queued, n, sizeof *queued, compare_waiting);
    *ret_n = n;
    return queued;
}

static void copy_waiting(struct copying *copying, const struct cluster *cluster,
                         const struct pod_choice *choice)
{
    struct pod_copies *copies = &copying->copies;
    struct queued_pod *queued CLEANUP(mem_free_ptr) =
        collect_waiting(cluster, choice, &copies->n_all);
    const size_t n = copies->n_all < POD_COPIES_MAX ? copies->n_all : POD_COPIES_MAX;
    const struct pod **pods = ARENA_ARRAY(copying->arena, const struct pod *, n);
    for (size_t i = 0; i < n; i++)
        pods[i] = queued[i].pod;
    copy_pods(copying, cluster, pods, n);
}

static bool is_held(const struct gang *gang)
{
    return gang->n_unbound > 0 && gang->treatment != GANG_ORDINARY &&
           gang_state_of(gang) != GANG_RUNNING;
}

static void copy_gangs(struct copying *copying, const struct cluster *cluster)
{
    struct pod_copies *copies = &copying->copies;
    struct gang gang = {0};
    if (cluster_policy(cluster)->gangs.mode != GANGS_PLAN)
        return;
    copies->gangs = ARENA_ARRAY(copying->arena, struct waiting_gang, gangs_count(cluster));
    for (const char *key = NULL; (key = gangs_next(cluster, key, &gang));) {
        if (!is_held(&gang))
            continue;
        struct waiting_gang *copy = &copies->gangs[copies->n_gangs++];
        *copy = (struct waiting_gang){.key = arena_strdup(copying->arena, key),
                                      .gang = gang,
                                      .plan = gang_plan_members(cluster, key, copying->arena)};
        HASH_ADD_KEYPTR(hh, copies->gangs_by_key, copy->key, strlen(copy->key), copy);
    }
}

const struct waiting_gang *pod_copy_gang(const struct pod_copies *copies, const struct pod *pod,
                                         struct arena *arena)
{
    struct waiting_gang *found = NULL;
    if (pod->gang && copies->gangs_by_key)
        HASH_FIND_STR(copies->gangs_by_key,
                      arena_printf(arena, "%s/%s", pod->namespace_, pod->gang), found);
    return found;
}

struct pod_copies pod_copy_waiting(struct inventory *inventory,
                                   bool (*is_chosen)(void *context, const struct pod *pod),
                                   void *context, struct arena *arena)
{
    const struct pod_choice choice = {is_chosen, context};
    struct copying copying = {.arena = arena,
                              .copies = {.provenance = provenance_of(inventory, arena)}};
    const struct inventory_view view CLEANUP(inventory_done) = inventory_read(inventory);
    copy_waiting(&copying, view.cluster, &choice);
    copy_gangs(&copying, view.cluster);
    return copying.copies;
}

static int compare_names(const void *a, const void *b)
{
    const struct pod *left = *(const struct pod *const *)a;
    const struct pod *right = *(const struct pod *const *)b;
    return first_order(left->namespace_, left->name, right->namespace_, right->name);
}

static void copy_page(struct copying *copying, const struct cluster *cluster,
                      const struct pod_page *page)
{
    struct pod_copies *copies = &copying->copies;
    struct first first CLEANUP(first_fini) = first_new(page->limit, compare_names);
    for (const struct pod *pod = cluster_next_pod(cluster, NULL); pod;
         pod = cluster_next_pod(cluster, pod)) {
        if (first_order(pod->namespace_, pod->name, page->after_namespace, page->after_name) > 0 &&
            page->admits(page->context, cluster, pod))
            first_add(&first, pod);
    }
    first_sort(&first);
    const struct pod *const *pods = (const struct pod *const *)first.items;
    copy_pods(copying, cluster, pods, first.n);
    copies->n_all = copies->n + first.is_cut;
}

struct pod_copies pod_copy_page(struct inventory *inventory, const struct pod_page *page,
                                struct arena *arena)
{
    struct copying copying = {.arena = arena,
                              .copies = {.provenance = provenance_of(inventory, arena)}};
    const struct inventory_view view CLEANUP(inventory_done) = inventory_read(inventory);
    copy_page(&copying, view.cluster, page);
    return copying.copies;
}

static enum reason misfit_of(const struct cluster *cluster, const struct pod *pod)
{
    const struct node *node = cluster_find_node(cluster, pod->node_name);
    const bool asks = !pod->refusal && pod->shape->n_gpu_needs > 0;
    return node && asks ? admit_model(node, pod->shape) : REASON_FITS;
}

struct pod_copies pod_copy_named(struct inventory *inventory, const char *namespace_,
                                 const char *name, struct arena *arena)
{
    struct copying copying = {.arena = arena,
                              .copies = {.provenance = provenance_of(inventory, arena)}};
    const struct inventory_view view CLEANUP(inventory_done) = inventory_read(inventory);
    const struct pod *pod = cluster_find_pod_named(view.cluster, namespace_, name);
    if (pod) {
        copying.copies.n_all = 1;
        copy_pods(&copying, view.cluster, &pod, 1);
        copying.copies.items[0].misfit = misfit_of(view.cluster, pod);
    }
    return copying.copies;
}

enum peers_wanted pod_copy_peers_wanted(const struct pod_copies *copies)
{
    for (const struct shared_peers *peers = copies->peers; peers; peers = peers->hh.next) {
        if (peers->pod.terms)
            return PEERS_ALL;
    }
    return PEERS_REPELLING;
}

void pod_copy_fini(struct pod_copies *copies)
{
    HASH_CLEAR(hh, copies->shapes);
    HASH_CLEAR(hh, copies->peers);
    HASH_CLEAR(hh, copies->gangs_by_key);
}

int pod_copy_compare(const struct pod *a, const struct pod *b)
{
    if (a->priority != b->priority)
        return a->priority > b->priority ? -1 : 1;
    if (a->created_s != b->created_s)
        return a->created_s < b->created_s ? -1 : 1;
    const int order = strcmp(a->namespace_, b->namespace_);
    return order != 0 ? order : strcmp(a->name, b->name);
}

static int compare_copies(const void *a, const void *b)
{
    const struct pod_copy *const *left = a;
    const struct pod_copy *const *right = b;
    return pod_copy_compare(&(*left)->pod, &(*right)->pod);
}

static bool is_of_workload(const struct pod *pod, const struct pod *other)
{
    return pod->controller && other->controller &&
           strcmp(pod->controller, other->controller) == 0 &&
           strcmp(pod->namespace_, other->namespace_) == 0;
}

/* The last of several is as old as the others, or younger. */
static bool comes_before(const struct pod *pod, const struct pod *other, int64_t n)
{
    return n == 1 ? pod_copy_compare(pod, other) < 0
                  : pod->priority >= other->priority && !is_of_workload(pod, other);
}

const struct pod_copy **pod_copy_before(const struct pod_copies *waiting,
                                        const struct pod_copy *copy, int64_t n, struct arena *arena,
                                        size_t *ret_n)
{
    const struct pod_copy **before =
        ARENA_ARRAY(arena, const struct pod_copy *, POD_BEFORE_MAX + 1);
    size_t n_before = 0;
    for (size_t i = 0; i < waiting->n && n_before <= POD_BEFORE_MAX; i++) {
        if (strcmp(waiting->items[i].pod.uid, copy->pod.uid) != 0 &&
            comes_before(&waiting->items[i].pod, &copy->pod, n))
            before[n_before++] = &waiting->items[i];
    }
    if (n_before > 1)
        qsort(before, n_before, sizeof *before, compare_copies);
    *ret_n = n_before;
    return before;
}
