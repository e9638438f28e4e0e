/* oracle_harness: see oracle_harness.h. */
#include "oracle_harness.h"
#include "decide/what_if.h"
#include "ledger/cluster_copy.h"
#include "ledger/gpu_demand.h"
#include "ledger/peer.h"
#include "oracle_compare.h"
#include "oracle_facts.h"
#include "unit.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define MAX_PLACED 4

/* The name of an event, and the ledger before it. */
struct event {
    const char *name;
    size_t i;
    uint64_t version;
    uint64_t n_changes;
};

static struct event begin_event(struct oracle_harness *harness, const char *name, size_t i)
{
    harness->n_events++;
    return (struct event){name, i, cluster_version(harness->cluster), harness->oracle.n_changes};
}

static void fail_event(const struct oracle_harness *harness, const struct event *event,
                       const char *difference)
{
    fail_msg("seed %" PRIu64 ", event %" PRIu64 " (%s %zu): %s", harness->seed, harness->n_events,
             event->name, event->i, difference);
}

static void end_event(const struct oracle_harness *harness, const struct event *event)
{
    struct err err = {""};
    const uint64_t version = cluster_version(harness->cluster);
    gpu_demand_settle(harness->cluster);
    if (oracle_compare_ledger(harness->cluster, &harness->oracle, harness->fork || harness->forking,
                              &err) < 0)
        fail_event(harness, event, err.text);
    if (harness->oracle.n_changes == event->n_changes && version != event->version)
        fail_event(harness, event, "the version changed, but nothing else");
    if (harness->oracle.n_changes != event->n_changes && version <= event->version)
        fail_event(harness, event, "the version did not grow with the change");
}

void oracle_harness_put_node(struct oracle_harness *harness, size_t i,
                             const struct oracle_node *node)
{
    struct oracle_parts parts;
    const struct node_facts facts = oracle_facts_of_node(i, node, &parts);
    const struct event event = begin_event(harness, "put node", i);
    cluster_upsert_node(harness->cluster, &facts);
    oracle_put_node(&harness->oracle, i, node);
    end_event(harness, &event);
}

void oracle_harness_put_pod(struct oracle_harness *harness, size_t i, const struct oracle_pod *pod)
{
    struct oracle_parts parts;
    const struct pod_facts facts = oracle_facts_of_pod(i, pod, &parts);
    const struct event event = begin_event(harness, "put pod", i);
    cluster_upsert_pod(harness->cluster, &facts);
    oracle_put_pod(&harness->oracle, i, pod);
    end_event(harness, &event);
}

void oracle_harness_remove_node(struct oracle_harness *harness, size_t i)
{
    const struct event event = begin_event(harness, "remove node", i);
    cluster_delete_node(harness->cluster, oracle_facts_node_name((int64_t)i));
    oracle_remove_node(&harness->oracle, i);
    end_event(harness, &event);
}

void oracle_harness_remove_pod(struct oracle_harness *harness, size_t i)
{
    char uid[16];
    const struct event event = begin_event(harness, "remove pod", i);
    cluster_delete_pod(harness->cluster, oracle_facts_uid(i, uid));
    oracle_remove_pod(&harness->oracle, i);
    end_event(harness, &event);
}

void oracle_harness_keep_node(struct oracle_harness *harness, size_t i)
{
    const struct event event = begin_event(harness, "keep node", i);
    cluster_keep_node(harness->cluster, oracle_facts_node_name((int64_t)i));
    oracle_keep_node(&harness->oracle, i);
    end_event(harness, &event);
}

void oracle_harness_keep_pod(struct oracle_harness *harness, size_t i)
{
    char uid[16];
    const struct event event = begin_event(harness, "keep pod", i);
    cluster_keep_pod(harness->cluster, oracle_facts_uid(i, uid));
    oracle_keep_pod(&harness->oracle, i);
    end_event(harness, &event);
}

/* Reservations. */

static void check_verdict(struct oracle_harness *harness, const struct event *event,
                          const struct oracle_result *want, enum reserve_verdict verdict,
                          const struct reserve_result *result)
{
    struct err err = {""};
    const char *node = want->node == ORACLE_NOWHERE ? NULL : oracle_facts_node_name(want->node);
    const bool is_new = result->serial > harness->last_serial;
    if (oracle_compare_verdict(verdict, result, want, node, &err) < 0)
        fail_event(harness, event, err.text);
    if (verdict == RESERVE_HELD ? !is_new : result->serial != 0)
        fail_event(harness, event, "the serial is not a new one, or of nothing");
    if (is_new)
        harness->last_serial = harness->serials[event->i] = result->serial;
}

