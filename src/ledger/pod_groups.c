/* pod_groups: see include/ledger/pod_groups.h. PodGroups are kept objects; the members of each
 * group are counted apart, by its name. */
#include "ledger/pod_groups.h"
#include "base/mem.h"
#include "ledger.h"
#include "ledger/gangs.h"

#include <stdlib.h>
#include <string.h>

/* ---- PodGroups ---- */

struct kept_group {
    struct kept kept;
    struct pod_group_facts facts; /* points into texts */
    char texts[];                 /* the key, "namespace/name"; then the namespace */
};

static const struct kept_group *group_of(const struct kept *object)
{
    return CONTAINER_OF(object, const struct kept_group, kept);
}

static const char *key_of(const char *namespace_, const char *name, struct arena *arena)
{
    return arena_printf(arena, "%s/%s", namespace_, name);
}

static struct kept_group *new_group(const char *key, const struct pod_group_facts *facts)
{
    const size_t key_size = strlen(key) + 1;
    const size_t len = strlen(facts->namespace_);
    struct kept_group *group = mem_new(sizeof *group + key_size + len + 1);
    memcpy(group->texts, key, key_size);
    memcpy(group->texts + key_size, facts->namespace_, len + 1);
    group->facts = *facts;
    group->facts.name = group->texts + len + 1;
    group->facts.namespace_ = group->texts + key_size;
    return group;
}

void pod_groups_upsert(struct cluster *cluster, const struct pod_group_facts *facts)
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    const char *key = key_of(facts->namespace_, facts->name, arena);
    struct kept *object = kept_see(cluster, CLUSTER_POD_GROUPS, key);
    if (object && group_of(object)->facts.min_count == facts->min_count)
        return;
    if (object)
        kept_remove(cluster, CLUSTER_POD_GROUPS, object);
    struct kept_group *group = new_group(key, facts);
    kept_add(cluster, CLUSTER_POD_GROUPS, &group->kept, group->texts);
    kept_changed(cluster, CLUSTER_POD_GROUPS);
}

const void *pod_groups_facts(const struct kept *object, struct arena *arena)
{
    struct pod_group_facts *facts = arena_copy(arena, &group_of(object)->facts, 1, sizeof *facts);
    facts->namespace_ = arena_strdup(arena, facts->namespace_);
    facts->name = arena_strdup(arena, facts->name);
    return facts;
}

/* ---- members ---- */

/* Of a gang the name is that of its annotation; a pod is in one of both at most. */
static struct member_group **table_of(struct cluster *cluster, bool is_gang)
{
    return is_gang ? &cluster->gangs : &cluster->member_groups;
}

struct member_group *pod_groups_members(const struct cluster *cluster, bool is_gang,
                                        const char *namespace_, const char *name)
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    struct member_group *table = is_gang ? cluster->gangs : cluster->member_groups;
    struct member_group *group = NULL;
    HASH_FIND_STR(table, key_of(namespace_, name, arena), group);
    return group;
}

static struct member_group *find_or_add_members(struct cluster *cluster, const struct pod *pod)
{
    const bool is_gang = !pod->group;
    const char *name = is_gang ? pod->gang : pod->group;
    struct member_group **table = table_of(cluster, is_gang);
    struct member_group *group = pod_groups_members(cluster, is_gang, pod->namespace_, name);
    if (group)
        return group;
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    group = MEM_NEW_WITH_TEXT(struct member_group, key, key_of(pod->namespace_, name, arena));
    group->is_gang = is_gang;
    HASH_ADD_KEYPTR(hh, *table, group->key, strlen(group->key), group);
    return group;
}

static void count(const struct cluster *cluster, struct group_member *member)
{
    const struct pod *pod = &member->pod->pod;
    struct member_group *group = member->group;
    member->is_bound = pod->node_name[0] || cluster_find_reservation(cluster, pod->uid);
    member->waits = !member->is_bound && !pod->gated && !pod->refusal;
    group->n_bound += member->is_bound;
    group->n_placed += pod->node_name[0] != '\0';
    group->n_waiting += member->waits;
    group->n_planned += member->waits && pod->planned_node[0];
    if (member->waits)
        DL_APPEND(group->waiting, member);
}

