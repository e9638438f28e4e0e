/* gangs: see include/ledger/gangs.h. The members are counted in pod_groups.c. */
#include "ledger/gangs.h"
#include "base/mem.h"
#include "ledger.h"
#include "ledger/reservation.h"

#include <string.h>

static const char *const STATES[N_GANG_STATES] = {
    [GANG_FORMING] = "forming", [GANG_WAITING] = "waiting", [GANG_PLANNED] = "planned",
    [GANG_PARTIAL] = "partial", [GANG_RUNNING] = "running",
};

const char *gang_state_name(enum gang_state state)
{
    return STATES[state];
}

enum gang_state gang_state_of(const struct gang *gang)
{
    if (gang->n_bound == 0 && gang->n_unbound < gang->size)
        return GANG_FORMING;
    if (gang->n_bound == 0)
        return gang->n_planned > 0 ? GANG_PLANNED : GANG_WAITING;
    const bool is_partial = gang->n_bound < gang->size && gang->n_unbound > 0 &&
                            gang->n_bound + gang->n_unbound >= gang->size;
    return is_partial ? GANG_PARTIAL : GANG_RUNNING;
}

size_t gang_n_missing(const struct gang *gang)
{
    return gang->n_bound < gang->size ? gang->size - gang->n_bound : 0;
}

/* ---- reading ---- */

static struct pod_entry *find_pod(const struct cluster *cluster, const char *uid)
{
    struct pod_entry *entry = NULL;
    HASH_FIND_STR(cluster->pods, uid, entry);
    return entry;
}

static bool is_member(const struct pod_entry *entry)
{
    return entry && entry->member && entry->member->group->is_gang;
}

const void *gangs_group_of(const struct pod_entry *entry)
{
    return entry->member ? entry->member->group : NULL;
}

/* The greatest counts, so that one member that names less starts no part of the group. */
static size_t size_of(const struct member_group *group)
{
    int64_t size = 0;
    for (const struct group_member *member = group->members; member; member = member->all_next)
        size = member->pod->pod.gang_size > size ? member->pod->pod.gang_size : size;
    return (size_t)size;
}

static struct gang gang_of(const struct member_group *group)
{
    return (struct gang){.size = size_of(group),
                         .n_bound = group->n_bound,
                         .n_placed = group->n_placed,
                         .n_unbound = group->n_waiting,
                         .n_planned = group->n_planned,
                         .treatment = group->treatment};
}

struct gang gangs_find(const struct cluster *cluster, const char *namespace_, const char *name)
{
    const struct member_group *group =
        name ? pod_groups_members(cluster, true, namespace_, name) : NULL;
    return group ? gang_of(group) : (struct gang){0};
}

static struct member_group *find_group(const struct cluster *cluster, const char *key)
{
    struct member_group *group = NULL;
    HASH_FIND_STR(cluster->gangs, key, group);
    return group;
}

const char *gangs_next(const struct cluster *cluster, const char *key, struct gang *ret_gang)
{
    const struct member_group *last = key ? find_group(cluster, key) : NULL;
    const struct member_group *group = last ? last->hh.next : cluster->gangs;
    if (group)
        *ret_gang = gang_of(group);
    return group ? group->key : NULL;
}

size_t gangs_count(const struct cluster *cluster)
{
    return HASH_COUNT(cluster->gangs);
}

const struct pod *gangs_next_unbound(const struct cluster *cluster, const char *key,
                                     const struct pod *pod)
{
    const struct member_group *group = pod ? NULL : find_group(cluster, key);
    const struct group_member *next = group ? group->waiting : NULL;
    if (pod)
        next = CONTAINER_OF(pod, const struct pod_entry, pod)->member->next;
    return next ? &next->pod->pod : NULL;
}

const struct node *gangs_bound_node(const struct cluster *cluster, const char *key)
{
    const struct member_group *group = find_group(cluster, key);
    for (const struct group_member *member = group ? group->members : NULL; member;
         member = member->all_next) {
        const struct pod *pod = &member->pod->pod;
        const struct reservation *held = cluster_find_reservation(cluster, pod->uid);
        if (member->is_bound)
            return cluster_find_node(cluster, held ? held->node_name : pod->node_name);
    }
    return NULL;
}

