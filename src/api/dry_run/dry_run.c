/* dry_run: POST /v1/dry-run. See include/api/api.h; placement_run.c handles one workload. */
#include "api/dry_run/dry_run.h"
#include "api/cluster/quota_json.h"
#include "api/dry_run/manifest.h"
#include "api/dry_run/placement_run.h"
#include "api/provenance.h"
#include "api/reply.h"
#include "api/table.h"
#include "api/tables.h"
#include "api/text.h"
#include "api/verdicts/cause.h"
#include "api/verdicts/remedies.h"
#include "api/verdicts/trial.h"
#include "api/verdicts/verdict.h"
#include "decide/what_if.h"
#include "ledger/gpu_demand.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

/* ---- one verdict on all templates of an object, and what would help the whole of it ---- */

/* The templates of one object, which follow each other. */
struct job {
    struct dry_run *dry_run;
    const struct workload_list *list;
    struct placed_workload *roles;
    size_t n_roles;
    int64_t n_pods, n_placed;
    size_t i_deciding; /* the role that the headline is about */
    struct headline headline;
};

/* ---- the verdict ---- */

enum { RANK_OF_MISSING = 2, RANK_OF_NAME, RANK_OF_FAILING, RANK_OF_FITTING };

/* What decides comes first: an object that is missing, and a name that no node has, before what the
 * pods lack. */
static int rank_of(const struct headline *headline)
{
    static const int RANKS[] = {
        [RESULT_MISTAKE] = 0,
        [RESULT_NOT_JUDGED] = 1,
        [RESULT_DOES_NOT_FIT] = RANK_OF_FAILING,
        [RESULT_PARTLY_FITS] = RANK_OF_FAILING,
        [RESULT_WAITS] = RANK_OF_FAILING,
        [RESULT_FITS] = RANK_OF_FITTING,
        [RESULT_RUNNING] = RANK_OF_FITTING,
    };
    const int rank = RANKS[headline->result];
    return headline->cause == CAUSE_MISSING                           ? RANK_OF_MISSING
           : headline->cause == CAUSE_NAME && rank == RANK_OF_FAILING ? RANK_OF_NAME
                                                                      : rank;
}

