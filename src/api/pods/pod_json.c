/* pod_json: see pod_json.h. The sentence comes first. */
#include "api/pods/pod_json.h"
#include "api/text.h"
#include "api/verdicts/candidates.h"
#include "api/verdicts/headline.h"
#include "api/verdicts/remedies.h"
#include "api/verdicts/verdict.h"
#include "base/clock.h"
#include "decide/quota.h"
#include "ledger/shape_limits.h"

#include <inttypes.h>
#include <string.h>

bool pod_json_is_pending(const struct pod *pod)
{
    return !pod->node_name[0] && !pod->finished;
}

struct claim_lookup *pod_json_claims(struct inventory *inventory, const struct policy *policy,
                                     const struct pod_copies *copies, struct arena *arena)
{
    const struct claim_sources sources = {.inventory = inventory, .policy = policy};
    struct claim_lookup *lookup = claim_lookup_new(&sources, arena);
    for (size_t i = 0; i < copies->n; i++) {
        const struct pod *pod = &copies->items[i].pod;
        if (pod_json_is_pending(pod))
            claim_lookup_add(lookup, pod->namespace_, pod->claims);
    }
    claim_lookup_run(lookup);
    return lookup;
}

const char *pod_json_gpus(const struct pod_report *report, const struct shape_facts *facts)
{
    const struct policy *policy = cluster_policy(report->fork);
    const char *text = "";
    for (size_t i = 0; i < facts->n_demand; i++) {
        if (policy_is_gpu_resource(policy, facts->demand[i].resource))
            text = arena_printf(report->arena, "%s%s%" PRId64 " %s", text, text[0] ? ", " : "",
                                facts->demand[i].amount, facts->demand[i].resource);
    }
    return text;
}

static struct quota_standing standing_of(const struct pod_report *report,
                                         const struct pod_copy *copy)
{
    const struct pod *pod = &copy->pod;
    const struct quota_pod counted = {
        cluster_resolve(report->fork, &copy->shape->facts, report->arena), pod->priority};
    return namespace_usage_standing(report->fork, pod->namespace_, counted,
                                    cluster_find_node(report->fork, pod->node_name));
}

/* "; it borrows H100 by quota team-a: ...": what a borrower risks. */
static const char *borrows_text(const struct pod_report *report, const struct pod_copy *copy)
{
    const struct quota_standing standing = standing_of(report, copy);
    if (!standing.borrows || copy->pod.finished)
        return "";
    return arena_printf(report->arena,
                        "; it %s %s by quota %s: a pod with a priority above %" PRId64
                        " may evict it",
                        copy->pod.node_name[0] ? "borrows" : "would borrow",
                        standing.limit->model ? standing.limit->model : "GPUs",
                        standing.quota->name, copy->pod.priority);
}

static json_t *borrows_json(const struct pod_report *report, const struct pod_copy *copy)
{
    const struct quota_standing standing = standing_of(report, copy);
    if (!standing.borrows)
        return json_null();
    return json_pack("{s:s, s:s, s:s, s:I}", "quota", standing.quota->name, "resource",
                     standing.limit->resource ? standing.limit->resource : "", "model",
                     standing.limit->model ? standing.limit->model : "", "maxPriority",
                     (json_int_t)standing.limit->borrow.max_priority);
}

static const char *bound_text(const struct pod_report *report, const struct pod_copy *copy)
{
    const struct pod *pod = &copy->pod;
    const bool is_there = cluster_find_node(report->fork, pod->node_name) != NULL;
    const char *gpus = pod_json_gpus(report, &copy->shape->facts);
    return arena_printf(report->arena, "is on the node %s and uses %s there%s%s", pod->node_name,
                        gpus[0] ? gpus : "no GPUs",
                        pod->terminating ? " until it is gone: it is being deleted" : "",
                        is_there ? "" : "; that node is not in the inventory");
}