/* ---- places ---- */

static void move(struct cluster *cluster, struct pod_entry *entry, const char *node_name)
{
    struct string_table *strings = &cluster->shapes->strings;
    const char *before = entry->pod.planned_node;
    nominate_end(cluster, entry);
    pod_groups_move_pod(cluster, entry, node_name ? string_table_intern(strings, node_name) : "");
    nominate_renew(cluster, entry);
    if (before[0])
        string_table_unref(strings, before);
    cluster->version++;
}

void gangs_place(struct cluster *cluster, const char *uid, const char *node_name, size_t kind)
{
    struct pod_entry *entry = find_pod(cluster, uid);
    if (!is_member(entry))
        return;
    if (strcmp(entry->pod.planned_node, node_name ? node_name : "") != 0)
        move(cluster, entry, node_name);
    entry->pod.planned_kind = kind;
}

void gangs_drop(struct cluster *cluster, const char *key)
{
    const struct member_group *group = find_group(cluster, key);
    for (struct group_member *member = group ? group->members : NULL; member;
         member = member->all_next) {
        if (member->pod->pod.planned_node[0])
            move(cluster, member->pod, NULL);
    }
}

void gangs_treat(struct cluster *cluster, const char *key, enum gang_treatment treatment)
{
    struct member_group *group = find_group(cluster, key);
    if (group)
        group->treatment = treatment;
}

const char *gangs_take_planned(struct pod_entry *entry)
{
    const char *planned_node = entry->pod.planned_node;
    return planned_node[0] ? string_table_ref(planned_node) : "";
}

/* The pod may be of another kind now. */
void gangs_return_planned(struct cluster *cluster, const char *uid, const char *planned_node)
{
    const struct pod_entry *entry = find_pod(cluster, uid);
    if (!planned_node[0])
        return;
    if (is_member(entry) && !entry->pod.node_name[0])
        gangs_place(cluster, uid, planned_node, 0);
    string_table_unref(&cluster->shapes->strings, planned_node);
}

/* ---- what the verbs ask ---- */

static bool plans(const struct cluster *cluster)
{
    return cluster->policy->mode == MODE_ENFORCE && cluster->policy->gangs.mode == GANGS_PLAN;
}

static bool is_alike(const struct group_member *member, const struct pod_entry *entry)
{
    return member->waits && member->pod->pod.planned_node[0] && entry->pod.planned_kind > 0 &&
           member->pod->pod.planned_kind == entry->pod.planned_kind;
}

/* Else a member has gone, with its place: no other may be bound until all have one again. */
static bool has_whole_plan(const struct gang *gang)
{
    return gang->n_planned >= gang_n_missing(gang);
}

/* Its own comes first. */
static void list_places(const struct pod_entry *entry, struct arena *arena, struct gang_hold *hold)
{
    const struct member_group *group = entry->member->group;
    const char **nodes = ARENA_ARRAY(arena, const char *, group->n_planned + 1);
    size_t n = 0;
    nodes[n++] = arena_strdup(arena, entry->pod.planned_node);
    for (const struct group_member *member = group->waiting; member; member = member->next) {
        if (member->pod != entry && is_alike(member, entry))
            nodes[n++] = arena_strdup(arena, member->pod->pod.planned_node);
    }
    hold->nodes = nodes;
    hold->n_nodes = n;
}

/* "": any. */
static const char *wish_of(const struct cluster *cluster, const struct member_group *group)
{
    const struct group_member *member = group->members;
    while (member && !member->pod->pod.domain)
        member = member->all_next;
    return member ? member->pod->pod.domain : cluster->policy->gangs.domain;
}

bool gangs_keep_to_domain(const struct cluster *cluster, const char *key)
{
    struct domain_wish wish = {0};
    const struct member_group *group = find_group(cluster, key);
    const struct node *bound = gangs_bound_node(cluster, key);
    if (!group || !policy_read_domain(cluster->policy, wish_of(cluster, group), &wish) ||
        wish.rule != DOMAIN_REQUIRE || (bound && !node_domain(bound, wish.level)))
        return true;
    domain_id domain = bound ? node_domain(bound, wish.level) : 0;
    for (const struct group_member *member = group->waiting; member; member = member->next) {
        const struct node *node = cluster_find_node(cluster, member->pod->pod.planned_node);
        const domain_id place = node ? node_domain(node, wish.level) : 0;
        domain = domain ? domain : place;
        if (member->pod->pod.planned_node[0] && (!place || place != domain))
            return false;
    }
    return true;
}

