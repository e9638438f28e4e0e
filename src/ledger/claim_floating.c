/* claim_floating: which claims float. See claim_use.h. */
#include "base/mem.h"
#include "claim_use.h"
#include "dra/devices.h"
#include "ledger.h"

#include <stdlib.h>
#include <string.h>

/* A pod that claims are reserved for, whether or not the ledger knows it. */
struct holding_pod {
    UT_hash_handle hh; /* by UID */
    struct claim_holding *holdings;
    char uid[];
};

static bool is_placed(const struct cluster *cluster, const char *uid)
{
    const struct pod_entry *pod = NULL;
    HASH_FIND_STR(cluster->pods, uid, pod);
    return (pod && pod->node) || cluster_find_reservation(cluster, uid);
}

static bool is_floating(const struct cluster *cluster, const struct claim_use *use)
{
    if (use->n_gpus == 0 || use->pods)
        return false;
    const struct device_claim *claim =
        devices_find_claim(cluster->devices, use->namespace_, use->name);
    if (!claim || claim->n_all_holders > claim->n_holders)
        return false;
    for (size_t i = 0; i < use->n_holdings; i++) {
        if (is_placed(cluster, use->holdings[i].holder->uid))
            return false;
    }
    return true;
}

void claim_floating_judge(struct cluster *cluster, struct claim_use *use)
{
    const bool floats = is_floating(cluster, use);
    if (floats == use->floats)
        return;
    use->floats = floats;
    if (floats)
        DL_APPEND2(cluster->floating, use, prev_floating, next_floating);
    else
        DL_DELETE2(cluster->floating, use, prev_floating, next_floating);
}

static struct holding_pod *find_or_add(struct cluster *cluster, const char *uid)
{
    struct holding_pod *holder = NULL;
    HASH_FIND_STR(cluster->holding_pods, uid, holder);
    if (!holder) {
        holder = MEM_NEW_WITH_TEXT(struct holding_pod, uid, uid);
        HASH_ADD_STR(cluster->holding_pods, uid, holder);
    }
    return holder;
}

static void drop_holdings(struct cluster *cluster, struct claim_use *use)
{
    for (size_t i = 0; i < use->n_holdings; i++) {
        struct holding_pod *holder = use->holdings[i].holder;
        DL_DELETE(holder->holdings, &use->holdings[i]);
        if (!holder->holdings) {
            HASH_DEL(cluster->holding_pods, holder);
            free(holder);
        }
    }
    free(use->holdings);
    use->holdings = NULL;
    use->n_holdings = 0;
}

static void take_holdings(struct cluster *cluster, struct claim_use *use)
{
    const struct device_claim *claim =
        devices_find_claim(cluster->devices, use->namespace_, use->name);
    struct device_holder holder = {0};
    if (!claim || use->n_gpus == 0 || claim->n_holders == 0)
        return;
    use->holdings = MEM_ARRAY(struct claim_holding, claim->n_holders);
    while (devices_next_holder(claim, &holder)) {
        struct claim_holding *holding = &use->holdings[use->n_holdings++];
        holding->use = use;
        holding->holder = find_or_add(cluster, holder.uid);
        DL_APPEND(holding->holder->holdings, holding);
    }
}

void claim_floating_renew(struct cluster *cluster, struct claim_use *use)
{
    drop_holdings(cluster, use);
    take_holdings(cluster, use);
    claim_floating_judge(cluster, use);
}

void claim_floating_forget(struct cluster *cluster, struct claim_use *use)
{
    drop_holdings(cluster, use);
    if (use->floats)
        DL_DELETE2(cluster->floating, use, prev_floating, next_floating);
    use->floats = false;
}

void claim_floating_moved(struct cluster *cluster, const char *uid)
{
    struct holding_pod *holder = NULL;
    HASH_FIND_STR(cluster->holding_pods, uid, holder);
    for (struct claim_holding *holding = holder ? holder->holdings : NULL; holding;
         holding = holding->next)
        claim_floating_judge(cluster, holding->use);
}

const struct claim_use *claim_usage_next_floating(const struct cluster *cluster,
                                                  const struct claim_use *use)
{
    return use ? use->next_floating : cluster->floating;
}

bool claim_usage_floats(const struct claim_use *use)
{
    return use->floats;
}

/* ---- the check ---- */

static bool holds(const struct claim_use *use, const char *uid)
{
    for (size_t i = 0; i < use->n_holdings; i++) {
        if (strcmp(use->holdings[i].holder->uid, uid) == 0)
            return true;
    }
    return false;
}

bool claim_floating_is_right(const struct cluster *cluster, const struct claim_use *use)
{
    const struct device_claim *claim =
        devices_find_claim(cluster->devices, use->namespace_, use->name);
    struct device_holder holder = {0};
    while (claim && use->n_gpus > 0 && devices_next_holder(claim, &holder)) {
        if (!holds(use, holder.uid))
            return false;
    }
    return use->floats == is_floating(cluster, use) &&
           use->n_holdings == (claim && use->n_gpus > 0 ? claim->n_holders : 0);
}
