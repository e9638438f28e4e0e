/* cluster_peers: labels and terms of the ledger's pods, and the list of a fork. See
 * include/ledger/peer.h. */
#include "base/mem.h"
#include "ledger/ledger.h"
#include "ledger/peer.h"
#include "ledger/reservation.h"

#include <stdlib.h>
#include <string.h>

struct fork_peers {
    struct peer *items; /* the repelling ones first */
    size_t n, n_room, n_repelling;
    enum peers_wanted wanted;
    struct nominated_peer *nominated;
    size_t n_nominated, n_nominated_room;
    const struct node *last; /* the node of the fork whose pods were added last; NULL: none yet */
    size_t n_released;       /* nominated ones, then items, from the end, without references */
    size_t n_lacking;
    struct namespace_labels {
        const char *name; /* of the fork's own entry */
        struct label *labels;
        size_t n_labels;
        UT_hash_handle hh;
    } * namespaces;
};

/* ---- the ledger ---- */

struct kept_peers cluster_peers_keep(struct cluster *cluster, const struct pod_facts *facts)
{
    if (facts->finished)
        return (struct kept_peers){0};
    struct peer_facts peers = facts->peers;
    struct peer_facts own = {0};
    if (facts->node_name[0]) {
        own = peers;
        own.n_labels = own.n_anti_affinity = 0;
        peers.n_affinity = peers.n_spread = 0;
    }
    struct kept_peers kept =
        peers_intern(&cluster->shapes->peers, cluster->policy, facts->namespace_, &peers);
    const struct kept_peers kept_own =
        peers_intern(&cluster->shapes->own_terms, cluster->policy, facts->namespace_, &own);
    kept.lacks_any |= facts->lacks_peers;
    kept.own_terms = kept_own.terms;
    kept.lacks_own_terms = kept_own.lacks_any || facts->lacks_own_terms;
    return kept;
}

void cluster_peers_unref_own(struct cluster *cluster, const char *namespace_,
                             const struct peer_facts *own_terms)
{
    peers_unref(&cluster->shapes->own_terms, namespace_, own_terms);
}

void cluster_peers_unref(struct cluster *cluster, const char *namespace_,
                         const struct peer_facts *labels, const struct peer_facts *terms)
{
    peers_unref(&cluster->shapes->peers, namespace_, labels);
    peers_unref(&cluster->shapes->peers, namespace_, terms);
}

static bool repels(const struct peer_facts *terms)
{
    return terms && terms->n_anti_affinity > 0;
}

static bool is_repelling(const struct pod *pod)
{
    return !pod->finished && repels(pod->terms);
}

void cluster_peers_added(struct cluster *cluster, struct pod_entry *entry)
{
    cluster->n_lacking_peers += entry->pod.lacks_peers;
    cluster->n_repelling += is_repelling(&entry->pod);
}

void cluster_peers_removed(struct cluster *cluster, struct pod_entry *entry)
{
    cluster->n_lacking_peers -= entry->pod.lacks_peers;
    cluster->n_repelling -= is_repelling(&entry->pod);
}

/* ---- the fork ---- */

static void add_peer(struct fork_peers *peers, const struct peer *peer)
{
    if (peers->n == peers->n_room) {
        peers->n_room = peers->n_room > 0 ? 2 * peers->n_room : 64;
        peers->items = mem_grow(peers->items, peers->n_room, sizeof *peers->items);
    }
    size_t at = peers->n++;
    if (repels(peer->terms)) {
        peers->items[at] = peers->items[peers->n_repelling];
        at = peers->n_repelling++;
    }
    peers->items[at] = *peer;
}

static bool is_wanted(const struct cluster *fork, const struct pod *pod)
{
    return fork->fork_peers->wanted == PEERS_ALL || repels(pod->terms);
}

