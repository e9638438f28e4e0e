/* peer_rules: see include/decide/peer_rules.h. First what matches, then counting, then judging. */
#include "decide/peer_rules.h"
#include "arena_table.h"
#include "ledger/admit.h"
#include "types/selector.h"

#include <string.h>

/* Comparisons of a requirement or a value that counting may take: some tenths of a second. */
#define COMPARISONS_MAX ((int64_t)30000000)

enum rule_kind { RULE_SPREAD, RULE_AFFINITY, RULE_ANTI_AFFINITY, RULE_REPELLED };

/* The nodes with one value of the rule's topology key. */
struct domain {
    struct arena_item item; /* by the value, a text of the fork's node */
    int64_t count;
};

struct peer_rule {
    enum rule_kind kind;
    const char *key;
    const struct peer_term *term;           /* of affinity and anti-affinity */
    const struct spread_constraint *spread; /* of topology spread */
    struct arena_table domains;
    int64_t own;     /* what one such pod adds */
    int64_t lowest;  /* count of a domain, of topology spread; INT64_MAX: no domain */
    size_t n_lowest; /* domains with that count */
};

struct peer_rules {
    const struct cluster *fork;
    struct peer_pod pod;
    const struct pod_shape *shape;
    struct arena *arena;
    struct peer_rule *items; /* spread, affinity, anti-affinity, then repelled, each by key */
    size_t n;
    size_t n_spread, n_affinity; /* the first ones */
    int64_t n_affine;            /* sum over all domains of the affinity rules */
    bool is_affine_to_itself;
    int64_t comparisons_left;
    struct arena_table memo;     /* of struct repelled_terms, by the terms of other pods */
    struct arena_table promises; /* of struct promised_node, by the node */
    int64_t *changed;            /* an item a rule; of peer_rules_judge_changed() */
};

/* The weights that a nominated pod adds to the rules on its node. */
struct promise {
    const struct nominated_peer *to;
    int64_t *weights;
    struct promise *next;
};

struct promised_node {
    struct arena_item item;
    const struct node *node;
    struct promise *first;
};

/* The topology keys by which the anti-affinity of other pods concerns this one. */
struct repelled_terms {
    struct arena_item item;
    const struct peer_facts *terms;
    const char **keys; /* one for each term that matches */
    size_t n_keys;
};

/* The key of the memo is the address. */
#define POINTER_BYTES sizeof(const void *)

/* ---- what matches ---- */

static bool selects(const struct selector_term *term, const struct label *labels, size_t n_labels)
{
    const struct label_view view = {.node_name = "", .labels = labels, .n_labels = n_labels};
    return selector_term_holds(term, &view);
}

static bool selects_pod(const struct selector_term *term, bool selects_none,
                        const struct peer_facts *labels)
{
    return !selects_none &&
           selects(term, labels ? labels->labels : NULL, labels ? labels->n_labels : 0);
}

/* Whether the term of a pod in `own` selects that namespace. */
static bool selects_namespace(const struct cluster *fork, const struct peer_term *term,
                              const char *own, const char *namespace_)
{
    if (term->n_namespaces == 0 && !term->selects_namespaces)
        return strcmp(own, namespace_) == 0;
    for (size_t i = 0; i < term->n_namespaces; i++) {
        if (strcmp(term->namespaces[i], namespace_) == 0)
            return true;
    }
    if (!term->selects_namespaces)
        return false;
    const struct label *labels = NULL;
    const size_t n = cluster_peer_namespace(fork, namespace_, &labels);
    return selects(&term->namespace_selector, labels, n);
}

static int64_t price_of(const struct peer_term *term)
{
    return 1 + (int64_t)(term->n_namespaces + term_comparisons(&term->selector) +
                         term_comparisons(&term->namespace_selector));
}

