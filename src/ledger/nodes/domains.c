/* domains: the nodes of each domain, counted with each change of a node. See
 * include/ledger/pod_groups.h. */
#include "base/mem.h"
#include "ledger/ledger.h"
#include "ledger/pod_groups.h"

#include <stdlib.h>
#include <string.h>

/* Two domains differ in one of these. Texts are interned, so their addresses are compared. */
struct domain_key {
    const char *name;
    domain_id outer;
    uint32_t level;
};

_Static_assert(sizeof(struct domain_key) == sizeof(char *) + 2 * sizeof(uint32_t),
               "it is hashed with its padding");

struct domain_entry {
    struct domain_key key;
    domain_id id;
    UT_hash_handle hh;
};

domain_id cluster_end_of_domains(const struct cluster *cluster)
{
    return cluster->domains.end;
}

const struct node_domain *cluster_domain(const struct cluster *cluster, domain_id id)
{
    return &cluster->domains.items[id];
}

domain_id node_domain(const struct node *node, size_t level)
{
    const struct node_domain *domains = node->hot.cluster->domains.items;
    domain_id id = node->hot.domain;
    while (id && domains[id].level > level)
        id = domains[id].outer;
    return id && domains[id].level == level ? id : 0;
}

static domain_id unused_id(struct domains *domains)
{
    const domain_id id = domains->first_unused;
    if (id) {
        domains->first_unused = domains->items[id].outer;
        return id;
    }
    if (domains->end == domains->n_room) {
        domains->n_room = 2 * domains->n_room + 64;
        domains->items = mem_grow(domains->items, domains->n_room, sizeof *domains->items);
    }
    if (domains->end == 0)
        domains->items[domains->end++] = (struct node_domain){0};
    return domains->end++;
}

/* The name is interned, and the domain takes a reference. */
static domain_id find_or_add(struct domains *domains, const struct domain_key *key)
{
    struct domain_entry *entry = NULL;
    HASH_FIND(hh, domains->table, key, sizeof *key, entry);
    if (entry)
        return entry->id;
    entry = MEM_NEW(struct domain_entry);
    entry->key = *key;
    entry->id = unused_id(domains);
    domains->items[entry->id] = (struct node_domain){
        .name = string_table_ref(key->name), .outer = key->outer, .level = key->level};
    HASH_ADD(hh, domains->table, key, sizeof entry->key, entry);
    return entry->id;
}

static void drop(struct cluster *cluster, domain_id id)
{
    struct domains *domains = &cluster->domains;
    struct node_domain *domain = &domains->items[id];
    const struct domain_key key = {domain->name, domain->outer, domain->level};
    struct domain_entry *entry = NULL;
    HASH_FIND(hh, domains->table, &key, sizeof key, entry);
    if (entry)
        HASH_DEL(domains->table, entry);
    free(entry);
    string_table_unref(&cluster->shapes->strings, domain->name);
    *domain = (struct node_domain){.outer = domains->first_unused};
    domains->first_unused = id;
}

/* NULL: the node is in no domain of the level. */
static const char *name_of(const struct policy *policy, const struct node_traits *traits,
                           size_t level)
{
    const char *value =
        labels_find(traits->view.labels, traits->view.n_labels, policy->topology_levels[level]);
    return value && value[0] && strnlen(value, DOMAIN_NAME_MAX + 1) <= DOMAIN_NAME_MAX ? value
                                                                                       : NULL;
}

/* The innermost domain; domains that are new have no nodes yet. */
static domain_id find_innermost(struct cluster *cluster, const struct node_traits *traits)
{
    const struct policy *policy = cluster->policy;
    domain_id id = 0;
    for (size_t level = 0; level < policy->n_topology_levels; level++) {
        const char *name = name_of(policy, traits, level);
        if (name)
            id = find_or_add(&cluster->domains, &(struct domain_key){name, id, (uint32_t)level});
    }
    return id;
}

