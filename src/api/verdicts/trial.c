/* trial: see trial.h. */
#include "api/verdicts/trial.h"
#include "api/dry_run/domain_run.h"
#include "api/pods/pod_json.h"
#include "base/mem.h"
#include "decide/claim_rules.h"
#include "decide/peer_rules.h"
#include "decide/quota.h"
#include "decide/what_if.h"
#include "ledger/gpu_demand.h"

#include <string.h>

/* Pods that are placed one by one, each on its best node. Of the others only the number counts: of
 * several roles it depends on the order, so they have as many as the dry run that follows. */
#define PLACED_ONE_BY_ONE ((size_t)100)
/* Nodes that are weighed again in the time of a verdict. */
#define WEIGHED_OF_A_VERDICT 16

int64_t trials_n_pods(const struct trials *trials)
{
    int64_t n = 0;
    for (size_t i = 0; i < trials->n_roles; i++) {
        if (__builtin_add_overflow(n, trials->roles[i].n, &n))
            return INT64_MAX;
    }
    return n;
}

static size_t one_by_one(const struct trials *trials, int64_t n)
{
    const size_t most = trials->n_roles > 1 ? trials->n_listed : PLACED_ONE_BY_ONE;
    return (uint64_t)n < most ? (size_t)n : most;
}

static bool pay(struct trials *trials)
{
    const size_t n_nodes = 1 + cluster_n_nodes(trials->fork);
    size_t n_peers = 0;
    size_t price = 0;
    (void)cluster_peers(trials->fork, PEERS_REPELLING, &n_peers);
    for (size_t i = 0; i < trials->n_roles; i++)
        price += (trials->wish.rule == DOMAIN_ANY ? 2 : 3) *
                     pod_price(&trials->roles[i].question->shape->facts) * n_nodes +
                 one_by_one(trials, trials->roles[i].n) * (1 + n_nodes / WEIGHED_OF_A_VERDICT) +
                 n_peers / PEERS_OF_A_VERDICT;
    for (size_t i = 0; i < trials->n_before; i++)
        price += 2 * pod_price(&trials->before[i].question->shape->facts) * n_nodes +
                 n_peers / PEERS_OF_A_VERDICT;
    trials->is_cut = trials->is_cut || trials->n_run == TRIALS_MAX || price > trials->left ||
                     price > *trials->answer_left;
    if (trials->is_cut)
        return false;
    trials->n_run++;
    trials->left -= price;
    *trials->answer_left -= price;
    return true;
}

/* As it is in that namespace. */
static const struct peer_pod *peer_in(const struct peer_pod *peer, const char *namespace_,
                                      struct arena *arena)
{
    struct peer_pod *moved = ARENA_NEW(arena, struct peer_pod);
    *moved = *peer;
    moved->namespace_ = namespace_;
    return moved;
}

static const struct peer_pod *without_rule(const struct peer_pod *peer, enum reason rule,
                                           struct arena *arena)
{
    struct peer_pod *freed = ARENA_NEW(arena, struct peer_pod);
    struct peer_facts *terms = ARENA_NEW(arena, struct peer_facts);
    *freed = *peer;
    *terms = *peer->terms;
    if (rule == REASON_TOPOLOGY_SPREAD)
        terms->n_spread = 0;
    else if (rule == REASON_POD_AFFINITY)
        terms->n_affinity = 0;
    else
        terms->n_anti_affinity = 0;
    freed->terms = peer_facts_have_terms(terms) ? terms : NULL;
    return freed;
}

/* Without the quota and the pods that depend on what is placed. */
static struct fit_question wanted_of(const struct trials *trials, const struct trial *trial,
                                     size_t i, struct arena *arena)
{
    const struct trial_role *role = &trials->roles[i];
    const char *namespace_ = trial->namespace_ ? trial->namespace_ : role->namespace_;
    struct fit_question wanted = *role->question;
    if (trial->priority_class)
        (void)cluster_priority_of_class(trials->fork, trial->priority_class,
                                        &wanted.asker.priority);
    if (wanted.peer && trial->namespace_)
        wanted.peer = peer_in(wanted.peer, namespace_, arena);
    if (trial->lifted_rule && wanted.peer && wanted.peer->terms)
        wanted.peer = without_rule(wanted.peer, trial->lifted_rule, arena);
    if (trial->facts)
        wanted.shape = cluster_resolve(trials->fork, &trial->facts[i], arena);
    wanted.quota = NULL;
    if (trial->node_name && wanted.node_name && wanted.node_name[0] &&
        (!trial->node_name[0] || !cluster_find_node(trials->fork, wanted.node_name)))
        wanted.node_name = trial->node_name;
    return wanted;
}

