/*
 * placement_run: see placement_run.h. First the texts, then the replicas one by one, then the
 * ranking.
 */
#include "api/dry_run/placement_run.h"
#include "api/cluster/quota_json.h"
#include "api/verdicts/candidates.h"
#include "api/verdicts/headline.h"
#include "api/verdicts/trial.h"
#include "api/verdicts/verdict.h"
#include "decide/claim_rules.h"
#include "decide/peer_rules.h"
#include "decide/quota.h"
#include "decide/score.h"
#include "decide/what_if.h"
#include "formats/json_values.h"
#include "ledger/gpu_demand.h"
#include "ledger/shape_limits.h"
#include "types/policy.h"

#include <inttypes.h>
#include <string.h>

/* The question about one workload, and the results. */
struct placement_run {
    struct dry_run *dry_run;
    const struct workload *workload;
    struct pod_query query;
    struct candidates candidates;    /* nodes of the fork before any placement */
    const struct node *const *nodes; /* of the first replicas */
    size_t n_nodes;
    int64_t n_replicas;
    int64_t n_placed;
    int64_t n_more;      /* how many more would fit */
    bool more_is_cut;    /* there may be more */
    size_t n_by_claim;   /* nodes that fit only with a resource claim */
    const char *no_more; /* why a replica was not placed; "": all were */
    struct domain_run domains;
    struct manifest_gang *gang; /* NULL: each pod is bound alone */
    json_t *near_misses; /* changes that would let another replica fit; NULL: all were placed */
    /* Of a DaemonSet: the first node without room for the most frequent reason; NULL: none. */
    const struct node *full_node;
    enum reason full_reason;
    size_t n_full; /* nodes with that reason */
    const char
        *lacks; /* "namespace ml": the API server would reject the pods; NULL: it would not */
    struct missing_name missing; /* the same */
    bool lacks_several;
    const char *unknown_templates; /* asked_claims_unknown() */
    const char
        *unsaved; /* the resource that the saved cluster lacks, so that pods are not judged on
                     some nodes; NULL: none, or a replica was not placed for other reasons */
};

/* The command that saves all that an answer may need. */
#define SAVE_ALL                                                                                   \
    "kubectl get nodes,pods,namespaces,priorityclasses,runtimeclasses,pdb,resourceslices,"         \
    "resourceclaims,resourceclaimtemplates,deviceclasses -A -o yaml"

/* A kind that was not saved is unknown, which is not the same as no room. */
static const char *unsaved_of(const struct placement_run *run, const size_t counts[N_REASONS])
{
    const char *fault = claim_rules_fault(run->query.question.devices);
    if (counts[REASON_CLAIM_NOT_JUDGED] == 0 || run->dry_run->provenance->live)
        return NULL;
    if (strcmp(fault, CLAIM_LOOKUP_NO_CLASSES) == 0)
        return "deviceclasses";
    return cluster_knows(run->dry_run->fork, CLUSTER_CLAIMS) ? NULL : "resourceclaims";
}

/* Says why the next replica fits nowhere; for a DaemonSet, why some nodes have no room. */
static const char *why_no_more(struct placement_run *run)
{
    struct arena *arena = run->dry_run->arena;
    const struct pod_query *query = &run->query;
    const struct candidates *candidates = &run->candidates;
    size_t counts[N_REASONS] = {0};
    size_t n_helped = 0;
    if (query->question.refusal)
        return query->question.refusal;
    if (candidates->n == 0)
        return "there are no nodes";
    for (size_t i = 0; i < candidates->n; i++) {
        const struct node *node = candidates->items[i].node;
        enum reason reason = fit_judge(node, &query->question);
        counts[reason]++;
        n_helped += reason == REASON_TAINT && verdict_admission_would_help(query, node);
    }
    run->unsaved = unsaved_of(run, counts);
    const char *fault = claim_rules_fault(query->question.devices);
    const char *text = arena_printf(
        arena, "%s%s%s%s", verdict_counts_text(counts, candidates->n, arena),
        model_words_hint(counts, &query->question.shape->facts.wants, candidates, arena),
        fault[0] ? ": " : "", fault);
    if (n_helped == 0)
        return text;
    return arena_printf(arena,
                        "%s; on %zu of them only the toleration is missing, which the admission "
                        "plugin ExtendedResourceToleration adds",
                        text, n_helped);
}

