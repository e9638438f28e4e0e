/* gang_plan: see include/decide/gang_plan.h. */
#include "decide/gang_plan.h"
#include "base/hash.h"
#include "base/mem.h"
#include "decide/fit.h"
#include "decide/quota.h"
#include "decide/what_if.h"
#include "ledger/admit.h"
#include "ledger/quarantine.h"
#include "ledger/shape_limits.h"
#include "types/quantity.h"

#include <stdlib.h>
#include <string.h>

/* Other clusters have few selectors between pods. */
#define ASKED_KEYS_MAX ((size_t)32)

/* ---- members ---- */

/* Of an Indexed Job; INT64_MAX: it has none. */
static int64_t index_of(const struct peer_facts *labels)
{
    for (size_t i = 0; labels && i < labels->n_labels; i++) {
        if (strcmp(labels->labels[i].key, "batch.kubernetes.io/job-completion-index") == 0)
            return strtoll(labels->labels[i].value, NULL, 10);
    }
    return INT64_MAX;
}

static int compare_numbers(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int compare_age(const void *a, const void *b)
{
    const struct pod *left = *(const struct pod *const *)a;
    const struct pod *right = *(const struct pod *const *)b;
    const int by_index = compare_numbers(index_of(left->labels), index_of(right->labels));
    const int by_age = compare_numbers(left->created_s, right->created_s);
    if (by_index != 0 || by_age != 0)
        return by_index != 0 ? by_index : by_age;
    return strcmp(left->uid, right->uid);
}

/* Members are in this order since they were listed. */
static int compare_need(const void *a, const void *b)
{
    const struct gang_member *left = a;
    const struct gang_member *right = b;
    const int by_need = compare_numbers(right->gpus, left->gpus);
    return by_need != 0 ? by_need : compare_numbers(left->rank, right->rank);
}

static int64_t gpus_of(const struct pod_shape *shape)
{
    int64_t gpus = 0;
    for (size_t i = 0; i < shape->n_gpu_needs; i++)
        gpus = amount_add(gpus, shape->needs[i].amount);
    return gpus;
}

static const struct peer_facts *copy_peer(const struct peer_facts *facts, struct arena *arena)
{
    struct peer_facts *copy = facts ? ARENA_NEW(arena, struct peer_facts) : NULL;
    if (facts)
        *copy = peer_copy(facts, arena);
    return copy;
}

static void copy_member(struct gang_member *member, const struct pod *pod, struct arena *arena)
{
    *member = (struct gang_member){
        .uid = arena_strdup(arena, pod->uid),
        .namespace_ = arena_strdup(arena, pod->namespace_),
        .like = pod->shape,
        .terms_like = pod->terms,
        .gpus = gpus_of(pod->shape),
    };
    struct shape_facts *shape = ARENA_NEW(arena, struct shape_facts);
    *shape = shape_copy(&pod->shape->facts, arena);
    member->shape = shape;
    member->asker =
        (struct asker){.uid = member->uid, .priority = pod->priority, .created_s = pod->created_s};
    member->peer.namespace_ = member->namespace_;
    member->peer.labels = copy_peer(pod->labels, arena);
    member->peer.terms = copy_peer(pod->terms, arena);
}

static struct gang find(const struct cluster *cluster, const char *key, struct arena *arena)
{
    const char *slash = strchr(key, '/');
    const char *namespace_ = arena_printf(arena, "%.*s", (int)(slash - key), key);
    return gangs_find(cluster, namespace_, slash + 1);
}

/* "": anywhere. */
static const char *domain_of(const struct cluster *cluster, const struct pod **pods, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (pods[i]->domain)
            return pods[i]->domain;
    }
    return cluster_policy(cluster)->gangs.domain;
}

/* Of two schedulers each would wait for what the other holds back. A plan keeps no devices. */
static const char *obstacle_of(const struct pod **pods, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const char *first = pods[0]->scheduler ? pods[0]->scheduler : "";
        if (strcmp(pods[i]->scheduler ? pods[i]->scheduler : "", first) != 0)
            return "its pods have two schedulers";
        if (pods[i]->claims)
            return "its pods have resource claims, for which no places are kept";
    }
    return NULL;
}

