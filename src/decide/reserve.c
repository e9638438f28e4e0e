/* reserve: see include/decide/reserve.h. */
#include "decide/reserve.h"
#include "base/mem.h"
#include "decide/fit.h"
#include "decide/gang_plan.h"
#include "decide/quota.h"
#include "ledger/asked_claims.h"
#include "ledger/claim_usage.h"
#include "ledger/gangs.h"

#include <string.h>

/* The pod as the ledger knows it, else as the facts describe it. */
struct known {
    struct reservation_draft draft; /* without a shape: the facts' shape is used */
    const char *node_name;
    const char *refusal;
    bool gone;
    bool needs_facts; /* the ledger keeps only the demand, so the facts are judged */
    struct asker asker;
    const char *claims, *group, *gang; /* as in pod_facts */
};

static bool are_facts_of(const struct pod_facts *facts, const char *uid)
{
    return facts && strcmp(facts->uid, uid) == 0;
}

static struct known known_of(const struct pod *pod)
{
    return (struct known){.draft = {.namespace_ = pod->namespace_,
                                    .name = pod->name,
                                    .replica_of = owners_uid(pod->owner),
                                    .priority = pod->priority,
                                    .shape = pod->shape},
                          .node_name = pod->node_name,
                          .refusal = pod->refusal,
                          .gone = pod->finished || pod->terminating,
                          .needs_facts = pod->shape->facts.demand_only,
                          .asker = asker_from_pod(pod),
                          .claims = pod->claims,
                          .group = pod->group,
                          .gang = pod->gang};
}

static struct known known_of_facts(const struct pod_facts *facts)
{
    return (struct known){.draft = {.namespace_ = facts->namespace_,
                                    .name = facts->name,
                                    .replica_of = facts->replica_of,
                                    .priority = facts->priority},
                          .node_name = facts->node_name,
                          .refusal = facts->refusal,
                          .gone = facts->finished || facts->terminating,
                          .asker = asker_from_facts(facts),
                          .claims = facts->claims,
                          .group = facts->group,
                          .gang = facts->gang};
}

static bool find_known(const struct cluster *cluster, const struct reserve_question *question,
                       struct known *ret_known)
{
    const struct pod *pod = cluster_find_pod(cluster, question->uid);
    if (!pod && !are_facts_of(question->facts, question->uid))
        return false;
    *ret_known = pod ? known_of(pod) : known_of_facts(question->facts);
    if (are_facts_of(question->facts, question->uid) && question->facts->extended_claim)
        ret_known->asker.extended_claim = question->facts->extended_claim;
    ret_known->draft.uid = question->uid;
    ret_known->draft.node_name = question->node_name;
    ret_known->draft.made_ms = question->now_ms;
    return true;
}

/* Judges draft.shape, because quotas count its resources. */
static enum reason judge(const struct cluster *cluster, const struct reserve_question *question,
                         const struct known *known, struct reserve_result *result)
{
    const struct pod_shape *shape = known->draft.shape;
    const struct node *node = cluster_find_node(cluster, question->node_name);
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    const struct fit_question wanted = {.shape = shape,
                                        .refusal = known->refusal,
                                        .scope = FIT_OURS,
                                        .asker = known->asker,
                                        .claims = known->claims,
                                        .group = known->group,
                                        .gang = known->gang,
                                        .binds = true};
    struct fit_question fit =
        fit_question_of(cluster, known->draft.namespace_, &wanted, question->now_ms, arena);
    if (shape->facts.demand_only)
        fit.shape = cluster_resolve(cluster, &question->facts->shape, arena);
    result->reason = fit_judge(node, &fit);
    if (result->reason != REASON_FITS)
        result->why = fit_text(node, &fit, result->reason);
    return result->reason;
}

/* A claim may count twice, because the watch shows the claim and not yet the status of the pod that
 * it was made for. */
static bool may_lack_claim(const struct cluster *cluster, const struct reserve_question *question,
                           const struct known *known, const struct reserve_result *result)
{
    return result->reason == REASON_QUOTA && !known->asker.extended_claim &&
           claim_usage_any(cluster) && !are_facts_of(question->facts, question->uid);
}

static struct claims_question claims_of(const struct known *known)
{
    return (struct claims_question){
        .namespace_ = known->draft.namespace_, .claims = known->claims, .asker = &known->asker};
}

/* The rest of a group keeps its quota for so long. */
#define HELD_MS GROUP_CLAIMS_MS

static void commit(struct cluster *cluster, const struct reserve_question *question,
                   const struct known *known, struct reserve_result *result)
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    const size_t *quotas = NULL;
    const struct group_question group = {.namespace_ = known->draft.namespace_,
                                         .group = known->group,
                                         .uid = question->uid,
                                         .now_ms = question->now_ms};
    const struct group_others others = pod_groups_others(cluster, &group, arena);
    gangs_take_place(cluster, question->uid, question->node_name);
    result->serial = reservation_commit(cluster, &known->draft);
    if (others.n > 0 &&
        namespace_usage_find_quotas(cluster, known->draft.namespace_, arena, &quotas) > 0)
        quota_hold(cluster, &others, cluster_find_node(cluster, question->node_name),
                   question->now_ms, question->now_ms + HELD_MS);
}