static struct peer peer_of(const struct node *node, const struct pod *pod)
{
    peers_ref(pod->labels);
    peers_ref(pod->terms);
    return (struct peer){
        node, string_table_ref(pod->namespace_), pod->labels, pod->terms, pod->terminating, true};
}

static void fork_pod(struct cluster *fork, const struct node *node, const struct pod *pod)
{
    if (!is_wanted(fork, pod))
        return;
    const struct peer peer = peer_of(node, pod);
    add_peer(fork->fork_peers, &peer);
}

static void fork_nominated(struct cluster *fork, const struct node *node, const struct pod *pod)
{
    struct fork_peers *peers = fork->fork_peers;
    if (!is_wanted(fork, pod))
        return;
    if (peers->n_nominated == peers->n_nominated_room) {
        peers->n_nominated_room = peers->n_nominated > 0 ? 2 * peers->n_nominated : 16;
        peers->nominated =
            mem_grow(peers->nominated, peers->n_nominated_room, sizeof *peers->nominated);
    }
    peers->nominated[peers->n_nominated++] = (struct nominated_peer){
        peer_of(node, pod), arena_strdup(fork->fork_arena, pod->uid), pod->priority};
}

/* Pods that are being bound: kube-scheduler counts them as pods on the node. Returns how many. */
static size_t fork_reserved(struct cluster *fork, const struct cluster *cluster,
                            const struct node *node, const struct node *origin)
{
    size_t n = 0;
    for (const struct reservation *held = reservation_next_on(origin, NULL); held;
         held = reservation_next_on(origin, held), n++) {
        const struct pod *pod = cluster_find_pod(cluster, held->uid);
        if (pod)
            fork_pod(fork, node, pod);
        else
            fork->fork_peers->n_lacking++;
    }
    return n;
}

/* Returns how many pods it looked at. */
static size_t fork_pods_of(struct cluster *fork, const struct cluster *cluster,
                           const struct node *node, const struct node *origin)
{
    size_t n = fork_reserved(fork, cluster, node, origin);
    for (const struct pod_entry *entry = origin->pods; entry; entry = entry->next, n++)
        fork_pod(fork, node, &entry->pod);
    for (const struct nomination *nomination = nomination_next_on(origin, NULL); nomination;
         nomination = nomination_next_on(origin, nomination), n++)
        fork_nominated(fork, node, cluster_find_pod(cluster, nomination->uid));
    return n;
}

static void fork_namespaces(struct cluster *fork, const struct cluster *cluster)
{
    for (const struct namespace_entry *entry = cluster->namespaces; entry; entry = entry->hh.next) {
        if (!entry->there || entry->namespace_.n_labels == 0)
            continue;
        struct namespace_labels *copy = MEM_NEW(struct namespace_labels);
        struct string_table *strings = &fork->shapes->strings;
        copy->name = string_table_intern(strings, entry->namespace_.name);
        copy->n_labels = entry->namespace_.n_labels;
        copy->labels =
            string_table_intern_labels(strings, entry->namespace_.labels, copy->n_labels);
        HASH_ADD_KEYPTR(hh, fork->fork_peers->namespaces, copy->name, strlen(copy->name), copy);
    }
}

bool cluster_peers_fork(struct cluster *fork, const struct cluster *cluster,
                        enum peers_wanted wanted)
{
    if (wanted == PEERS_NONE)
        return true;
    fork->fork_peers = MEM_NEW(struct fork_peers);
    fork->fork_peers->wanted = wanted;
    fork->fork_peers->n_lacking = cluster->n_lacking_peers;
    fork_namespaces(fork, cluster);
    return wanted == PEERS_REPELLING && cluster->n_repelling == 0;
}

bool cluster_is_fork_of(const struct cluster *fork, const struct cluster *cluster)
{
    return fork->shapes == cluster->shapes;
}