/* Whether the term of a pod in `own` selects the pod. */
static bool term_selects(struct peer_rules *rules, const struct peer_term *term, const char *own,
                         const char *namespace_, const struct peer_facts *labels)
{
    rules->comparisons_left -= price_of(term);
    return rules->comparisons_left > 0 && selects_namespace(rules->fork, term, own, namespace_) &&
           selects_pod(&term->selector, term->selects_none, labels);
}

static const char *value_of(const struct node *node, const char *key)
{
    const struct label_view *view = &node_traits(node)->view;
    return labels_find(view->labels, view->n_labels, key);
}

/* ---- counting ---- */

static struct domain *find_domain(const struct peer_rule *rule, const char *value)
{
    return (struct domain *)arena_table_find(&rule->domains, value, strlen(value));
}

static struct domain *find_or_add_domain(struct peer_rules *rules, struct peer_rule *rule,
                                         const char *value)
{
    struct domain *domain = find_domain(rule, value);
    if (domain)
        return domain;
    domain = ARENA_NEW(rules->arena, struct domain);
    arena_table_add(&rule->domains, &domain->item, value, strlen(value), rules->arena);
    return domain;
}

/* Nodes without the key are in no domain. */
static void count(struct peer_rules *rules, struct peer_rule *rule, const struct node *node,
                  int64_t n)
{
    const char *value = n > 0 ? value_of(node, rule->key) : NULL;
    if (!value)
        return;
    find_or_add_domain(rules, rule, value)->count += n;
    if (rule->kind == RULE_AFFINITY)
        rules->n_affine += n;
}

static bool has_all_spread_keys(const struct peer_rules *rules, const struct node *node)
{
    for (size_t i = 0; i < rules->n_spread; i++) {
        if (!value_of(node, rules->items[i].key))
            return false;
    }
    return true;
}

/* Whether the constraint's inclusion policies take the node. */
static bool takes_node(const struct peer_rules *rules, const struct spread_constraint *constraint,
                       const struct node *node)
{
    const struct node_traits *traits = node_traits(node);
    const struct shape_facts *facts = &rules->shape->facts;
    if (!constraint->ignores_affinity &&
        (!selector_term_holds(&facts->node_selector, &traits->view) ||
         !node_selector_holds(&facts->affinity, &traits->view)))
        return false;
    return !constraint->honors_taints ||
           !taints_first_untolerated(traits->taints, traits->n_taints, facts->tolerations,
                                     facts->n_tolerations);
}

static bool counts_here(const struct peer_rules *rules, const struct peer_rule *rule,
                        const struct node *node)
{
    return has_all_spread_keys(rules, node) && takes_node(rules, rule->spread, node);
}

/* The first minor version where an empty selector counts all pods (countPodsMatchSelector()). */
#define MINOR_SPREAD_OVER_ALL 38

static bool counts_all(const struct peer_rules *rules)
{
    return cluster_minor(rules->fork) >= MINOR_SPREAD_OVER_ALL;
}

static bool spread_counts(struct peer_rules *rules, const struct peer_rule *rule,
                          const struct peer *other)
{
    const struct spread_constraint *spread = rule->spread;
    if (other->terminating || (spread->selector.n_requirements == 0 && !counts_all(rules)) ||
        strcmp(other->namespace_, rules->pod.namespace_) != 0)
        return false;
    rules->comparisons_left -= (int64_t)(rules->n_spread + term_comparisons(&spread->selector));
    return rules->comparisons_left > 0 &&
           selects_pod(&spread->selector, spread->selects_none, other->labels) &&
           counts_here(rules, rule, other->node);
}

/* Whether the other pod matches all terms of the pod's affinity. */
static bool is_affine(struct peer_rules *rules, const char *namespace_,
                      const struct peer_facts *labels)
{
    const struct peer_facts *terms = rules->pod.terms;
    for (size_t i = 0; i < terms->n_affinity; i++) {
        if (!term_selects(rules, &terms->affinity[i], rules->pod.namespace_, namespace_, labels))
            return false;
    }
    return terms->n_affinity > 0;
}