void oracle_harness_reserve(struct oracle_harness *harness, size_t pod, size_t node,
                            const struct oracle_pod *facts)
{
    char uid[16];
    struct oracle_parts parts;
    struct pod_facts fixture = {0};
    const struct event event = begin_event(harness, "reserve for pod", pod);
    const int64_t now_ms = (int64_t)harness->n_events;
    if (facts)
        fixture = oracle_facts_of_pod(pod, facts, &parts);
    const struct reserve_question question = {.uid = oracle_facts_uid(pod, uid),
                                              .node_name = oracle_facts_node_name((int64_t)node),
                                              .facts = facts ? &fixture : NULL,
                                              .now_ms = now_ms};
    struct reserve_result result = {0};
    enum reserve_verdict verdict = reserve_room(harness->cluster, &question, &result);
    const struct oracle_question oracle_question = {pod, node, facts, now_ms};
    const struct oracle_result want = oracle_reserve(&harness->oracle, &oracle_question);
    check_verdict(harness, &event, &want, verdict, &result);
    end_event(harness, &event);
}

void oracle_harness_release(struct oracle_harness *harness, size_t pod, bool is_last)
{
    char uid[16];
    const uint64_t serial = harness->serials[pod];
    const struct event event = begin_event(harness, "release of pod", pod);
    reservation_release(harness->cluster, oracle_facts_uid(pod, uid),
                        is_last ? serial : serial - 1);
    if (is_last)
        oracle_release(&harness->oracle, pod);
    end_event(harness, &event);
}

/* Slices and claims. */

void oracle_harness_put_slice(struct oracle_harness *harness, size_t node, size_t driver,
                              const struct oracle_slice *slice)
{
    struct oracle_device_parts parts;
    const struct slice_facts facts = oracle_facts_of_slice(node, driver, slice, &parts);
    const struct event event = begin_event(harness, "put slice of node", node);
    cluster_upsert_slice(harness->cluster, &facts);
    oracle_put_slice(&harness->oracle, node, driver, slice);
    end_event(harness, &event);
}

void oracle_harness_remove_slice(struct oracle_harness *harness, size_t node, size_t driver)
{
    char name[32];
    const struct event event = begin_event(harness, "remove slice of node", node);
    cluster_delete_slice(harness->cluster, oracle_facts_slice_name(node, driver, name));
    oracle_remove_slice(&harness->oracle, node, driver);
    end_event(harness, &event);
}

void oracle_harness_keep_slice(struct oracle_harness *harness, size_t node, size_t driver)
{
    char name[32];
    const struct event event = begin_event(harness, "keep slice of node", node);
    cluster_keep_slice(harness->cluster, oracle_facts_slice_name(node, driver, name));
    oracle_keep_slice(&harness->oracle, node, driver);
    end_event(harness, &event);
}

void oracle_harness_put_claim(struct oracle_harness *harness, size_t i,
                              const struct oracle_claim *claim)
{
    struct oracle_device_parts parts;
    const struct claim_facts facts = oracle_facts_of_claim(i, claim, &parts);
    const struct event event = begin_event(harness, "put claim", i);
    cluster_upsert_resource_claim(harness->cluster, &facts);
    oracle_put_claim(&harness->oracle, i, claim);
    end_event(harness, &event);
}

void oracle_harness_remove_claim(struct oracle_harness *harness, size_t i)
{
    char name[32];
    const struct event event = begin_event(harness, "remove claim", i);
    cluster_delete_resource_claim(harness->cluster, "default", oracle_facts_claim_name(i, name));
    oracle_remove_claim(&harness->oracle, i);
    end_event(harness, &event);
}

void oracle_harness_keep_claim(struct oracle_harness *harness, size_t i)
{
    char name[32];
    const struct event event = begin_event(harness, "keep claim", i);
    cluster_keep_resource_claim(harness->cluster, "default", oracle_facts_claim_name(i, name));
    oracle_keep_claim(&harness->oracle, i);
    end_event(harness, &event);
}

