/* oracle_devices: see oracle_devices.h. */
#include "oracle_devices.h"
#include "oracle.h"

#include <string.h>

const char *const ORACLE_DRIVER_NAMES[N_ORACLE_DRIVERS] = {
    [AMD_DRIVER] = "gpu.amd.com", [NVIDIA_DRIVER] = "gpu.nvidia.com"};
const size_t ORACLE_DRIVER_RESOURCES[N_ORACLE_DRIVERS] = {
    [AMD_DRIVER] = AMD_GPU, [NVIDIA_DRIVER] = NVIDIA_GPU};
const char *const ORACLE_DEVICE_MODEL_NAMES[ORACLE_DEVICE_MODELS] = {"", "H100-80GB-HBM3", "L4"};

/* What decisions depend on, for comparison. */
struct all_groups {
    int64_t in_use;
    struct oracle_group groups[ORACLE_NODES][N_ORACLE_DRIVERS][ORACLE_DEVICE_MODELS];
};

static bool is_in_use(const struct oracle *oracle, size_t node, size_t driver, size_t device)
{
    for (size_t i = 0; i < ORACLE_CLAIMS; i++) {
        const struct oracle_claim *claim = &oracle->claims[i];
        for (int64_t r = 0; claim->there && r < claim->n_results; r++) {
            const struct oracle_claimed_device *used = &claim->results[r];
            if (used->node == (int64_t)node && used->driver == (int64_t)driver &&
                used->device == (int64_t)device && !used->is_admin)
                return true;
        }
    }
    return false;
}

/* The device plugin of the vendor offers GPUs, whole ones or slices. */
static bool is_shadowed(const struct oracle *oracle, size_t node, size_t driver)
{
    const int64_t *allocatable = oracle->nodes[node].allocatable;
    if (driver == AMD_DRIVER)
        return allocatable[AMD_GPU] > 0;
    return allocatable[NVIDIA_GPU] > 0 || allocatable[MIG] > 0;
}

struct oracle_group oracle_group(const struct oracle *oracle, size_t node, size_t driver,
                                 size_t model)
{
    const struct oracle_slice *slice = &oracle->slices[node][driver];
    struct oracle_group group = {0, 0, 0, 0};
    if (!oracle->node_there[node] || !slice->there)
        return group;
    for (int64_t i = 0; i < slice->n_devices; i++) {
        if (slice->models[i] != (int64_t)model)
            continue;
        const bool used = is_in_use(oracle, node, driver, (size_t)i);
        group.total++;
        group.allocated += used;
        group.free += !used && !slice->tainted[i] && !slice->unreadable;
    }
    group.is_shadowed = group.total > 0 && is_shadowed(oracle, node, driver);
    return group;
}

static bool is_mapped(const struct oracle *oracle, size_t resource)
{
    for (size_t i = 0; i < ORACLE_CLASSES; i++) {
        if (oracle->classes[i].there && oracle->classes[i].resource == (int64_t)resource + 1)
            return true;
    }
    return false;
}

bool oracle_gives_by_claim(const struct oracle *oracle, size_t node, size_t resource)
{
    return is_mapped(oracle, resource) && oracle->nodes[node].allocatable[resource] <= 0;
}

static void add_group(const struct oracle *oracle, size_t node, size_t driver, size_t model,
                      struct oracle_supply *supply)
{
    const struct oracle_group group = oracle_group(oracle, node, driver, model);
    if (group.total == 0 || group.is_shadowed)
        return;
    supply->n_offers++;
    supply->free += group.free;
}

struct oracle_supply oracle_supply_of_devices(const struct oracle *oracle, size_t resource,
                                              size_t model)
{
    struct oracle_supply supply = {0, 0};
    const size_t driver =
        resource == ORACLE_DRIVER_RESOURCES[AMD_DRIVER] ? AMD_DRIVER : NVIDIA_DRIVER;
    if (resource != ORACLE_DRIVER_RESOURCES[driver])
        return supply;
    for (size_t node = 0; node < ORACLE_NODES; node++) {
        if (oracle->nodes[node].unschedulable || !oracle_gives_by_claim(oracle, node, resource))
            continue;
        for (size_t each = 0; each < ORACLE_DEVICE_MODELS; each++) {
            if (model == ORACLE_DEVICE_MODELS || model == each)
                add_group(oracle, node, driver, each, &supply);
        }
    }
    return supply;
}

