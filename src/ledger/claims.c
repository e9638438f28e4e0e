/* claims: see include/ledger/claims.h. The table is in order of creation, and a renewed claim
 * counts as new. So all expired claims are at its beginning. */
#include "ledger/claims.h"
#include "base/mem.h"
#include "ledger.h"
#include "ledger/asked_claims.h"

#include <stdlib.h>
#include <string.h>

static struct claim_entry *find(const struct cluster *cluster, const char *uid)
{
    struct claim_entry *entry = NULL;
    HASH_FIND_STR(cluster->claims, uid, entry);
    return entry;
}

static void end(struct cluster *cluster, struct claim_entry *entry)
{
    HASH_DEL(cluster->claims, entry);
    string_table_unref(&cluster->shapes->strings, entry->claim.namespace_);
    string_table_unref(&cluster->shapes->strings, entry->claim.node_name);
    free(entry);
}

void claims_end(struct cluster *cluster, const char *uid)
{
    struct claim_entry *entry = find(cluster, uid);
    if (entry)
        end(cluster, entry);
}

void claims_free_all(struct cluster *cluster)
{
    struct claim_entry *entry = NULL;
    struct claim_entry *next = NULL;
    HASH_ITER (hh, cluster->claims, entry, next) {
        end(cluster, entry);
    }
}

bool claims_has(const struct cluster *cluster, const char *uid)
{
    return find(cluster, uid);
}

uint64_t claims_version(const struct cluster *cluster)
{
    return cluster->claims_version;
}

static void drop_old(struct cluster *cluster, int64_t now_ms)
{
    while (cluster->claims &&
           (cluster->claims->claim.until_ms <= now_ms || HASH_COUNT(cluster->claims) >= CLAIMS_MAX))
        end(cluster, cluster->claims);
}

/* The pod is bound, reserved, or will never be scheduled. */
static bool counts_otherwise(const struct cluster *cluster, const struct pod_entry *pod,
                             const char *uid)
{
    return cluster_find_reservation(cluster, uid) ||
           (pod && (pod->pod.node_name[0] || pod->pod.finished || pod->pod.terminating));
}

bool claims_has_by_claims(const struct cluster *cluster, const struct claim *claim)
{
    for (size_t scope = 0; scope < cluster->policy->n_quota_scopes; scope++) {
        if (claim->by_claims[scope] > 0)
            return true;
    }
    return false;
}

void claims_nominated(struct cluster *cluster, const char *uid)
{
    struct claim_entry *entry = find(cluster, uid);
    if (entry && claims_has_by_claims(cluster, &entry->claim))
        memset(entry->claim.gpus, 0, sizeof entry->claim.gpus);
    else if (entry)
        end(cluster, entry);
}

static void count_resource_claims(const struct cluster *cluster, const struct pod_facts *pod,
                                  struct claim *claim)
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    const struct asker asker = asker_from_facts(pod);
    const struct claims_question question = {
        .namespace_ = pod->namespace_, .claims = pod->claims, .asker = &asker};
    const struct asked_claims asked = asked_claims_of(cluster, &question, arena);
    claim->names_claims = true;
    memcpy(claim->by_claims, asked.least, sizeof claim->by_claims);
}

static void add(struct cluster *cluster, const struct claim_question *question,
                const struct claim *claim)
{
    struct claim_entry *entry = MEM_NEW_WITH_TEXT(struct claim_entry, text, question->pod->uid);
    entry->claim = *claim;
    entry->claim.uid = entry->text;
    entry->claim.namespace_ =
        string_table_intern(&cluster->shapes->strings, question->pod->namespace_);
    entry->claim.node_name = string_table_intern(&cluster->shapes->strings, question->node_name);
    entry->claim.version = ++cluster->claims_version;
    HASH_ADD_KEYPTR(hh, cluster->claims, entry->text, strlen(entry->text), entry);
}

void claims_renew(struct cluster *cluster, const struct claim_question *question,
                  const struct pod_shape *shape)
{
    const struct pod_facts *facts = question->pod;
    const struct node *node = cluster_find_node(cluster, question->node_name);
    const struct pod_entry *pod = NULL;
    claims_end(cluster, facts->uid);
    drop_old(cluster, question->now_ms);
    HASH_FIND_STR(cluster->pods, facts->uid, pod);
    if (!node || !shape || counts_otherwise(cluster, pod, facts->uid))
        return;
    struct claim claim = {.models = namespace_usage_models(node, shape),
                          .until_ms = question->until_ms};
    const bool is_nominated = pod && pod->nomination;
    for (size_t scope = 0; scope < cluster->policy->n_quota_scopes && !is_nominated; scope++)
        claim.gpus[scope] = namespace_usage_need(shape, scope);
    if (facts->claims)
        count_resource_claims(cluster, facts, &claim);
    if (!is_nominated || claims_has_by_claims(cluster, &claim))
        add(cluster, question, &claim);
}

void claims_copy(struct cluster *cluster, const struct claim *claim, const struct pod_facts *pod,
                 const struct pod_shape *shape)
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    const struct claim_question question = {
        .pod = pod, .node_name = claim->node_name, .until_ms = claim->until_ms};
    const size_t *quotas = NULL;
    if (namespace_usage_find_quotas(cluster, claim->namespace_, arena, &quotas) > 0)
        claims_renew(cluster, &question, shape);
}

const struct claim *claims_next(const struct cluster *cluster, const struct claim *claim)
{
    const struct claim_entry *next =
        claim ? CONTAINER_OF(claim, const struct claim_entry, claim)->hh.next : cluster->claims;
    return next ? &next->claim : NULL;
}