/* An obstacle for pods that fit. */
static const char *caveat_of(const struct placement_run *run)
{
    if (run->lacks)
        return arena_printf(run->dry_run->arena,
                            ", but the API server would reject the pods (there is no %s)",
                            run->lacks);
    if (run->n_by_claim > 0)
        return arena_printf(run->dry_run->arena, "; on %zu nodes " CLAIMS_JUDGED, run->n_by_claim);
    return run->workload->pod.gated ? ", after its scheduling gates are removed" : "";
}

static const char *placed_text(const struct placement_run *run)
{
    struct arena *arena = run->dry_run->arena;
    const char *unit =
        run->workload->per_node ? "eligible nodes get a pod" : "replicas can be placed";
    const char *text = arena_printf(arena, "%" PRId64 " of %" PRId64 " %s%s%s", run->n_placed,
                                    run->n_replicas, unit, run->domains.chosen ? ", in " : "",
                                    run->domains.chosen ? run->domains.where : "");
    if (!run->workload->in_group || run->gang || run->n_placed == 0 ||
        run->n_placed >= run->n_replicas)
        return text;
    return arena_printf(arena, "%s (the %" PRId64 " are not placed as a gang)", text,
                        run->n_replicas);
}

static const char *summary_of(const struct placement_run *run)
{
    struct arena *arena = run->dry_run->arena;
    const struct workload *workload = run->workload;
    if (run->unsaved)
        return arena_printf(arena,
                            "%s %s/%s: not judged: the cluster file has no %s; save them, too",
                            workload->kind, workload->namespace_, workload->name, run->unsaved);
    const char *text = arena_printf(arena, "%s %s/%s: %s%s", workload->kind, workload->namespace_,
                                    workload->name, placed_text(run), caveat_of(run));
    if (run->no_more[0] && run->n_placed > 0 && !workload->per_node)
        return arena_printf(arena, "%s; for the next one, %s", text, run->no_more);
    if (run->no_more[0])
        return arena_printf(arena, "%s: %s", text, run->no_more);
    if (workload->per_node)
        return text;
    return arena_printf(arena, "%s, and %s%" PRId64 " more would fit", text,
                        run->more_is_cut ? "at least " : "", run->n_more);
}

static void note(json_t *notes, const char *text)
{
    (void)json_array_append_new(notes, json_string(text));
}

/* Whether the manifest makes that object, too. */
static bool makes(const struct placement_run *run, const char *kind, const char *name)
{
    const struct workload_list *list = run->dry_run->list;
    for (size_t i = 0; i < list->n_skipped; i++) {
        if (strcmp(list->skipped[i].kind, kind) == 0 && strcmp(list->skipped[i].name, name) == 0)
            return true;
    }
    return false;
}

/* The API server would reject the pods without that object. The first is told. */
static void lacks(struct placement_run *run, enum missing_kind kind, const char *what,
                  const char *name)
{
    const bool may_be_named = kind != MISSING_NAMESPACE || !run->dry_run->only;
    run->lacks_several = run->lacks != NULL;
    if (run->lacks)
        return;
    run->lacks = arena_printf(run->dry_run->arena, "%s %s", what, name);
    run->missing = (struct missing_name){
        .kind = kind,
        .name = name,
        .meant = may_be_named ? names_near_object(run->dry_run, kind, name) : NULL};
}

static void note_namespace(struct placement_run *run, json_t *notes)
{
    const struct cluster *fork = run->dry_run->fork;
    struct arena *arena = run->dry_run->arena;
    const char *name = run->workload->namespace_;
    if (cluster_has_namespace(fork, name) || makes(run, "Namespace", name))
        return;
    if (cluster_n_namespaces(fork) > 0) {
        lacks(run, MISSING_NAMESPACE, "namespace", name);
        note(notes,
             arena_printf(
                 arena, "namespace %s: is not in the cluster, the API server would reject the pods",
                 name));
    } else if (strcmp(name, "default") != 0) {
        note(notes,
             arena_printf(arena, "namespace %s: not checked, the cluster file has no namespaces",
                          name));
    }
}

