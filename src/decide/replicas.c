/*
 * replicas: see replicas.h. The cost is a share of the replicas, so it is at most 1.25 times its
 * weight. A service of three replicas is spread; one of three hundred does not break up the whole
 * nodes of a fleet.
 */
#include "replicas.h"
#include "ledger/owners.h"
#include "ledger/reservation.h"

#include <stdint.h>
#include <string.h>

/* A replica in the same zone counts as a quarter of one on the same node. */
#define ZONES_TO_A_NODE 4
#define N_BUCKETS 64

struct zone_replicas {
    const char *zone; /* interned: compared by address */
    int64_t n;
    struct zone_replicas *next;
};

struct replicas {
    struct arena *arena;
    const struct owner *owner; /* NULL: the ledger has no replica of it */
    const struct node *except; /* node of the pod's own reservation; NULL: none */
    double weight;
    int64_t n; /* replicas with a node */
    struct zone_replicas *zones[N_BUCKETS];
};

static struct zone_replicas *find_zone(struct replicas *replicas, const struct node *node)
{
    const char *zone = node_zone(node);
    if (!zone)
        return NULL;
    struct zone_replicas **bucket = &replicas->zones[((uintptr_t)zone >> 4) % N_BUCKETS];
    struct zone_replicas *found = *bucket;
    while (found && found->zone != zone)
        found = found->next;
    if (!found) {
        found = ARENA_NEW(replicas->arena, struct zone_replicas);
        *found = (struct zone_replicas){zone, 0, *bucket};
        *bucket = found;
    }
    return found;
}

static int64_t others_on(const struct replicas *replicas, const struct node *node, size_t n)
{
    return (int64_t)n - (node == replicas->except);
}

static void count(struct replicas *replicas)
{
    size_t n_nodes = 0;
    const struct owner_node *nodes = owners_nodes(replicas->owner, &n_nodes);
    for (size_t i = 0; i < n_nodes; i++) {
        const struct owner_node *on = &nodes[i];
        const int64_t n = others_on(replicas, on->node, on->n);
        struct zone_replicas *zone = find_zone(replicas, on->node);
        replicas->n += n;
        if (zone)
            zone->n += n;
    }
}

static const struct node *node_of_own(const struct cluster *cluster, const struct owner *owner,
                                      const struct reservation *own)
{
    return own && own->owner && own->owner == owner ? cluster_find_node(cluster, own->node_name)
                                                    : NULL;
}

struct replicas *replicas_begin(const struct cluster *cluster, const struct fit_question *question,
                                struct arena *arena)
{
    const int64_t weight_milli = cluster_policy(cluster)->replica_spread_milli;
    if (weight_milli == 0 || !question->replica_of || !question->replica_of[0])
        return NULL;
    struct replicas *replicas = ARENA_NEW(arena, struct replicas);
    replicas->arena = arena;
    replicas->owner = owners_find(cluster, question->replica_of);
    replicas->except = node_of_own(cluster, replicas->owner, question->own);
    replicas->weight = (double)weight_milli / 1000;
    count(replicas);
    return replicas;
}

struct replicas_near replicas_near(struct replicas *replicas, const struct node *node)
{
    return (struct replicas_near){others_on(replicas, node, owners_n_on(replicas->owner, node)),
                                  find_zone(replicas, node)};
}

double replicas_cost(const struct replicas *replicas, const struct replicas_near *near)
{
    if (replicas->n == 0)
        return 0;
    const int64_t quarters = ZONES_TO_A_NODE * near->on_node + (near->zone ? near->zone->n : 0);
    return replicas->weight * (double)quarters / (double)(ZONES_TO_A_NODE * replicas->n);
}

void replicas_place(struct replicas *replicas, struct replicas_near *near)
{
    near->on_node++;
    if (near->zone)
        near->zone->n++;
    replicas->n++;
}