static int64_t sum(int64_t a, int64_t b)
{
    int64_t sum = 0;
    return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

/* Whether they choose among all nodes by the same models. */
static bool choose_alike(const struct shape_facts *a, const struct shape_facts *b)
{
    const struct model_wants *left = &a->wants;
    const struct model_wants *right = &b->wants;
    if (headline_chooses_labels(a) || headline_chooses_labels(b) ||
        left->n_accept != right->n_accept || left->n_exclude > 0 || right->n_exclude > 0 ||
        left->min_memory_bytes != right->min_memory_bytes)
        return false;
    for (size_t i = 0; i < left->n_accept; i++) {
        if (!gpu_model_equal(&left->accept[i], &right->accept[i]))
            return false;
    }
    return true;
}

/* GPUs of that resource that the pods ask for which compete with those of the deciding role. */
static int64_t gpus_asked(const struct job *job, const struct resource *resource)
{
    const struct shape_facts *deciding = &job->roles[job->i_deciding].question.shape->facts;
    int64_t n = 0;
    for (size_t i = 0; i < job->n_roles; i++) {
        int64_t of_role = 0;
        if (i != job->i_deciding && !choose_alike(deciding, &job->roles[i].question.shape->facts))
            continue;
        if (__builtin_mul_overflow(shape_need(job->roles[i].question.shape, resource),
                                   job->roles[i].n_pods, &of_role))
            return INT64_MAX;
        n = sum(n, of_role);
    }
    return n;
}

/* If even the empty cluster has too few GPUs for the job, though enough on a node for a pod. */
static void tell_total(struct job *job)
{
    const struct fit_question *question = &job->roles[job->i_deciding].question;
    const struct pod_shape *shape = question->shape;
    struct arena *arena = job->dry_run->arena;
    struct headline *headline = &job->headline;
    /* A DaemonSet's pods have a node each. */
    if (job->n_pods < 2 || job->roles[0].workload->per_node || shape->n_gpu_needs == 0 ||
        (headline->cause != CAUSE_FREE_GPUS && headline->cause != CAUSE_TOTAL))
        return;
    const struct resource *resource = shape->needs[0].resource;
    const int64_t asked = gpus_asked(job, resource);
    int64_t most = 0;
    const int64_t there = headline_gpus_there(&job->dry_run->candidates, question, &most);
    if (asked <= there || there == 0 || most < shape->needs[0].amount)
        return;
    headline->cause = CAUSE_TOTAL;
    const bool has_many_models = shape->facts.wants.n_accept > 2; /* too long with others' number */
    headline->text =
        arena_printf(arena, "It asks for %s; %s %" PRId64 ", so %" PRId64 " %s missing.",
                     has_many_models ? headline_amount(resource->name, asked, arena)
                                     : headline_gpus(&shape->facts, resource->name, asked, arena),
                     headline_chooses_labels(&shape->facts) ? "nodes it selects have"
                     : has_many_models                      ? "its models have"
                                                            : "usable nodes have",
                     there, asked - there, asked - there == 1 ? "is" : "are");
}

static bool asks_for_gpus(const struct job *job)
{
    for (size_t i = 0; i < job->n_roles; i++) {
        if (job->roles[i].question.shape->n_gpu_needs > 0 || job->roles[i].workload->pod.claims)
            return true;
    }
    return false;
}

static bool tell_mistake(struct job *job)
{
    struct arena *arena = job->dry_run->arena;
    const struct workload *first = job->roles[0].workload;
    const char *object =
        arena_printf(arena, "%s %s/%s", first->kind, first->namespace_, first->object_name);
    for (size_t i = 0; i < job->list->n_warnings; i++) {
        const struct manifest_warning *warning = &job->list->warnings[i];
        const char *text = strcmp(warning->object, object) == 0
                               ? manifest_mistake(warning, asks_for_gpus(job), arena)
                               : NULL;
        if (!text)
            continue;
        job->headline = headline_new(RESULT_MISTAKE, CAUSE_REQUEST, text);
        return true;
    }
    return false;
}

/* The first role of the worst result; if all fit, the last one, as it knows what room is left. */
static void decide(struct job *job)
{
    for (size_t i = 0; i < job->n_roles; i++) {
        const struct placed_workload *role = &job->roles[i];
        job->n_pods = sum(job->n_pods, role->n_pods);
        job->n_placed = sum(job->n_placed, role->lacks ? 0 : role->n_placed);
        if (rank_of(&role->headline) < rank_of(&job->roles[job->i_deciding].headline))
            job->i_deciding = i;
    }
    if (rank_of(&job->roles[job->i_deciding].headline) == RANK_OF_FITTING)
        job->i_deciding = job->n_roles - 1;
    job->headline = job->roles[job->i_deciding].headline;
    headline_count(&job->headline, job->n_placed, job->n_pods);
    if (job->headline.result != RESULT_MISTAKE && !tell_mistake(job))
        tell_total(job);
}

/* ---- what would help ---- */

/* Whether all roles lack the object that the deciding one lacks, and no other. */
static bool lack_alike(const struct job *job)
{
    const char *lacks = job->roles[job->i_deciding].lacks;
    bool are_alike = lacks != NULL;
    for (size_t i = 0; are_alike && i < job->n_roles; i++)
        are_alike = job->roles[i].lacks && !job->roles[i].lacks_several &&
                    strcmp(job->roles[i].lacks, lacks) == 0;
    return are_alike;
}

/* The group of the pods that decide, if no domain has room for it; else NULL. */
static struct manifest_gang *gang_without_domain(const struct job *job)
{
    const struct placed_workload *deciding = &job->roles[job->i_deciding];
    return deciding->domains.why_not ? deciding->gang : NULL;
}

/* Trials with claims spend the steps that other workloads need, and cannot free a claim that placed
 * pods share. */
static bool may_try_claims(const struct job *job, const struct claim_rules *devices)
{
    return !devices ||
           (job->list->n == job->n_roles && (job->n_placed == 0 || claim_rules_are_own(devices)));
}

static bool may_search(const struct job *job)
{
    bool may = !job->dry_run->counts_only && remedies_may_help(&job->headline) &&
               (job->headline.cause != CAUSE_MISSING || lack_alike(job));
    for (size_t i = 0; may && i < job->n_roles; i++)
        may = !job->roles[i].question.refusal &&
              may_try_claims(job, job->roles[i].question.devices) &&
              (job->roles[i].workload->domain.rule == DOMAIN_ANY ||
               (!job->roles[i].question.devices && !job->roles[i].workload->per_node)) &&
              (job->headline.missing.kind != MISSING_RESOURCE ||
               !job->roles[i].workload->chooses_gpus || job->roles[i].workload->chosen);
    return may;
}

static void place_each_again(const struct dry_run *dry_run, const struct fit_question *question)
{
    const size_t n = dry_run->candidates.n;
    const struct node **nodes = ARENA_ARRAY(dry_run->arena, const struct node *, n);
    enum reason *verdicts = ARENA_ARRAY(dry_run->arena, enum reason, n);
    (void)what_if_place_each(dry_run->fork, question, nodes, verdicts);
}

/* After a rewind: on the same nodes. */
static void place_again(const struct job *job)
{
    for (size_t i = 0; i < job->n_roles; i++) {
        const struct placed_workload *role = &job->roles[i];
        const struct fit_question question = placement_run_ask_again(job->dry_run, role);
        gpu_demand_expect(job->dry_run->fork, question.shape, role->n_pods);
        if (role->workload->per_node) {
            place_each_again(job->dry_run, &question);
            continue;
        }
        for (size_t j = 0; j < role->n_nodes; j++)
            what_if_put(job->dry_run->fork, &question, role->nodes[j]);
        (void)what_if_fill(job->dry_run->fork, &question, role->n_placed - (int64_t)role->n_nodes);
    }
}

static struct trial_role trial_role_of(struct dry_run *dry_run, const struct workload *workload,
                                       const struct placed_workload *placed)
{
    struct fit_question *question = ARENA_NEW(dry_run->arena, struct fit_question);
    *question =
        placed ? placement_run_ask_again(dry_run, placed) : placement_run_ask(dry_run, workload);
    return (struct trial_role){.namespace_ = workload->namespace_,
                               .question = question,
                               .n = placed ? placed->n_pods : workload->replicas,
                               .n_placed = placed ? placed->n_placed : 0,
                               .chosen = workload->chosen,
                               .is_new = true,
                               .per_node = workload->per_node};
}

/* Of a group without a domain, the pods of the other objects too: none is placed. */
static size_t add_group(const struct job *job, const struct manifest_gang *gang,
                        struct trial_role *roles, size_t n)
{
    const struct workload *deciding = job->roles[job->i_deciding].workload;
    for (size_t i = 0; gang && i < job->list->n; i++) {
        const struct workload *workload = &job->list->items[i];
        if (workload->object != deciding->object && workload->domain.rule == DOMAIN_REQUIRE &&
            domain_run_is_of(gang, workload))
            roles[n++] = trial_role_of(job->dry_run, workload, NULL);
    }
    return n;
}

static void search(const struct job *job, json_t *json)
{
    struct dry_run *dry_run = job->dry_run;
    const struct manifest_gang *gang = gang_without_domain(job);
    struct trial_role *roles = ARENA_ARRAY(dry_run->arena, struct trial_role,
                                           job->n_roles + (gang ? gang->n_templates : 0));
    cluster_fork_rewind(dry_run->fork);
    for (size_t i = 0; i < job->n_roles; i++) {
        if (job->n_placed > 0)
            claim_rules_give_back(job->roles[i].question.devices);
        roles[i] = trial_role_of(dry_run, job->roles[i].workload, &job->roles[i]);
    }
    const struct remedy_question question = {
        .inventory = dry_run->api->inventory,
        .fork = dry_run->fork,
        .roles = roles,
        .n_roles = add_group(job, gang, roles, job->n_roles),
        .wish = job->roles[job->i_deciding].workload->domain,
        .n_listed = dry_run->api->max_replicas,
        .headline = &job->headline,
        .i_failing = job->i_deciding,
        .candidates = &dry_run->candidates,
        .only = dry_run->only,
        .answer_left = &dry_run->trials_left,
        .arena = dry_run->arena,
    };
    remedies_add(&question, json);
    place_again(job);
}

/* Those of a group without a domain are searched once. */
static void search_once(const struct job *job, json_t *json)
{
    struct manifest_gang *gang = gang_without_domain(job);
    if (!gang || !gang->remedies) {
        search(job, json);
        if (gang)
            gang->remedies = json;
        return;
    }
    (void)json_object_set(json, "remedies", json_object_get(gang->remedies, "remedies"));
    (void)json_object_set(json, "remediesTried", json_object_get(gang->remedies, "remediesTried"));
}

static void offer_saving(const struct job *job, json_t *json)
{
    const char *unsaved = job->roles[job->i_deciding].unsaved;
    if (unsaved)
        remedies_add_one(json,
                         arena_printf(job->dry_run->arena,
                                      "save the cluster again, with %s among the kinds", unsaved),
                         NULL, 0);
}

/* If it is all that the pods of the job lack, and no existing one was meant. */
static void offer_missing(const struct job *job, json_t *json)
{
    const struct placed_workload *deciding = &job->roles[job->i_deciding];
    const char *lacks = deciding->lacks;
    bool is_enough =
        job->headline.cause == CAUSE_MISSING && lack_alike(job) && !job->headline.missing.meant;
    for (size_t i = 0; is_enough && i < job->n_roles; i++)
        is_enough = job->roles[i].n_placed == job->roles[i].n_pods && job->roles[i].n_nodes > 0;
    if (is_enough)
        remedies_add_one(json, arena_printf(job->dry_run->arena, "create the %s", lacks),
                         deciding->nodes[0], job->n_pods);
}

/* ---- all ---- */

static json_t *job_json(const struct job *job, size_t first)
{
    const struct placed_workload *deciding = &job->roles[job->i_deciding];
    const struct workload *workload = deciding->workload;
    json_t *indices = json_array();
    json_t *verdict =
        headline_json(&job->headline, &deciding->question, job->n_pods - job->n_placed);
    int64_t gpus = 0;
    for (size_t i = 0; i < job->n_roles; i++) {
        const json_t *missing =
            json_object_get(json_object_get(job->roles[i].json, "verdict"), "missing");
        gpus = sum(gpus, json_integer_value(json_object_get(missing, "gpus")));
        (void)json_array_append_new(indices, json_integer((json_int_t)first + (json_int_t)i));
    }
    (void)json_object_set_new(json_object_get(verdict, "missing"), "gpus", json_integer(gpus));
    return json_pack("{s:s, s:s, s:s, s:I, s:I, s:o, s:o}", "kind", workload->kind, "namespace",
                     workload->namespace_, "name", workload->object_name, "pods",
                     (json_int_t)job->n_pods, "fits", (json_int_t)job->n_placed, "verdict", verdict,
                     "workloads", indices);
}

/* What helps the job helps each template that does not fit. */
static void share_remedies(const struct job *job, const json_t *json)
{
    for (size_t i = 0; i < job->n_roles; i++) {
        json_t *workload = job->roles[i].json;
        remedies_add_none(workload);
        if (job->headline.result == RESULT_MISTAKE)
            (void)json_object_set(workload, "verdict", json_object_get(json, "verdict"));
        if (rank_of(&job->roles[i].headline) == RANK_OF_FITTING)
            continue;
        (void)json_object_set(workload, "remedies", json_object_get(json, "remedies"));
        (void)json_object_set(workload, "remediesTried", json_object_get(json, "remediesTried"));
    }
}

static void judge(struct job *job, size_t first, json_t *workloads, json_t *jobs)
{
    cluster_fork_mark(job->dry_run->fork);
    job->dry_run->n_roles = job->n_roles;
    for (size_t i = 0; i < job->n_roles; i++) {
        const struct workload *workload = &job->list->items[first + i];
        job->roles[i] = placement_run(job->dry_run, workload);
        names_warn_of_verdict(job->dry_run, workload, &job->roles[i].headline.missing);
    }
    decide(job);
    json_t *json = job_json(job, first);
    if (may_search(job))
        search_once(job, json);
    else
        remedies_add_none(json);
    offer_missing(job, json);
    offer_saving(job, json);
    cluster_fork_keep(job->dry_run->fork);
    share_remedies(job, json);
    for (size_t i = 0; i < job->n_roles; i++)
        (void)json_array_append_new(workloads, job->roles[i].json);
    (void)json_array_append_new(jobs, json);
}

/* Places all workloads of the list. Appends to both arrays: DryRunResult.workloads and .jobs. */
static void jobs_judge(struct dry_run *dry_run, const struct workload_list *list, json_t *workloads,
                       json_t *jobs)
{
    for (size_t first = 0, n = 0; first < list->n; first += n) {
        for (n = 1; first + n < list->n; n++) {
            if (list->items[first].object != list->items[first + n].object)
                break;
        }
        struct job job = {.dry_run = dry_run,
                          .list = list,
                          .roles = ARENA_ARRAY(dry_run->arena, struct placed_workload, n),
                          .n_roles = n};
        judge(&job, first, workloads, jobs);
    }
}

/* ---- dry run ---- */

/* Each workload is judged on each node, which may lack each resource, and the answer lists the
 * resources and models that it asks for. This bounds the entries of an answer (about 400 bytes
 * each). */
#define MAX_VERDICTS ((size_t)1000000)

/* Workloads with a search for victims, which visits all pods under the ledger's lock. */
#define MAX_EVICTIONS ((size_t)16)

static json_t *skipped_json(const struct workload_list *list)
{
    json_t *skipped = json_array();
    for (size_t i = 0; i < list->n_skipped; i++)
        (void)json_array_append_new(
            skipped, json_pack("{s:s, s:s, s:s}", "kind", list->skipped[i].kind, "name",
                               list->skipped[i].name, "why", list->skipped[i].why));
    return skipped;
}

/* Of warnings about names, which are found only now. Their paths begin with the object if there are
 * several. */
static void add_lines(const struct dry_run *dry_run, const struct workload_list *list)
{
    struct arena *arena = dry_run->arena;
    const size_t n = json_array_size(dry_run->name_warnings);
    struct manifest_warning *warnings = ARENA_ARRAY(arena, struct manifest_warning, n);
    struct workload_list found = {.warnings = warnings, .n_warnings = n};
    const struct workload *first = &list->items[0];
    for (size_t i = 0; i < n; i++) {
        const char *path = text_member(json_array_get(dry_run->name_warnings, i), "path");
        const char *colon = dry_run->has_several_objects ? strstr(path, ": ") : NULL;
        warnings[i] = (struct manifest_warning){
            .object = colon ? arena_strndup(arena, path, (size_t)(colon - path))
                            : arena_printf(arena, "%s %s/%s", first->kind, first->namespace_,
                                           first->object_name),
            .path = colon ? colon + 2 : path,
            .message = ""};
    }
    for (size_t i = 0; i < list->n_texts; i++)
        manifest_lines_find(list->texts[i], strlen(list->texts[i]), &found, 0);
    for (size_t i = 0; i < n; i++) {
        json_t *json = json_array_get(dry_run->name_warnings, i);
        const bool is_of_field = !strchr(warnings[i].path, ' '); /* not "Deployment ml/web" */
        if (is_of_field && warnings[i].line > 0 && !json_object_get(json, "line"))
            (void)json_object_set_new(json, "line", json_integer((json_int_t)warnings[i].line));
    }
}

/* In a manifest of several objects, the path begins with the object. */
static json_t *warnings_json(const struct dry_run *dry_run, const struct workload_list *list)
{
    struct arena *arena = dry_run->arena;
    json_t *warnings = json_array();
    for (size_t i = 0; i < list->n_warnings; i++) {
        const struct manifest_warning *warning = &list->warnings[i];
        const char *path = warning->path;
        if (list->n_objects > 1)
            path = arena_printf(arena, "%s: %s", warning->object, path);
        json_t *json = json_pack("{s:s, s:s}", "path", path, "message", warning->message);
        if (warning->line > 0)
            (void)json_object_set_new(json, "line", json_integer((json_int_t)warning->line));
        (void)json_array_append_new(warnings, json);
    }
    if (list->n > 0)
        add_lines(dry_run, list);
    (void)json_array_extend(warnings, dry_run->name_warnings);
    return warnings;
}

static const char *summary_of_workloads(const struct dry_run *dry_run,
                                        const struct workload_list *list, const json_t *workloads)
{
    if (list->n == 0)
        return "no object in the manifest has pods";
    if (list->n == 1)
        return json_string_value(json_object_get(json_array_get(workloads, 0), "summary"));
    const char *text = arena_printf(dry_run->arena, "%zu of %zu workloads can be placed completely",
                                    dry_run->n_placed_whole, list->n);
    if (dry_run->n_unsaved == 0)
        return text;
    return arena_printf(dry_run->arena, "%s, and %zu are not judged", text, dry_run->n_unsaved);
}

static json_t *not_understood_json(const struct workload_list *list, struct arena *arena)
{
    json_t *json = json_array();
    for (size_t i = 0; i < list->n_strays; i++) {
        const struct stray_gpu *stray = &list->strays[i];
        const char *message =
            strcmp(stray->resource, STRAY_GPUS) == 0
                ? "its controller makes pods with GPUs that are not said here; not judged"
                : arena_printf(
                      arena,
                      "asks for %s outside of the pod templates that are recognised; not judged",
                      stray->resource);
        (void)json_array_append_new(
            json, json_pack("{s:s, s:s, s:s, s:s, s:s}", "kind", stray->kind, "name", stray->name,
                            "path", stray->path, "resource", stray->resource, "message", message));
    }
    return json;
}

/* "1 object is unreadable; 2 parts are not judged (...)"; "": nothing is left out. */
static const char *left_out(const struct workload_list *list, struct arena *arena)
{
    const char *text = "";
    if (list->n_strays > 0)
        text = arena_printf(arena, "%zu request%s for GPUs not understood (%s %s: %s)",
                            list->n_strays, list->n_strays == 1 ? "" : "s", list->strays[0].kind,
                            list->strays[0].name, list->strays[0].path);
    if (list->n_unjudged > 0)
        text = arena_printf(arena, "%s%s%zu part%s not judged (%s)", text, text[0] ? "; " : "",
                            list->n_unjudged, list->n_unjudged == 1 ? " is" : "s are",
                            list->first_unjudged);
    if (list->n_unreadable > 0)
        text = arena_printf(arena, "%s%s%zu object%s unreadable", text, text[0] ? "; " : "",
                            list->n_unreadable, list->n_unreadable == 1 ? " is" : "s are");
    return text;
}

/* What is left out comes first. */
static const char *summary(const struct dry_run *dry_run, const struct workload_list *list,
                           const char *left, const json_t *workloads)
{
    return arena_printf(dry_run->arena, "%s%s%s", left, left[0] ? "; " : "",
                        summary_of_workloads(dry_run, list, workloads));
}

static json_t *run(struct dry_run *dry_run, const struct workload_list *list)
{
    json_t *workloads = json_array();
    json_t *jobs = json_array();
    jobs_judge(dry_run, list, workloads, jobs);
    domain_run_judge_groups(dry_run, jobs, workloads);
    eviction_add_running(dry_run->api->inventory, jobs, dry_run->arena);
    json_t *requests = selectors_judge(dry_run, &list->requests);
    const char *left = left_out(list, dry_run->arena);
    return json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o}", "summary",
                     summary(dry_run, list, left, workloads), "leftOut", left, "jobs", jobs,
                     "workloads", workloads, "notUnderstood",
                     not_understood_json(list, dry_run->arena), "skipped", skipped_json(list),
                     "deviceRequests", requests, "warnings", warnings_json(dry_run, list));
}