static size_t vendor_of(size_t resource)
{
    if (resource == AMD_GPU)
        return AMD_DRIVER;
    return resource == NVIDIA_GPU || resource == MIG ? NVIDIA_DRIVER : N_ORACLE_DRIVERS;
}

static bool reports(const struct oracle_node *node, size_t driver)
{
    bool any = false;
    for (size_t i = 0; i < N_ORACLE_RESOURCES; i++)
        any |= vendor_of(i) == driver &&
               (node->capacity[i] != ORACLE_ABSENT || node->allocatable[i] != ORACLE_ABSENT);
    return any;
}

static bool offers(const struct oracle_node *node)
{
    return node->allocatable[AMD_GPU] > 0 || node->allocatable[NVIDIA_GPU] > 0 ||
           node->allocatable[MIG] > 0;
}

/* The vendor of the GPUs that a pod gets by the resource; N_ORACLE_DRIVERS: any. */
static size_t vendor_on(const struct oracle *oracle, size_t node, size_t resource)
{
    const struct oracle_node *of = &oracle->nodes[node];
    if (reports(of, AMD_DRIVER) && reports(of, NVIDIA_DRIVER))
        return vendor_of(resource);
    if (!offers(of))
        return N_ORACLE_DRIVERS;
    return reports(of, AMD_DRIVER) ? AMD_DRIVER : NVIDIA_DRIVER;
}

bool oracle_label_is_of(const struct oracle *oracle, size_t node, size_t resource)
{
    const struct oracle_node *of = &oracle->nodes[node];
    return vendor_of(resource) == NVIDIA_DRIVER || !reports(of, AMD_DRIVER) ||
           !reports(of, NVIDIA_DRIVER);
}

size_t oracle_model_of_devices(const struct oracle *oracle, size_t node, size_t resource)
{
    const size_t vendor = vendor_on(oracle, node, resource);
    size_t model = 0;
    for (size_t driver = 0; driver < N_ORACLE_DRIVERS; driver++) {
        const struct oracle_slice *slice = &oracle->slices[node][driver];
        if (vendor != N_ORACLE_DRIVERS && vendor != driver)
            continue;
        for (int64_t i = 0; slice->there && i < slice->n_devices; i++) {
            if (slice->models[i] == 0 || (model > 0 && slice->models[i] != (int64_t)model))
                return 0;
            model = (size_t)slice->models[i];
        }
    }
    return model;
}

bool oracle_has_devices(const struct oracle *oracle, size_t resource)
{
    for (size_t node = 0; node < ORACLE_NODES; node++) {
        for (size_t driver = 0; driver < N_ORACLE_DRIVERS; driver++) {
            const struct oracle_slice *slice = &oracle->slices[node][driver];
            if (ORACLE_DRIVER_RESOURCES[driver] == resource && oracle->node_there[node] &&
                slice->there && slice->n_devices > 0)
                return true;
        }
    }
    return false;
}

static struct all_groups all_of(const struct oracle *oracle)
{
    struct all_groups all = {.in_use = oracle_gpus_in_use(oracle)};
    for (size_t node = 0; node < ORACLE_NODES; node++)
        for (size_t driver = 0; driver < N_ORACLE_DRIVERS; driver++)
            for (size_t model = 0; model < ORACLE_DEVICE_MODELS; model++)
                all.groups[node][driver][model] = oracle_group(oracle, node, driver, model);
    return all;
}

/* Slices and claims change decisions by the groups, and by what quotas count. */
static void count_change(struct oracle *oracle, const struct all_groups *before)
{
    const struct all_groups after = all_of(oracle);
    oracle->n_changes += memcmp(before, &after, sizeof after) != 0;
}

static void set_slice(struct oracle *oracle, size_t node, size_t driver,
                      const struct oracle_slice *slice)
{
    const struct all_groups before = all_of(oracle);
    oracle->slices[node][driver] = *slice;
    count_change(oracle, &before);
}