struct gang_plan gang_plan_members(const struct cluster *cluster, const char *key,
                                   struct arena *arena)
{
    const struct gang gang = find(cluster, key, arena);
    const struct pod **pods = ARENA_ARRAY(arena, const struct pod *, gang.n_unbound + 1);
    const size_t n_missing = gang_n_missing(&gang);
    struct gang_plan plan = {.key = arena_strdup(arena, key), .priority = INT64_MIN};
    size_t n = 0;
    for (const struct pod *pod = gangs_next_unbound(cluster, key, NULL); pod;
         pod = gangs_next_unbound(cluster, key, pod))
        pods[n++] = pod;
    qsort(pods, n, sizeof(const struct pod *), compare_age);
    plan.domain = arena_strdup(arena, domain_of(cluster, pods, n));
    const struct node *bound = gangs_bound_node(cluster, key);
    plan.bound_node = bound ? arena_strdup(arena, node_name(bound)) : NULL;
    plan.obstacle = obstacle_of(pods, n);
    plan.n = n < n_missing ? n : n_missing;
    plan.members = ARENA_ARRAY(arena, struct gang_member, plan.n + 1);
    for (size_t i = 0; i < plan.n; i++) {
        copy_member(&plan.members[i], pods[i], arena);
        plan.members[i].rank = (int64_t)i;
        plan.has_terms |= pods[i]->terms != NULL;
        plan.priority = pods[i]->priority > plan.priority ? pods[i]->priority : plan.priority;
    }
    qsort(plan.members, plan.n, sizeof *plan.members, compare_need);
    return plan;
}

/* ---- nodes ---- */

static struct fit_question question_of(struct cluster *fork, const struct gang_member *member,
                                       struct arena *arena)
{
    struct fit_question wanted = {
        .shape = cluster_resolve(fork, member->shape, arena),
        .scope = FIT_ALL,
        .asker = member->asker,
        .peer = &member->peer,
    };
    wanted.peers = peer_rules_of(fork, &member->peer, wanted.shape, arena);
    return fit_question_of(fork, member->namespace_, &wanted, QUOTA_NO_CLAIMS, arena);
}

/* Uses up all room there. */
static void avoid(struct cluster *fork, const struct node *node)
{
    size_t n = 0;
    const struct node_resource *rows = node_resources(node, &n);
    for (size_t i = 0; i < n; i++) {
        const struct need need = {rows[i].resource, node_resource_free(&rows[i])};
        const struct pod_shape rest = {.needs = &need, .n_needs = 1};
        if (need.amount > 0)
            cluster_place(fork, node, &rest, 1);
    }
}

/* ---- labels that matter ---- */

/* Keys that selectors of pods ask for; other labels, as an index, make no kind of pods. */
struct asked_keys {
    const char *items[ASKED_KEYS_MAX];
    size_t n;
    bool is_cut; /* all labels matter */
};

static void ask_for(struct asked_keys *keys, const struct selector_term *selector)
{
    for (size_t i = 0; i < selector->n_requirements; i++) {
        const char *key = selector->requirements[i].key;
        size_t at = 0;
        while (at < keys->n && strcmp(keys->items[at], key) != 0)
            at++;
        if (at < keys->n)
            continue;
        keys->is_cut |= at == ASKED_KEYS_MAX;
        if (at < ASKED_KEYS_MAX)
            keys->items[keys->n++] = key;
    }
}

static void ask_for_terms(struct asked_keys *keys, const struct peer_facts *terms)
{
    for (size_t i = 0; terms && i < terms->n_affinity; i++)
        ask_for(keys, &terms->affinity[i].selector);
    for (size_t i = 0; terms && i < terms->n_anti_affinity; i++)
        ask_for(keys, &terms->anti_affinity[i].selector);
    for (size_t i = 0; terms && i < terms->n_spread; i++)
        ask_for(keys, &terms->spread[i].selector);
}

/* Pods of one controller come one after the other, and have the same terms. */
static void ask_for_peers(struct asked_keys *keys, const struct cluster *fork)
{
    const struct peer_facts *last = NULL;
    size_t n = 0;
    const struct peer *peers = cluster_peers(fork, PEERS_REPELLING, &n);
    for (size_t i = 0; i < n && !keys->is_cut; i++) {
        if (peers[i].terms != last)
            ask_for_terms(keys, peers[i].terms);
        last = peers[i].terms;
    }
    const struct nominated_peer *nominated = cluster_nominated_peers(fork, &n);
    for (size_t i = 0; i < n && !keys->is_cut; i++)
        ask_for_terms(keys, nominated[i].peer.terms);
}