/* A pod that replaces another goes to the others. */
static const struct gang_hold *hold_in_domain(const struct cluster *cluster,
                                              const struct member_group *group,
                                              const struct pod_entry *entry, struct arena *arena)
{
    struct domain_wish wish = {0};
    const bool is_bound = is_member(entry) && entry->member->is_bound;
    if (is_bound || !policy_read_domain(cluster->policy, wish_of(cluster, group), &wish) ||
        wish.rule != DOMAIN_REQUIRE)
        return NULL;
    const struct node *node = gangs_bound_node(cluster, group->key);
    struct gang_hold *hold = ARENA_NEW(arena, struct gang_hold);
    hold->level = wish.level;
    hold->domain = node ? node_domain(node, wish.level) : 0;
    return hold->domain ? hold : NULL;
}

const struct gang_hold *gangs_domain(const struct cluster *cluster, const struct pod *pod,
                                     struct arena *arena)
{
    const struct pod_entry *entry = CONTAINER_OF(pod, const struct pod_entry, pod);
    return is_member(entry) && plans(cluster)
               ? hold_in_domain(cluster, entry->member->group, entry, arena)
               : NULL;
}

const struct gang_hold *gangs_hold(const struct cluster *cluster, const char *namespace_,
                                   const char *gang, const char *uid, struct arena *arena)
{
    const struct member_group *group =
        gang && plans(cluster) ? pod_groups_members(cluster, true, namespace_, gang) : NULL;
    if (!gang || !plans(cluster))
        return NULL;
    const struct gang counts = group ? gang_of(group) : (struct gang){.size = 1};
    const enum gang_state state = gang_state_of(&counts);
    const struct pod_entry *entry = find_pod(cluster, uid);
    if (state == GANG_RUNNING || counts.treatment == GANG_ORDINARY)
        return state == GANG_RUNNING ? hold_in_domain(cluster, group, entry, arena) : NULL;
    struct gang_hold *hold = ARENA_NEW(arena, struct gang_hold);
    *hold = (struct gang_hold){.reason = state == GANG_FORMING ? REASON_GANG_FORMING
                                                               : REASON_GANG_WAITING,
                               .is_beyond = counts.treatment == GANG_BEYOND};
    if (group && has_whole_plan(&counts) && is_member(entry) && entry->member->group == group &&
        entry->pod.planned_node[0]) {
        hold->reason = REASON_FITS;
        hold->group = group;
        list_places(entry, arena, hold);
    }
    return hold;
}

void gangs_take_place(struct cluster *cluster, const char *uid, const char *node_name)
{
    struct pod_entry *entry = find_pod(cluster, uid);
    if (!is_member(entry) || !entry->pod.planned_node[0] ||
        strcmp(entry->pod.planned_node, node_name) == 0)
        return;
    for (const struct group_member *member = entry->member->group->waiting; member;
         member = member->next) {
        struct pod_entry *other = member->pod;
        if (other == entry || !is_alike(member, entry) ||
            strcmp(other->pod.planned_node, node_name) != 0)
            continue;
        const char *mine = string_table_ref(entry->pod.planned_node);
        move(cluster, entry, node_name);
        move(cluster, other, mine);
        string_table_unref(&cluster->shapes->strings, mine);
        return;
    }
}

bool gangs_await_first(const struct cluster *cluster, const char *namespace_, const char *gang)
{
    const struct gang counts =
        gang && plans(cluster) ? gangs_find(cluster, namespace_, gang) : (struct gang){0};
    return counts.n_bound > 0 && counts.n_placed == 0;
}

bool gangs_lost_plan(const struct cluster *cluster, const char *namespace_, const char *gang)
{
    const struct gang counts =
        gang && plans(cluster) ? gangs_find(cluster, namespace_, gang) : (struct gang){0};
    return counts.treatment != GANG_ORDINARY && counts.n_placed == 0 && !has_whole_plan(&counts);
}