void oracle_put_slice(struct oracle *oracle, size_t node, size_t driver,
                      const struct oracle_slice *slice)
{
    oracle->slice_seen[node][driver] = true;
    set_slice(oracle, node, driver, slice);
}

void oracle_remove_slice(struct oracle *oracle, size_t node, size_t driver)
{
    static const struct oracle_slice NONE = {.there = 0};
    set_slice(oracle, node, driver, &NONE);
}

void oracle_keep_slice(struct oracle *oracle, size_t node, size_t driver)
{
    struct oracle_slice slice = oracle->slices[node][driver];
    oracle->slice_seen[node][driver] = true;
    slice.unreadable = slice.there;
    set_slice(oracle, node, driver, &slice);
}

static void set_claim(struct oracle *oracle, size_t i, const struct oracle_claim *claim)
{
    const struct all_groups before = all_of(oracle);
    oracle->claims[i] = *claim;
    count_change(oracle, &before);
}

void oracle_put_claim(struct oracle *oracle, size_t i, const struct oracle_claim *claim)
{
    oracle->claim_seen[i] = true;
    set_claim(oracle, i, claim);
}

bool oracle_floats(const struct oracle *oracle, size_t i)
{
    const struct oracle_claim *claim = &oracle->claims[i];
    const int64_t holder = claim->holder - 1;
    bool uses = false;
    for (int64_t r = 0; claim->there && r < claim->n_results; r++)
        uses |= !claim->results[r].is_admin;
    for (size_t pod = 0; pod < ORACLE_PODS; pod++)
        uses &= !oracle->pod_there[pod] || oracle->pods[pod].claim != (int64_t)i + 1;
    if (!uses || holder < 0)
        return uses;
    const struct oracle_pod *pod = &oracle->pods[holder];
    return !oracle->holds[holder].there &&
           (!oracle->pod_there[holder] || pod->node == ORACLE_NOWHERE || pod->finished);
}

void oracle_remove_claim(struct oracle *oracle, size_t i)
{
    static const struct oracle_claim NONE = {.there = 0};
    set_claim(oracle, i, &NONE);
}

void oracle_keep_claim(struct oracle *oracle, size_t i)
{
    oracle->claim_seen[i] = true;
}

void oracle_begin_slices(struct oracle *oracle)
{
    memset(oracle->slice_seen, 0, sizeof oracle->slice_seen);
}

void oracle_end_slices(struct oracle *oracle)
{
    for (size_t node = 0; node < ORACLE_NODES; node++) {
        for (size_t driver = 0; driver < N_ORACLE_DRIVERS; driver++) {
            if (!oracle->slice_seen[node][driver])
                oracle_remove_slice(oracle, node, driver);
        }
    }
}

void oracle_begin_claims(struct oracle *oracle)
{
    memset(oracle->claim_seen, 0, sizeof oracle->claim_seen);
}

void oracle_end_claims(struct oracle *oracle)
{
    for (size_t i = 0; i < ORACLE_CLAIMS; i++) {
        if (!oracle->claim_seen[i])
            oracle_remove_claim(oracle, i);
    }
}

static void set_class(struct oracle *oracle, size_t i, const struct oracle_class *class)
{
    oracle->n_changes += memcmp(&oracle->classes[i], class, sizeof *class) != 0;
    oracle->classes[i] = *class;
}

void oracle_put_class(struct oracle *oracle, size_t i, const struct oracle_class *class)
{
    oracle->class_seen[i] = true;
    set_class(oracle, i, class);
}

void oracle_remove_class(struct oracle *oracle, size_t i)
{
    static const struct oracle_class NONE = {.there = 0};
    set_class(oracle, i, &NONE);
}

void oracle_begin_classes(struct oracle *oracle)
{
    memset(oracle->class_seen, 0, sizeof oracle->class_seen);
}

void oracle_end_classes(struct oracle *oracle)
{
    for (size_t i = 0; i < ORACLE_CLASSES; i++) {
        if (!oracle->class_seen[i])
            oracle_remove_class(oracle, i);
    }
}
