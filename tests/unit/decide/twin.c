/* twin: see twin.h. */
#include "twin.h"
#include "decide/what_if.h"
#include "ledger/gpu_demand.h"
#include "plain_facts.h"
#include "twin_compare.h"
#include "unit.h"

#include <inttypes.h>
#include <string.h>

#define MAX_PLACED 4

/* The name of an event, and the ledger before it. */
struct event {
    const char *name;
    size_t i;
    uint64_t version;
    uint64_t n_changes;
};

static struct event begin_event(struct twin *twin, const char *name, size_t i)
{
    twin->n_events++;
    return (struct event){name, i, cluster_version(twin->cluster), twin->plain.n_changes};
}

static void fail_event(const struct twin *twin, const struct event *event, const char *difference)
{
    fail_msg("seed %" PRIu64 ", event %" PRIu64 " (%s %zu): %s", twin->seed, twin->n_events,
             event->name, event->i, difference);
}

static void end_event(const struct twin *twin, const struct event *event)
{
    struct err err = {""};
    const uint64_t version = cluster_version(twin->cluster);
    gpu_demand_settle(twin->cluster);
    if (twin_compare_ledger(twin->cluster, &twin->plain, twin->fork != NULL, &err) < 0)
        fail_event(twin, event, err.text);
    if (twin->plain.n_changes == event->n_changes && version != event->version)
        fail_event(twin, event, "the version changed, but nothing else");
    if (twin->plain.n_changes != event->n_changes && version <= event->version)
        fail_event(twin, event, "the version did not grow with the change");
}

void twin_put_node(struct twin *twin, size_t i, const struct plain_node *node)
{
    struct plain_parts parts;
    const struct node_facts facts = plain_facts_of_node(i, node, &parts);
    const struct event event = begin_event(twin, "put node", i);
    cluster_upsert_node(twin->cluster, &facts);
    plain_put_node(&twin->plain, i, node);
    end_event(twin, &event);
}

void twin_put_pod(struct twin *twin, size_t i, const struct plain_pod *pod)
{
    struct plain_parts parts;
    const struct pod_facts facts = plain_facts_of_pod(i, pod, &parts);
    const struct event event = begin_event(twin, "put pod", i);
    cluster_upsert_pod(twin->cluster, &facts);
    plain_put_pod(&twin->plain, i, pod);
    end_event(twin, &event);
}

void twin_remove_node(struct twin *twin, size_t i)
{
    const struct event event = begin_event(twin, "remove node", i);
    cluster_delete_node(twin->cluster, plain_facts_node_name((int64_t)i));
    plain_remove_node(&twin->plain, i);
    end_event(twin, &event);
}

void twin_remove_pod(struct twin *twin, size_t i)
{
    char uid[16];
    const struct event event = begin_event(twin, "remove pod", i);
    cluster_delete_pod(twin->cluster, plain_facts_uid(i, uid));
    plain_remove_pod(&twin->plain, i);
    end_event(twin, &event);
}

void twin_keep_node(struct twin *twin, size_t i)
{
    const struct event event = begin_event(twin, "keep node", i);
    cluster_keep_node(twin->cluster, plain_facts_node_name((int64_t)i));
    plain_keep_node(&twin->plain, i);
    end_event(twin, &event);
}

void twin_keep_pod(struct twin *twin, size_t i)
{
    char uid[16];
    const struct event event = begin_event(twin, "keep pod", i);
    cluster_keep_pod(twin->cluster, plain_facts_uid(i, uid));
    plain_keep_pod(&twin->plain, i);
    end_event(twin, &event);
}

/* Reservations. */

static void check_verdict(struct twin *twin, const struct event *event,
                          const struct plain_result *want, enum reserve_verdict verdict,
                          const struct reserve_result *result)
{
    struct err err = {""};
    const char *node = want->node == PLAIN_NOWHERE ? NULL : plain_facts_node_name(want->node);
    const bool is_new = result->serial > twin->last_serial;
    if (twin_compare_verdict(verdict, result, want, node, &err) < 0)
        fail_event(twin, event, err.text);
    if (verdict == RESERVE_HELD ? !is_new : result->serial != 0)
        fail_event(twin, event, "the serial is not a new one, or of nothing");
    if (is_new)
        twin->last_serial = twin->serials[event->i] = result->serial;
}

