/* preempt: see include/decide/preempt.h. */
#include "decide/preempt.h"
#include "decide/quota.h"
#include "ledger/reservation.h"
#include "types/quantity.h"

#include <stdlib.h>
#include <string.h>

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Resources that the victims of one node would free. */
struct gain {
    struct need *freed; /* one per GPU resource that the pod needs */
    size_t n_freed;
    struct quota_view *quota; /* remaining quota with the victims gone */
};

static void give_back(struct gain *gain, const struct pod_shape *shape)
{
    for (size_t i = 0; i < gain->n_freed; i++) {
        struct need *freed = &gain->freed[i];
        freed->amount = amount_add(freed->amount, shape_need(shape, freed->resource));
    }
}

static void add_victim(struct gain *gain, const struct cluster *cluster, const struct node *node,
                       const char *uid)
{
    const struct pod *pod = cluster_find_pod(cluster, uid);
    if (pod && !pod->finished && strcmp(pod->node_name, node_name(node)) == 0) {
        give_back(gain, pod->shape);
        quota_give_back(gain->quota, cluster, node, pod->namespace_,
                        (struct quota_pod){pod->shape, pod->priority});
        return;
    }
    const struct reservation *held = cluster_find_reservation(cluster, uid);
    if (held && strcmp(held->node_name, node_name(node)) == 0) {
        give_back(gain, held->shape);
        quota_give_back(gain->quota, cluster, node, held->namespace_,
                        (struct quota_pod){held->shape, held->priority});
    }
}

static struct gain gain_of(const struct cluster *cluster, const struct node *node,
                           const struct fit_question *question, const char **uids, size_t n,
                           struct arena *arena)
{
    const struct pod_shape *shape = question->shape;
    struct gain gain = {
        .freed = arena_copy(arena, shape->needs, shape->n_gpu_needs, sizeof(struct need)),
        .n_freed = shape->n_gpu_needs,
        .quota = quota_copy(question->quota, arena),
    };
    for (size_t i = 0; i < gain.n_freed; i++)
        gain.freed[i].amount = 0;
    for (size_t i = 0; node && i < n; i++) {
        const bool is_again = i > 0 && strcmp(uids[i], uids[i - 1]) == 0;
        const bool is_own = question->asker.uid && strcmp(uids[i], question->asker.uid) == 0;
        if (!is_again && !is_own)
            add_victim(&gain, cluster, node, uids[i]);
    }
    return gain;
}

enum reason preempt_judge(const struct cluster *cluster, const struct node *node,
                          const struct fit_question *question, const char *const *victims,
                          size_t n_victims, struct arena *arena)
{
    struct fit_question without = *question;
    const char **uids = arena_copy(arena, victims, n_victims, sizeof *uids);
    if (n_victims > 1)
        qsort(uids, n_victims, sizeof *uids, compare_texts);
    const struct gain gain = gain_of(cluster, node, question, uids, n_victims, arena);
    without.scope = FIT_OURS;
    without.freed = gain.freed;
    without.n_freed = gain.n_freed;
    without.quota = gain.quota;
    return fit_judge(node, &without);
}

const char *preempt_untouchable(const struct cluster *cluster, int64_t priority,
                                const char *const *victims, size_t n_victims)
{
    for (size_t i = 0; i < n_victims; i++) {
        const struct pod *pod = cluster_find_pod(cluster, victims[i]);
        if (pod && pod->priority >= priority)
            return victims[i];
    }
    return NULL;
}

static bool borrows_on(const struct cluster *cluster, const struct node *node, const char *uid)
{
    const struct pod *pod = cluster_find_pod(cluster, uid);
    const struct reservation *held = cluster_find_reservation(cluster, uid);
    if (!pod || strcmp(held ? held->node_name : pod->node_name, node_name(node)) != 0)
        return false;
    return namespace_usage_standing(cluster, pod->namespace_,
                                    (struct quota_pod){pod->shape, pod->priority}, node)
        .borrows;
}

bool preempt_all_borrow(const struct cluster *cluster, const struct node *node,
                        const char *const *victims, size_t n_victims)
{
    for (size_t i = 0; i < n_victims; i++) {
        if (!node || !borrows_on(cluster, node, victims[i]))
            return false;
    }
    return true;
}
