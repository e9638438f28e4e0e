/* fit: see include/decide/fit.h. */
#include "decide/fit.h"
#include "decide/claim_rules.h"
#include "decide/peer_rules.h"
#include "decide/quota.h"
#include "ledger/admit.h"
#include "ledger/gangs.h"
#include "ledger/node_hot.h"
#include "ledger/pod_groups.h"
#include "ledger/quarantine.h"
#include "ledger/reservation.h"

#include <string.h>

struct fit_question fit_question_of(const struct cluster *cluster, const char *namespace_,
                                    const struct fit_question *wanted, int64_t now_ms,
                                    struct arena *arena)
{
    struct fit_question question = *wanted;
    question.hold = question.gang
                        ? gangs_hold(cluster, namespace_, question.gang, question.asker.uid, arena)
                        : NULL;
    question.asker.group = question.hold ? question.hold->group : NULL;
    const struct quota_asked asked = {
        .shape = question.shape,
        .own = question.own,
        .claims = {.namespace_ = namespace_, .claims = question.claims, .asker = &question.asker},
        .known = question.asked,
        .group = question.group,
        .now_ms = now_ms,
        .binds = question.binds};
    question.in_group = pod_groups_find(cluster, namespace_, question.group).is_known;
    question.quota = quota_begin_asked(cluster, &asked, arena);
    quota_own_claim(question.quota, cluster, namespace_, &question.asker);
    quota_promise(question.quota, cluster, &question.asker, now_ms, arena);
    return question;
}

const char *fit_message(const struct node *node, const struct fit_question *question,
                        enum reason verdict)
{
    return verdict == REASON_QUOTA ? quota_refusal(question->quota, node) : reason_message(verdict);
}

const char *fit_text(const struct node *node, const struct fit_question *question,
                     enum reason verdict)
{
    return fit_message(node, question, verdict) + strlen(REASON_PREFIX);
}

/* Free amount on the node for the asking pod, including its own reservation and what victims would
 * free. A sum saturated at INT64_MAX cannot be split, so nothing of it counts as free. */
static int64_t free_to(const struct node *node, const struct fit_question *question,
                       const struct resource *resource)
{
    const struct node_resource *has = node_find_resource(node, resource);
    const struct reservation *own = question->own;
    if (!has)
        return 0;
    struct node_resource without = *has;
    if (own && has->reserved < INT64_MAX && strcmp(own->node_name, node_name(node)) == 0)
        without.reserved -= shape_need(own->shape, resource);
    if (has->used < INT64_MAX && has->reserved < INT64_MAX)
        without.used -= needs_find(question->freed, question->n_freed, resource);
    return node_resource_free(&without);
}

/* free minus what is kept for others. */
static int64_t less_kept(int64_t free, const struct node *node, const struct fit_question *question,
                         const struct resource *resource)
{
    int64_t left = 0;
    const int64_t kept = nominate_kept(node, &question->asker, resource);
    return __builtin_sub_overflow(free, kept, &left) ? INT64_MIN : left;
}

int64_t fit_left(const struct node *node, const struct fit_question *question,
                 const struct resource *resource)
{
    if (node_gives_by_claim(node, resource))
        return INT64_MAX;
    return less_kept(free_to(node, question, resource), node, question, resource);
}

static int64_t lack_of(int64_t amount, int64_t there)
{
    if (there >= amount)
        return 0;
    int64_t lack = 0;
    return __builtin_sub_overflow(amount, there, &lack) ? INT64_MAX : lack;
}

int64_t fit_lack(const struct node *node, const struct fit_question *question,
                 const struct need *need)
{
    if (node_gives_by_claim(node, need->resource))
        return 0;
    const int64_t lack = lack_of(need->amount, free_to(node, question, need->resource));
    return lack > 0 ? lack : lack_of(need->amount, fit_left(node, question, need->resource));
}

static bool has_any(const struct node *node, const struct need *need)
{
    const struct node_resource *has = node_find_resource(node, need->resource);
    return has && (has->capacity > 0 || has->allocatable > 0);
}

static bool has_total(const struct node *node, const struct need *need)
{
    return node_gives_by_claim(node, need->resource) ||
           node_find_resource(node, need->resource)->allocatable >= need->amount;
}

static bool lacks_any_gpu_resource(const struct node *node, const struct pod_shape *shape)
{
    for (size_t i = 0; i < shape->n_gpu_needs; i++) {
        if (!has_any(node, &shape->needs[i]) &&
            !node_gives_by_claim(node, shape->needs[i].resource))
            return true;
    }
    return false;
}

/* Of a group only what does not change while kube-scheduler places it: it may do so as if pods were
 * gone that are to be evicted. GPUs that are kept for others are not there. */