/* Of the priority or the runtime. */
static void note_class(struct placement_run *run, enum missing_kind kind, const char *class,
                       json_t *notes)
{
    const bool is_priority = kind == MISSING_PRIORITY_CLASS;
    const enum cluster_kind of = is_priority ? CLUSTER_PRIORITY_CLASSES : CLUSTER_RUNTIME_CLASSES;
    const struct cluster *fork = run->dry_run->fork;
    const bool is_made = makes(run, is_priority ? "PriorityClass" : "RuntimeClass", class);
    const char *what = "is not in the cluster, the API server would reject the pods";
    if (!class[0] || cluster_has_object(fork, of, class) || (is_made && !is_priority))
        return;
    if (is_made)
        what = "not checked, as the manifest makes it";
    else if (cluster_n_objects(fork, of) == 0)
        what = is_priority ? "not checked, the cluster file has no priority classes"
                           : "not checked, the runtime classes of the cluster are unknown";
    else
        lacks(run, kind, is_priority ? "priority class" : "runtime class", class);
    note(notes, arena_printf(run->dry_run->arena, "%s %s: %s",
                             is_priority ? "priorityClassName" : "runtimeClassName", class, what));
}

static void note_soft_preferences(const struct placement_run *run, json_t *notes)
{
    if (run->workload->pod.soft_preferences &&
        cluster_policy(run->dry_run->fork)->soft_preferences == SOFT_PREFERENCES_DEFER)
        note(notes, "soft preferences: kube-scheduler ranks the nodes that fit by them; the "
                    "ranking here is only an estimate");
}

static void note_claims(struct placement_run *run, json_t *notes)
{
    const struct candidates *candidates = &run->candidates;
    const struct pod_shape *shape = run->query.question.shape;
    const struct need *need = NULL;
    for (size_t i = 0; i < candidates->n_fitting; i++) {
        const struct need *claimed = fit_by_claim(candidates->fitting[i].node, shape);
        run->n_by_claim += claimed != NULL;
        need = need ? need : claimed;
    }
    if (need)
        note(notes,
             arena_printf(run->dry_run->arena,
                          "%s: " CLAIMS_JUDGED ": %zu of the nodes that fit have none of it "
                          "and would provide it through a device class; moreReplicas excludes them",
                          need->resource->name, run->n_by_claim));
}

static void note_claims_of_file(const struct placement_run *run, json_t *notes)
{
    const char *why = run->dry_run->provenance->claims_note;
    if (why[0] && run->workload->pod.claims)
        note(notes, arena_printf(run->dry_run->arena, "resource claims: %s", why));
}

static void note_templates(const struct placement_run *run, json_t *notes)
{
    for (const char *at = run->unknown_templates; at && *at; at += strcspn(at, "\n") + 1)
        (void)json_array_append_new(notes, json_stringn(at, strcspn(at, "\n")));
}

static void note_domain(const struct placement_run *run, json_t *notes)
{
    const struct workload *workload = run->workload;
    const struct manifest_gang *gang = run->gang;
    if (workload->domain.rule == DOMAIN_ANY)
        return;
    if (!gang)
        note(notes, "gpu-extender.io/domain: judged here for all replicas of a template together; "
                    "pods that are in no group are placed one by one, on any node");
    else if (gang->differs && gang->first == workload)
        note(notes, "gpu-extender.io/domain: chosen by the GPUs of the whole group; another may "
                    "fit if its pods, which need different numbers, do not fit there");
}

static json_t *notes_of(struct placement_run *run)
{
    json_t *notes = json_array();
    const struct workload *workload = run->workload;
    for (size_t i = 0; i < workload->not_evaluated.n; i++)
        note(notes, workload->not_evaluated.items[i]);
    if (workload->problem)
        return notes;
    if (!workload->replicas_known)
        note(notes, "replicas: not given by the object, assumed 1");
    note_namespace(run, notes);
    note_class(run, MISSING_PRIORITY_CLASS, workload->pod.priority_class, notes);
    note_class(run, MISSING_RUNTIME_CLASS, workload->runtime_class, notes);
    note_domain(run, notes);
    note_claims(run, notes);
    note_claims_of_file(run, notes);
    peer_notes_add(run->dry_run->fork, run->query.question.peers, run->workload->pod.lacks_peers,
                   run->dry_run->arena, notes);
    note_templates(run, notes);
    note_soft_preferences(run, notes);
    return notes;
}

static json_t *placement_json(size_t replica, const struct node *node, int score,
                              const char *reason)
{
    return json_pack("{s:I, s:o, s:o, s:s}", "replica", (json_int_t)replica, "node",
                     node ? json_string(node_name(node)) : json_null(), "score",
                     node ? json_integer(score) : json_null(), "reason", reason);
}