static struct peer_rule *find_or_add_repelled(struct peer_rules *rules, const char *key)
{
    for (size_t i = 0; i < rules->n; i++) {
        struct peer_rule *rule = &rules->items[i];
        if (rule->kind == RULE_REPELLED && strcmp(rule->key, key) == 0)
            return rule;
    }
    if ((rules->n & (rules->n - 1)) == 0) {
        struct peer_rule *more =
            ARENA_ARRAY(rules->arena, struct peer_rule, rules->n > 0 ? 2 * rules->n : 1);
        if (rules->n > 0)
            memcpy(more, rules->items, rules->n * sizeof *more);
        rules->items = more;
    }
    struct peer_rule *added = &rules->items[rules->n++];
    *added = (struct peer_rule){.kind = RULE_REPELLED, .key = key};
    return added;
}

/* Many pods share their terms, so each set of terms is compared once. */
static const struct repelled_terms *repelled_by(struct peer_rules *rules, const struct peer *other)
{
    const struct peer_facts *terms = other->terms;
    struct repelled_terms *found =
        (struct repelled_terms *)arena_table_find(&rules->memo, &terms, POINTER_BYTES);
    if (found)
        return found;
    found = ARENA_NEW(rules->arena, struct repelled_terms);
    found->terms = terms;
    found->keys = ARENA_ARRAY(rules->arena, const char *, terms->n_anti_affinity);
    for (size_t i = 0; i < terms->n_anti_affinity; i++) {
        const struct peer_term *term = &terms->anti_affinity[i];
        if (term_selects(rules, term, other->namespace_, rules->pod.namespace_, rules->pod.labels))
            found->keys[found->n_keys++] = term->topology_key;
    }
    arena_table_add(&rules->memo, &found->item, &found->terms, POINTER_BYTES, rules->arena);
    return found;
}

/* What the other pod adds to a rule of the pod's own terms. */
static int64_t weight_of(struct peer_rules *rules, const struct peer_rule *rule,
                         const struct peer *other, bool is_affine_to)
{
    switch (rule->kind) {
    case RULE_SPREAD:
        return spread_counts(rules, rule, other);
    case RULE_AFFINITY:
        return is_affine_to;
    case RULE_ANTI_AFFINITY:
        return term_selects(rules, rule->term, rules->pod.namespace_, other->namespace_,
                            other->labels);
    case RULE_REPELLED:
    default:
        return 0;
    }
}

static bool affinity_takes(struct peer_rules *rules, const struct peer *other)
{
    return rules->n_affinity > 0 && is_affine(rules, other->namespace_, other->labels);
}

static void count_peer(struct peer_rules *rules, size_t n_own, const struct peer *other)
{
    const bool is_affine_to = affinity_takes(rules, other);
    for (size_t i = 0; i < n_own; i++)
        count(rules, &rules->items[i], other->node,
              weight_of(rules, &rules->items[i], other, is_affine_to));
    if (!other->terms || other->terms->n_anti_affinity == 0)
        return;
    const struct repelled_terms *repelled = repelled_by(rules, other);
    for (size_t i = 0; i < repelled->n_keys; i++) {
        if (value_of(other->node, repelled->keys[i]))
            count(rules, find_or_add_repelled(rules, repelled->keys[i]), other->node, 1);
    }
}

static void find_lowest(struct peer_rule *rule)
{
    rule->lowest = INT64_MAX;
    rule->n_lowest = 0;
    for (const struct arena_item *item = rule->domains.first; item; item = item->next_added) {
        const struct domain *domain = (const struct domain *)item;
        if (domain->count < rule->lowest) {
            rule->lowest = domain->count;
            rule->n_lowest = 0;
        }
        rule->n_lowest += domain->count == rule->lowest;
    }
}