/* NULL, or the name of a workload in another namespace. */
static const char *find_stranger(const struct workload_list *list, const char *only)
{
    for (size_t i = 0; only && i < list->n; i++) {
        if (strcmp(list->items[i].namespace_, only) != 0)
            return list->items[i].name;
    }
    return NULL;
}

static void answer_mistake(struct exchange *exchange, const char *fault)
{
    struct buf out;
    buf_init(&out, BUF_UNBOUNDED); /* our messages are short */
    tables_write_mistake(fault, exchange_arena(exchange), &out);
    buf_add_text(&out, TABLES_NOTHING_JUDGED);
    const size_t len = out.len;
    exchange_answer(exchange, 400, "text/plain; charset=utf-8", buf_take(&out), len, 0);
}

/* Returns the workloads, or answers with an error. */
static bool read_manifest(const struct api *api, struct exchange *exchange,
                          const struct dry_run_question *question, struct workload_list *ret_list)
{
    struct err err;
    struct arena *arena = exchange_arena(exchange);
    if (!reply_from(api->inventory, exchange))
        return false;
    struct json_cost spent = {0};
    const struct manifest_texts texts = {&question->manifest, 1, question->name, &spent};
    int r = manifest_read_body(&texts, api, arena, ret_list, &err);
    const char *stranger = r == 0 ? find_stranger(ret_list, question->only) : NULL;
    if (stranger) {
        (void)err_set(&err, EINVAL, "%.253s: is in another namespace than %.253s", stranger,
                      question->only);
        r = -EINVAL;
    }
    const bool is_too_large = r == -EMSGSIZE || r == -E2BIG;
    if (r < 0 && question->as_table && !is_too_large)
        answer_mistake(exchange, err.text);
    else if (r < 0)
        exchange_answer_error(exchange, is_too_large ? 413 : 400, err.text);
    return r == 0;
}