void twin_reserve(struct twin *twin, size_t pod, size_t node, const struct plain_pod *facts)
{
    char uid[16];
    struct plain_parts parts;
    struct pod_facts given = {0};
    const struct event event = begin_event(twin, "reserve for pod", pod);
    const int64_t now_ms = (int64_t)twin->n_events;
    if (facts)
        given = plain_facts_of_pod(pod, facts, &parts);
    const struct reserve_question question = {.uid = plain_facts_uid(pod, uid),
                                              .node_name = plain_facts_node_name((int64_t)node),
                                              .facts = facts ? &given : NULL,
                                              .now_ms = now_ms};
    struct reserve_result result = {0};
    enum reserve_verdict verdict = reserve_room(twin->cluster, &question, &result);
    const struct plain_question plain_question = {pod, node, facts, now_ms};
    const struct plain_result want = plain_reserve(&twin->plain, &plain_question);
    check_verdict(twin, &event, &want, verdict, &result);
    end_event(twin, &event);
}

void twin_release(struct twin *twin, size_t pod, bool is_last)
{
    char uid[16];
    const uint64_t serial = twin->serials[pod];
    const struct event event = begin_event(twin, "release of pod", pod);
    reservation_release(twin->cluster, plain_facts_uid(pod, uid), is_last ? serial : serial - 1);
    if (is_last)
        plain_release(&twin->plain, pod);
    end_event(twin, &event);
}

/* Lists. */

void twin_begin(struct twin *twin, enum cluster_kind kind)
{
    const struct event event = begin_event(twin, "begin list of kind", kind);
    cluster_relist_begin(twin->cluster, kind);
    (kind == CLUSTER_NODES ? plain_begin_nodes : plain_begin_pods)(&twin->plain);
    end_event(twin, &event);
}

void twin_end(struct twin *twin, enum cluster_kind kind)
{
    const struct event event = begin_event(twin, "end list of kind", kind);
    cluster_relist_end(twin->cluster, kind);
    (kind == CLUSTER_NODES ? plain_end_nodes : plain_end_pods)(&twin->plain);
    end_event(twin, &event);
}

/* Forks. */

static void check_fork(const struct twin *twin, const struct event *event)
{
    struct err err = {""};
    if (twin_compare_fork(twin->fork, &twin->fork_plain, twin->n_placed, &twin->placed, &err) < 0)
        fail_event(twin, event, err.text);
}

/* The ledger itself may be freed already. */
static void free_fork(struct twin *twin, const struct event *event)
{
    if (!twin->fork)
        return;
    check_fork(twin, event);
    cluster_fork_free(twin->fork);
    twin->fork = NULL;
}

void twin_drop_fork(struct twin *twin)
{
    const struct event event = begin_event(twin, "drop fork", 0);
    free_fork(twin, &event);
    end_event(twin, &event);
}

void twin_place(struct twin *twin, const struct plain_shape *shape, size_t n)
{
    const struct event event = begin_event(twin, "place on a fork", n);
    free_fork(twin, &event);
    twin->fork = cluster_fork(twin->cluster);
    twin->fork_plain = twin->plain;
    twin->placed = *shape;
    memset(twin->n_placed, 0, sizeof twin->n_placed);
    check_fork(twin, &event);

    struct plain_parts parts;
    struct arena *arena = arena_new();
    const struct shape_facts facts = plain_facts_of_shape(shape, &parts);
    const struct fit_question question = {.shape = cluster_resolve(twin->fork, &facts, arena),
                                          .scope = FIT_ALL};
    const struct node *nodes[MAX_PLACED];
    size_t n_placed = what_if_place(twin->fork, &question, n < MAX_PLACED ? n : MAX_PLACED, nodes);
    arena_free(arena);
    for (size_t i = 0; i < n_placed; i++) {
        for (int64_t node = 0; node < PLAIN_NODES; node++)
            twin->n_placed[node] += strcmp(node_name(nodes[i]), plain_facts_node_name(node)) == 0;
    }
    check_fork(twin, &event);
    end_event(twin, &event);
}

/* Lives. */

void twin_init(struct twin *twin, const struct policy *policy)
{
    *twin = (struct twin){
        .cluster = cluster_new(policy), .seed = twin->seed, .n_events = twin->n_events};
}

void twin_fini(struct twin *twin)
{
    const struct event event = {.name = "end"};
    cluster_free(twin->cluster);
    twin->cluster = NULL;
    free_fork(twin, &event);
}

void twin_check_empty(struct twin *twin)
{
    struct err err = {""};
    twin_drop_fork(twin);
    const struct event event = begin_event(twin, "end", 0);
    if (twin_compare_empty(twin->cluster, &err) < 0)
        fail_event(twin, &event, err.text);
}