/* Also domains without pods count. */
static void find_spread_domains(struct peer_rules *rules)
{
    for (const struct node *node = cluster_next_node(rules->fork, NULL);
         node && rules->n_spread > 0; node = cluster_next_node(rules->fork, node)) {
        if (!has_all_spread_keys(rules, node))
            continue;
        for (size_t i = 0; i < rules->n_spread; i++) {
            struct peer_rule *rule = &rules->items[i];
            if (takes_node(rules, rule->spread, node))
                (void)find_or_add_domain(rules, rule, value_of(node, rule->key));
        }
    }
}

static bool selects_itself(struct peer_rules *rules, const struct peer_term *term)
{
    return term_selects(rules, term, rules->pod.namespace_, rules->pod.namespace_,
                        rules->pod.labels);
}

/* A rule for each of the pod's own terms. */
static void add_own_rules(struct peer_rules *rules, const struct peer_facts *terms)
{
    for (size_t i = 0; i < terms->n_spread; i++) {
        const struct spread_constraint *spread = &terms->spread[i];
        rules->items[rules->n++] = (struct peer_rule){
            .kind = RULE_SPREAD,
            .key = spread->topology_key,
            .spread = spread,
            .own = selects_pod(&spread->selector, spread->selects_none, rules->pod.labels)};
    }
    rules->n_spread = terms->n_spread;
    rules->n_affinity = terms->n_affinity;
    rules->is_affine_to_itself = is_affine(rules, rules->pod.namespace_, rules->pod.labels);
    for (size_t i = 0; i < terms->n_affinity; i++)
        rules->items[rules->n++] = (struct peer_rule){.kind = RULE_AFFINITY,
                                                      .key = terms->affinity[i].topology_key,
                                                      .term = &terms->affinity[i],
                                                      .own = rules->is_affine_to_itself};
    for (size_t i = 0; i < terms->n_anti_affinity; i++)
        rules->items[rules->n++] =
            (struct peer_rule){.kind = RULE_ANTI_AFFINITY,
                               .key = terms->anti_affinity[i].topology_key,
                               .term = &terms->anti_affinity[i],
                               .own = selects_itself(rules, &terms->anti_affinity[i])};
}

/* ---- pods on their way: evicted, put back or nominated ---- */

size_t peer_rules_n(const struct peer_rules *rules)
{
    return rules ? rules->n : 0;
}

static int64_t repelling_terms(struct peer_rules *rules, const struct peer_rule *rule,
                               const struct peer *other)
{
    const struct peer_facts *terms = other->terms;
    int64_t n = 0;
    for (size_t i = 0; terms && i < terms->n_anti_affinity; i++) {
        const struct peer_term *term = &terms->anti_affinity[i];
        n += strcmp(term->topology_key, rule->key) == 0 &&
             term_selects(rules, term, other->namespace_, rules->pod.namespace_, rules->pod.labels);
    }
    return n;
}

void peer_rules_weigh(const struct peer_rules *rules, const struct peer *other,
                      int64_t *comparisons_left, int64_t *ret_counts)
{
    struct peer_rules scratch = *rules;
    scratch.comparisons_left = *comparisons_left;
    const bool is_affine_to = affinity_takes(&scratch, other);
    for (size_t i = 0; i < rules->n; i++) {
        const struct peer_rule *rule = &rules->items[i];
        const bool is_in_domain = value_of(other->node, rule->key) != NULL;
        ret_counts[i] = 0;
        if (is_in_domain)
            ret_counts[i] = rule->kind == RULE_REPELLED
                                ? repelling_terms(&scratch, rule, other)
                                : weight_of(&scratch, rule, other, is_affine_to);
    }
    *comparisons_left = scratch.comparisons_left;
}

static struct promised_node *find_promised(const struct peer_rules *rules, const struct node *node)
{
    return (struct promised_node *)arena_table_find(&rules->promises, &node, POINTER_BYTES);
}