static bool is_asked_for(const struct asked_keys *keys, const char *key)
{
    for (size_t i = 0; i < keys->n && !keys->is_cut; i++) {
        if (strcmp(keys->items[i], key) == 0)
            return true;
    }
    return keys->is_cut;
}

static uint64_t hash_labels(const struct peer_facts *labels, const struct asked_keys *keys)
{
    uint64_t hash = 0;
    for (size_t i = 0; labels && i < labels->n_labels; i++) {
        const struct label *label = &labels->labels[i];
        const uint64_t parts[] = {hash, hash_text(label->key), hash_text(label->value)};
        if (is_asked_for(keys, label->key))
            hash = hash_bytes(parts, sizeof parts);
    }
    return hash;
}

/* ---- kinds and domains ---- */

/* Members that are alike are placed together. */
struct gang_kind {
    struct gang_member *members;
    size_t n;
    struct fit_question question;
    struct topology_room *rooms; /* the same domains for all kinds */
};

/* Where the members may go. */
struct gang_place {
    struct cluster *fork;
    struct gang_plan *plan;
    struct arena *arena;
    struct domain_wish wish;
    struct gang_kind *kinds;
    size_t n_kinds, n_rooms;
};

/* How many such pods would have room if the cluster were empty, in all of it or in the best domain;
 * at most n of the kind. */
static size_t could_fit(const struct gang_place *place, const struct gang_kind *kind)
{
    const struct pod_shape *shape = kind->question.shape;
    const bool in_one = place->wish.rule == DOMAIN_REQUIRE;
    int64_t *counts =
        ARENA_ARRAY(place->arena, int64_t, in_one ? cluster_end_of_domains(place->fork) : 1);
    int64_t best = 0;
    for (const struct node *node = cluster_next_node(place->fork, NULL);
         node && best < (int64_t)kind->n; node = cluster_next_node(place->fork, node)) {
        const domain_id id = in_one ? node_domain(node, place->wish.level) : 0;
        int64_t most = INT64_MAX;
        for (size_t i = 0; i < shape->n_needs; i++) {
            const struct node_resource *row = node_find_resource(node, shape->needs[i].resource);
            const int64_t fits = row ? row->allocatable / shape->needs[i].amount : 0;
            most = fits < most ? fits : most;
        }
        if (admit_node(node, shape) && admit_model(node, shape) == REASON_FITS)
            counts[id] = amount_add(counts[id], most);
        best = (!in_one || id) && counts[id] > best ? counts[id] : best;
    }
    return best < (int64_t)kind->n ? (size_t)best : kind->n;
}

/* One verdict serves both. */
static bool are_alike(const struct gang_member *a, const struct gang_member *b)
{
    return a->like == b->like && a->asker.priority == b->asker.priority &&
           a->terms_like == b->terms_like && a->labels_like == b->labels_like;
}

static void hash_members(const struct gang_place *place)
{
    struct gang_plan *plan = place->plan;
    struct asked_keys keys = {.n = 0};
    ask_for_peers(&keys, place->fork);
    for (size_t i = 0; i < plan->n; i++)
        ask_for_terms(&keys, plan->members[i].peer.terms);
    for (size_t i = 0; i < plan->n; i++)
        plan->members[i].labels_like = hash_labels(plan->members[i].peer.labels, &keys);
}

static int compare_kinds(const void *a, const void *b)
{
    const struct gang_member *left = a;
    const struct gang_member *right = b;
    if (left->kind != right->kind)
        return left->kind < right->kind ? -1 : 1;
    return compare_need(a, b);
}

/* A fork costs as much as so many kinds. */
#define FORK_KINDS 4

/* 1..most. */
static size_t within(size_t n, size_t most)
{
    return n > most ? most : n > 0 ? n : 1;
}

static size_t kinds_of(const struct gang_place *place)
{
    return within(GANG_JUDGED_MAX / (cluster_n_nodes(place->fork) + 1), GANG_KINDS_MAX);
}

