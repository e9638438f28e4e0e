/* cluster: the ledger's changes. See include/ledger/cluster.h; nodes are in node_table.c. */
#include "base/mem.h"
#include "ledger/claims.h"
#include "ledger/ledger.h"
#include "ledger/sick/sick_priv.h"

#include <stdlib.h>
#include <string.h>

struct cluster *cluster_new(const struct policy *policy)
{
    struct cluster *cluster = MEM_NEW(struct cluster);
    cluster->policy = policy_hold(policy);
    cluster->shapes = shapes_new(policy);
    cluster->devices = devices_new(policy);
    cluster->quota_used = MEM_ARRAY(int64_t, policy->n_quotas * namespace_usage_n_cells(policy));
    return cluster;
}

static void free_pod(struct cluster *cluster, struct pod_entry *entry)
{
    struct string_table *strings = &cluster->shapes->strings;
    pod_groups_remove_pod(cluster, entry);
    shapes_unref_shape(cluster->shapes, entry->pod.namespace_, entry->pod.shape);
    cluster_peers_unref(cluster, entry->pod.namespace_, entry->pod.labels, entry->pod.terms);
    cluster_peers_unref_own(cluster, entry->pod.namespace_, entry->pod.own_terms);
    owners_unref(&cluster->owners, entry->pod.owner);
    string_table_unref(strings, entry->pod.namespace_);
    string_table_unref(strings, entry->pod.node_name);
    string_table_unref(strings, entry->pod.nominated_node);
    if (entry->pod.planned_node[0])
        string_table_unref(strings, entry->pod.planned_node);
    string_table_unref(strings, entry->pod.priority_class);
    free(entry->nomination);
    free(entry->extended);
    free(entry);
}

void cluster_free(struct cluster *cluster)
{
    if (!cluster)
        return;
    quarantine_free(cluster);
    struct pod_entry *pod = NULL;
    struct pod_entry *next_pod = NULL;
    HASH_ITER (hh, cluster->pods, pod, next_pod) {
        HASH_DEL(cluster->pods, pod);
        free_pod(cluster, pod);
    }
    pod_names_free(&cluster->pod_names);
    reservation_free_all(cluster);
    claims_free_all(cluster);
    struct node *node = NULL;
    struct node *next_node = NULL;
    DL_FOREACH_SAFE (cluster->nodes, node, next_node) {
        node_table_free(cluster, node);
    }
    DL_FOREACH_SAFE (cluster->missing_nodes, node, next_node) {
        node_table_free(cluster, node);
    }
    node_index_free(&cluster->node_index);
    free(cluster->check_walk.used);
    cluster_peers_fork_free(cluster);
    while (cluster->log)
        cluster_fork_keep(cluster);
    gpu_demand_free_all(cluster);
    domains_free_all(cluster);
    gpu_time_free_all(cluster);
    namespace_usage_free_all(cluster);
    kept_free_all(cluster);
    claim_usage_free_all(cluster);
    devices_free(cluster->devices);
    cluster_fork_free_resources(cluster);
    free(cluster->forking);
    arena_free(cluster->fork_arena);
    shapes_unref(cluster->shapes);
    policy_drop(cluster->policy);
    free(cluster);
}

const struct policy *cluster_policy(const struct cluster *cluster)
{
    return cluster->policy;
}

uint64_t cluster_version(const struct cluster *cluster)
{
    return cluster->version;
}

uint64_t cluster_edition(const struct cluster *cluster)
{
    return cluster->version + cluster->n_other_changes;
}

/* Nodes. */

void cluster_set_minor(struct cluster *cluster, int minor)
{
    cluster->n_other_changes += cluster->minor != minor;
    cluster->minor = minor;
}

int cluster_minor(const struct cluster *cluster)
{
    return cluster->minor;
}

void cluster_set_now(struct cluster *cluster, int64_t now_ms)
{
    cluster->now_ms = now_ms;
}

int64_t cluster_nodes_changed_ms(const struct cluster *cluster)
{
    return cluster->nodes_changed_ms;
}