/* Each replica goes to the node that is best at its turn, which has the best score on the wire. */
static json_t *placements_json(const struct node *const *nodes, size_t n, const char *why_not)
{
    json_t *placements = json_array();
    for (size_t i = 0; i < n; i++)
        (void)json_array_append_new(placements,
                                    placement_json(i, nodes[i], RANK_BEST_SCORE,
                                                   nodes[i] ? reason_name(REASON_FITS) : why_not));
    return placements;
}

/* The priority that the API server's admission sets: that of the class, or of the default class. */
static int64_t priority_of(const struct cluster *fork, const struct pod_facts *pod)
{
    int64_t priority = pod->priority;
    (void)cluster_priority_of_class(fork, pod->priority_class, &priority);
    return priority;
}

/* Why the workload is not judged; NULL: it is. */
static const char *unjudged_because(const struct workload *workload, struct arena *arena)
{
    const enum shape_limit over = workload->pod.shape.over;
    if (workload->problem)
        return workload->problem;
    if (over && !workload->pod.refusal)
        return arena_printf(arena, "not judged: %s", shape_limit_text(over));
    return workload->pod.refusal;
}

/* Claims of pods that are placed count in the fork: their other pods share them. */
static const char *except_of(const struct dry_run *dry_run, const char *namespace_)
{
    const struct placed_claims *placed = dry_run->placed_claims;
    while (placed && strcmp(placed->namespace_, namespace_) != 0)
        placed = placed->next;
    return placed ? placed->lines : NULL;
}

static void remember_claims(struct dry_run *dry_run, const struct workload *workload)
{
    const char *lines = workload->pod.claims;
    const char *known = except_of(dry_run, workload->namespace_);
    if (!lines || dry_run->n_placed_claims == PLACED_CLAIMS_MAX ||
        strlen(lines) + (known ? strlen(known) : 0) > PLACED_CLAIMS_BYTES_MAX)
        return;
    dry_run->n_placed_claims++;
    struct placed_claims *placed = ARENA_NEW(dry_run->arena, struct placed_claims);
    *placed = (struct placed_claims){
        workload->namespace_, arena_printf(dry_run->arena, "%s%s", lines, known ? known : ""),
        dry_run->placed_claims};
    dry_run->placed_claims = placed;
}

/* Reads the claims that the pods name. Locks the inventory, as forks have no claims. */
static const struct asked_claims *asked_of(struct placement_run *run, const struct asker *asker)
{
    const struct workload *workload = run->workload;
    const struct claims_question question = {.namespace_ = workload->namespace_,
                                             .claims = workload->pod.claims,
                                             .asker = asker,
                                             .except =
                                                 except_of(run->dry_run, workload->namespace_),
                                             .given = &run->dry_run->list->given};
    if (workload->problem || !workload->pod.claims)
        return NULL;
    const struct inventory_view view CLEANUP(inventory_done) =
        inventory_read(run->dry_run->api->inventory);
    run->unknown_templates = asked_claims_unknown(view.cluster, &question, run->dry_run->arena);
    return asked_claims_for_fork(view.cluster, &question, run->dry_run->arena);
}

static void ask_about_peers(struct placement_run *run)
{
    const struct workload *workload = run->workload;
    const struct peer_facts *facts = &workload->pod.peers;
    struct fit_question *question = &run->query.question;
    struct dry_run *dry_run = run->dry_run;
    if (question->refusal)
        return;
    struct peer_pod *peer = ARENA_NEW(dry_run->arena, struct peer_pod);
    *peer =
        (struct peer_pod){workload->namespace_, facts, peer_facts_have_terms(facts) ? facts : NULL};
    question->peer = peer;
    question->peers = peer_rules_of(dry_run->fork, peer, question->shape, dry_run->arena);
}

/* An unreadable template is rejected on every node. */
static void ask(struct placement_run *run)
{
    const struct workload *workload = run->workload;
    static const struct shape_facts NOTHING;
    const struct shape_facts *facts = workload->problem ? &NOTHING : &workload->pod.shape;
    struct dry_run *dry_run = run->dry_run;
    struct fit_question wanted = {
        .shape = cluster_resolve(dry_run->fork, facts, dry_run->arena),
        .refusal = unjudged_because(workload, dry_run->arena),
        .node_name = workload->pod.node_name,
        .scope = FIT_ALL,
        .asker = {.priority = workload->problem ? 0 : priority_of(dry_run->fork, &workload->pod)},
        .replica_of = workload->pod.replica_of,
    };
    wanted.claims = workload->problem ? NULL : workload->pod.claims;
    wanted.asked = asked_of(run, &wanted.asker);
    run->query.question = fit_question_of(dry_run->fork, workload->namespace_, &wanted,
                                          QUOTA_NO_CLAIMS, dry_run->arena);
    ask_about_peers(run);
    if (!run->query.question.refusal)
        run->query.question.devices =
            claim_lookup_rules(dry_run->claims, &(struct claims_user){workload->namespace_,
                                                                      workload->pod.claims, "", 0});
    verdict_query_admission(&run->query);
    run->n_replicas = workload->replicas;
}