static enum reason judge_kept(const struct node *node, const struct fit_question *question)
{
    const struct pod_shape *shape = question->shape;
    for (size_t i = 0; i < shape->n_gpu_needs; i++) {
        const struct need *need = &shape->needs[i];
        const struct node_resource *has = node_find_resource(node, need->resource);
        if (!node_gives_by_claim(node, need->resource) && has &&
            less_kept(has->allocatable, node, question, need->resource) < need->amount)
            return REASON_GPU_NOMINATED;
    }
    return REASON_FITS;
}

static enum reason reason_of_kept(const struct node *node, const struct fit_question *question,
                                  const struct resource *resource)
{
    return nominate_is_kept_by_plans(node, &question->asker, resource) ? REASON_GPU_KEPT
                                                                       : REASON_GPU_NOMINATED;
}

static enum reason judge_room(const struct node *node, const struct fit_question *question)
{
    const struct pod_shape *shape = question->shape;
    enum reason reason = REASON_FITS;
    if (question->in_group && !question->binds)
        return judge_kept(node, question);
    for (size_t i = 0; i < shape->n_gpu_needs; i++) {
        const struct need *need = &shape->needs[i];
        if (node_gives_by_claim(node, need->resource))
            continue;
        const int64_t free = free_to(node, question, need->resource);
        if (free < need->amount)
            return REASON_GPU_FREE;
        if (!question->in_group && less_kept(free, node, question, need->resource) < need->amount)
            reason = reason_of_kept(node, question, need->resource);
    }
    return reason;
}

static enum reason judge_gpus(const struct node *node, const struct fit_question *question)
{
    const struct pod_shape *shape = question->shape;
    for (size_t i = 0; i < shape->n_gpu_needs; i++) {
        if (!has_total(node, &shape->needs[i]))
            return REASON_GPU_TOTAL;
    }
    const enum reason reason = quota_judge(question->quota, node);
    if (reason != REASON_FITS && reason != REASON_QUOTA_CLAIMED)
        return reason;
    const enum reason room = judge_room(node, question);
    return room == REASON_FITS ? reason : room;
}

enum reason reason_of_lack(const struct resource *resource)
{
    if (resource->is_gpu)
        return REASON_GPU_FREE;
    if (strcmp(resource->name, "cpu") == 0)
        return REASON_CPU;
    if (strcmp(resource->name, "memory") == 0)
        return REASON_MEMORY;
    return strcmp(resource->name, "pods") == 0 ? REASON_PODS : REASON_RESOURCE;
}

static enum reason judge_other_resources(const struct node *node,
                                         const struct fit_question *question)
{
    const struct pod_shape *shape = question->shape;
    enum reason first = REASON_FITS;
    for (size_t i = shape->n_gpu_needs; i < shape->n_needs; i++) {
        if (fit_lack(node, question, &shape->needs[i]) == 0)
            continue;
        enum reason reason = reason_of_lack(shape->needs[i].resource);
        if (first == REASON_FITS || reason < first)
            first = reason;
    }
    return first;
}

const struct need *fit_by_claim(const struct node *node, const struct pod_shape *shape)
{
    for (size_t i = 0; i < shape->n_needs; i++) {
        if (node_gives_by_claim(node, shape->needs[i].resource))
            return &shape->needs[i];
    }
    return NULL;
}

/* Verdicts that depend on the node's model only: accepted models and quotas. */
static enum reason judge_model_and_quota(const struct node *node,
                                         const struct fit_question *question)
{
    const enum reason reason = admit_model(node, question->shape);
    if (reason != REASON_FITS)
        return reason;
    return quota_judge(question->quota, node);
}

/* Most pods need whole GPUs of one resource, and most offered nodes have them. Then only the model
 * and nominations remain to be judged. The pod's own reservation and freed GPUs could only add to
 * what is free. */
static bool has_gpus_by_hot(const struct node *node, const struct pod_shape *shape)
{
    const struct node_hot *hot = node_hot(node);
    return shape->n_gpu_needs == 1 && hot->gpus == shape->needs[0].resource &&
           hot->free_gpus >= shape->needs[0].amount && !hot->is_mixed && !hot->has_mark &&
           !shape->facts.legacy_affinity.present;
}

/* kube-scheduler has chosen the node for a pod that is about to be bound; a pod that names it has
 * no other. */
static enum reason judge_mark(const struct node *node, const struct fit_question *question)
{
    if (!node_hot(node)->has_mark || question->binds ||
        (question->node_name && question->node_name[0]))
        return REASON_FITS;
    return quarantine_judge(node, question->shape, &question->asker);
}

static enum reason judge_step_by_step(const struct node *node, const struct fit_question *question)
{
    const struct pod_shape *shape = question->shape;
    const struct node_traits *traits = node_traits(node);
    if (!node_selector_holds(&shape->facts.legacy_affinity, &traits->view))
        return REASON_LEGACY_AFFINITY;
    enum reason reason = judge_mark(node, question);
    if (reason != REASON_FITS)
        return reason;
    if (lacks_any_gpu_resource(node, shape))
        return REASON_GPU_ABSENT;
    reason = admit_wholeness(node, shape);
    if (reason == REASON_FITS)
        reason = admit_model(node, shape);
    return reason == REASON_FITS ? judge_gpus(node, question) : reason;
}