void oracle_harness_put_class(struct oracle_harness *harness, size_t i,
                              const struct oracle_class *class)
{
    const char *resource = class->resource > 0 ? ORACLE_RESOURCE_NAMES[class->resource - 1] : "";
    const struct event event = begin_event(harness, "put device class", i);
    const char *name = oracle_facts_class_name(i);
    const struct device_class_facts facts = {name, .resource = resource,
                                             .driver = oracle_facts_class_driver(class->driver)};
    cluster_upsert_device_class(harness->cluster, &facts);
    oracle_put_class(&harness->oracle, i, class);
    end_event(harness, &event);
}

void oracle_harness_remove_class(struct oracle_harness *harness, size_t i)
{
    const struct event event = begin_event(harness, "remove device class", i);
    cluster_delete(harness->cluster, CLUSTER_DEVICE_CLASSES, oracle_facts_class_name(i));
    oracle_remove_class(&harness->oracle, i);
    end_event(harness, &event);
}

void oracle_harness_put_template(struct oracle_harness *harness, size_t i,
                                 const struct oracle_template *template)
{
    struct claim_want wants[ORACLE_WANTS];
    const struct claim_template_facts facts = oracle_facts_of_template(i, template, wants);
    const struct event event = begin_event(harness, "put claim template", i);
    cluster_upsert_claim_template(harness->cluster, &facts);
    oracle_put_template(&harness->oracle, i, template);
    end_event(harness, &event);
}

#define TEMPLATE_ID_SIZE 64

static const char *template_id(size_t i, char id[TEMPLATE_ID_SIZE])
{
    (void)snprintf(id, TEMPLATE_ID_SIZE, "%s/%s", oracle_facts_template_namespace(i),
                   oracle_facts_template_name(i));
    return id;
}

void oracle_harness_remove_template(struct oracle_harness *harness, size_t i)
{
    const struct event event = begin_event(harness, "remove claim template", i);
    char id[TEMPLATE_ID_SIZE];
    cluster_delete(harness->cluster, CLUSTER_CLAIM_TEMPLATES, template_id(i, id));
    oracle_remove_template(&harness->oracle, i);
    end_event(harness, &event);
}

void oracle_harness_keep_template(struct oracle_harness *harness, size_t i)
{
    const struct event event = begin_event(harness, "keep claim template", i);
    char id[TEMPLATE_ID_SIZE];
    cluster_keep(harness->cluster, CLUSTER_CLAIM_TEMPLATES, template_id(i, id));
    oracle_keep_template(&harness->oracle, i);
    end_event(harness, &event);
}

/* Lists. */

static const struct {
    enum cluster_kind kind;
    void (*begin)(struct oracle *oracle);
    void (*end)(struct oracle *oracle);
} LISTS[] = {
    {CLUSTER_NODES, oracle_begin_nodes, oracle_end_nodes},
    {CLUSTER_PODS, oracle_begin_pods, oracle_end_pods},
    {CLUSTER_SLICES, oracle_begin_slices, oracle_end_slices},
    {CLUSTER_CLAIMS, oracle_begin_claims, oracle_end_claims},
    {CLUSTER_DEVICE_CLASSES, oracle_begin_classes, oracle_end_classes},
    {CLUSTER_CLAIM_TEMPLATES, oracle_begin_templates, oracle_end_templates},
};
#define N_LISTS (sizeof LISTS / sizeof *LISTS)

void oracle_harness_begin(struct oracle_harness *harness, enum cluster_kind kind)
{
    const struct event event = begin_event(harness, "begin list of kind", kind);
    cluster_relist_begin(harness->cluster, kind);
    for (size_t i = 0; i < N_LISTS; i++) {
        if (LISTS[i].kind == kind)
            LISTS[i].begin(&harness->oracle);
    }
    end_event(harness, &event);
}

void oracle_harness_end(struct oracle_harness *harness, enum cluster_kind kind)
{
    const struct event event = begin_event(harness, "end list of kind", kind);
    cluster_relist_end(harness->cluster, kind);
    for (size_t i = 0; i < N_LISTS; i++) {
        if (LISTS[i].kind == kind)
            LISTS[i].end(&harness->oracle);
    }
    end_event(harness, &event);
}

/* Forks. */

static void check_fork(const struct oracle_harness *harness, const struct event *event)
{
    struct err err = {""};
    if (oracle_compare_fork(harness->fork, &harness->fork_oracle, harness->n_placed,
                            &harness->placed, &err) < 0)
        fail_event(harness, event, err.text);
}