static const char *verdict_text(const struct pod_report *report, const struct pod_copy *copy,
                                const struct verdicts *verdicts)
{
    struct arena *arena = report->arena;
    if (copy->pod.refusal)
        return arena_printf(arena, "cannot run on any node: %s", copy->pod.refusal);
    if (copy->reserved_node)
        return arena_printf(arena, "is being bound to %s, where room is held for it",
                            copy->reserved_node);
    if (copy->shape->facts.over)
        return arena_printf(arena, "was not judged: %s", shape_limit_text(copy->shape->facts.over));
    if (!verdicts)
        return "was not judged, because too many different pods are pending: explain judges it";
    if (verdicts->n_nodes == 0)
        return "there are no nodes";
    if (verdicts->n_fits == 0)
        return verdicts->counts;
    return arena_printf(arena, "would fit on %zu of %zu nodes now%s, best on %s", verdicts->n_fits,
                        verdicts->n_nodes,
                        copy->pod.not_evaluated || verdicts->has_claims ? " as far as evaluated"
                                                                        : "",
                        verdicts->best);
}

/* "3 of 4 members exist" */
static const char *group_text(const struct pod_copy *copy, struct arena *arena)
{
    const struct pod_group *group = &copy->group;
    return arena_printf(arena, "%zu of %lld members exist", group->n_members,
                        (long long)group->min_count);
}

static const char *pending_text(const struct pod_report *report, const struct pod_copy *copy,
                                const struct verdicts *verdicts)
{
    const struct pod *pod = &copy->pod;
    struct arena *arena = report->arena;
    const char *text = verdict_text(report, copy, verdicts);
    if (pod->nominated_node[0])
        text =
            arena_printf(arena, "%s; room is being made for it on %s", text, pod->nominated_node);
    if ((int64_t)copy->group.n_members < copy->group.min_count)
        text = arena_printf(arena, "waits for its group %s: %s; %s", pod->group,
                            group_text(copy, arena), text);
    if (pod->gated)
        text = arena_printf(arena, "waits until its scheduling gates are removed; %s", text);
    return pod->terminating ? "is being deleted" : text;
}

static const char *summary_of(const struct pod_report *report, const struct pod_copy *copy,
                              const struct verdicts *verdicts)
{
    const struct pod *pod = &copy->pod;
    const char *text = "has ended and uses nothing";
    if (pod_json_is_pending(pod))
        text = pending_text(report, copy, verdicts);
    else if (!pod->finished)
        text = bound_text(report, copy);
    return arena_printf(report->arena, "%s/%s: %s%s", pod->namespace_, pod->name, text,
                        borrows_text(report, copy));
}

/* A pod's kind is counted once. */
static struct peer_rules *rules_of(const struct pod_report *report, const struct pod_copy *copy,
                                   const struct pod_shape *shape)
{
    struct shared_peers *peers = copy->peers;
    if (!peers->has_rules)
        peers->rules = peer_rules_of(report->fork, &peers->pod, shape, report->arena);
    peers->has_rules = true;
    return peers->rules;
}

struct pod_query pod_json_query(const struct pod_report *report, const struct pod_copy *copy)
{
    struct fit_question wanted = {
        .shape = cluster_resolve(report->fork, &copy->shape->facts, report->arena),
        .refusal = copy->pod.refusal,
        .scope = FIT_ALL,
        .asker = asker_from_pod(&copy->pod),
        .claims = copy->pod.claims,
        .asked = copy->asked,
        .peer = &copy->peers->pod,
    };
    wanted.peers = rules_of(report, copy, wanted.shape);
    wanted.devices = claim_lookup_rules(
        report->claims, &(struct claims_user){copy->pod.namespace_, copy->pod.claims, copy->pod.uid,
                                              copy->pod.made_claims});
    struct pod_query query = {.question = fit_question_of(report->fork, copy->pod.namespace_,
                                                          &wanted, QUOTA_NO_CLAIMS, report->arena),
                              .claims = report->claims,
                              .arena = report->arena};
    query.question.hold = copy->hold;
    return query;
}

static const char *state_of(const struct pod *pod)
{
    if (pod->finished)
        return "finished";
    return pod->node_name[0] ? "bound" : "pending";
}

static json_t *text_or_null(const char *text)
{
    return text && text[0] ? json_string(text) : json_null();
}

static void set(json_t *object, const char *key, json_t *value)
{
    (void)json_object_set_new(object, key, value);
}