/* Others may have taken them since they were kept. */
static bool are_places_free(const struct cluster *cluster, const struct known *known,
                            int64_t now_ms)
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    const char *namespace_ = known->draft.namespace_;
    const struct gang gang = gangs_find(cluster, namespace_, known->gang);
    return gang.n_planned == 0 || gang.n_placed > 0 ||
           gang_plan_holds(cluster, arena_printf(arena, "%s/%s", namespace_, known->gang), now_ms);
}

/* It is the first of its group, and the others have lost their places. */
static bool has_lost_plan(const struct cluster *cluster, const struct known *known, int64_t now_ms,
                          struct reserve_result *result)
{
    if (!gangs_lost_plan(cluster, known->draft.namespace_, known->gang) &&
        are_places_free(cluster, known, now_ms))
        return false;
    result->reason = REASON_GANG_WAITING;
    result->why = reason_text(REASON_GANG_WAITING);
    return true;
}

static enum reserve_verdict reserve_if_it_fits(struct cluster *cluster,
                                               const struct reserve_question *question,
                                               struct known *known, struct reserve_result *result)
{
    reservation_begin(cluster, &known->draft, question->facts ? &question->facts->shape : NULL);
    if (judge(cluster, question, known, result) != REASON_FITS) {
        reservation_abort(cluster, &known->draft);
        if (may_lack_claim(cluster, question, known, result))
            return RESERVE_POD_UNKNOWN;
        const struct claims_question claims = claims_of(known);
        if (result->reason == REASON_QUOTA)
            asked_claims_refuse(cluster, &claims);
        return RESERVE_REFUSED;
    }
    if (has_lost_plan(cluster, known, question->now_ms, result)) {
        reservation_abort(cluster, &known->draft);
        return RESERVE_REFUSED;
    }
    commit(cluster, question, known, result);
    return RESERVE_HELD;
}

/* The limits may have changed since. Its PodGroup or group does not count: they were judged when
 * the first of them was bound. */
static bool is_over_quota(const struct cluster *cluster, const struct reserve_question *question,
                          const struct known *known, const struct reservation *held,
                          struct reserve_result *result)
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    const struct fit_question wanted = {.shape = held->shape,
                                        .scope = FIT_OURS,
                                        .asker = known->asker,
                                        .own = held,
                                        .claims = known->claims,
                                        .binds = true};
    const struct fit_question fit =
        fit_question_of(cluster, held->namespace_, &wanted, question->now_ms, arena);
    const struct node *node = cluster_find_node(cluster, held->node_name);
    result->reason = node ? quota_judge(fit.quota, node) : REASON_FITS; /* it may be gone */
    if (result->reason == REASON_QUOTA)
        result->why = fit_text(node, &fit, result->reason);
    return result->reason == REASON_QUOTA;
}

static enum reserve_verdict reserve_again(struct cluster *cluster,
                                          const struct reserve_question *question,
                                          const struct known *known, const struct reservation *held,
                                          struct reserve_result *result)
{
    if (strcmp(held->node_name, question->node_name) != 0) {
        result->node_name = held->node_name;
        return RESERVE_HELD_ELSEWHERE;
    }
    const bool is_refused = has_lost_plan(cluster, known, question->now_ms, result) ||
                            is_over_quota(cluster, question, known, held, result);
    if (is_refused && may_lack_claim(cluster, question, known, result))
        return RESERVE_POD_UNKNOWN;
    result->serial = reservation_renew(cluster, held->uid);
    return is_refused ? RESERVE_HELD_REFUSED : RESERVE_HELD;
}

static enum reserve_verdict judge_bound(const struct known *known, const char *node_name,
                                        struct reserve_result *result)
{
    if (strcmp(known->node_name, node_name) == 0)
        return RESERVE_BOUND_HERE;
    result->node_name = known->node_name;
    return RESERVE_BOUND_ELSEWHERE;
}

enum reserve_verdict reserve_room(struct cluster *cluster, const struct reserve_question *question,
                                  struct reserve_result *ret_result)
{
    struct known known = {0};
    *ret_result = (struct reserve_result){0};
    if (!find_known(cluster, question, &known))
        return RESERVE_POD_UNKNOWN;
    if (known.node_name[0])
        return judge_bound(&known, question->node_name, ret_result);
    if (known.gone)
        return RESERVE_POD_GONE;
    const struct reservation *held = cluster_find_reservation(cluster, question->uid);
    if (held)
        return reserve_again(cluster, question, &known, held, ret_result);
    if (known.needs_facts && !are_facts_of(question->facts, question->uid))
        return RESERVE_POD_UNKNOWN;
    const struct claims_question claims = claims_of(&known);
    if (!question->has_waited_for_claims && quota_waits_for_claims(cluster, &claims))
        return RESERVE_CLAIMS_UNSEEN;
    if (gangs_await_first(cluster, known.draft.namespace_, known.gang))
        return RESERVE_AWAITS_FIRST;
    return reserve_if_it_fits(cluster, question, &known, ret_result);
}
