/* pod_devices: see pod_json.h. */
#include "api/pods/pod_json.h"
#include "dra/devices.h"

#include <string.h>

#define NAME_BYTES_MAX 253

static bool is_for(const struct device_claim *claim, const char *uid)
{
    struct device_holder holder = {0};
    while (devices_next_holder(claim, &holder)) {
        if (strcmp(holder.uid, uid) == 0)
            return true;
    }
    return false;
}

/* The claim, if it is allocated to the pod; else NULL. */
static const struct device_claim *find_claim(const struct cluster *cluster, const struct pod *pod,
                                             const char *name)
{
    const struct device_claim *claim =
        devices_find_claim(cluster_devices(cluster), pod->namespace_, name);
    return claim && devices_claim_state(claim) == CLAIM_USED && is_for(claim, pod->uid) ? claim
                                                                                        : NULL;
}

/* The pod's next claim that is allocated to it. *at: begins with pod->claims. */
static const struct device_claim *next_claim(const struct cluster *cluster, const struct pod *pod,
                                             const char **at)
{
    char name[NAME_BYTES_MAX + 1];
    while (*at && **at) {
        const size_t len = strcspn(*at, "\n");
        const bool is_name = len > 0 && len <= NAME_BYTES_MAX && **at != '/';
        if (is_name) {
            memcpy(name, *at, len);
            name[len] = '\0';
        }
        *at += len + ((*at)[len] != '\0');
        const struct device_claim *claim = is_name ? find_claim(cluster, pod, name) : NULL;
        if (claim)
            return claim;
    }
    return NULL;
}

static void count(struct amount *amounts, size_t *n, const char *driver, struct arena *arena)
{
    for (size_t i = 0; i < *n; i++) {
        if (strcmp(amounts[i].resource, driver) == 0) {
            amounts[i].amount++;
            return;
        }
    }
    amounts[(*n)++] = (struct amount){arena_strdup(arena, driver), 1};
}

static struct pod_gpus add_claim(const struct device_claim *claim, struct pod_gpus gpus,
                                 struct arena *arena)
{
    struct amount *amounts = ARENA_ARRAY(arena, struct amount, gpus.n + claim->n_results);
    size_t n = gpus.n;
    for (size_t i = 0; i < n; i++)
        amounts[i] = gpus.items[i];
    for (size_t i = 0; i < claim->n_results; i++) {
        const struct claimed_device device = devices_of_claim(claim, i);
        if (device.is_gpu && !device.is_admin)
            count(amounts, &n, device.driver, arena);
    }
    return (struct pod_gpus){amounts, n};
}

struct pod_gpus pod_devices_copy(const struct cluster *cluster, const struct pod *pod,
                                 struct arena *arena)
{
    struct pod_gpus gpus = {0};
    const char *at = pod->claims;
    const struct device_claim *claim =
        pod->extended_claim ? find_claim(cluster, pod, pod->extended_claim) : NULL;
    if (claim)
        gpus = add_claim(claim, gpus, arena);
    while ((claim = next_claim(cluster, pod, &at)))
        gpus = add_claim(claim, gpus, arena);
    return gpus;
}

static bool has_gpu(const struct device_claim *claim)
{
    for (size_t i = 0; i < claim->n_results; i++) {
        const struct claimed_device device = devices_of_claim(claim, i);
        if (device.is_gpu && !device.is_admin)
            return true;
    }
    return false;
}

bool pod_devices_has_any(const struct cluster *cluster, const struct pod *pod)
{
    const char *at = pod->claims;
    const struct device_claim *claim = NULL;
    while ((claim = next_claim(cluster, pod, &at))) {
        if (has_gpu(claim))
            return true;
    }
    return false;
}