static json_t *scheduler_json(const struct pod *pod)
{
    if (!pod->unscheduled_reason)
        return json_null();
    return json_pack("{s:s, s:s}", "reason", pod->unscheduled_reason, "message",
                     pod->unscheduled_message);
}

json_t *pod_json_controller(const char *controller)
{
    const char *slash = controller ? strchr(controller, '/') : NULL;
    if (!slash)
        return json_null();
    return json_pack("{s:s%, s:s}", "kind", controller, (size_t)(slash - controller), "name",
                     slash + 1);
}

static json_t *age_json(int64_t since, int64_t now)
{
    return json_integer(now > since ? now - since : 0);
}

static json_t *group_json(const struct pod_copy *copy)
{
    const struct pod_group *group = &copy->group;
    if (!copy->pod.group)
        return json_null();
    return json_pack("{s:s, s:b, s:I, s:I, s:I}", "name", copy->pod.group, "known", group->is_known,
                     "minCount", (json_int_t)group->min_count, "members",
                     (json_int_t)group->n_members, "bound", (json_int_t)group->n_bound);
}

static json_t *reservation_json(const struct pod_report *report, const struct pod_copy *copy)
{
    if (!copy->reserved_node)
        return json_null();
    return json_pack("{s:s, s:o}", "node", copy->reserved_node, "ageSeconds",
                     age_json(copy->reserved_ms / 1000, report->now_ms / 1000));
}

/* Names in the lines may contain anything, so a line may be empty. */
static json_t *not_evaluated_json(const struct pod_report *report, const struct pod_copy *copy,
                                  bool is_judged)
{
    json_t *lines = json_array();
    if (is_judged)
        peer_notes_add(report->fork, copy->peers->rules, copy->pod.lacks_peers, report->arena,
                       lines);
    for (const char *at = copy->pod.not_evaluated; at && *at;) {
        const size_t len = strcspn(at, "\n");
        if (len > 0)
            (void)json_array_append_new(lines, json_stringn(at, len));
        at += len + (at[len] != '\0');
    }
    return lines;
}

static void set_creation(json_t *object, const struct pod_report *report, const struct pod *pod)
{
    char created[TEXT_TIME_SIZE];
    const bool is_known = pod->created_s != 0;
    set(object, "created",
        is_known ? json_string(text_time(pod->created_s, created)) : json_null());
    set(object, "ageSeconds", is_known ? age_json(pod->created_s, report->now_s) : json_null());
}

/* Of a pod whose nodes are not judged. */
static struct headline headline_of_pod(const struct pod_report *report, const struct pod_copy *copy)
{
    const struct pod *pod = &copy->pod;
    struct arena *arena = report->arena;
    if (!pod_json_is_pending(pod) && pod->finished)
        return headline_new(RESULT_RUNNING, CAUSE_NONE, "It has ended.");
    if (!pod_json_is_pending(pod)) {
        const char *but =
            copy->misfit ? arena_printf(arena, ", though %s", reason_text(copy->misfit)) : "";
        return headline_new(RESULT_RUNNING, CAUSE_NONE,
                            arena_printf(arena, "It runs on %s%s.", pod->node_name, but));
    }
    if (pod->refusal)
        return headline_new(RESULT_MISTAKE, CAUSE_REQUEST, pod->refusal);
    if (pod->terminating)
        return headline_new(RESULT_NOT_JUDGED, CAUSE_NONE, "It is being deleted.");
    if (copy->reserved_node)
        return headline_new(RESULT_FITS, CAUSE_SCHEDULER,
                            arena_printf(arena, "It is being bound to %s.", copy->reserved_node));
    if (copy->shape->facts.over)
        return headline_new(RESULT_NOT_JUDGED, CAUSE_LIMIT,
                            shape_limit_text(copy->shape->facts.over));
    return headline_new(RESULT_NOT_JUDGED, CAUSE_LIMIT, "Too many different pods wait.");
}

/* 'persistentvolumeclaim "x" not found.' of '0/9 nodes are available: persistentvolumeclaim "x" not
 * found. preemption: ...' */