/* Puts members that are alike together. False: there are too many kinds. */
static bool find_kinds(struct gang_place *place)
{
    struct gang_plan *plan = place->plan;
    const struct gang_member *firsts[GANG_KINDS_MAX];
    place->kinds = ARENA_ARRAY(place->arena, struct gang_kind, GANG_KINDS_MAX);
    hash_members(place);
    for (size_t i = 0; i < plan->n; i++) {
        size_t kind = 0;
        while (kind < place->n_kinds && !are_alike(firsts[kind], &plan->members[i]))
            kind++;
        if (kind == kinds_of(place))
            return false;
        if (kind == place->n_kinds)
            firsts[place->n_kinds++] = &plan->members[i];
        plan->members[i].kind = kind;
        place->kinds[kind].n++;
    }
    qsort(plan->members, plan->n, sizeof *plan->members, compare_kinds);
    for (size_t i = 0; i < place->n_kinds; i++)
        place->kinds[i].members =
            i > 0 ? place->kinds[i - 1].members + place->kinds[i - 1].n : plan->members;
    return true;
}

static void find_rooms(struct gang_place *place)
{
    for (size_t i = 0; i < place->n_kinds; i++) {
        struct gang_kind *kind = &place->kinds[i];
        kind->question = question_of(place->fork, &kind->members[0], place->arena);
        kind->rooms = what_if_rooms(place->fork, &kind->question, place->wish.level, place->arena,
                                    &place->n_rooms);
    }
}

/* Of a domain for all kinds: 0 members if one of them alone has no room. */
static struct topology_room *rooms_for_all(const struct gang_place *place)
{
    struct topology_room *rooms = ARENA_ARRAY(place->arena, struct topology_room, place->n_rooms);
    const struct node *bound =
        place->plan->bound_node ? cluster_find_node(place->fork, place->plan->bound_node) : NULL;
    for (size_t i = 0; i < place->n_rooms; i++) {
        rooms[i] = place->kinds[0].rooms[i];
        rooms[i].n_members = 1;
        for (size_t j = 0; j < place->n_kinds; j++) {
            if (place->kinds[j].rooms[i].n_members < (int64_t)place->kinds[j].n)
                rooms[i].n_members = 0;
        }
        if (bound && node_domain(bound, place->wish.level) != rooms[i].id)
            rooms[i].n_members = 0;
    }
    return rooms;
}

static size_t tries_of(const struct gang_place *place)
{
    return within(GANG_JUDGED_MAX / (place->n_kinds + FORK_KINDS) /
                      (cluster_n_nodes(place->fork) + 1),
                  GANG_TRIES_MAX);
}

/* The best domain with room for each kind that was not tried; 0: none. */
static domain_id one_domain(const struct gang_place *place)
{
    struct topology_room *rooms = rooms_for_all(place);
    domain_id id = 0;
    for (size_t i = 0; i <= place->plan->n_tried; i++) {
        const struct topology_room *room = topology_best(rooms, place->n_rooms, 1);
        id = room ? room->id : 0;
        if (!room)
            break;
        rooms[room - rooms].n_members = 0;
    }
    place->plan->has_more =
        id && topology_best(rooms, place->n_rooms, 1) && place->plan->n_tried + 1 < tries_of(place);
    return id;
}

static void lacks_domain(struct gang_place *place)
{
    const struct gang_kind *kind = &place->kinds[0];
    const bool is_equal = place->n_kinds == 1;
    const struct topology_lack lack = {
        .level = policy_level_name(cluster_policy(place->fork), place->wish.level),
        .n = (int64_t)place->plan->n,
        .gpus = is_equal ? kind->members[0].gpus : 0,
        .is_rest = place->plan->bound_node != NULL};
    place->plan->n_fit = place->plan->n;
    place->plan->lacks =
        is_equal ? topology_why_none(kind->rooms, place->n_rooms, &lack, place->arena)
                 : arena_printf(place->arena, "no %s has room for all of its pods", lack.level);
}

/* ---- the choice ---- */

/* By their domains, the outermost first, then by name. */
static int compare_nodes(const void *a, const void *b)
{
    const struct node *left = *(const struct node *const *)a;
    const struct node *right = *(const struct node *const *)b;
    for (size_t level = 0; level < TOPOLOGY_LEVELS_MAX; level++) {
        const int by_domain = compare_numbers(node_domain(left, level), node_domain(right, level));
        if (by_domain != 0)
            return by_domain;
    }
    return strcmp(node_name(left), node_name(right));
}

