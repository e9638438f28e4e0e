/* claims: see include/ledger/claims.h. The table is in order of creation, and a renewed claim
 * counts as new. So nearly all expired claims are at its beginning; those of groups end sooner. */
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

const struct claim *claims_find(const struct cluster *cluster, const char *uid)
{
    const struct claim_entry *entry = find(cluster, uid);
    return entry ? &entry->claim : NULL;
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

static void append(struct cluster *cluster, struct claim_entry *entry)
{
    entry->claim.version = ++cluster->claims_version;
    HASH_ADD_KEYPTR(hh, cluster->claims, entry->text, strlen(entry->text), entry);
}

/* claim: with borrowed strings. */
static void add(struct cluster *cluster, const struct claim *claim)
{
    struct claim_entry *entry = MEM_NEW_WITH_TEXT(struct claim_entry, text, claim->uid);
    entry->claim = *claim;
    entry->claim.uid = entry->text;
    entry->claim.namespace_ = string_table_intern(&cluster->shapes->strings, claim->namespace_);
    entry->claim.node_name = string_table_intern(&cluster->shapes->strings, claim->node_name);
    append(cluster, entry);
}

static void count_gpus(const struct cluster *cluster, const struct pod_shape *shape,
                       struct claim *claim)
{
    for (size_t scope = 0; scope < cluster->policy->n_quota_scopes; scope++)
        claim->gpus[scope] = namespace_usage_need(shape, scope);
}

/* In place of the pod's claim, if it has one. */
static void make(struct cluster *cluster, const struct claim_question *question,
                 const struct pod_shape *shape, int64_t firm_until_ms)
{
    const struct pod_facts *facts = question->pod;
    const struct node *node = cluster_find_node(cluster, question->node_name);
    const struct pod_entry *pod = NULL;
    claims_end(cluster, facts->uid);
    drop_old(cluster, question->now_ms);
    HASH_FIND_STR(cluster->pods, facts->uid, pod);
    if (!node || !shape || counts_otherwise(cluster, pod, facts->uid))
        return;
    struct claim claim = {.uid = facts->uid,
                          .namespace_ = facts->namespace_,
                          .node_name = question->node_name,
                          .priority = facts->priority,
                          .models = namespace_usage_models(node, shape),
                          .until_ms = question->until_ms,
                          .firm_until_ms = firm_until_ms};
    const bool is_nominated = pod && pod->nomination;
    if (!is_nominated)
        count_gpus(cluster, shape, &claim);
    if (facts->claims)
        count_resource_claims(cluster, facts, &claim);
    if (!is_nominated || claims_has_by_claims(cluster, &claim))
        add(cluster, &claim);
}

void claims_renew(struct cluster *cluster, const struct claim_question *question,
                  const struct pod_shape *shape)
{
    const char *uid = question->pod->uid;
    const struct claim_entry *old = find(cluster, uid);
    const int64_t firm_until_ms = old ? old->claim.firm_until_ms : 0;
    const struct pod_entry *pod = NULL;
    HASH_FIND_STR(cluster->pods, uid, pod);
    struct claim_question renewed = *question;
    renewed.until_ms = pod_groups_claim_until(cluster, pod, question->now_ms, question->until_ms);
    if (renewed.until_ms < firm_until_ms)
        renewed.until_ms = firm_until_ms;
    const bool may_claim = renewed.until_ms > question->now_ms;
    make(cluster, &renewed, may_claim ? shape : NULL, firm_until_ms);
}

static void make_firm(struct cluster *cluster, struct claim_entry *entry, int64_t firm_until_ms)
{
    HASH_DEL(cluster->claims, entry);
    entry->claim.firm_until_ms = firm_until_ms;
    if (entry->claim.until_ms < firm_until_ms)
        entry->claim.until_ms = firm_until_ms;
    append(cluster, entry);
}

void claims_hold(struct cluster *cluster, const struct pod *pod, const struct node *node,
                 int64_t now_ms, int64_t firm_until_ms)
{
    struct claim claim = {.uid = pod->uid,
                          .namespace_ = pod->namespace_,
                          .node_name = node ? node_name(node) : "",
                          .priority = pod->priority,
                          .models = node ? namespace_usage_models(node, pod->shape) : 0,
                          .until_ms = firm_until_ms,
                          .firm_until_ms = firm_until_ms};
    drop_old(cluster, now_ms);
    struct claim_entry *old = find(cluster, pod->uid);
    if (old && old->claim.until_ms > now_ms) {
        make_firm(cluster, old, firm_until_ms);
        return;
    }
    claims_end(cluster, pod->uid);
    if (pod->shape->n_gpu_needs == 0 || CONTAINER_OF(pod, const struct pod_entry, pod)->nomination)
        return;
    count_gpus(cluster, pod->shape, &claim);
    add(cluster, &claim);
}

void claims_copy(struct cluster *cluster, const struct claim *claim, const struct pod_facts *pod,
                 const struct pod_shape *shape)
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    const struct claim_question question = {
        .pod = pod, .node_name = claim->node_name, .until_ms = claim->until_ms};
    const size_t *quotas = NULL;
    if (namespace_usage_find_quotas(cluster, claim->namespace_, arena, &quotas) > 0)
        make(cluster, &question, shape, claim->firm_until_ms);
}

const struct claim *claims_next(const struct cluster *cluster, const struct claim *claim)
{
    const struct claim_entry *next =
        claim ? CONTAINER_OF(claim, const struct claim_entry, claim)->hh.next : cluster->claims;
    return next ? &next->claim : NULL;
}