struct fit_question placement_run_ask(struct dry_run *dry_run, const struct workload *workload)
{
    struct placement_run run = {
        .dry_run = dry_run, .workload = workload, .query = {.arena = dry_run->arena}};
    ask(&run);
    return run.query.question;
}

/* Those of a group are chosen once, for its largest pod. */
static struct domain_run domains_of(const struct placement_run *run)
{
    struct dry_run *dry_run = run->dry_run;
    struct manifest_gang *gang = run->gang;
    const struct domain_wish *wish = &run->workload->domain;
    if (!gang)
        return domain_run_choose(dry_run->fork, &run->query.question, wish, run->n_replicas,
                                 dry_run->arena);
    if (!gang->is_chosen) {
        const struct fit_question largest = placement_run_ask(dry_run, gang->largest);
        gang->domains =
            domain_run_choose(dry_run->fork, &largest, wish, gang->n_like_largest, dry_run->arena);
        gang->is_chosen = true;
    }
    return gang->domains;
}

/* Returns false if the pods go nowhere, as no domain has room for all. */
static bool choose_domains(struct placement_run *run)
{
    const struct domain_wish *wish = &run->workload->domain;
    struct fit_question *question = &run->query.question;
    if (wish->rule == DOMAIN_ANY)
        return true;
    run->domains = domains_of(run);
    question->domains = run->domains.chosen;
    question->level = wish->level;
    run->no_more = run->domains.why_not ? run->domains.why_not : "";
    return !run->domains.why_not;
}

static void note_cut(const struct placement_run *run, const struct what_if_count *count,
                     const char *member, int64_t n, json_t *notes)
{
    if (count->is_cut)
        note(notes, arena_printf(run->dry_run->arena,
                                 "%s: counted up to %" PRId64 ", as affinity between pods and "
                                 "topology spread are judged replica by replica",
                                 member, n));
}

/* Lists the replicas up to the limit. The others are only counted, but also take their room. */
static json_t *place_replicas(struct placement_run *run, json_t *notes)
{
    struct dry_run *dry_run = run->dry_run;
    size_t n = dry_run->n_replicas_left;
    if ((uint64_t)run->n_replicas < n)
        n = (size_t)run->n_replicas;
    const struct node **nodes = ARENA_ARRAY(dry_run->arena, const struct node *, n);
    if (!choose_domains(run))
        return placements_json(nodes, n, run->no_more);
    run->n_placed = (int64_t)what_if_place(dry_run->fork, &run->query.question, n, nodes);
    run->nodes = nodes;
    run->n_nodes = (size_t)run->n_placed;
    dry_run->n_replicas_left -= n;
    if ((uint64_t)run->n_replicas > n)
        (void)json_array_append_new(
            notes, json_sprintf("placements: only the first %zu replicas are listed "
                                "(limits.dryRunReplicas); the others are counted",
                                n));
    const struct what_if_count filled =
        what_if_fill(dry_run->fork, &run->query.question, run->n_replicas - (int64_t)n);
    const struct what_if_count more = what_if_more(dry_run->fork, &run->query.question);
    run->n_placed += filled.n;
    run->n_more = more.n;
    run->more_is_cut = more.is_cut;
    note_cut(run, &filled, "placed", run->n_placed, notes);
    note_cut(run, &more, "moreReplicas", run->n_more, notes);
    if (run->n_placed < run->n_replicas) {
        run->no_more = why_no_more(run);
        run->near_misses = near_misses_json(&run->query, &run->candidates);
    }
    return placements_json(nodes, n, run->no_more);
}

static void find_full(struct placement_run *run, const struct node *const *nodes,
                      const enum reason *verdicts, size_t n)
{
    size_t counts[N_REASONS] = {0};
    for (size_t i = 0; i < n; i++)
        counts[verdicts[i]]++;
    for (size_t i = 0; i < n; i++) {
        if (verdicts[i] == REASON_FITS || counts[verdicts[i]] <= run->n_full)
            continue;
        run->full_node = nodes[i];
        run->full_reason = verdicts[i];
        run->n_full = counts[verdicts[i]];
    }
}