/* In these domains; NULL: anywhere. Returns whether all members have a place. */
static bool choose_kind(struct gang_place *place, struct gang_kind *kind, const bool *domains)
{
    const struct node **nodes = ARENA_ARRAY(place->arena, const struct node *, kind->n);
    kind->question = question_of(place->fork, &kind->members[0], place->arena);
    kind->question.domains = domains;
    kind->question.level = place->wish.level;
    const size_t n = what_if_place(place->fork, &kind->question, kind->n, nodes);
    place->plan->n_fit += n;
    /* Neighbours are near each other. */
    qsort(nodes, n, sizeof(const struct node *), compare_nodes);
    for (size_t i = 0; i < kind->n && n == kind->n; i++)
        kind->members[i].node = arena_strdup(place->arena, node_name(nodes[i]));
    return n == kind->n;
}

/* To the fewest domains, if there is room in them. */
static const bool *few_domains(struct gang_place *place, struct gang_kind *kind)
{
    bool *domains = ARENA_ARRAY(place->arena, bool, cluster_end_of_domains(place->fork));
    size_t n = 0;
    struct topology_room *rooms =
        what_if_rooms(place->fork, &kind->question, place->wish.level, place->arena, &n);
    if (topology_prefer(rooms, n, (int64_t)kind->n) == 0)
        return NULL;
    for (size_t i = 0; i < n; i++)
        domains[rooms[i].id] = rooms[i].n_taken > 0;
    return domains;
}

/* The GPUs that the node lacks for such a pod. */
static int64_t lack_of(const struct node *node, const struct fit_question *question)
{
    int64_t lack = 0;
    for (size_t i = 0; i < question->shape->n_gpu_needs; i++)
        lack = amount_add(lack, fit_lack(node, question, &question->shape->needs[i]));
    return lack;
}

/* "lacks 8 H100": on the node that has most for the next such pod. */
static const char *lacks_text(const struct cluster *fork, const struct fit_question *question,
                              struct arena *arena)
{
    const struct node *best = NULL;
    int64_t least = INT64_MAX;
    for (const struct node *node = cluster_next_node(fork, NULL); node;
         node = cluster_next_node(fork, node)) {
        const bool is_admitted =
            admit_node(node, question->shape) && admit_model(node, question->shape) == REASON_FITS;
        const int64_t lack = is_admitted ? lack_of(node, question) : INT64_MAX;
        best = lack < least ? node : best;
        least = lack < least ? lack : least;
    }
    if (!best)
        return "finds no node that admits it";
    if (least == 0)
        return arena_printf(arena, "finds no node: %s",
                            fit_text(best, question, fit_judge(best, question)));
    const struct gpu_kind *kind = admit_next_kind(node_traits(best), question->shape, NULL);
    const bool is_known = kind && kind->model.chip[0];
    return arena_printf(arena, "lacks %lld %s", (long long)least,
                        is_known ? gpu_model_name(&kind->model, arena) : "GPUs");
}

static enum gang_choice explain_lack(struct gang_place *place, const struct gang_kind *kind)
{
    const size_t n_could = could_fit(place, kind);
    place->plan->lacks =
        n_could == kind->n
            ? lacks_text(place->fork, &kind->question, place->arena)
            : arena_printf(place->arena, "an empty cluster has room for %zu of %zu such pods",
                           n_could, kind->n);
    return n_could == kind->n ? GANG_NO_ROOM : GANG_NEVER_FITS;
}

static enum gang_choice choose_all(struct gang_place *place, const bool *domains)
{
    for (size_t i = 0; i < place->n_kinds; i++) {
        struct gang_kind *kind = &place->kinds[i];
        const bool *few =
            domains || place->wish.rule != DOMAIN_PREFER ? domains : few_domains(place, kind);
        if (!choose_kind(place, kind, few))
            return explain_lack(place, kind);
    }
    return GANG_CHOSEN;
}