bool dry_run_is_too_much(const struct workload_list *list, const struct cluster *fork,
                         struct exchange *exchange)
{
    const size_t n_nodes = cluster_n_nodes(fork);
    size_t n_a_node = 0;
    size_t n_models = 0;
    for (size_t i = 0; i < list->n; i++) {
        const struct shape_facts *facts = &list->items[i].pod.shape;
        n_a_node += 1 + facts->n_demand;
        n_models += facts->wants.n_accept + facts->wants.n_exclude;
    }
    if (n_models <= MAX_VERDICTS && n_a_node <= (MAX_VERDICTS - n_models) / (n_nodes + 1))
        return false;
    exchange_answer_error(exchange, 413,
                          arena_printf(exchange_arena(exchange),
                                       "manifest: its %zu workloads over %zu nodes would need "
                                       "more than %zu verdicts; split it into several requests",
                                       list->n, n_nodes, MAX_VERDICTS));
    return true;
}

enum peers_wanted dry_run_peers_wanted(const struct workload_list *list)
{
    for (size_t i = 0; i < list->n; i++) {
        if (!list->items[i].problem && peer_facts_have_terms(&list->items[i].pod.peers))
            return PEERS_ALL;
    }
    return PEERS_REPELLING;
}

static struct claim_lookup *look_up_claims(const struct api *api, const struct policy *policy,
                                           const struct workload_list *list, struct arena *arena)
{
    const struct claim_sources sources = {.inventory = api->inventory,
                                          .policy = policy,
                                          .given = &list->given,
                                          .devices = &list->given_devices,
                                          .requests = &list->requests};
    struct claim_lookup *lookup = claim_lookup_new(&sources, arena);
    for (size_t i = 0; i < list->n; i++) {
        const struct workload *workload = &list->items[i];
        if (!workload->problem)
            claim_lookup_add(lookup, workload->namespace_, workload->pod.claims);
    }
    claim_lookup_run(lookup);
    return lookup;
}