static json_t *place_on_each_node(struct placement_run *run)
{
    struct dry_run *dry_run = run->dry_run;
    struct arena *arena = dry_run->arena;
    const struct node **nodes = ARENA_ARRAY(arena, const struct node *, run->candidates.n);
    enum reason *verdicts = ARENA_ARRAY(arena, enum reason, run->candidates.n);
    json_t *near_misses = near_misses_json(&run->query, &run->candidates);
    size_t n = what_if_place_each(dry_run->fork, &run->query.question, nodes, verdicts);
    json_t *placements = json_array();
    run->n_replicas = (int64_t)n;
    for (size_t i = 0; i < n; i++) {
        const char *reason = reason_name(REASON_FITS);
        const struct node *node = verdicts[i] == REASON_FITS ? nodes[i] : NULL;
        if (!node)
            reason = arena_printf(arena, "%s: %s", node_name(nodes[i]),
                                  verdict_message(&run->query, nodes[i], verdicts[i]));
        run->n_placed += node != NULL;
        (void)json_array_append_new(
            placements,
            placement_json(i, node,
                           node ? candidates_find(&run->candidates, node_name(node))->score : 0,
                           reason));
    }
    find_full(run, nodes, verdicts, n);
    if (run->n_placed < run->n_replicas || n == 0) {
        run->no_more = why_no_more(run);
        run->near_misses = json_incref(near_misses);
    }
    json_decref(near_misses);
    return placements;
}

/* Places the replicas on the fork and lists their nodes. Sets the counts. */
static json_t *place_all(struct placement_run *run, json_t *notes)
{
    run->no_more = "";
    return run->workload->per_node ? place_on_each_node(run) : place_replicas(run, notes);
}

static json_t *place(struct placement_run *run, json_t *notes, json_t **ret_explain)
{
    if (!run->dry_run->explain)
        return place_all(run, notes);
    struct dry_run *dry_run = run->dry_run;
    const struct ranking before =
        ranking_of(dry_run->fork, &run->query.question, &run->candidates, dry_run->arena);
    json_t *placements = place_all(run, notes);
    *ret_explain = ranking_json(&before, dry_run->fork, dry_run->arena);
    return placements;
}

/* ---- the verdict ---- */

/* NULL: nodes are judged. */
static const char *fault_of(const struct placement_run *run, struct headline *ret_headline)
{
    struct arena *arena = run->dry_run->arena;
    const struct workload *workload = run->workload;
    const enum shape_limit over = workload->pod.shape.over;
    if (workload->problem || workload->pod.refusal)
        *ret_headline = headline_new(RESULT_MISTAKE, CAUSE_REQUEST,
                                     workload->problem ? workload->problem : workload->pod.refusal);
    else if (over)
        *ret_headline = headline_new(RESULT_NOT_JUDGED, CAUSE_LIMIT, shape_limit_text(over));
    else if (run->unsaved)
        *ret_headline =
            headline_new(RESULT_NOT_JUDGED, CAUSE_CLAIMS,
                         claim_answers_fault(run->query.question.devices, false, arena));
    else if (run->lacks)
        *ret_headline = headline_new(RESULT_DOES_NOT_FIT, CAUSE_MISSING,
                                     arena_printf(arena, "There is no %s.%s%s%s", run->lacks,
                                                  run->missing.meant ? " Did you mean " : "",
                                                  run->missing.meant ? run->missing.meant : "",
                                                  run->missing.meant ? "?" : ""));
    else
        return NULL;
    ret_headline->missing = run->missing;
    return ret_headline->text;
}

static struct headline fitting_headline(const struct placement_run *run)
{
    struct arena *arena = run->dry_run->arena;
    const char *text = domain_run_text(&run->domains, run->gang, arena);
    if (run->workload->per_node)
        text = arena_printf(arena, "%sEach of %" PRId64 " nodes gets a pod.", text, run->n_placed);
    else if (run->n_more == 0)
        text = arena_printf(arena, "%sNo more would fit.", text);
    else if (run->dry_run->n_roles < 2)
        text = arena_printf(arena, "%s%s%" PRId64 " more would fit.", text,
                            run->more_is_cut ? "At least " : "", run->n_more);
    else
        text = arena_printf(arena, "%sAll its pods fit.", text);
    if (run->workload->pod.gated)
        text = arena_printf(arena, "%s It waits until its scheduling gates are removed.", text);
    return headline_new(RESULT_FITS, CAUSE_NONE, text);
}