/* No further domain is tried: `prefer` may use any node, and `require` none. */
static enum gang_choice choose_without(struct gang_place *place)
{
    enum gang_choice choice = GANG_NO_ROOM;
    if (place->wish.rule == DOMAIN_PREFER)
        return choose_all(place, NULL);
    for (size_t i = 0; i < place->n_kinds && choice == GANG_NO_ROOM; i++)
        choice = could_fit(place, &place->kinds[i]) == place->kinds[i].n ? GANG_NO_ROOM
                                                                         : GANG_NEVER_FITS;
    lacks_domain(place);
    return choice;
}

static enum gang_choice choose_by_wish(struct gang_place *place)
{
    find_rooms(place);
    const domain_id id = place->plan->n_tried < tries_of(place) ? one_domain(place) : 0;
    if (id == 0)
        return choose_without(place);
    bool *domains = ARENA_ARRAY(place->arena, bool, cluster_end_of_domains(place->fork));
    domains[id] = true;
    const enum gang_choice choice = choose_all(place, domains);
    if (choice != GANG_CHOSEN)
        lacks_domain(place);
    place->plan->has_more |= choice != GANG_CHOSEN && place->wish.rule == DOMAIN_PREFER;
    place->plan->n_tried++;
    return choice;
}

/* ---- what no end of another pod would change ---- */

/* All of them, also those in use. */
static int64_t gpus_on(const struct node *node)
{
    size_t n = 0;
    int64_t gpus = 0;
    const struct node_resource *rows = node_resources(node, &n);
    for (size_t i = 0; i < n; i++)
        gpus = amount_add(gpus, rows[i].resource->is_gpu ? rows[i].allocatable : 0);
    return gpus;
}

static const char *beyond_quota(const struct gang_place *place, const struct quota *quota)
{
    for (size_t i = 0; i < quota->n_limits; i++) {
        const struct quota_limit *limit = &quota->limits[i];
        int64_t asked = 0;
        for (size_t k = 0; k < place->n_kinds && !limit->model; k++) {
            const struct fit_question *question = &place->kinds[k].question;
            if (quota_counts(question->quota, limit))
                asked += quota_need(question->shape, limit) * (int64_t)place->kinds[k].n;
        }
        const int64_t most = amount_add(limit->gpus, limit->borrow.gpus);
        if (asked > most)
            return arena_printf(place->arena,
                                "quota %s allows %lld GPUs, and its pods ask for %lld", quota->name,
                                (long long)most, (long long)asked);
    }
    return NULL;
}

static bool is_for_any(const struct gang_place *place, const struct node *node)
{
    for (size_t i = 0; i < place->n_kinds; i++) {
        const struct pod_shape *shape = place->kinds[i].question.shape;
        if (admit_node(node, shape) && admit_model(node, shape) == REASON_FITS)
            return true;
    }
    return false;
}

static const char *beyond_cluster(const struct gang_place *place)
{
    int64_t asked = 0;
    int64_t there = 0;
    for (size_t i = 0; i < place->plan->n; i++)
        asked = amount_add(asked, place->plan->members[i].gpus);
    for (const struct node *node = cluster_next_node(place->fork, NULL); node;
         node = cluster_next_node(place->fork, node)) {
        if (is_for_any(place, node))
            there = amount_add(there, gpus_on(node));
    }
    if (asked <= there)
        return NULL;
    return arena_printf(place->arena, "its pods ask for %lld GPUs, and their nodes have %lld",
                        (long long)asked, (long long)there);
}

/* There is no room now: whether there can ever be. */
static enum gang_choice choose_never(struct gang_place *place)
{
    const struct policy *policy = cluster_policy(place->fork);
    for (size_t i = 0; i < place->n_kinds; i++)
        place->kinds[i].question =
            question_of(place->fork, &place->kinds[i].members[0], place->arena);
    const char *why = place->n_kinds > 1 ? beyond_cluster(place) : NULL;
    for (size_t i = 0; i < policy->n_quotas && !why; i++)
        why = beyond_quota(place, &policy->quotas[i]);
    if (!why)
        return GANG_NO_ROOM;
    place->plan->lacks = why;
    place->plan->has_more = false;
    return GANG_NEVER_FITS;
}

