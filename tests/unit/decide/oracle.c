/* oracle: see oracle.h. */
#include "oracle.h"

#include <stdio.h>
#include <string.h>

const char *const ORACLE_RESOURCE_NAMES[N_ORACLE_RESOURCES] = {
    [AMD_GPU] = "amd.com/gpu",
    [CPU] = "cpu",
    [FPGA] = "example.com/fpga",
    [MEMORY] = "memory",
    [NVIDIA_GPU] = "nvidia.com/gpu",
    [MIG] = "nvidia.com/mig-1g.5gb",
    [PODS] = "pods",
};

const bool ORACLE_ALWAYS_KEPT[N_ORACLE_RESOURCES] = {
    [AMD_GPU] = true, [CPU] = true, [MEMORY] = true, [NVIDIA_GPU] = true, [PODS] = true,
};

/* Nodes. */

static struct oracle_node with_defaults(const struct oracle_node *node)
{
    struct oracle_node full = *node;
    bool says_nothing = true;
    for (size_t r = 0; r < N_ORACLE_RESOURCES; r++)
        says_nothing = says_nothing && node->allocatable[r] == ORACLE_ABSENT;
    for (size_t r = 0; r < N_ORACLE_RESOURCES; r++) {
        if (node->capacity[r] == ORACLE_ABSENT && node->allocatable[r] == ORACLE_ABSENT)
            continue;
        if (node->allocatable[r] == ORACLE_ABSENT)
            full.allocatable[r] = says_nothing ? node->capacity[r] : 0;
        if (node->capacity[r] == ORACLE_ABSENT)
            full.capacity[r] = node->allocatable[r];
    }
    return full;
}

void oracle_put_node(struct oracle *oracle, size_t i, const struct oracle_node *node)
{
    const struct oracle_node full = with_defaults(node);
    oracle->node_seen[i] = true;
    if (oracle->node_there[i] && memcmp(&oracle->nodes[i], &full, sizeof full) == 0)
        return;
    oracle->nodes[i] = full;
    oracle->node_there[i] = true;
    oracle->n_changes++;
}

void oracle_remove_node(struct oracle *oracle, size_t i)
{
    oracle->n_changes += oracle->node_there[i];
    oracle->node_there[i] = false;
}

void oracle_keep_node(struct oracle *oracle, size_t i)
{
    oracle->node_seen[i] = true;
}

void oracle_begin_nodes(struct oracle *oracle)
{
    memset(oracle->node_seen, 0, sizeof oracle->node_seen);
}

void oracle_end_nodes(struct oracle *oracle)
{
    for (size_t i = 0; i < ORACLE_NODES; i++) {
        if (!oracle->node_seen[i])
            oracle_remove_node(oracle, i);
    }
}

/* Pods. */

static void remove_namesakes(struct oracle *oracle, size_t i)
{
    for (size_t other = 0; other < ORACLE_PODS; other++) {
        if (other != i && oracle->pod_there[other] &&
            oracle->pods[other].name == oracle->pods[i].name)
            oracle_remove_pod(oracle, other);
    }
}

void oracle_put_pod(struct oracle *oracle, size_t i, const struct oracle_pod *pod)
{
    oracle->pod_seen[i] = true;
    if (oracle->pod_there[i] && memcmp(&oracle->pods[i], pod, sizeof *pod) == 0)
        return;
    oracle->pods[i] = *pod;
    oracle->pod_there[i] = true;
    oracle->n_changes++;
    remove_namesakes(oracle, i);
    if (pod->node != ORACLE_NOWHERE || pod->finished || pod->terminating)
        oracle_release(oracle, i);
}

void oracle_remove_pod(struct oracle *oracle, size_t i)
{
    oracle->n_changes += oracle->pod_there[i];
    oracle->pod_there[i] = false;
    oracle_release(oracle, i);
}

void oracle_release(struct oracle *oracle, size_t pod)
{
    oracle->n_changes += oracle->holds[pod].there;
    oracle->holds[pod].there = false;
}

void oracle_keep_pod(struct oracle *oracle, size_t i)
{
    oracle->pod_seen[i] = true;
}