static void uncount(struct group_member *member)
{
    const struct pod *pod = &member->pod->pod;
    struct member_group *group = member->group;
    group->n_bound -= member->is_bound;
    group->n_placed -= pod->node_name[0] != '\0';
    group->n_waiting -= member->waits;
    group->n_planned -= member->waits && pod->planned_node[0];
    if (member->waits)
        DL_DELETE(group->waiting, member);
}

void pod_groups_add_pod(struct cluster *cluster, struct pod_entry *entry)
{
    const struct pod *pod = &entry->pod;
    if ((!pod->group && !pod->gang) || pod->finished || pod->terminating)
        return;
    entry->member = MEM_NEW(struct group_member);
    entry->member->pod = entry;
    entry->member->group = find_or_add_members(cluster, pod);
    entry->member->group->n_members++;
    DL_APPEND2(entry->member->group->members, entry->member, all_prev, all_next);
    count(cluster, entry->member);
}

void pod_groups_remove_pod(struct cluster *cluster, struct pod_entry *entry)
{
    struct group_member *member = entry->member;
    if (!member)
        return;
    uncount(member);
    DL_DELETE2(member->group->members, member, all_prev, all_next);
    if (--member->group->n_members == 0) {
        if (member->group->is_gang)
            HASH_DEL(cluster->gangs, member->group);
        else
            HASH_DEL(cluster->member_groups, member->group);
        free(member->group);
    }
    free(member);
    entry->member = NULL;
}

void pod_groups_renew_pod(const struct cluster *cluster, struct pod_entry *entry)
{
    if (!entry->member)
        return;
    uncount(entry->member);
    count(cluster, entry->member);
    if (entry->member->is_bound)
        entry->member->group->claims_from_ms = 0;
}

void pod_groups_move_pod(const struct cluster *cluster, struct pod_entry *entry,
                         const char *planned_node)
{
    uncount(entry->member);
    entry->pod.planned_node = planned_node;
    count(cluster, entry->member);
}

/* members NULL: it has none. */
static struct pod_group group_at(const struct cluster *cluster, const char *key,
                                 const struct member_group *members)
{
    const struct kept *object = kept_find(cluster, CLUSTER_POD_GROUPS, key);
    return (struct pod_group){.is_known = object,
                              .min_count = object ? group_of(object)->facts.min_count : 0,
                              .n_members = members ? members->n_members : 0,
                              .n_bound = members ? members->n_bound : 0};
}

struct pod_group pod_groups_find(const struct cluster *cluster, const char *namespace_,
                                 const char *name)
{
    if (!name || cluster->is_fork)
        return (struct pod_group){0};
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    return group_at(cluster, key_of(namespace_, name, arena),
                    pod_groups_members(cluster, false, namespace_, name));
}

const char *pod_groups_next(const struct cluster *cluster, const char *key,
                            struct pod_group *ret_group)
{
    const struct member_group *group = NULL;
    if (key)
        HASH_FIND_STR(cluster->member_groups, key, group);
    group = group ? group->hh.next : cluster->member_groups;
    if (group)
        *ret_group = group_at(cluster, group->key, group);
    return group ? group->key : NULL;
}

size_t pod_groups_count(const struct cluster *cluster)
{
    return HASH_COUNT(cluster->member_groups);
}

size_t pod_groups_n_unknown(const struct cluster *cluster)
{
    size_t n = 0;
    for (const struct member_group *group = cluster->member_groups; group; group = group->hh.next) {
        if (!kept_find(cluster, CLUSTER_POD_GROUPS, group->key))
            n += group->n_members;
    }
    return n;
}

/* ---- the members that are needed together ---- */

static int64_t gpus_of(const struct pod *pod)
{
    int64_t sum = 0;
    for (size_t i = 0; i < pod->shape->n_gpu_needs; i++)
        sum = amount_add(sum, pod->shape->needs[i].amount);
    return sum;
}