enum gang_choice gang_plan_choose(struct cluster *fork, struct gang_plan *plan,
                                  bool (*avoids)(const void *context, const char *node),
                                  const void *context, struct arena *arena)
{
    struct gang_place place = {.fork = fork, .plan = plan, .arena = arena};
    plan->n_fit = 0;
    plan->lacks = NULL;
    plan->has_more = false;
    plan->n_avoided = 0;
    for (const struct node *node = cluster_next_node(fork, NULL); node;
         node = cluster_next_node(fork, node)) {
        if (!avoids(context, node_name(node)))
            continue;
        avoid(fork, node);
        if (plan->n_avoided++ == 0)
            plan->avoided = arena_strdup(arena, node_name(node));
    }
    if (plan->obstacle) {
        plan->lacks = plan->obstacle;
        return GANG_NEVER_FITS;
    }
    if (!find_kinds(&place)) {
        plan->lacks = arena_printf(arena, "its pods are of more than %zu kinds", kinds_of(&place));
        return GANG_NEVER_FITS;
    }
    const bool asks = policy_read_domain(cluster_policy(fork), plan->domain, &place.wish);
    const enum gang_choice choice =
        asks && plan->n > 0 ? choose_by_wish(&place) : choose_all(&place, NULL);
    return choice == GANG_NO_ROOM ? choose_never(&place) : choice;
}

static int64_t total_of(const struct cluster *fork, const char *model)
{
    int64_t total = 0;
    for (const struct node *node = cluster_next_node(fork, NULL); node;
         node = cluster_next_node(fork, node)) {
        if (node_traits(node)->model_word == model)
            total = amount_add(total, gpus_on(node));
    }
    return total;
}

size_t gang_plan_models(const struct cluster *fork, const struct gang_plan *plan,
                        struct arena *arena, struct gang_model **ret_models)
{
    struct gang_model *models = ARENA_ARRAY(arena, struct gang_model, plan->n + 1);
    size_t n = 0;
    for (size_t i = 0; i < plan->n; i++) {
        const struct gang_member *member = &plan->members[i];
        const char *model = node_traits(cluster_find_node(fork, member->node))->model_word;
        size_t at = 0;
        while (at < n && models[at].model != model)
            at++;
        if (at == n)
            models[n++] = (struct gang_model){.model = model, .total = total_of(fork, model)};
        models[at].gpus = amount_add(models[at].gpus, member->gpus);
    }
    *ret_models = models;
    return n;
}

/* ---- in the ledger ---- */

/* As any nominated pod: places of the group's other members are kept from it, so that all together
 * must have room, also of what kube-scheduler counts. Affinity between pods is not judged again. */
static bool has_room(const struct cluster *cluster, const struct pod *pod, int64_t now_ms,
                     struct arena *arena)
{
    const struct fit_question wanted = {.shape = pod->shape,
                                        .refusal = pod->refusal,
                                        .scope = FIT_ALL,
                                        .asker = asker_from_pod(pod)};
    const struct fit_question question =
        fit_question_of(cluster, pod->namespace_, &wanted, now_ms, arena);
    const struct node *node = cluster_find_node(cluster, pod->planned_node);
    struct asker unplanned = question.asker;
    unplanned.nominated_node = pod->nominated_node; /* the plan is no reason to go to a sick node */
    return fit_judge(node, &question) == REASON_FITS &&
           (!node || quarantine_judge(node, pod->shape, &unplanned) == REASON_FITS);
}

bool gang_plan_holds(const struct cluster *cluster, const char *key, int64_t now_ms)
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    bool holds = gangs_keep_to_domain(cluster, key);
    for (const struct pod *pod = gangs_next_unbound(cluster, key, NULL); pod && holds;
         pod = gangs_next_unbound(cluster, key, pod))
        holds = !pod->planned_node[0] || has_room(cluster, pod, now_ms, arena);
    return holds;
}

bool gang_plan_keep(struct cluster *cluster, const struct gang_plan *plan, int64_t now_ms)
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    for (size_t i = 0; i < plan->n; i++)
        gangs_place(cluster, plan->members[i].uid, plan->members[i].node,
                    plan->members[i].kind + 1);
    const struct gang gang = find(cluster, plan->key, arena);
    const bool is_whole = gang.n_planned == plan->n && gang_n_missing(&gang) == plan->n;
    if (is_whole && gang_plan_holds(cluster, plan->key, now_ms))
        return true;
    gangs_drop(cluster, plan->key);
    return false;
}