static const char *first_sentence(const char *message, struct arena *arena)
{
    static const char COUNT[] = " nodes are available: ";
    const char *count = strstr(message, COUNT);
    const char *text = count ? count + strlen(COUNT) : message;
    const char *end = strstr(text, ". ");
    return end ? arena_printf(arena, "%.*s", (int)(end + 1 - text), text) : text;
}

/* By the lines of pod_not_evaluated_text(). */
static const char *gates_text(const json_t *not_evaluated, struct arena *arena)
{
    static const char GATE[] = "scheduling gate ";
    struct name_list gates = {.text = ""};
    size_t i = 0;
    json_t *line = NULL;
    json_array_foreach (not_evaluated, i, line) {
        const char *text = json_string_value(line);
        const char *name = text + strlen(GATE);
        if (strncmp(text, GATE, strlen(GATE)) == 0)
            text_names_add(&gates, arena_printf(arena, "%.*s", (int)strcspn(name, ":"), name),
                           arena);
    }
    if (gates.n == 0)
        return "It waits until its scheduling gates are removed.";
    return arena_printf(
        arena, "It waits until its scheduling gate%s %s removed.", gates.n == 1 ? "" : "s",
        arena_printf(arena, "%s %s", text_names(&gates, arena), gates.n == 1 ? "is" : "are"));
}

static json_t *waiting_json(const struct verdicts *verdicts, enum verdict_cause cause,
                            const char *text)
{
    json_t *verdict = json_copy(verdicts->verdict);
    json_t *rest = json_pack("{s:s, s:s, s:s}", "result", headline_result(RESULT_WAITS), "cause",
                             cause_name(cause), "text", text);
    (void)json_object_update_new(verdict, rest);
    return verdict;
}

static json_t *verdict_json(const struct pod_report *report, const struct pod_copy *copy,
                            const struct verdicts *verdicts, const json_t *not_evaluated)
{
    const char *message = copy->pod.unscheduled_message ? copy->pod.unscheduled_message : "";
    static const struct pod_shape NOTHING;
    static const struct fit_question NO_QUESTION = {.shape = &NOTHING};
    if (!verdicts || copy->pod.refusal) {
        const struct headline headline = headline_of_pod(report, copy);
        return headline_json(&headline, &NO_QUESTION, headline.result == RESULT_MISTAKE);
    }
    if (copy->pod.gated)
        return waiting_json(verdicts, CAUSE_GATE, gates_text(not_evaluated, report->arena));
    if (verdicts->n_fits == 0 && cluster_find_node(report->fork, copy->pod.nominated_node))
        return waiting_json(verdicts, verdicts->headline->cause,
                            arena_printf(report->arena,
                                         "kube-scheduler makes room for it on %s. %s",
                                         copy->pod.nominated_node, verdicts->headline->text));
    if (verdicts->n_fits > 0 && message[0] &&
        (json_array_size(not_evaluated) > 0 || verdicts->has_claims))
        return waiting_json(verdicts, CAUSE_SCHEDULER,
                            arena_printf(report->arena,
                                         "It fits as far as evaluated. kube-scheduler says: %s",
                                         first_sentence(message, report->arena)));
    return json_incref(verdicts->verdict);
}

static void set_verdicts(json_t *object, const struct verdicts *verdicts)
{
    set(object, "judged", json_boolean(verdicts));
    set(object, "fits", json_integer(verdicts ? (json_int_t)verdicts->n_fits : 0));
    set(object, "fitsOn", verdicts ? json_incref(verdicts->fits_on) : json_array());
    set(object, "reasons", verdicts ? json_incref(verdicts->reasons) : json_array());
    set(object, "closest", verdicts ? json_incref(verdicts->closest) : json_null());
    set(object, "claims", verdicts ? json_incref(verdicts->claims) : json_array());
}

static bool is_taken_first(const struct pod_copy *copy)
{
    return !copy->pod.refusal && !copy->pod.gated && !copy->pod.terminating &&
           !copy->reserved_node && !copy->shape->facts.over;
}