static struct fit_question question_of(const struct trials *trials, const struct trial *trial,
                                       const struct trial_role *role, const bool *domains,
                                       struct arena *arena)
{
    struct fit_question wanted = wanted_of(trials, trial, (size_t)(role - trials->roles), arena);
    wanted.domains = domains;
    wanted.level = trials->wish.level;
    if (wanted.peer)
        wanted.peers = peer_rules_of(trials->fork, wanted.peer, wanted.shape, arena);
    const struct fit_question question =
        fit_question_of(trials->fork, trial->namespace_ ? trial->namespace_ : role->namespace_,
                        &wanted, QUOTA_NO_CLAIMS, arena);
    if (trial->lifts_quota)
        quota_lift(question.quota);
    if (trial->facts || role->is_new) /* as a dry run of the changed workload */
        gpu_demand_expect(trials->fork, wanted.shape, role->n);
    return question;
}

static bool has_node(const struct trial_end *end, const struct node *node)
{
    for (size_t i = 0; i < end->n_nodes && i < TRIAL_NODES; i++) {
        if (end->nodes[i] == node)
            return true;
    }
    return false;
}

/* Pods that go to one node mostly follow each other. */
static void note_nodes(struct trial_end *end, const struct node *const *nodes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (has_node(end, nodes[i]) || (i > 0 && nodes[i] == nodes[i - 1]))
            continue;
        if (end->n_nodes < TRIAL_NODES)
            end->nodes[end->n_nodes] = nodes[i];
        end->n_nodes++;
    }
}

static struct raised_limit *find_raised(struct trial_end *end, const struct quota_limit *limit,
                                        bool borrows)
{
    size_t i = 0;
    while (i < end->n_raised &&
           (end->raised[i].limit != limit || end->raised[i].borrows != borrows))
        i++;
    return &end->raised[i];
}

/* By how much the other count of the limit is raised: that helps their sum, too. */
static int64_t raised_beside(struct trial_end *end, const struct quota_short *lack)
{
    const struct raised_limit *other = find_raised(end, lack->limit, !lack->borrows);
    if (!lack->is_sum || other == &end->raised[end->n_raised])
        return 0;
    return other->gpus - (other->borrows ? lack->limit->borrow.gpus : lack->limit->gpus);
}

/* A later role raises it further. */
static void note_limits(struct trial_end *end, const struct quota_view *view,
                        const struct cluster *fork)
{
    struct quota_short lack = {0};
    while (quota_next_exceeded(view, fork, &lack)) {
        struct raised_limit *raised = find_raised(end, lack.limit, lack.borrows);
        const bool is_new = raised == &end->raised[end->n_raised];
        const int64_t gpus = lack.most - lack.left - raised_beside(end, &lack);
        if (gpus <= (is_new ? lack.most : raised->gpus))
            continue;
        end->raises_more |= is_new && end->n_raised == TRIAL_LIMITS;
        if (end->raises_more)
            return;
        *raised = (struct raised_limit){lack.quota, lack.limit, lack.borrows, gpus};
        end->n_raised += is_new;
    }
}

static bool place_each(struct trials *trials, const struct fit_question *question,
                       struct trial_end *end, struct arena *arena)
{
    const size_t n_nodes = cluster_n_nodes(trials->fork);
    const struct node **nodes = ARENA_ARRAY(arena, const struct node *, n_nodes);
    enum reason *verdicts = ARENA_ARRAY(arena, enum reason, n_nodes);
    const size_t n = what_if_place_each(trials->fork, question, nodes, verdicts);
    note_nodes(end, nodes, n);
    end->n_pods += (int64_t)n;
    for (size_t i = 0; i < n; i++) {
        if (verdicts[i] != REASON_FITS)
            return false;
    }
    return n > 0;
}

/* The nodes among which a single pod has the choice. */
static size_t n_choices(const struct trials *trials, const struct fit_question *question)
{
    size_t n = 0;
    if (trials_n_pods(trials) != 1)
        return 0;
    for (const struct node *node = cluster_next_node(trials->fork, NULL); node;
         node = cluster_next_node(trials->fork, node))
        n += fit_judge(node, question) == REASON_FITS;
    return n;
}

static bool place_role(struct trials *trials, const struct fit_question *question,
                       const struct trial_role *role, int64_t n, struct trial_end *end)
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    const size_t n_listed = one_by_one(trials, n);
    const struct node **nodes = ARENA_ARRAY(arena, const struct node *, n_listed);
    if (role->per_node)
        return place_each(trials, question, end, arena);
    end->n_choices = n_choices(trials, question);
    const size_t n_placed = what_if_place(trials->fork, question, n_listed, nodes);
    note_nodes(end, nodes, n_placed);
    if (__builtin_add_overflow(end->n_pods, n, &end->n_pods))
        end->n_pods = INT64_MAX;
    if (n_placed < n_listed)
        return false;
    const int64_t n_rest = n - (int64_t)n_listed;
    return what_if_fill(trials->fork, question, n_rest).n == n_rest;
}