struct group_candidate {
    struct group_other other;
    int64_t gpus;
    size_t place;
};

static int compare_candidates(const void *a, const void *b)
{
    const struct group_candidate *left = a;
    const struct group_candidate *right = b;
    if (!left->other.claim != !right->other.claim)
        return left->other.claim ? -1 : 1;
    if (left->gpus != right->gpus)
        return left->gpus < right->gpus ? -1 : 1;
    return (left->place > right->place) - (left->place < right->place);
}

static struct group_other other_of(const struct cluster *cluster, const struct pod_entry *entry,
                                   const struct pod *asker, int64_t now_ms)
{
    const struct claim *claim = claims_find(cluster, entry->pod.uid);
    return (struct group_other){
        .pod = &entry->pod,
        .claim = claim && claim->until_ms > now_ms ? claim : NULL,
        .nomination = entry->nomination ? &entry->nomination->nomination : NULL,
        .is_alike = asker && asker->shape == entry->pod.shape,
    };
}

static size_t find_candidates(const struct cluster *cluster, const struct member_group *group,
                              const struct group_question *question, struct group_candidate *found)
{
    const struct pod *asker = cluster_find_pod(cluster, question->uid);
    size_t n = 0;
    for (const struct group_member *member = group->waiting; member && n < GROUP_OTHERS_MAX;
         member = member->next) {
        if (&member->pod->pod == asker)
            continue;
        found[n] = (struct group_candidate){other_of(cluster, member->pod, asker, question->now_ms),
                                            gpus_of(&member->pod->pod), n};
        n++;
    }
    return n;
}

/* Beside the one that asks. */
static size_t n_needed(const struct cluster *cluster, const struct member_group *group,
                       const struct group_question *question)
{
    const struct kept *object = kept_find(cluster, CLUSTER_POD_GROUPS, group->key);
    const struct pod_entry *asker = NULL;
    HASH_FIND_STR(cluster->pods, question->uid, asker);
    const bool is_bound = asker && asker->member && asker->member->is_bound;
    const int64_t n_counted = (int64_t)group->n_bound + !is_bound;
    const int64_t lacks = object ? group_of(object)->facts.min_count - n_counted : 0;
    return lacks > 0 ? (size_t)lacks : 0;
}

struct group_others pod_groups_others(const struct cluster *cluster,
                                      const struct group_question *question, struct arena *arena)
{
    struct group_others others = {0};
    const struct member_group *group =
        question->group ? pod_groups_members(cluster, false, question->namespace_, question->group)
                        : NULL;
    const size_t n_most = group ? n_needed(cluster, group, question) : 0;
    if (n_most == 0)
        return others;
    const size_t n_members =
        group->n_members < GROUP_OTHERS_MAX ? group->n_members : GROUP_OTHERS_MAX;
    struct group_candidate *found = ARENA_ARRAY(arena, struct group_candidate, n_members);
    const size_t n_found = find_candidates(cluster, group, question, found);
    if (n_found > 0)
        qsort(found, n_found, sizeof *found, compare_candidates);
    others.n = n_found < n_most ? n_found : n_most;
    others.items = ARENA_ARRAY(arena, struct group_other, others.n);
    for (size_t i = 0; i < others.n; i++)
        others.items[i] = found[i].other;
    return others;
}

int64_t pod_groups_claim_until(const struct cluster *cluster, const struct pod_entry *entry,
                               int64_t now_ms, int64_t until_ms)
{
    if (!entry || !entry->member ||
        !kept_find(cluster, CLUSTER_POD_GROUPS, entry->member->group->key))
        return until_ms;
    struct member_group *group = entry->member->group;
    if (group->claims_from_ms == 0 || now_ms - group->claims_from_ms >= 2 * GROUP_CLAIMS_MS)
        group->claims_from_ms = now_ms;
    const int64_t end_ms = group->claims_from_ms + GROUP_CLAIMS_MS;
    return until_ms < end_ms ? until_ms : end_ms;
}