json_t *dry_run_judge(const struct workloads_question *question, struct arena *arena)
{
    const struct workload_list *list = question->list;
    struct dry_run dry_run = {
        .api = question->api,
        .provenance = question->provenance,
        .fork = question->fork,
        .arena = arena,
        .list = list,
        .n_replicas_left = question->api->max_replicas,
        .counts_only = question->counts_only,
        .n_evictions_left = MAX_EVICTIONS,
        .trials_left = TRIAL_VERDICTS_OF_ANSWER,
        .models = MODELS_HERE_START,
        .name_warnings = json_array(),
        .has_several_objects = list->n_objects > 1,
        .only = question->only,
        .explain = question->explain,
        .hides_devices = question->hides_devices,
    };
    dry_run.candidates = candidates_of(question->fork, &dry_run.models, arena);
    dry_run.claims = look_up_claims(question->api, question->policy, list, arena);
    json_t *answer = run(&dry_run, list);
    claim_lookup_free(dry_run.claims);
    json_decref(dry_run.name_warnings);
    return answer;
}

json_t *dry_run_answer(const struct api *api, struct exchange *exchange,
                       const struct dry_run_question *question)
{
    struct arena *arena = exchange_arena(exchange);
    /* The list borrows texts of the policy. */
    const struct policy *policy CLEANUP(policy_drop_ptr) = inventory_hold_policy(api->inventory);
    struct workload_list list = {0};
    json_t *answer = NULL;
    if (!read_manifest(api, exchange, question, &list))
        return NULL;
    const struct provenance provenance = provenance_of(api->inventory, arena);
    const struct workloads_question asked = {
        .api = api,
        .provenance = &provenance,
        .policy = policy,
        .fork = inventory_fork(api->inventory, dry_run_peers_wanted(&list)),
        .list = &list,
        .only = question->only,
        .explain = question->explain,
        .hides_devices = question->hides_devices};
    if (!dry_run_is_too_much(&list, asked.fork, exchange)) {
        answer = provenance_json(&provenance);
        (void)json_object_update_new(answer, dry_run_judge(&asked, arena));
    }
    inventory_fork_free(api->inventory, asked.fork);
    return answer;
}

void api_dry_run(void *context, struct exchange *exchange)
{
    const char *output = exchange_query(exchange, "output");
    struct dry_run_question question = {.explain = reply_flag(exchange, "explain"),
                                        .as_table = output && strcmp(output, "table") == 0};
    if (exchange_defer(exchange))
        return;
    question.manifest.text = exchange_body(exchange, &question.manifest.len);
    json_t *answer = dry_run_answer(context, exchange, &question);
    if (answer)
        reply(exchange, answer, tables_write_dry_run);
}