/* As many as find a place. */
static void place_before(struct trials *trials, const struct trial *trial,
                         const struct trial_role *role, struct arena *arena)
{
    struct fit_question wanted = *role->question;
    if (wanted.peer)
        wanted.peers = peer_rules_of(trials->fork, wanted.peer, wanted.shape, arena);
    struct fit_question question =
        fit_question_of(trials->fork, role->namespace_, &wanted, QUOTA_NO_CLAIMS, arena);
    if (trial->lifts_quota)
        quota_lift(question.quota);
    (void)what_if_place(trials->fork, &question, (size_t)role->n,
                        ARENA_ARRAY(arena, const struct node *, (size_t)role->n));
}

static struct claim_rules *try_claims(const struct trial *trial, struct claim_rules *devices,
                                      struct arena *arena)
{
    struct claim_rules *tried = claim_rules_try(devices, arena);
    if (tried && trial->most_devices > 0)
        claim_rules_limit_devices(tried, trial->most_devices);
    return tried;
}

static bool try_role(struct trials *trials, const struct trial *trial,
                     const struct trial_role *role, const struct fit_question *question,
                     struct trial_end *end)
{
    const int64_t n_left = trial->n_pods - end->n_pods;
    const int64_t n = trial->n_pods > 0 && n_left < role->n ? n_left : role->n;
    const bool fits = place_role(trials, question, role, n, end);
    if (trial->lifts_quota)
        note_limits(end, question->quota, trials->fork);
    return fits;
}

/* A role takes devices and room from those after it. The fork borrows from the arena until it is
 * rewound. */
static bool try_roles(struct trials *trials, const struct trial *trial, const bool *domains,
                      struct trial_end *end, struct arena *arena)
{
    struct claim_rules **tried = ARENA_ARRAY(arena, struct claim_rules *, trials->n_roles);
    bool fits = true;
    size_t n = 0;
    for (size_t i = 0; i < trials->n_before; i++)
        place_before(trials, trial, &trials->before[i], arena);
    while (fits && n < trials->n_roles) {
        const struct trial_role *role = &trials->roles[n];
        struct fit_question question = question_of(trials, trial, role, domains, arena);
        question.devices = tried[n++] = try_claims(trial, question.devices, arena);
        fits = try_role(trials, trial, role, &question, end);
    }
    while (n > 0)
        claim_rules_end_trial(tried[--n]);
    return fits;
}

/* By the pods of the role that asks for most GPUs, as many as need those of all roles. */
static struct domain_run domains_of(const struct trials *trials, const struct trial *trial,
                                    struct arena *arena)
{
    struct fit_question largest = {0};
    int64_t most = -1;
    int64_t sum = 0;
    for (size_t i = 0; i < trials->n_roles; i++) {
        const struct fit_question wanted = wanted_of(trials, trial, i, arena);
        const int64_t gpus = domain_run_gpus(wanted.shape);
        int64_t of_role = 0;
        if (__builtin_mul_overflow(gpus, trials->roles[i].n, &of_role) ||
            __builtin_add_overflow(sum, of_role, &sum))
            sum = INT64_MAX;
        if (gpus > most)
            largest = wanted;
        most = gpus > most ? gpus : most;
    }
    largest.peers = NULL; /* would be counted in each domain; placing the pods shows them */
    const int64_t n = most > 0 ? sum / most + (sum % most > 0) : trials_n_pods(trials);
    return domain_run_choose(trials->fork, &largest, &trials->wish,
                             trial->n_pods > 0 && trial->n_pods < n ? trial->n_pods : n, arena);
}

bool trial_run(struct trials *trials, const struct trial *trial, struct trial_end *ret_end)
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    struct trial_end end = {0};
    struct domain_run domains = {0};
    bool fits = pay(trials);
    if (!fits)
        return false;
    if (trial->vacated)
        cluster_vacate(trials->fork, trial->vacated, trial->needs, trial->n_needs);
    if (trials->wish.rule != DOMAIN_ANY && !trial->lifts_domain)
        domains = domains_of(trials, trial, arena);
    fits = domains.why_not == NULL && try_roles(trials, trial, domains.chosen, &end, arena);
    cluster_fork_rewind(trials->fork);
    if (fits)
        *ret_end = end;
    return fits;
}