void oracle_harness_take_policy(struct oracle_harness *harness, const struct policy *policy,
                                size_t n)
{
    struct event event = begin_event(harness, "take policy", n);
    struct cluster *old = harness->cluster;
    struct cluster_copy *copy = cluster_copy_new(old, policy);
    while (!cluster_copy_some(copy, n) || !cluster_copy_claims(copy, n)) {
    }
    cluster_copy_settle(copy);
    harness->cluster = cluster_copy_end(copy);
    if (cluster_version(harness->cluster) <= cluster_version(old))
        fail_event(harness, &event, "the version did not grow with the change of the policy");
    cluster_free(old);
    event.version = cluster_version(harness->cluster);
    end_event(harness, &event);
}

/* The ledger itself may be freed already. */
static void free_fork(struct oracle_harness *harness, const struct event *event)
{
    if (!harness->fork)
        return;
    check_fork(harness, event);
    cluster_fork_free(harness->fork);
    harness->fork = NULL;
}

static void free_forking(struct oracle_harness *harness)
{
    if (harness->forking)
        cluster_fork_free(harness->forking);
    harness->forking = NULL;
}

void oracle_harness_drop_fork(struct oracle_harness *harness)
{
    const struct event event = begin_event(harness, "drop fork", 0);
    free_fork(harness, &event);
    free_forking(harness);
    end_event(harness, &event);
}

void oracle_harness_fork_some(struct oracle_harness *harness)
{
    const struct event event = begin_event(harness, "fork in steps", 0);
    if (!harness->forking)
        harness->forking = cluster_fork_begin(harness->cluster, PEERS_NONE);
    else if (!cluster_is_fork_of(harness->forking, harness->cluster) ||
             cluster_fork_some(harness->forking, harness->cluster, 1) != FORK_GOES_ON)
        free_forking(harness);
    end_event(harness, &event);
}

static struct cluster *fork_whole(struct oracle_harness *harness)
{
    struct cluster *fork = harness->forking;
    if (fork && cluster_is_fork_of(fork, harness->cluster) &&
        cluster_fork_some(fork, harness->cluster, SIZE_MAX) == FORK_IS_COMPLETE) {
        harness->forking = NULL;
        return fork;
    }
    free_forking(harness);
    return cluster_fork(harness->cluster);
}

void oracle_harness_place(struct oracle_harness *harness, const struct oracle_shape *shape,
                          size_t n)
{
    const struct event event = begin_event(harness, "place on a fork", n);
    free_fork(harness, &event);
    harness->fork = fork_whole(harness);
    harness->fork_oracle = harness->oracle;
    harness->placed = *shape;
    memset(harness->n_placed, 0, sizeof harness->n_placed);
    check_fork(harness, &event);

    struct oracle_parts parts;
    struct arena *arena = arena_new();
    const struct shape_facts facts = oracle_facts_of_shape(shape, &parts);
    const struct fit_question question = {.shape = cluster_resolve(harness->fork, &facts, arena),
                                          .scope = FIT_ALL};
    const struct node *nodes[MAX_PLACED];
    size_t n_placed =
        what_if_place(harness->fork, &question, n < MAX_PLACED ? n : MAX_PLACED, nodes);
    arena_free(arena);
    for (size_t i = 0; i < n_placed; i++) {
        for (int64_t node = 0; node < ORACLE_NODES; node++)
            harness->n_placed[node] +=
                strcmp(node_name(nodes[i]), oracle_facts_node_name(node)) == 0;
    }
    check_fork(harness, &event);
    end_event(harness, &event);
}

/* Lives. */

void oracle_harness_init(struct oracle_harness *harness, const struct policy *policy)
{
    *harness = (struct oracle_harness){
        .cluster = cluster_new(policy), .seed = harness->seed, .n_events = harness->n_events};
}

void oracle_harness_fini(struct oracle_harness *harness)
{
    const struct event event = {.name = "end"};
    cluster_free(harness->cluster);
    harness->cluster = NULL;
    free_fork(harness, &event);
    free_forking(harness);
}

void oracle_harness_check_empty(struct oracle_harness *harness)
{
    struct err err = {""};
    oracle_harness_drop_fork(harness);
    const struct event event = begin_event(harness, "end", 0);
    if (oracle_compare_empty(harness->cluster, &err) < 0)
        fail_event(harness, &event, err.text);
}