void oracle_begin_pods(struct oracle *oracle)
{
    memset(oracle->pod_seen, 0, sizeof oracle->pod_seen);
}

void oracle_end_pods(struct oracle *oracle)
{
    for (size_t i = 0; i < ORACLE_PODS; i++) {
        if (oracle->pod_there[i] && !oracle->pod_seen[i])
            oracle_remove_pod(oracle, i);
    }
}

/* Sums. */

bool oracle_uses(const struct oracle *oracle, size_t pod, size_t node)
{
    return oracle->pod_there[pod] && !oracle->pods[pod].finished &&
           oracle->pods[pod].node == (int64_t)node;
}

bool oracle_holds(const struct oracle *oracle, size_t pod, size_t node)
{
    return oracle->holds[pod].there && oracle->holds[pod].node == (int64_t)node;
}

static int64_t add(int64_t sum, int64_t more)
{
    return more > INT64_MAX - sum ? INT64_MAX : sum + more;
}

int64_t oracle_used(const struct oracle *oracle, size_t node, size_t resource)
{
    int64_t sum = 0;
    for (size_t i = 0; i < ORACLE_PODS; i++) {
        if (oracle_uses(oracle, i, node))
            sum = add(sum, oracle->pods[i].shape.demand[resource]);
    }
    return sum;
}

int64_t oracle_reserved(const struct oracle *oracle, size_t node, size_t resource)
{
    int64_t sum = 0;
    for (size_t i = 0; i < ORACLE_PODS; i++) {
        if (oracle_holds(oracle, i, node))
            sum = add(sum, oracle->holds[i].shape.demand[resource]);
    }
    return sum;
}

