/* plain: see plain.h. */
#include "plain.h"

#include <stdio.h>
#include <string.h>

const char *const PLAIN_RESOURCE_NAMES[N_PLAIN_RESOURCES] = {
    [AMD_GPU] = "amd.com/gpu",
    [CPU] = "cpu",
    [FPGA] = "example.com/fpga",
    [MEMORY] = "memory",
    [NVIDIA_GPU] = "nvidia.com/gpu",
    [MIG] = "nvidia.com/mig-1g.5gb",
    [PODS] = "pods",
};

const bool PLAIN_ALWAYS_KEPT[N_PLAIN_RESOURCES] = {
    [AMD_GPU] = true, [CPU] = true, [MEMORY] = true, [NVIDIA_GPU] = true, [PODS] = true,
};

/* Nodes. */

static struct plain_node with_defaults(const struct plain_node *node)
{
    struct plain_node full = *node;
    bool says_nothing = true;
    for (size_t r = 0; r < N_PLAIN_RESOURCES; r++)
        says_nothing = says_nothing && node->allocatable[r] == PLAIN_ABSENT;
    for (size_t r = 0; r < N_PLAIN_RESOURCES; r++) {
        if (node->capacity[r] == PLAIN_ABSENT && node->allocatable[r] == PLAIN_ABSENT)
            continue;
        if (node->allocatable[r] == PLAIN_ABSENT)
            full.allocatable[r] = says_nothing ? node->capacity[r] : 0;
        if (node->capacity[r] == PLAIN_ABSENT)
            full.capacity[r] = node->allocatable[r];
    }
    return full;
}

void plain_put_node(struct plain *plain, size_t i, const struct plain_node *node)
{
    const struct plain_node full = with_defaults(node);
    plain->node_seen[i] = true;
    if (plain->node_there[i] && memcmp(&plain->nodes[i], &full, sizeof full) == 0)
        return;
    plain->nodes[i] = full;
    plain->node_there[i] = true;
    plain->n_changes++;
}

void plain_remove_node(struct plain *plain, size_t i)
{
    plain->n_changes += plain->node_there[i];
    plain->node_there[i] = false;
}

void plain_keep_node(struct plain *plain, size_t i)
{
    plain->node_seen[i] = true;
}

void plain_begin_nodes(struct plain *plain)
{
    memset(plain->node_seen, 0, sizeof plain->node_seen);
}

void plain_end_nodes(struct plain *plain)
{
    for (size_t i = 0; i < PLAIN_NODES; i++) {
        if (!plain->node_seen[i])
            plain_remove_node(plain, i);
    }
}

/* Pods. */

static void remove_namesakes(struct plain *plain, size_t i)
{
    for (size_t other = 0; other < PLAIN_PODS; other++) {
        if (other != i && plain->pod_there[other] && plain->pods[other].name == plain->pods[i].name)
            plain_remove_pod(plain, other);
    }
}

void plain_put_pod(struct plain *plain, size_t i, const struct plain_pod *pod)
{
    plain->pod_seen[i] = true;
    if (plain->pod_there[i] && memcmp(&plain->pods[i], pod, sizeof *pod) == 0)
        return;
    plain->pods[i] = *pod;
    plain->pod_there[i] = true;
    plain->n_changes++;
    remove_namesakes(plain, i);
    if (pod->node != PLAIN_NOWHERE || pod->finished || pod->terminating)
        plain_release(plain, i);
}

void plain_remove_pod(struct plain *plain, size_t i)
{
    plain->n_changes += plain->pod_there[i];
    plain->pod_there[i] = false;
    plain_release(plain, i);
}

void plain_release(struct plain *plain, size_t pod)
{
    plain->n_changes += plain->holds[pod].there;
    plain->holds[pod].there = false;
}

void plain_keep_pod(struct plain *plain, size_t i)
{
    plain->pod_seen[i] = true;
}

void plain_begin_pods(struct plain *plain)
{
    memset(plain->pod_seen, 0, sizeof plain->pod_seen);
}

void plain_end_pods(struct plain *plain)
{
    for (size_t i = 0; i < PLAIN_PODS; i++) {
        if (plain->pod_there[i] && !plain->pod_seen[i])
            plain_remove_pod(plain, i);
    }
}

/* Sums. */

bool plain_uses(const struct plain *plain, size_t pod, size_t node)
{
    return plain->pod_there[pod] && !plain->pods[pod].finished &&
           plain->pods[pod].node == (int64_t)node;
}

bool plain_holds(const struct plain *plain, size_t pod, size_t node)
{
    return plain->holds[pod].there && plain->holds[pod].node == (int64_t)node;
}

static int64_t add(int64_t sum, int64_t more)
{
    return more > INT64_MAX - sum ? INT64_MAX : sum + more;
}