/* Alike pods that follow each other are one role. Returns false if their claims are not known. */
static bool add_before(const struct pod_report *report, const struct pod_remedies *remedies,
                       struct remedy_question *question)
{
    struct trial_role *roles = ARENA_ARRAY(report->arena, struct trial_role, remedies->n_before);
    const struct pod_copy *last = NULL;
    bool are_known = remedies->n_before <= POD_BEFORE_MAX;
    question->before = roles;
    for (size_t i = 0; are_known && i < remedies->n_before; i++) {
        const struct pod_copy *copy = remedies->before[i];
        if (!is_taken_first(copy))
            continue;
        are_known = !copy->pod.claims;
        if (last && last->shape == copy->shape && last->peers == copy->peers &&
            last->pod.priority == copy->pod.priority &&
            strcmp(last->pod.namespace_, copy->pod.namespace_) == 0) {
            roles[question->n_before - 1].n++;
            continue;
        }
        struct pod_query *query = ARENA_NEW(report->arena, struct pod_query);
        copy->peers->has_rules = false; /* the fork may have changed since */
        *query = pod_json_query(report, copy);
        copy->peers->has_rules = false;
        roles[question->n_before++] = (struct trial_role){
            .namespace_ = copy->pod.namespace_, .question = &query->question, .n = 1};
        last = copy;
    }
    return are_known;
}

void pod_json_add_remedies(const struct pod_report *report, struct pod_remedies *remedies,
                           const struct pod_copy *copy, int64_t n, json_t *json)
{
    struct pod_query query = pod_json_query(report, copy);
    const struct pod *pod = &copy->pod;
    const struct trial_role role = {.namespace_ = pod->namespace_,
                                    .question = &query.question,
                                    .n = n,
                                    .n_placed = remedies->n_placed};
    if ((pod->claims && n > 1) || pod->gated || pod->terminating || !copy->headline ||
        !remedies_may_help(copy->headline))
        return;
    struct remedy_question question = {
        .inventory = remedies->inventory,
        .fork = remedies->fork,
        .roles = &role,
        .n_roles = 1,
        .headline = copy->headline,
        .candidates = remedies->candidates,
        .only = remedies->only,
        .first = remedies->first,
        .n_first = remedies->n_first,
        .answer_left = &remedies->trials_left,
        .arena = report->arena,
    };
    question.are_more_before = !add_before(report, remedies, &question);
    if (question.are_more_before && !remedies->first)
        return; /* what helps the pod alone may help those before it only */
    cluster_fork_mark(remedies->fork);
    remedies_add(&question, json);
    cluster_fork_keep(remedies->fork);
}

json_t *pod_json(const struct pod_report *report, const struct pod_copy *copy,
                 const struct verdicts *verdicts)
{
    const struct pod *pod = &copy->pod;
    json_t *object = json_pack(
        "{s:s, s:s, s:s, s:s, s:o, s:s, s:o, s:o, s:I, s:s}", "namespace", pod->namespace_, "name",
        pod->name, "uid", pod->uid, "state", state_of(pod), "node", text_or_null(pod->node_name),
        "summary", summary_of(report, copy, verdicts), "schedulerSays", scheduler_json(pod),
        "requests", asks_for_amounts(cluster_policy(report->fork), &copy->shape->facts), "priority",
        (json_int_t)pod->priority, "priorityClass", pod->priority_class);
    set(object, "gpuModels", model_words_json(&copy->shape->facts.wants, report->arena));
    set_creation(object, report, pod);
    set(object, "controller", pod_json_controller(pod->controller));
    set(object, "group", group_json(copy));
    set(object, "borrows", borrows_json(report, copy));
    set(object, "gated", json_boolean(pod->gated));
    set(object, "terminating", json_boolean(pod->terminating));
    set(object, "refusal", text_or_null(pod->refusal));
    set(object, "nominatedNode", text_or_null(pod->nominated_node));
    set(object, "reservation", reservation_json(report, copy));
    set(object, "notEvaluated", not_evaluated_json(report, copy, verdicts));
    set(object, "verdict",
        verdict_json(report, copy, verdicts, json_object_get(object, "notEvaluated")));
    remedies_add_none(object);
    set_verdicts(object, verdicts);
    return object;
}