bool oracle_is_promised(const struct oracle *oracle, size_t pod, size_t node)
{
    const struct oracle_pod *it = &oracle->pods[pod];
    return oracle->pod_there[pod] && it->nominated == (int64_t)node && it->node == ORACLE_NOWHERE &&
           !it->finished && !it->terminating && !it->gated && it->refusal == 0 &&
           !oracle->holds[pod].there;
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

int64_t oracle_kept(const struct oracle *oracle, size_t node, size_t resource, size_t asker,
                    const struct oracle_pod *pod)
{
    int64_t sum = 0;
    for (size_t i = 0; i < ORACLE_PODS; i++) {
        if (i == asker || !oracle_is_promised(oracle, i, node))
            continue;
        const int64_t priority = oracle->pods[i].priority;
        const bool is_rival = pod->nominated == (int64_t)node && !comes_before(i, asker);
        if (priority > pod->priority || (priority == pod->priority && !is_rival))
            sum = add(sum, oracle->pods[i].shape.demand[resource]);
    }
    return sum;
}

size_t oracle_n_promised(const struct oracle *oracle, size_t node)
{
    size_t n = 0;
    for (size_t i = 0; i < ORACLE_PODS; i++)
        n += oracle_is_promised(oracle, i, node);
    return n;
}

size_t oracle_n_users(const struct oracle *oracle, size_t node)
{
    size_t n = 0;
    for (size_t i = 0; i < ORACLE_PODS; i++)
        n += oracle_uses(oracle, i, node);
    return n;
}

size_t oracle_n_holders(const struct oracle *oracle, size_t node)
{
    size_t n = 0;
    for (size_t i = 0; i < ORACLE_PODS; i++)
        n += oracle_holds(oracle, i, node);
    return n;
}

size_t oracle_n_replicas(const struct oracle *oracle, int64_t owner, size_t node)
{
    size_t n = 0;
    for (size_t i = 0; i < ORACLE_PODS; i++) {
        n += oracle_uses(oracle, i, node) && oracle->pods[i].owner == owner &&
             !oracle->pods[i].terminating;
        n += oracle_holds(oracle, i, node) && oracle->holds[i].owner == owner;
    }
    return n;
}

#define N_SHAPED ((size_t)ORACLE_PODS + ORACLE_PODS)

/* First the shapes of pods, then those of reservations; NULL: none. */
static const struct oracle_shape *shape_at(const struct oracle *oracle, size_t i)
{
    if (i < ORACLE_PODS)
        return oracle->pod_there[i] ? &oracle->pods[i].shape : NULL;
    const struct oracle_hold *hold = &oracle->holds[i - ORACLE_PODS];
    return hold->there ? &hold->shape : NULL;
}

static bool is_shape_of_one_before(const struct oracle *oracle, size_t at)
{
    for (size_t i = 0; i < at; i++) {
        const struct oracle_shape *before = shape_at(oracle, i);
        if (before && memcmp(before, shape_at(oracle, at), sizeof *before) == 0)
            return true;
    }
    return false;
}

size_t oracle_n_shapes(const struct oracle *oracle)
{
    size_t n = 0;
    for (size_t i = 0; i < N_SHAPED; i++)
        n += shape_at(oracle, i) && !is_shape_of_one_before(oracle, i);
    return n;
}

static bool is_spoken_of(const struct oracle *oracle, size_t resource)
{
    for (size_t i = 0; i < ORACLE_NODES; i++) {
        if (oracle->node_there[i] && oracle->nodes[i].capacity[resource] != ORACLE_ABSENT)
            return true;
    }
    for (size_t i = 0; i < N_SHAPED; i++) {
        const struct oracle_shape *shape = shape_at(oracle, i);
        if (shape && shape->demand[resource] > 0)
            return true;
    }
    return false;
}

size_t oracle_n_resources(const struct oracle *oracle)
{
    size_t n = 0;
    for (size_t r = 0; r < N_ORACLE_RESOURCES; r++)
        n += is_spoken_of(oracle, r) || oracle_has_devices(oracle, r);
    return n;
}

/* What quotas count. */

static int64_t gpus_of(const struct oracle_shape *shape)
{
    const int64_t sum =
        add(add(shape->demand[AMD_GPU], shape->demand[NVIDIA_GPU]), shape->demand[MIG]);
    const int64_t most = INT64_C(1) << 32;
    return sum < most ? sum : most;
}

static int64_t gpus_in_use_by(const struct oracle *oracle, size_t i)
{
    const struct oracle_pod *pod = &oracle->pods[i];
    if (oracle->pod_there[i] && pod->node != ORACLE_NOWHERE && !pod->finished)
        return gpus_of(&pod->shape);
    return oracle->holds[i].there ? gpus_of(&oracle->holds[i].shape) : 0;
}

/* Without admin access, each device once. */
static int64_t gpus_of_claim(const struct oracle_claim *claim)
{
    int64_t n = 0;
    for (int64_t r = 0; r < claim->n_results; r++) {
        const struct oracle_claimed_device *used = &claim->results[r];
        bool is_new = !used->is_admin;
        for (int64_t s = 0; s < r; s++) {
            const struct oracle_claimed_device *other = &claim->results[s];
            is_new &= other->is_admin || other->node != used->node ||
                      other->driver != used->driver || other->device != used->device;
        }
        n += is_new;
    }
    return n;
}

/* The GPUs of the only pod that names the claim, if the claim is of that pod. */
static int64_t gpus_of_its_pod(const struct oracle *oracle, size_t claim)
{
    int64_t gpus = 0;
    size_t n = 0;
    for (size_t i = 0; i < ORACLE_PODS; i++) {
        if (!oracle->pod_there[i] || oracle->pods[i].claim != (int64_t)claim + 1)
            continue;
        n++;
        gpus = oracle->claims[claim].pod == (int64_t)i + 1 ? gpus_in_use_by(oracle, i) : 0;
    }
    return n == 1 ? gpus : 0;
}

int64_t oracle_gpus_in_use(const struct oracle *oracle)
{
    int64_t sum = 0;
    for (size_t i = 0; i < ORACLE_PODS; i++)
        sum += gpus_in_use_by(oracle, i);
    for (size_t i = 0; i < ORACLE_CLAIMS; i++) {
        const int64_t gpus = oracle->claims[i].there ? gpus_of_claim(&oracle->claims[i]) : 0;
        const int64_t counted = gpus_of_its_pod(oracle, i);
        sum += gpus > counted ? gpus - counted : 0;
    }
    return sum;
}
