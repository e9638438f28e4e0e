/* question: see question.h. */
#include "extender/question.h"
#include "base/clock.h"
#include "decide/quota.h"

struct fit_question question_of(const struct cluster *cluster, const struct pod_facts *pod,
                                struct arena *arena)
{
    const struct pod_shape *shape = cluster_resolve(cluster, &pod->shape, arena);
    const struct reservation *own = cluster_find_reservation(cluster, pod->uid);
    const struct fit_question question = {
        .shape = shape,
        .refusal = pod->refusal,
        .scope = FIT_OURS,
        .replica_of = pod->replica_of,
        .asker = asker_of_facts(pod),
        .own = own,
        .quota = quota_begin(cluster, pod->namespace_, shape, own, arena),
    };
    quota_promise(question.quota, cluster, &question.asker, clock_ms(), arena);
    return question;
}