static enum reason judge_ours(const struct node *node, const struct fit_question *question)
{
    if (!has_gpus_by_hot(node, question->shape))
        return judge_step_by_step(node, question);
    const enum reason reason = judge_model_and_quota(node, question);
    if ((reason != REASON_FITS && reason != REASON_QUOTA_CLAIMED) ||
        !node_hot(node)->has_nominations)
        return reason;
    const enum reason room = judge_room(node, question);
    return room == REASON_FITS ? reason : room;
}

static bool is_named_elsewhere(const struct node *node, const char *name)
{
    return name && name[0] && strcmp(name, node_name(node)) != 0;
}

static enum reason judge_hold(const struct node *node, const struct gang_hold *hold)
{
    if (hold->reason != REASON_FITS)
        return hold->reason;
    if (hold->domain)
        return node_domain(node, hold->level) == hold->domain ? REASON_FITS : REASON_GANG_PLACE;
    for (size_t i = 0; i < hold->n_nodes; i++) {
        if (strcmp(hold->nodes[i], node_name(node)) == 0)
            return REASON_FITS;
    }
    return REASON_GANG_PLACE;
}

enum reason fit_judge(const struct node *node, const struct fit_question *question)
{
    const struct pod_shape *shape = question->shape;
    if (question->refusal)
        return REASON_POD_INVALID;
    if (!node)
        return REASON_NODE_UNKNOWN;
    enum reason reason = question->hold ? judge_hold(node, question->hold) : REASON_FITS;
    if (reason != REASON_FITS)
        return reason;
    if (question->scope == FIT_OURS)
        return judge_ours(node, question);
    if (is_named_elsewhere(node, question->node_name))
        return REASON_NODE_NAME;
    reason = admit_by_labels(node_traits(node), &shape->facts);
    if (reason == REASON_FITS)
        reason = judge_ours(node, question);
    if (reason == REASON_FITS)
        reason = judge_other_resources(node, question);
    if (reason == REASON_FITS)
        reason = peer_rules_judge(question->peers, node, &question->asker);
    return reason == REASON_FITS ? claim_rules_judge(question->devices, node) : reason;
}

struct fit_round fit_round_of(const struct fit_question *question)
{
    const struct pod_shape *shape = question->shape;
    const bool goes_by_gpus = question->scope == FIT_OURS && !question->refusal &&
                              !question->hold && !question->own && question->n_freed == 0 &&
                              !quota_asks_by_claims(question->quota) && shape->n_gpu_needs == 1 &&
                              !shape->facts.legacy_affinity.present;
    return (struct fit_round){.question = question, .gpus = goes_by_gpus ? shape->needs : NULL};
}

static enum gpu_room gpu_room_of(const struct node_hot *hot, const struct need *gpus)
{
    if (hot->gpus != gpus->resource)
        return GPU_ROOM_NONE;
    if (hot->n_gpus < gpus->amount)
        return GPU_ROOM_SMALL;
    return hot->free_gpus < gpus->amount ? GPU_ROOM_TAKEN : GPU_ROOM_FREE;
}

bool fit_is_by_hot(const struct fit_round *round, const struct node_hot *hot)
{
    return round->gpus && !hot->is_mixed && !hot->has_mark && !hot->has_nominations &&
           !hot->has_devices;
}

enum reason fit_judge_next(struct fit_round *round, const struct node *node)
{
    const struct node_hot *hot = node ? node_hot(node) : NULL;
    if (!hot || !fit_is_by_hot(round, hot))
        return fit_judge(node, round->question);
    const char *word = hot->model_word;
    struct known_model *known = &round->known[((uintptr_t)word >> 4) % N_KNOWN_MODELS];
    const enum gpu_room room = gpu_room_of(hot, round->gpus);
    if (known->model_word != word)
        *known = (struct known_model){.model_word = word};
    if (!known->is_known[room])
        known->verdicts[room] = fit_judge(node, round->question);
    known->is_known[room] = true;
    return known->verdicts[room];
}

int64_t fit_count(const struct node *node, const struct fit_question *question)
{
    if (fit_judge(node, question) != REASON_FITS)
        return 0;
    const struct pod_shape *shape = question->shape;
    const size_t n_judged = question->scope == FIT_OURS ? shape->n_gpu_needs : shape->n_needs;
    int64_t count = quota_count(question->quota, node);
    for (size_t i = 0; i < n_judged; i++) {
        const struct need *need = &shape->needs[i];
        if (node_gives_by_claim(node, need->resource))
            return 0;
        int64_t more = fit_left(node, question, need->resource) / need->amount;
        count = more < count ? more : count;
    }
    return count;
}