static struct promised_node *find_or_add_promised(struct peer_rules *rules, const struct node *node)
{
    struct promised_node *promised = find_promised(rules, node);
    if (promised)
        return promised;
    promised = ARENA_NEW(rules->arena, struct promised_node);
    promised->node = node;
    arena_table_add(&rules->promises, &promised->item, &promised->node, POINTER_BYTES,
                    rules->arena);
    return promised;
}

static void add_promise(struct peer_rules *rules, const struct nominated_peer *to)
{
    int64_t *weights = ARENA_ARRAY(rules->arena, int64_t, rules->n);
    int64_t comparisons_left = rules->comparisons_left;
    bool counts = false;
    peer_rules_weigh(rules, &to->peer, &comparisons_left, weights);
    rules->comparisons_left = comparisons_left;
    for (size_t i = 0; i < rules->n; i++)
        counts |= weights[i] > 0;
    if (!counts)
        return;
    struct promised_node *promised = find_or_add_promised(rules, to->peer.node);
    struct promise *promise = ARENA_NEW(rules->arena, struct promise);
    *promise = (struct promise){to, weights, promised->first};
    promised->first = promise;
}

/* First come the rules of their anti-affinity, so that each of them has a weight for every rule. */
static void count_nominated(struct peer_rules *rules)
{
    size_t n = 0;
    const struct nominated_peer *nominated = cluster_nominated_peers(rules->fork, &n);
    for (size_t i = 0; i < n; i++) {
        const struct peer *peer = &nominated[i].peer;
        const bool repels = peer->terms && peer->terms->n_anti_affinity > 0;
        const struct repelled_terms *repelled = repels ? repelled_by(rules, peer) : NULL;
        for (size_t j = 0; repelled && j < repelled->n_keys; j++)
            (void)find_or_add_repelled(rules, repelled->keys[j]);
    }
    for (size_t i = 0; i < n && rules->n > 0 && rules->comparisons_left > 0; i++)
        add_promise(rules, &nominated[i]);
    rules->changed = ARENA_ARRAY(rules->arena, int64_t, rules->n);
}

/* Room for a power of two, as find_or_add_repelled() grows it. */
static size_t room_for(size_t n)
{
    size_t room = 1;
    while (room < n)
        room *= 2;
    return room;
}

struct peer_rules *peer_rules_of(const struct cluster *fork, const struct peer_pod *pod,
                                 const struct pod_shape *shape, struct arena *arena)
{
    static const struct peer_facts NOTHING;
    struct peer_rules *rules = ARENA_NEW(arena, struct peer_rules);
    *rules = (struct peer_rules){.fork = fork,
                                 .pod = *pod,
                                 .shape = shape,
                                 .arena = arena,
                                 .comparisons_left = COMPARISONS_MAX};
    if (!rules->pod.terms)
        rules->pod.terms = &NOTHING;
    const struct peer_facts *terms = rules->pod.terms;
    const size_t n_own = terms->n_spread + terms->n_affinity + terms->n_anti_affinity;
    rules->items = ARENA_ARRAY(arena, struct peer_rule, room_for(n_own));
    add_own_rules(rules, terms);
    find_spread_domains(rules);
    size_t n = 0;
    const struct peer *peers = cluster_peers(fork, n_own > 0 ? PEERS_ALL : PEERS_REPELLING, &n);
    for (size_t i = 0; i < n; i++)
        count_peer(rules, n_own, &peers[i]);
    for (size_t i = 0; i < rules->n_spread; i++)
        find_lowest(&rules->items[i]);
    count_nominated(rules);
    return rules->n > 0 || rules->comparisons_left <= 0 ? rules : NULL;
}

bool peer_rules_are_cut(const struct peer_rules *rules)
{
    return rules && rules->comparisons_left <= 0;
}