int64_t plain_used(const struct plain *plain, size_t node, size_t resource)
{
    int64_t sum = 0;
    for (size_t i = 0; i < PLAIN_PODS; i++) {
        if (plain_uses(plain, i, node))
            sum = add(sum, plain->pods[i].shape.demand[resource]);
    }
    return sum;
}

int64_t plain_reserved(const struct plain *plain, size_t node, size_t resource)
{
    int64_t sum = 0;
    for (size_t i = 0; i < PLAIN_PODS; i++) {
        if (plain_holds(plain, i, node))
            sum = add(sum, plain->holds[i].shape.demand[resource]);
    }
    return sum;
}

bool plain_is_promised(const struct plain *plain, size_t pod, size_t node)
{
    const struct plain_pod *it = &plain->pods[pod];
    return plain->pod_there[pod] && it->nominated == (int64_t)node && it->node == PLAIN_NOWHERE &&
           !it->finished && !it->terminating && !it->gated && it->refusal == 0 &&
           !plain->holds[pod].there;
}

/* Which of two UIDs ("uid-" and a number) is less as text; all pods have equal age. */
static bool comes_before(size_t a, size_t b)
{
    char text_a[24];
    char text_b[24];
    (void)snprintf(text_a, sizeof text_a, "%zu", a);
    (void)snprintf(text_b, sizeof text_b, "%zu", b);
    return strcmp(text_a, text_b) < 0;
}

int64_t plain_kept(const struct plain *plain, size_t node, size_t resource, size_t asker,
                   const struct plain_pod *pod)
{
    int64_t sum = 0;
    for (size_t i = 0; i < PLAIN_PODS; i++) {
        if (i == asker || !plain_is_promised(plain, i, node))
            continue;
        const int64_t priority = plain->pods[i].priority;
        const bool is_rival = pod->nominated == (int64_t)node && !comes_before(i, asker);
        if (priority > pod->priority || (priority == pod->priority && !is_rival))
            sum = add(sum, plain->pods[i].shape.demand[resource]);
    }
    return sum;
}

size_t plain_n_promised(const struct plain *plain, size_t node)
{
    size_t n = 0;
    for (size_t i = 0; i < PLAIN_PODS; i++)
        n += plain_is_promised(plain, i, node);
    return n;
}

size_t plain_n_users(const struct plain *plain, size_t node)
{
    size_t n = 0;
    for (size_t i = 0; i < PLAIN_PODS; i++)
        n += plain_uses(plain, i, node);
    return n;
}

size_t plain_n_holders(const struct plain *plain, size_t node)
{
    size_t n = 0;
    for (size_t i = 0; i < PLAIN_PODS; i++)
        n += plain_holds(plain, i, node);
    return n;
}

size_t plain_n_replicas(const struct plain *plain, int64_t owner, size_t node)
{
    size_t n = 0;
    for (size_t i = 0; i < PLAIN_PODS; i++) {
        n += plain_uses(plain, i, node) && plain->pods[i].owner == owner &&
             !plain->pods[i].terminating;
        n += plain_holds(plain, i, node) && plain->holds[i].owner == owner;
    }
    return n;
}

#define N_SHAPED ((size_t)PLAIN_PODS + PLAIN_PODS)

/* First the shapes of pods, then those of reservations; NULL: none. */
static const struct plain_shape *shape_at(const struct plain *plain, size_t i)
{
    if (i < PLAIN_PODS)
        return plain->pod_there[i] ? &plain->pods[i].shape : NULL;
    const struct plain_hold *hold = &plain->holds[i - PLAIN_PODS];
    return hold->there ? &hold->shape : NULL;
}

static bool is_shape_of_one_before(const struct plain *plain, size_t at)
{
    for (size_t i = 0; i < at; i++) {
        const struct plain_shape *before = shape_at(plain, i);
        if (before && memcmp(before, shape_at(plain, at), sizeof *before) == 0)
            return true;
    }
    return false;
}

size_t plain_n_shapes(const struct plain *plain)
{
    size_t n = 0;
    for (size_t i = 0; i < N_SHAPED; i++)
        n += shape_at(plain, i) && !is_shape_of_one_before(plain, i);
    return n;
}

static bool is_spoken_of(const struct plain *plain, size_t resource)
{
    for (size_t i = 0; i < PLAIN_NODES; i++) {
        if (plain->node_there[i] && plain->nodes[i].capacity[resource] != PLAIN_ABSENT)
            return true;
    }
    for (size_t i = 0; i < N_SHAPED; i++) {
        const struct plain_shape *shape = shape_at(plain, i);
        if (shape && shape->demand[resource] > 0)
            return true;
    }
    return false;
}

size_t plain_n_resources(const struct plain *plain)
{
    size_t n = 0;
    for (size_t r = 0; r < N_PLAIN_RESOURCES; r++)
        n += is_spoken_of(plain, r);
    return n;
}