void cluster_upsert_node(struct cluster *cluster, const struct node_facts *facts)
{
    struct node *node = node_table_find_or_add(cluster, facts->name);
    struct traits_entry *traits = node_traits_new(cluster, facts, node->traits);
    if (node->traits && node_traits_equal(&node->traits->traits, &traits->traits)) {
        node_traits_unref(cluster, traits);
        traits = node->traits;
    }
    node->seen = cluster->relists[CLUSTER_NODES];
    changes_of_node(cluster, node, traits, facts);
    quarantine_see_node(cluster, node, facts);
}

static void delete_node(struct cluster *cluster, struct node *node)
{
    const struct node_facts nothing = {.name = node->name};
    quarantine_lose_node(cluster, node->name);
    changes_of_node(cluster, node, NULL, &nothing);
    node_table_release(cluster, node);
}

void cluster_delete_node(struct cluster *cluster, const char *name)
{
    struct node *node = node_index_find(&cluster->node_index, name);
    if (node && node->traits)
        delete_node(cluster, node);
}

void cluster_keep_node(struct cluster *cluster, const char *name)
{
    struct node *node = node_index_find(&cluster->node_index, name);
    if (node)
        node->seen = cluster->relists[CLUSTER_NODES];
}

/* Pods. */

static bool text_equal(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool texts_equal(const struct pod *pod, const struct pod_facts *facts)
{
    return text_equal(pod->refusal, facts->refusal) &&
           text_equal(pod->extended_claim, facts->extended_claim) &&
           text_equal(pod->group, facts->group) && text_equal(pod->gang, facts->gang) &&
           pod->gang_size == facts->gang_size && text_equal(pod->domain, facts->domain) &&
           text_equal(pod->scheduler, facts->scheduler) && text_equal(pod->claims, facts->claims) &&
           pod->made_claims == facts->made_claims;
}

static bool pod_equal(const struct pod *pod, const struct pod_facts *facts,
                      const struct pod_shape *shape)
{
    return texts_equal(pod, facts) && pod->shape == shape && pod->finished == facts->finished &&
           pod->terminating == facts->terminating && pod->gated == facts->gated &&
           pod->priority == facts->priority && pod->created_s == facts->created_s &&
           strcmp(owners_uid(pod->owner), facts->replica_of ? facts->replica_of : "") == 0 &&
           strcmp(pod->namespace_, facts->namespace_) == 0 && strcmp(pod->name, facts->name) == 0 &&
           strcmp(pod->node_name, facts->node_name) == 0 &&
           strcmp(pod->nominated_node, facts->nominated_node) == 0 &&
           strcmp(pod->priority_class, facts->priority_class) == 0;
}

/* Compares what no decision of the verbs depends on. */
static bool rest_equal(const struct pod *pod, const struct pod_facts *facts,
                       const struct kept_peers *kept)
{
    return pod->labels == kept->labels && pod->terms == kept->terms &&
           pod->own_terms == kept->own_terms && pod->lacks_peers == kept->lacks_any &&
           pod->lacks_own_terms == kept->lacks_own_terms &&
           text_equal(pod->unscheduled_reason, facts->unscheduled_reason) &&
           text_equal(pod->unscheduled_message, facts->unscheduled_message) &&
           text_equal(pod->controller, facts->controller) && pod->qos == facts->qos &&
           text_equal(pod->not_evaluated, facts->not_evaluated);
}

static struct pod_entry *entry_with_texts(const struct pod_facts *facts)
{
    const char *const sources[] = {facts->uid,
                                   facts->name,
                                   facts->refusal,
                                   facts->extended_claim,
                                   facts->claims,
                                   facts->unscheduled_reason,
                                   facts->unscheduled_message,
                                   facts->controller,
                                   facts->group,
                                   facts->gang,
                                   facts->domain,
                                   facts->scheduler,
                                   facts->not_evaluated};
    const size_t n = sizeof sources / sizeof *sources;
    size_t size = 0;
    for (size_t i = 0; i < n; i++)
        size += sources[i] ? strlen(sources[i]) + 1 : 0;
    struct pod_entry *entry = mem_new(sizeof *entry + size);
    struct pod *pod = &entry->pod;
    const char **const targets[] = {&pod->uid,
                                    &pod->name,
                                    &pod->refusal,
                                    &pod->extended_claim,
                                    &pod->claims,
                                    &pod->unscheduled_reason,
                                    &pod->unscheduled_message,
                                    &pod->controller,
                                    &pod->group,
                                    &pod->gang,
                                    &pod->domain,
                                    &pod->scheduler,
                                    &pod->not_evaluated};
    char *at = entry->texts;
    for (size_t i = 0; i < n; i++) {
        if (!sources[i])
            continue;
        const size_t len = strlen(sources[i]) + 1;
        *targets[i] = memcpy(at, sources[i], len);
        at += len;
    }
    return entry;
}

static struct pod_entry *new_entry(struct cluster *cluster, const struct pod_facts *facts,
                                   const struct pod_shape *shape, const struct kept_peers *kept)
{
    struct string_table *strings = &cluster->shapes->strings;
    struct pod_entry *entry = entry_with_texts(facts);
    struct pod *pod = &entry->pod;
    pod->namespace_ = string_table_intern(strings, facts->namespace_);
    pod->node_name = string_table_intern(strings, facts->node_name);
    pod->nominated_node = string_table_intern(strings, facts->nominated_node);
    pod->priority_class = string_table_intern(strings, facts->priority_class);
    pod->planned_node = "";
    pod->gang_size = facts->gang_size;
    pod->finished = facts->finished;
    pod->terminating = facts->terminating;
    pod->gated = facts->gated;
    pod->made_claims = facts->made_claims;
    pod->qos = facts->qos;
    pod->ready = facts->ready;
    pod->unstarted = facts->unstarted;
    pod->priority = facts->priority;
    pod->created_s = facts->created_s;
    pod->started_s = facts->started_s;
    pod->shape = shape;
    pod->labels = kept->labels;
    pod->terms = kept->terms;
    pod->own_terms = kept->own_terms;
    pod->lacks_peers = kept->lacks_any;
    pod->lacks_own_terms = kept->lacks_own_terms;
    pod->version = facts->version;
    pod->soft_preferences = facts->soft_preferences;
    pod->owner = owners_ref(&cluster->owners, facts->replica_of);
    entry->seen = cluster->relists[CLUSTER_PODS];
    entry->order = ++cluster->n_pods_added;
    return entry;
}

static struct pod_entry *find_pod(const struct cluster *cluster, const char *uid)
{
    struct pod_entry *entry = NULL;
    HASH_FIND_STR(cluster->pods, uid, entry);
    return entry;
}

static void remove_pod(struct cluster *cluster, struct pod_entry *entry)
{
    if (cluster->swept_to == entry)
        cluster->swept_to = entry->hh.next;
    changes_pod_removed(cluster, entry);
    cluster_peers_removed(cluster, entry);
    pod_names_remove(&cluster->pod_names, entry);
    cluster->n_pods_over[entry->pod.shape->facts.over]--;
    HASH_DEL(cluster->pods, entry);
    free_pod(cluster, entry);
}

static const struct pod *add_pod(struct cluster *cluster, const struct pod_facts *facts,
                                 const struct pod_shape *shape, const struct kept_peers *kept)
{
    struct pod_entry *entry = new_entry(cluster, facts, shape, kept);
    HASH_ADD_KEYPTR(hh, cluster->pods, entry->pod.uid, strlen(entry->pod.uid), entry);
    pod_names_add(&cluster->pod_names, entry);
    cluster->n_pods_over[shape->facts.over]++;
    cluster_peers_added(cluster, entry);
    changes_pod_added(cluster, entry);
    return &entry->pod;
}

/* The pod's reservation is deleted with it. */
static void delete_pod(struct cluster *cluster, struct pod_entry *entry)
{
    quarantine_lose_pod(cluster, &entry->pod);
    reservation_forget(cluster, entry->pod.uid);
    claims_end(cluster, entry->pod.uid);
    remove_pod(cluster, entry);
    cluster->version++;
}

/* A reservation ends when its pod is on a node, whichever, and counts as used there; or when no
 * binding can take effect any more. */
static bool settles_reservation(const struct pod_facts *facts)
{
    return facts->node_name[0] || facts->finished || facts->terminating;
}

/* Nothing is summed by it. */
static void update_progress(struct cluster *cluster, struct pod *pod, const struct pod_facts *facts)
{
    cluster->n_other_changes += pod->started_s != facts->started_s || pod->ready != facts->ready ||
                                pod->unstarted != facts->unstarted;
    pod->started_s = facts->started_s;
    pod->ready = facts->ready;
    pod->unstarted = facts->unstarted;
    pod->version = facts->version;
    pod->soft_preferences = facts->soft_preferences;
}

static const struct pod *upsert_pod(struct cluster *cluster, struct pod_entry *entry,
                                    const struct pod_facts *facts)
{
    const struct pod_shape *shape =
        shapes_intern(cluster->shapes, facts->namespace_, &facts->shape);
    const struct kept_peers kept = cluster_peers_keep(cluster, facts);
    const bool same = entry && pod_equal(&entry->pod, facts, shape);
    if (same && rest_equal(&entry->pod, facts, &kept)) {
        shapes_unref_shape(cluster->shapes, facts->namespace_, shape);
        cluster_peers_unref(cluster, facts->namespace_, kept.labels, kept.terms);
        cluster_peers_unref_own(cluster, facts->namespace_, kept.own_terms);
        update_progress(cluster, &entry->pod, facts);
        entry->seen = cluster->relists[CLUSTER_PODS];
        return &entry->pod;
    }
    const char *planned_node = entry ? gangs_take_planned(entry) : "";
    if (entry)
        remove_pod(cluster, entry);
    struct pod_entry *predecessor =
        pod_names_find(&cluster->pod_names, facts->namespace_, facts->name);
    if (predecessor)
        delete_pod(cluster, predecessor);
    if (settles_reservation(facts)) {
        reservation_forget(cluster, facts->uid);
        claims_end(cluster, facts->uid);
    }
    const struct pod *added = add_pod(cluster, facts, shape, &kept);
    gangs_return_planned(cluster, facts->uid, planned_node);
    cluster->version += same ? 0 : 1;
    cluster->n_other_changes += same ? 1 : 0;
    return added;
}

void cluster_upsert_pod(struct cluster *cluster, const struct pod_facts *facts)
{
    struct pod_entry *entry = find_pod(cluster, facts->uid);
    const struct pod_stage before = quarantine_stage_of(entry ? &entry->pod : NULL);
    quarantine_see_pod(cluster, before, upsert_pod(cluster, entry, facts));
}

void cluster_delete_pod(struct cluster *cluster, const char *uid)
{
    struct pod_entry *entry = find_pod(cluster, uid);
    if (entry)
        delete_pod(cluster, entry);
    else
        reservation_forget(cluster, uid);
    claims_end(cluster, uid);
}

void cluster_keep_pod(struct cluster *cluster, const char *uid)
{
    struct pod_entry *entry = find_pod(cluster, uid);
    if (entry)
        entry->seen = cluster->relists[CLUSTER_PODS];
}

/* Replace all. */

bool cluster_nodes_sweep(struct cluster *cluster, size_t work)
{
    struct node *node = NULL;
    struct node *next = NULL;
    (void)work;
    DL_FOREACH_SAFE (cluster->nodes, node, next) {
        if (node->seen != cluster->relists[CLUSTER_NODES])
            delete_node(cluster, node);
    }
    return true;
}

bool cluster_pods_sweep(struct cluster *cluster, size_t work)
{
    if (!cluster->kept[CLUSTER_PODS].is_sweeping)
        cluster->swept_to = cluster->pods;
    for (size_t done = 0; cluster->swept_to && done < work; done++) {
        struct pod_entry *pod = cluster->swept_to;
        cluster->swept_to = pod->hh.next;
        if (pod->seen == cluster->relists[CLUSTER_PODS])
            continue;
        delete_pod(cluster, pod);
        done += CLUSTER_SWEEP_DELETION - 1;
    }
    cluster->kept[CLUSTER_PODS].is_sweeping = cluster->swept_to != NULL;
    return !cluster->swept_to;
}