/* Of the nodes that admit a pod of a DaemonSet, and have no room. */
static struct headline headline_per_node(const struct placement_run *run)
{
    struct headline headline = {.result = RESULT_DOES_NOT_FIT, .node = run->full_node};
    headline.cause =
        cause_of_reason(run->full_reason, run->full_node, &run->query.question.shape->facts);
    headline.text =
        asks_for_refusal(&run->query, run->full_node, run->full_reason, run->n_full - 1);
    return headline;
}

static struct headline headline_of_run(struct placement_run *run)
{
    struct headline headline = {0};
    const struct headline_question question = {&run->query, &run->candidates, run->n_placed > 0};
    if (fault_of(run, &headline))
        return headline;
    if (run->n_replicas + run->n_more == 0 && !run->workload->per_node && !run->domains.why_not)
        return headline_of_none(&question);
    if (!run->no_more[0])
        return fitting_headline(run);
    headline = headline_of(&question);
    if (run->full_node && !headline.missing.kind &&
        !*claim_rules_fault(run->query.question.devices))
        headline = headline_per_node(run);
    if (run->domains.why_not && headline.result == RESULT_FITS) /* a pod alone would */
        return headline_new(RESULT_DOES_NOT_FIT, CAUSE_FREE_GPUS,
                            arena_printf(run->dry_run->arena, "N%s.", run->domains.why_not + 1));
    headline_count(&headline, run->n_placed, run->n_replicas);
    return headline;
}

/* For the next replica. null for a DaemonSet, for pods that the API server or we reject, and over
 * the limit on searches. */
static json_t *preemption_json(const struct placement_run *run)
{
    struct dry_run *dry_run = run->dry_run;
    const struct workload *workload = run->workload;
    const struct pod_facts *pod = &workload->pod;
    if (run->n_placed >= run->n_replicas || workload->per_node || run->lacks ||
        run->domains.why_not || run->query.question.refusal || dry_run->counts_only ||
        dry_run->n_evictions_left == 0)
        return json_null();
    dry_run->n_evictions_left--;
    if (pod->never_preempts || cluster_class_never_preempts(dry_run->fork, pod->priority_class))
        return eviction_json_of_never(&run->query.question);
    return eviction_json(dry_run->api->inventory, dry_run->fork, &run->query.question,
                         dry_run->only, dry_run->arena);
}

void dry_run_warn(const struct dry_run *dry_run, const char *path, const char *message)
{
    if (json_array_size(dry_run->name_warnings) < WORKLOAD_WARNINGS_MAX)
        (void)json_array_append_new(dry_run->name_warnings,
                                    json_pack("{s:s, s:s}", "path", path, "message", message));
}

static void warn_of_unsaved(const struct placement_run *run)
{
    struct arena *arena = run->dry_run->arena;
    const struct workload *workload = run->workload;
    if (!run->unsaved)
        return;
    dry_run_warn(
        run->dry_run,
        arena_printf(arena, "%s %s/%s", workload->kind, workload->namespace_, workload->name),
        arena_printf(arena,
                     "its claims are not judged: the cluster file has no %s; save it "
                     "with " SAVE_ALL,
                     run->unsaved));
}

/* The demand read in the manifest. Adds the members asksFor, models and understood. */
static void add_understood(const struct placement_run *run, json_t *workload)
{
    static const struct shape_facts NOTHING;
    const bool is_read = !run->workload->problem;
    const struct shape_facts *facts = is_read ? &run->workload->pod.shape : &NOTHING;
    const struct policy *policy = cluster_policy(run->dry_run->fork);
    struct arena *arena = run->dry_run->arena;
    const bool is_valid = is_read && !run->workload->pod.refusal;
    json_t *text = is_valid
                       ? json_string(asks_for_text(policy, facts, run->workload->pod.claims, arena))
                       : json_null();
    (void)json_object_set_new(workload, "asksFor", asks_for_amounts(policy, facts));
    (void)json_object_set_new(workload, "models", asks_for_models(&facts->wants, arena));
    (void)json_object_set_new(workload, "understood", text);
}

struct fit_question placement_run_ask_again(const struct dry_run *dry_run,
                                            const struct placed_workload *placed)
{
    struct fit_question wanted = placed->question;
    wanted.quota = NULL;
    if (wanted.peer)
        wanted.peers = peer_rules_of(dry_run->fork, wanted.peer, wanted.shape, dry_run->arena);
    return fit_question_of(dry_run->fork, placed->workload->namespace_, &wanted, QUOTA_NO_CLAIMS,
                           dry_run->arena);
}

