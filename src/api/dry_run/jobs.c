/* jobs: see jobs.h. */
#include "api/dry_run/jobs.h"
#include "api/verdicts/remedies.h"
#include "decide/what_if.h"
#include "ledger/gpu_demand.h"

#include <inttypes.h>
#include <string.h>

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

enum { RANK_OF_MISSING = 2, RANK_OF_FITTING = 4 };

/* What decides comes first: an object that is missing, before what the pods lack. */
static int rank_of(const struct headline *headline)
{
    static const int RANKS[] = {
        [RESULT_MISTAKE] = 0,     [RESULT_NOT_JUDGED] = 1, [RESULT_DOES_NOT_FIT] = 3,
        [RESULT_PARTLY_FITS] = 3, [RESULT_FITS] = 4,       [RESULT_RUNNING] = 4,
    };
    const bool is_missing = headline->cause == CAUSE_MISSING;
    return is_missing ? RANK_OF_MISSING : RANKS[headline->result];
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
    if (a->node_selector.n_requirements > 0 || a->affinity.present || a->legacy_affinity.present ||
        b->node_selector.n_requirements > 0 || b->affinity.present || b->legacy_affinity.present ||
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

/* If even the empty cluster has too few GPUs for the job. */
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
    const int64_t there = headline_gpus_there(&job->dry_run->candidates, question);
    if (asked <= there || there == 0)
        return;
    headline->cause = CAUSE_TOTAL;
    headline->text = arena_printf(
        arena, "It asks for %s; the cluster has %" PRId64 ", so %" PRId64 " %s missing.",
        headline_gpus(&shape->facts, resource->name, asked, arena), there, asked - there,
        asked - there == 1 ? "is" : "are");
}

static bool asks_for_gpus(const struct job *job)
{
    for (size_t i = 0; i < job->n_roles; i++) {
        if (job->roles[i].question.shape->n_gpu_needs > 0 || job->roles[i].workload->pod.claims)
            return true;
    }
    return false;
}

/* "spec.template.spec.containers[0].resources.limit": "limit" */
static const char *field_of(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot ? dot + 1 : path;
}

/* The API server rejects unknown fields, or ignores them. */
static bool tell_unknown_field(struct job *job)
{
    static const char UNKNOWN[] = "unknown field";
    struct arena *arena = job->dry_run->arena;
    const struct workload *first = job->roles[0].workload;
    const char *object =
        arena_printf(arena, "%s %s/%s", first->kind, first->namespace_, first->object_name);
    for (size_t i = 0; i < job->list->n_warnings; i++) {
        const struct manifest_warning *warning = &job->list->warnings[i];
        if (strncmp(warning->message, UNKNOWN, strlen(UNKNOWN)) != 0 ||
            strcmp(warning->object, object) != 0)
            continue;
        const char *line =
            warning->line > 0 ? arena_printf(arena, " in line %zu", warning->line) : "";
        const char *rest = warning->message + strlen(UNKNOWN);
        job->headline = headline_new(
            RESULT_MISTAKE, CAUSE_REQUEST,
            arena_printf(arena, "Unknown field %s%s%s%s%s", field_of(warning->path), line, rest,
                         rest[0] && rest[strlen(rest) - 1] == '?' ? "" : ".",
                         asks_for_gpus(job) ? "" : " As written, the pods ask for no GPU."));
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
    if (!tell_unknown_field(job))
        tell_total(job);
}

/* ---- what would help ---- */

static bool may_search(const struct job *job)
{
    bool may = !job->dry_run->counts_only && remedies_may_help(&job->headline);
    for (size_t i = 0; may && i < job->n_roles; i++)
        may = !job->roles[i].workload->per_node && !job->roles[i].question.devices &&
              job->roles[i].workload->domain.rule == DOMAIN_ANY &&
              !job->roles[i].question.refusal &&
              /* Of a pod whose resource is misspelt they are not read. */
              !(job->headline.missing.kind == MISSING_RESOURCE &&
                job->roles[i].workload->chooses_gpus);
    return may;
}

/* After a rewind: on the same nodes. */
static void place_again(const struct job *job)
{
    for (size_t i = 0; i < job->n_roles; i++) {
        const struct placed_workload *role = &job->roles[i];
        const struct fit_question question = placement_run_ask_again(job->dry_run, role);
        gpu_demand_expect(job->dry_run->fork, question.shape, role->n_pods);
        for (size_t j = 0; j < role->n_nodes; j++)
            what_if_put(job->dry_run->fork, &question, role->nodes[j]);
        (void)what_if_fill(job->dry_run->fork, &question, role->n_placed - (int64_t)role->n_nodes);
    }
}

static void search(const struct job *job, json_t *json)
{
    struct dry_run *dry_run = job->dry_run;
    struct trial_role *roles = ARENA_ARRAY(dry_run->arena, struct trial_role, job->n_roles);
    struct fit_question *questions = ARENA_ARRAY(dry_run->arena, struct fit_question, job->n_roles);
    cluster_fork_rewind(dry_run->fork);
    for (size_t i = 0; i < job->n_roles; i++) {
        const struct placed_workload *role = &job->roles[i];
        questions[i] = placement_run_ask_again(dry_run, role);
        roles[i] = (struct trial_role){role->workload->namespace_, &questions[i], role->n_pods,
                                       role->n_placed, true};
    }
    const struct remedy_question question = {
        .inventory = dry_run->api->inventory,
        .fork = dry_run->fork,
        .roles = roles,
        .n_roles = job->n_roles,
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

static void offer_saving(const struct job *job, json_t *json)
{
    const char *unsaved = job->roles[job->i_deciding].unsaved;
    if (unsaved)
        remedies_add_one(json,
                         arena_printf(job->dry_run->arena,
                                      "save the cluster again, with %s among the kinds", unsaved),
                         NULL, 0);
}

/* If it is all that the pods of the job lack. */
static void offer_missing(const struct job *job, json_t *json)
{
    const struct placed_workload *deciding = &job->roles[job->i_deciding];
    const char *lacks = deciding->lacks;
    bool is_enough = lacks != NULL;
    for (size_t i = 0; is_enough && i < job->n_roles; i++) {
        const struct placed_workload *role = &job->roles[i];
        is_enough = role->n_placed == role->n_pods && role->n_nodes > 0 && role->lacks &&
                    strcmp(role->lacks, lacks) == 0;
    }
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
        (void)json_array_append_new(indices, json_integer((json_int_t)(first + i)));
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
    for (size_t i = 0; i < job->n_roles; i++)
        job->roles[i] = placement_run(job->dry_run, &job->list->items[first + i]);
    decide(job);
    json_t *json = job_json(job, first);
    if (may_search(job))
        search(job, json);
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

void jobs_judge(struct dry_run *dry_run, const struct workload_list *list, json_t *workloads,
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