bool peer_rules_may_spread_over_all(const struct peer_rules *rules)
{
    const bool is_known = rules && cluster_minor(rules->fork) > 0;
    for (size_t i = 0; rules && !is_known && i < rules->n_spread; i++) {
        const struct spread_constraint *spread = rules->items[i].spread;
        if (!spread->selects_none && spread->selector.n_requirements == 0)
            return true;
    }
    return false;
}

/* ---- judging ---- */

static int64_t count_at(const struct peer_rule *rule, const char *value, int64_t change)
{
    const struct domain *domain = find_domain(rule, value);
    return (domain ? domain->count : 0) + change;
}

static int64_t lowest_of_others(const struct peer_rule *rule, const struct domain *domain)
{
    int64_t lowest = INT64_MAX;
    for (const struct arena_item *item = rule->domains.first; item; item = item->next_added) {
        const struct domain *other = (const struct domain *)item;
        if (other != domain && other->count < lowest)
            lowest = other->count;
    }
    return lowest;
}

/* The lowest count of a domain if this domain's is `count`. NULL: it is no domain of the rule. */
static int64_t lowest_with(const struct peer_rule *rule, const struct domain *domain, int64_t count)
{
    if (!domain)
        return rule->lowest;
    const bool rises = count > rule->lowest && domain->count == rule->lowest && rule->n_lowest == 1;
    const int64_t others = rises ? lowest_of_others(rule, domain) : rule->lowest;
    return count < others ? count : others;
}

static bool spread_allows(const struct peer_rule *rule, const char *value, int64_t change)
{
    const int64_t here = count_at(rule, value, change);
    int64_t lowest = lowest_with(rule, find_domain(rule, value), here);
    if ((int64_t)rule->domains.n < rule->spread->min_domains)
        lowest = 0;
    /* Without a domain kube-scheduler's minimum is the largest number. */
    return lowest == INT64_MAX || here + rule->own - lowest <= rule->spread->max_skew;
}

/* The first pod of a group that is affine to itself may go to any node with the keys. */
static bool affinity_allows(const struct peer_rules *rules, const struct node *node,
                            const int64_t *change)
{
    bool pods_exist = true;
    int64_t n_affine = rules->n_affine;
    for (size_t i = rules->n_spread; i < rules->n_spread + rules->n_affinity; i++) {
        const char *value = value_of(node, rules->items[i].key);
        const int64_t changed = change ? change[i] : 0;
        if (!value)
            return false;
        n_affine += changed;
        if (count_at(&rules->items[i], value, changed) <= 0)
            pods_exist = false;
    }
    return pods_exist || (n_affine == 0 && rules->is_affine_to_itself);
}

static enum reason judge_spread(const struct peer_rules *rules, const struct node *node,
                                const int64_t *change)
{
    for (size_t i = 0; i < rules->n_spread; i++) {
        const char *value = value_of(node, rules->items[i].key);
        if (!value || !spread_allows(&rules->items[i], value, change ? change[i] : 0))
            return REASON_TOPOLOGY_SPREAD;
    }
    return REASON_FITS;
}

static enum reason judge(const struct peer_rules *rules, const struct node *node,
                         const int64_t *change)
{
    if (judge_spread(rules, node, change) != REASON_FITS)
        return REASON_TOPOLOGY_SPREAD;
    if (!affinity_allows(rules, node, change))
        return REASON_POD_AFFINITY;
    bool is_repelled = false;
    for (size_t i = rules->n_spread + rules->n_affinity; i < rules->n; i++) {
        const struct peer_rule *rule = &rules->items[i];
        const char *value = value_of(node, rule->key);
        if (!value || count_at(rule, value, change ? change[i] : 0) <= 0)
            continue;
        if (rule->kind == RULE_ANTI_AFFINITY)
            return REASON_POD_ANTI_AFFINITY;
        is_repelled = true;
    }
    return is_repelled ? REASON_POD_REPELLED : REASON_FITS;
}

