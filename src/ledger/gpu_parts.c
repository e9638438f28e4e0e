/*
 * gpu_parts: see gpu_parts.h. Source: NVIDIA k8s-device-plugin, GPU feature discovery (product,
 * replicas, sharing-strategy).
 */
#include "gpu_parts.h"
#include "types/quantity.h"

#include <string.h>
#include <strings.h>

#define VENDOR "nvidia.com/"
#define SLICES "nvidia.com/mig-"
#define SHARES ".shared"
#define PRODUCT_LABEL "nvidia.com/gpu.product"
#define STRATEGY_LABEL "nvidia.com/gpu.sharing-strategy"
#define REPLICAS_LABEL "nvidia.com/gpu.replicas"

static bool ends_in(const char *text, const char *end)
{
    const size_t len = strlen(text);
    const size_t end_len = strlen(end);
    return len >= end_len && strcasecmp(text + len - end_len, end) == 0;
}

/* NVIDIA's, and no slices by name. */
static bool is_of_gpus(const char *resource)
{
    return strncmp(resource, VENDOR, strlen(VENDOR)) == 0 &&
           strncmp(resource, SLICES, strlen(SLICES)) != 0;
}

static bool is_renamed_share(const char *resource)
{
    return is_of_gpus(resource) && ends_in(resource, SHARES);
}

bool gpu_parts_concern(const char *resource)
{
    return is_of_gpus(resource) && !ends_in(resource, SHARES);
}

static bool has_renamed_shares(const struct amount *amounts, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (amounts[i].amount > 0 && is_renamed_share(amounts[i].resource))
            return true;
    }
    return false;
}

static bool is_said_to_be_shared(const struct label_view *view)
{
    const char *strategy = labels_find(view->labels, view->n_labels, STRATEGY_LABEL);
    const char *replicas = labels_find(view->labels, view->n_labels, REPLICAS_LABEL);
    int64_t n = 0;
    if (strategy && strcmp(strategy, "none") != 0)
        return true;
    return replicas && quantity_whole(replicas, &n, NULL) == 0 && n > 1;
}

/* Of two models that a node is labelled with, the policy may ask the other one first. */
static const char *product_of(const struct node_traits *traits)
{
    const char *product = labels_find(traits->view.labels, traits->view.n_labels, PRODUCT_LABEL);
    return product ? product : traits->model_value;
}

/* A name that ends so speaks of the plain resource. The other labels speak of what is shared, which
 * has a name of its own where the device plugin renames it (renameByDefault): what it leaves under
 * the plain name is whole. */
void gpu_parts_find(const struct node_facts *facts, struct node_traits *traits)
{
    const char *product = product_of(traits);
    const bool is_renamed = has_renamed_shares(facts->capacity, facts->n_capacity) ||
                            has_renamed_shares(facts->allocatable, facts->n_allocatable);
    traits->slices_gpus =
        traits->model.sharing == GPU_MIG_SLICED || strstr(product, "-MIG-") != NULL;
    traits->shares_gpus = traits->model.sharing == GPU_TIME_SHARED || ends_in(product, "-SHARED") ||
                          (!is_renamed && is_said_to_be_shared(&traits->view));
}