/* A node that is gone counts for nothing, and neither do its pods, as in kube-scheduler. */
bool cluster_peers_fork_some(struct cluster *fork, const struct cluster *cluster, size_t n_pods)
{
    struct fork_peers *peers = fork->fork_peers;
    size_t n = 0;
    while (n < n_pods) {
        const struct node *next = cluster_next_node(fork, peers->last);
        if (!next)
            return true;
        const struct node *origin = node_index_find(&cluster->node_index, next->name);
        n += 1 + (origin && origin->traits ? fork_pods_of(fork, cluster, next, origin) : 0);
        peers->last = next;
    }
    return false;
}

static void release(struct cluster *fork, const struct peer *peer)
{
    if (!peer->is_owned)
        return;
    cluster_peers_unref(fork, peer->namespace_, peer->labels, peer->terms);
    string_table_unref(&fork->shapes->strings, peer->namespace_);
}

bool cluster_fork_peers_release(struct cluster *fork, size_t n)
{
    struct fork_peers *peers = fork->fork_peers;
    const size_t n_all = peers ? peers->n + peers->n_nominated : 0;
    for (; n > 0 && peers && peers->n_released < n_all; n--) {
        const size_t i = n_all - ++peers->n_released;
        release(fork, i < peers->n ? &peers->items[i] : &peers->nominated[i - peers->n].peer);
    }
    return !peers || peers->n_released == n_all;
}

void cluster_peers_fork_free(struct cluster *fork)
{
    struct fork_peers *peers = fork->fork_peers;
    if (!peers)
        return;
    struct string_table *strings = &fork->shapes->strings;
    (void)cluster_fork_peers_release(fork, SIZE_MAX);
    struct namespace_labels *entry = NULL;
    struct namespace_labels *next = NULL;
    HASH_ITER (hh, peers->namespaces, entry, next) {
        HASH_DEL(peers->namespaces, entry);
        string_table_unref_labels(strings, entry->labels, entry->n_labels);
        string_table_unref(strings, entry->name);
        free(entry);
    }
    free(peers->items);
    free(peers->nominated);
    free(peers);
}

const struct peer *cluster_peers(const struct cluster *fork, enum peers_wanted wanted,
                                 size_t *ret_n)
{
    const struct fork_peers *peers = fork->fork_peers;
    *ret_n = 0;
    if (!peers || wanted == PEERS_NONE)
        return NULL;
    *ret_n = wanted == PEERS_ALL ? peers->n : peers->n_repelling;
    return peers->items;
}

const struct nominated_peer *cluster_nominated_peers(const struct cluster *fork, size_t *ret_n)
{
    const struct fork_peers *peers = fork->fork_peers;
    *ret_n = peers ? peers->n_nominated : 0;
    return peers ? peers->nominated : NULL;
}

void cluster_add_peers(struct cluster *fork, const struct peer *peer, int64_t n)
{
    struct fork_peers *peers = fork->fork_peers;
    if (!peers || (peers->wanted == PEERS_REPELLING && !repels(peer->terms)))
        return;
    for (int64_t i = 0; i < n; i++) {
        add_peer(peers, peer);
        fork_log_peer(fork, repels(peer->terms));
    }
}

void cluster_peers_drop_last(struct cluster *fork, bool repels)
{
    struct fork_peers *peers = fork->fork_peers;
    const struct peer moved = peers->items[--peers->n];
    if (repels)
        peers->items[--peers->n_repelling] = moved;
}

size_t cluster_n_lacking_peers(const struct cluster *cluster)
{
    return cluster->fork_peers ? cluster->fork_peers->n_lacking : cluster->n_lacking_peers;
}

size_t cluster_peer_namespace(const struct cluster *fork, const char *name,
                              const struct label **ret_labels)
{
    struct namespace_labels *entry = NULL;
    if (fork->fork_peers)
        HASH_FIND_STR(fork->fork_peers->namespaces, name, entry);
    *ret_labels = entry ? entry->labels : NULL;
    return entry ? entry->n_labels : 0;
}