/* Sets rules->changed to the change by pods that are nominated to the node. Returns whether any of
 * them counts for the asker. */
static bool add_nominated(const struct peer_rules *rules, const struct node *node,
                          const struct asker *asker, const int64_t *change)
{
    const struct promised_node *promised = find_promised(rules, node);
    bool counts = false;
    for (const struct promise *promise = promised ? promised->first : NULL; promise;
         promise = promise->next) {
        const struct nominated_peer *other = promise->to;
        if (other->priority < asker->priority ||
            (asker->uid && strcmp(other->uid, asker->uid) == 0))
            continue;
        for (size_t i = 0; i < rules->n; i++) {
            const int64_t before = counts ? rules->changed[i] : change ? change[i] : 0;
            rules->changed[i] = before + promise->weights[i];
        }
        counts = true;
    }
    return counts;
}

enum reason peer_rules_judge_changed(const struct peer_rules *rules, const struct node *node,
                                     const struct asker *asker, const int64_t *change)
{
    const enum reason reason = rules ? judge(rules, node, change) : REASON_FITS;
    if (reason != REASON_FITS || !rules || !add_nominated(rules, node, asker, change))
        return reason;
    return judge(rules, node, rules->changed);
}

enum reason peer_rules_judge(const struct peer_rules *rules, const struct node *node,
                             const struct asker *asker)
{
    return peer_rules_judge_changed(rules, node, asker, NULL);
}

/* Whether a further such pod on the node changes the rule's counts. */
static bool takes_own(const struct peer_rules *rules, const struct peer_rule *rule,
                      const struct node *node)
{
    if (rule->own == 0)
        return false;
    return rule->kind != RULE_SPREAD ||
           (rule->spread->selector.n_requirements > 0 && counts_here(rules, rule, node));
}

bool peer_rules_place(struct peer_rules *rules, const struct node *node, int64_t n)
{
    bool rises = false;
    for (size_t i = 0; rules && n > 0 && i < rules->n; i++) {
        struct peer_rule *rule = &rules->items[i];
        if (!takes_own(rules, rule, node))
            continue;
        const bool is_spread = rule->kind == RULE_SPREAD;
        const bool was_lowest =
            is_spread && find_domain(rule, value_of(node, rule->key))->count == rule->lowest;
        count(rules, rule, node, rule->own * n);
        if (!was_lowest || --rule->n_lowest > 0)
            continue;
        find_lowest(rule);
        rises = true;
    }
    return rises;
}

bool peer_rules_depend_on_replicas(const struct peer_rules *rules)
{
    /* Once a pod that it is affine to runs, more of them open no other domain. */
    const int64_t n_affine = rules ? rules->n_affine : 0;
    for (size_t i = 0; rules && i < rules->n; i++) {
        const struct peer_rule *rule = &rules->items[i];
        if (rule->own > 0 && (rule->kind != RULE_AFFINITY || n_affine == 0))
            return true;
    }
    return false;
}

bool peer_rules_may_allow_later(const struct peer_rules *rules)
{
    return rules && rules->n_spread > 0;
}

struct peer_rules *peer_rules_copy(const struct peer_rules *rules, struct arena *arena)
{
    if (!rules)
        return NULL;
    struct peer_rules *copy = ARENA_NEW(arena, struct peer_rules);
    *copy = *rules;
    copy->arena = arena;
    copy->memo = (struct arena_table){0};
    copy->changed = ARENA_ARRAY(arena, int64_t, rules->n);
    copy->items = arena_copy(arena, rules->items, rules->n, sizeof *rules->items);
    for (size_t i = 0; i < rules->n; i++) {
        copy->items[i].domains = (struct arena_table){0};
        for (const struct arena_item *item = rules->items[i].domains.first; item;
             item = item->next_added)
            find_or_add_domain(copy, &copy->items[i], item->key)->count =
                ((const struct domain *)item)->count;
    }
    return copy;
}