/* n: 1 to add the node, or -1. */
static void count_in(struct cluster *cluster, domain_id innermost, const struct node_hot *hot,
                     uint32_t n)
{
    for (domain_id id = innermost; id;) {
        struct node_domain *domain = &cluster->domains.items[id];
        const domain_id outer = domain->outer;
        domain->n_nodes += n;
        domain->n_gpu_nodes += hot->has_open_gpus ? n : 0;
        domain->n_whole += hot->is_whole ? n : 0;
        if (domain->n_nodes == 0)
            drop(cluster, id);
        id = outer;
    }
}

#define ONE_LESS UINT32_MAX

void domains_move(struct cluster *cluster, struct node *node)
{
    const domain_id before = node->hot.domain;
    const domain_id now = node->traits ? find_innermost(cluster, &node->traits->traits) : 0;
    count_in(cluster, now, &node->hot, 1);
    count_in(cluster, before, &node->hot, ONE_LESS);
    node->hot.domain = now & ((1U << NODE_HOT_DOMAIN_BITS) - 1); /* no ledger has as many */
}

void domains_recount(struct node *node, const struct node_hot *now)
{
    struct cluster *cluster = (struct cluster *)(uintptr_t)node->hot.cluster;
    for (domain_id id = now->domain; id; id = cluster->domains.items[id].outer) {
        struct node_domain *domain = &cluster->domains.items[id];
        domain->n_gpu_nodes += (uint32_t)now->has_open_gpus - (uint32_t)node->hot.has_open_gpus;
        domain->n_whole += (uint32_t)now->is_whole - (uint32_t)node->hot.is_whole;
    }
}

void domains_fork(struct cluster *fork, const struct cluster *cluster)
{
    fork->domains.end = fork->domains.n_room = cluster->domains.end;
    fork->domains.items = MEM_ARRAY(struct node_domain, cluster->domains.end);
    if (cluster->domains.end > 0)
        memcpy(fork->domains.items, cluster->domains.items,
               cluster->domains.end * sizeof(struct node_domain));
}

void domains_free_all(struct cluster *cluster)
{
    struct domain_entry *entry = NULL;
    struct domain_entry *next = NULL;
    HASH_ITER (hh, cluster->domains.table, entry, next) {
        HASH_DEL(cluster->domains.table, entry);
        string_table_unref(&cluster->shapes->strings, entry->key.name);
        free(entry);
    }
    free(cluster->domains.items);
}

/* Whether the domain is where the node's labels put it. */
static bool is_in_its_domain(const struct node *node)
{
    const struct cluster *cluster = node->hot.cluster;
    for (size_t level = 0; level < cluster->policy->n_topology_levels; level++) {
        const domain_id id = node_domain(node, level);
        const char *name = name_of(cluster->policy, &node->traits->traits, level);
        if (name != (id ? cluster->domains.items[id].name : NULL))
            return false;
    }
    return true;
}

size_t domains_check(const struct cluster *cluster)
{
    const domain_id end = cluster->domains.end;
    struct node_domain *right = MEM_ARRAY(struct node_domain, end);
    size_t n_wrong = 0;
    for (const struct node *node = cluster->nodes; node; node = node->next) {
        n_wrong += !is_in_its_domain(node);
        for (domain_id id = node->hot.domain; id; id = cluster->domains.items[id].outer) {
            right[id].n_nodes++;
            right[id].n_gpu_nodes += node->hot.has_open_gpus;
            right[id].n_whole += node->hot.is_whole;
        }
    }
    for (domain_id id = 1; id < end; id++) {
        const struct node_domain *is = &cluster->domains.items[id];
        n_wrong += is->n_nodes != right[id].n_nodes || is->n_gpu_nodes != right[id].n_gpu_nodes ||
                   is->n_whole != right[id].n_whole;
    }
    free(right);
    return n_wrong;
}