/* NULL: it asks for none. */
static json_t *domains_json(const struct placement_run *run)
{
    const struct domain_wish *wish = &run->workload->domain;
    if (wish->rule == DOMAIN_ANY)
        return NULL;
    return domain_run_json(run->dry_run->fork, wish, run->nodes, run->n_nodes, run->dry_run->arena);
}

static struct manifest_gang *gang_of(struct dry_run *dry_run, const struct workload *workload)
{
    const struct policy *policy = cluster_policy(dry_run->fork);
    if (workload->problem || !workload->pod.gang || policy->gangs.mode != GANGS_PLAN)
        return NULL;
    return manifest_gang_of(&dry_run->gangs, dry_run->list, policy, workload, dry_run->arena);
}

static json_t *group_json(const struct placement_run *run)
{
    return run->gang ? json_pack("{s:s, s:I}", "name", run->workload->pod.gang, "size",
                                 (json_int_t)run->workload->pod.gang_size)
                     : NULL;
}

struct placed_workload placement_run(struct dry_run *dry_run, const struct workload *workload)
{
    json_t *explain = NULL;
    struct placement_run run = {.dry_run = dry_run,
                                .workload = workload,
                                .gang = gang_of(dry_run, workload),
                                .query = {.arena = dry_run->arena},
                                .candidates = dry_run->candidates};
    ask(&run);
    if (!run.query.question.refusal)
        gpu_demand_expect(dry_run->fork, run.query.question.shape, workload->replicas);
    candidates_judge_claims(&run.candidates, &run.query.question);
    names_warn(dry_run, workload, run.query.question.shape, &run.candidates);
    unit_hints_warn(dry_run, workload, run.query.question.shape, &run.candidates);
    json_t *nodes = json_packed(verdict_list(&run.query, &run.candidates));
    json_t *claims = claim_answers_json(dry_run->claims, run.query.question.devices,
                                        &run.candidates, dry_run->arena);
    json_t *notes = notes_of(&run);
    const struct quota_view *asked = run.query.question.quota;
    json_t *quotas =
        quota_json_of_workload(dry_run->fork, workload->namespace_, asked, dry_run->arena);
    json_t *placements = place(&run, notes, &explain);
    quota_json_update(quotas, dry_run->fork, workload->namespace_, asked, dry_run->arena);
    if (run.n_placed > 0)
        remember_claims(dry_run, workload);
    dry_run->n_placed_whole += !run.no_more[0] && !run.lacks;
    dry_run->n_unsaved += run.unsaved != NULL;
    warn_of_unsaved(&run);
    json_t *json = json_pack(
        "{s:s, s:s, s:s, s:s, s:I, s:I, s:I, s:s?, s:o, s:o, s:o, s:o, s:o, s:o, s:o, "
        "s:o*, s:o*, s:o*}",
        "kind", workload->kind, "name", workload->name, "namespace", workload->namespace_,
        "summary", summary_of(&run), "replicas", (json_int_t)run.n_replicas, "placed",
        (json_int_t)run.n_placed, "moreReplicas", (json_int_t)run.n_more, "refusedBecause",
        run.lacks ? arena_printf(dry_run->arena, "there is no %s", run.lacks) : NULL, "placements",
        placements, "nodes", nodes, "nearMisses", run.near_misses ? run.near_misses : json_array(),
        "notEvaluated", notes, "preemption", preemption_json(&run), "quotas", quotas, "claims",
        claims, "explain", explain, "domains", domains_json(&run), "group", group_json(&run));
    const struct headline headline = headline_of_run(&run);
    (void)json_object_set_new(
        json, "verdict",
        headline_json(&headline, &run.query.question,
                      run.lacks ? run.n_replicas : run.n_replicas - run.n_placed));
    add_understood(&run, json);
    return (struct placed_workload){.workload = workload,
                                    .json = json,
                                    .headline = headline,
                                    .question = run.query.question,
                                    .n_pods = run.n_replicas,
                                    .n_placed = run.n_placed,
                                    .lacks = run.lacks,
                                    .lacks_several = run.lacks_several,
                                    .unsaved = run.unsaved,
                                    .domains = run.domains,
                                    .gang = run.gang,
                                    .nodes = run.nodes,
                                    .n_nodes = run.n_nodes};
}
