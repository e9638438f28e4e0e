/* kinds: see kinds.h. */
#include "api/kubernetes/kinds.h"
#include "api/cluster/claims_table.h"
#include "api/cluster/decisions_json.h"
#include "api/cluster/inventory_parts.h"
#include "api/dry_run/dry_run.h"
#include "api/first.h"
#include "api/kubernetes.h"
#include "api/reply.h"
#include "api/tables.h"
#include "api/text.h"
#include "base/clock.h"
#include "base/table.h"
#include "decide/quota.h"
#include "formats/json_parse.h"
#include "formats/json_values.h"
#include "objects/label_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

/* ---- gpuquotas ---- */

extern const struct kind_member QUOTA_MEMBERS[];
extern const struct kind_column QUOTA_COLUMNS[];
objects_find quotas_find_objects;

const struct kind_member QUOTA_MEMBERS[] = {
    {"used", "string", "The use by all its namespaces, of each limit, as text."},
    {"usedHere", "string", "The use by this namespace, as text."},
    {"limits", "objects",
     "Its limits: resource and model (empty: all), limit, used by all its namespaces, usedHere, "
     "borrowed."},
    {"claimsCounted", "boolean",
     "true: the use includes GPUs that resource claims hold. false: claims are unknown."},
    {0},
};

const struct kind_column QUOTA_COLUMNS[] = {{"Used", "used", 0}, {"Here", "usedHere", 0}, {0}};

struct limit_copy {
    const char *resource, *model; /* "": all */
    int64_t limit, used, used_here, borrowed;
};

/* A quota in one namespace that it covers. */
struct quota_copy {
    const char *namespace_, *name;
    struct limit_copy *limits;
    size_t n_limits;
    struct quota_copy *next;
};

/* A page of them. */
struct quota_copies {
    struct arena *arena;
    struct quota_copy *items;
    size_t n;
    bool has_more, claims_counted;
};

/* ---- under the lock ---- */

static const char *copy_or_all(const char *name, struct arena *arena)
{
    return name ? arena_strdup(arena, name) : "";
}

static void copy_quota(const struct cluster *cluster, const struct quota *quota,
                       const char *namespace_, struct quota_copies *copies)
{
    struct arena *arena = copies->arena;
    struct quota_copy *copy = ARENA_NEW(arena, struct quota_copy);
    copy->namespace_ = arena_strdup(arena, namespace_);
    copy->name = arena_strdup(arena, quota->name);
    copy->limits = ARENA_ARRAY(arena, struct limit_copy, quota->n_limits);
    for (; copy->n_limits < quota->n_limits; copy->n_limits++) {
        const struct quota_limit *limit = &quota->limits[copy->n_limits];
        copy->limits[copy->n_limits] = (struct limit_copy){
            .resource = copy_or_all(limit->resource, arena),
            .model = copy_or_all(limit->model, arena),
            .limit = limit->gpus,
            .used = quota_used(cluster, quota, limit),
            .used_here = namespace_usage_in(cluster, namespace_, limit, QUOTA_GUARANTEED),
            .borrowed = quota_borrowed(cluster, quota, limit),
        };
    }
    LL_PREPEND(copies->items, copy);
    copies->n++;
}

static int compare_quotas(const void *a, const void *b)
{
    return strcmp((*(const struct quota *const *)a)->name, (*(const struct quota *const *)b)->name);
}

static bool is_on_page(const struct selection *selection, const char *namespace_, const char *name)
{
    const struct selection_object object = {.namespace_ = namespace_, .name = name, .field = ""};
    return first_order(namespace_, name, selection->after_namespace, selection->after_name) > 0 &&
           selection_admits(selection, &object);
}

/* Copies those quotas of a namespace that are on the page. */
static void copy_covering(const struct cluster *cluster, const char *namespace_,
                          const struct selection *selection, struct quota_copies *copies)
{
    const size_t *found = NULL;
    const size_t n = namespace_usage_find_quotas(cluster, namespace_, copies->arena, &found);
    const struct quota **quotas = ARENA_ARRAY(copies->arena, const struct quota *, n);
    for (size_t i = 0; i < n; i++)
        quotas[i] = &cluster_policy(cluster)->quotas[found[i]];
    if (n > 1)
        qsort(quotas, n, sizeof(const struct quota *), compare_quotas);
    for (size_t i = 0; i < n && !copies->has_more; i++) {
        if (!is_on_page(selection, namespace_, quotas[i]->name))
            continue;
        if (copies->n < selection->limit)
            copy_quota(cluster, quotas[i], namespace_, copies);
        else
            copies->has_more = true;
    }
}

static int compare_namespaces(const void *a, const void *b)
{
    return strcmp((*(const struct namespace *const *)a)->name,
                  (*(const struct namespace *const *)b)->name);
}

static void copy_all(const struct cluster *cluster, const struct selection *selection,
                     struct quota_copies *copies)
{
    const struct namespace **sorted =
        ARENA_ARRAY(copies->arena, const struct namespace *, cluster_n_namespaces(cluster));
    size_t n = 0;
    for (const struct namespace *namespace_ = cluster_next_namespace(cluster, NULL); namespace_;
         namespace_ = cluster_next_namespace(cluster, namespace_)) {
        if (strcmp(namespace_->name, selection->after_namespace) >= 0)
            sorted[n++] = namespace_;
    }
    if (n > 1)
        qsort(sorted, n, sizeof(const struct namespace *), compare_namespaces);
    for (size_t i = 0; i < n && !copies->has_more; i++)
        copy_covering(cluster, sorted[i]->name, selection, copies);
}

static void copy_quotas(const struct objects_query *query, struct quota_copies *copies)
{
    struct err why;
    const struct selection *selection = query->selection;
    const struct inventory_view view CLEANUP(inventory_done) =
        inventory_read(query->api->inventory);
    copies->claims_counted = inventory_counts_claims(&view, &why);
    if (*selection->namespace_)
        copy_covering(view.cluster, selection->namespace_, selection, copies);
    else
        copy_all(view.cluster, selection, copies);
}

/* ---- without it ---- */

/* "GPUs", "nvidia.com/gpu", "A100", "A100 of nvidia.com/gpu" */
static const char *counted_text(const struct limit_copy *limit, struct arena *arena)
{
    if (!*limit->model)
        return *limit->resource ? limit->resource : "GPUs";
    if (!*limit->resource)
        return limit->model;
    return arena_printf(arena, "%s of %s", limit->model, limit->resource);
}

static void add_quota(const struct objects_query *query, const struct quota_copy *copy,
                      bool claims_counted, struct objects *objects)
{
    const struct objects_metadata metadata = {.namespace_ = copy->namespace_, .name = copy->name};
    const char *used = "";
    const char *here = "";
    json_t *limits = json_array();
    for (size_t i = 0; i < copy->n_limits; i++) {
        const struct limit_copy *limit = &copy->limits[i];
        const char *counted = counted_text(limit, query->arena);
        const char *comma = i > 0 ? ", " : "";
        used = arena_printf(query->arena, "%s%s%lld of %lld %s", used, comma,
                            (long long)limit->used, (long long)limit->limit, counted);
        here = arena_printf(query->arena, "%s%s%lld %s", here, comma, (long long)limit->used_here,
                            counted);
        (void)json_array_append_new(
            limits, json_pack("{s:s, s:s, s:I, s:I, s:I, s:I}", "resource", limit->resource,
                              "model", limit->model, "limit", (json_int_t)limit->limit, "used",
                              (json_int_t)limit->used, "usedHere", (json_int_t)limit->used_here,
                              "borrowed", (json_int_t)limit->borrowed));
    }
    objects_add(objects, query, &metadata,
                json_pack("{s:s, s:s, s:o, s:b}", "used", used, "usedHere", here, "limits", limits,
                          "claimsCounted", claims_counted));
}

bool quotas_find_objects(const struct objects_query *query, struct objects *objects)
{
    struct quota_copies copies = {.arena = query->arena};
    const struct quota_copy *copy = NULL;
    copy_quotas(query, &copies);
    LL_FOREACH (copies.items, copy)
        add_quota(query, copy, copies.claims_counted, objects);
    objects->is_page = true;
    objects->has_more = copies.has_more;
    return true;
}

/* ---- dryruns ---- */

extern const struct kind_member DRY_RUN_SPEC[], DRY_RUN_MEMBERS[];

/* Levels of lists in lists. */
#define LISTS_MAX 10

const struct kind_member DRY_RUN_SPEC[] = {
    {"objects", "objects",
     "Manifests of this namespace: pods, Jobs, Deployments and others with pods, and claims."},
    {"explain", "boolean", "Also answer how the nodes are ranked."},
    {0},
};

const struct kind_member DRY_RUN_MEMBERS[] = {
    {"summary", "string", "The result as a sentence."},
    {"jobs", "objects", "A verdict on each object, and what would help."},
    {"workloads", "objects", "Of each object with pods: where its pods would go, or why not."},
    {"notUnderstood", "objects", "Requests for GPUs outside of pod templates."},
    {"skipped", "objects", "Objects without pods, and unreadable ones."},
    {"deviceRequests", "objects", "Device requests that no device meets."},
    {"warnings", "objects", "What has no effect, and names that nothing has."},
    {"usable", "boolean", "The data are current."},
    {"unusableBecause", "string", "Why they are not; else empty."},
    {"asOf", "string", "When the data were last known to be complete."},
    {0},
};

/* One request. */
struct asked_run {
    const struct objects_query *query;
    json_t *namespace_, *metadata; /* of objects without; shared by them */
    struct err err;
};

static bool wrong(struct asked_run *asked, const char *what)
{
    (void)err_set(&asked->err, EINVAL, "%s", what);
    return false;
}

/* The object and those in it are of the namespace; sets it where none is given. */
static bool own(struct asked_run *asked, json_t *object, size_t depth)
{
    const char *only = asked->query->selection->namespace_;
    const char *given = only;
    json_t *metadata = json_object_get(object, "metadata");
    json_t *items = json_object_get(object, "items");
    size_t i = 0;
    json_t *item = NULL;
    if (!json_is_object(object) || depth == LISTS_MAX)
        return wrong(asked, "spec.objects: has something else than objects, or too deep lists");
    if (metadata && !json_is_object(metadata) && !json_is_null(metadata))
        return wrong(asked, "spec.objects: metadata should be an object");
    if (json_get_string(metadata, "namespace", &given, &asked->err) < 0)
        return false;
    if (*given && strcmp(given, only) != 0)
        return wrong(asked,
                     arena_printf(asked->query->arena,
                                  "spec.objects: there is an object of the namespace %.253s, "
                                  "should be %.253s or none",
                                  given, only));
    if (json_is_object(metadata))
        (void)json_object_set(metadata, "namespace", asked->namespace_);
    else
        (void)json_object_set(object, "metadata", asked->metadata);
    json_array_foreach (items, i, item) {
        if (json_is_object(item) && !own(asked, item, depth + 1))
            return false;
    }
    return true;
}

static bool is_known(const char *key, const char *const *known)
{
    for (; *known; known++) {
        if (strcmp(*known, key) == 0)
            return true;
    }
    return false;
}

static bool check_members(struct asked_run *asked, json_t *object, const char *what,
                          const char *const *known)
{
    const char *key = NULL;
    json_t *value = NULL;
    if (!json_is_object(object))
        return wrong(asked, arena_printf(asked->query->arena, "%s: should be an object", what));
    json_object_foreach (object, key, value) {
        if (!is_known(key, known))
            return wrong(asked, arena_printf(asked->query->arena,
                                             "%s: has the unknown field \"%.60s\"", what, key));
    }
    return true;
}

static bool is_text(const json_t *object, const char *key, const char *text)
{
    return strcmp(text_member(object, key), text) == 0;
}

static bool check(struct asked_run *asked, json_t *body)
{
    static const char *const MEMBERS[] = {"apiVersion", "kind", "metadata", "spec", "status", NULL};
    static const char *const OF_SPEC[] = {"objects", "explain", NULL};
    const char *only = asked->query->selection->namespace_;
    const char *namespace_ = text_member(json_object_get(body, "metadata"), "namespace");
    json_t *spec = json_object_get(body, "spec");
    json_t *objects = json_object_get(spec, "objects");
    bool explain = false;
    size_t i = 0;
    json_t *object = NULL;
    if (!check_members(asked, body, "the body", MEMBERS) ||
        !check_members(asked, spec, "spec", OF_SPEC) ||
        json_get_bool(spec, "explain", &explain, &asked->err) < 0)
        return false;
    if (!is_text(body, "apiVersion", KUBERNETES_API_VERSION) || !is_text(body, "kind", "DryRun"))
        return wrong(asked, "should be a DryRun of " KUBERNETES_API_VERSION);
    if (*namespace_ && strcmp(namespace_, only) != 0)
        return wrong(asked, "metadata.namespace: is another than that of the request");
    if (json_array_size(objects) == 0)
        return wrong(asked, "spec.objects: should be a list of manifests");
    json_array_foreach (objects, i, object) {
        if (!own(asked, object, 0))
            return false;
    }
    return true;
}

/* The answer has the parts of the body that name it. */
static json_t *result_json(const struct objects_query *query, json_t *body, json_t *answer)
{
    json_t *metadata = json_object();
    json_t *status = json_object();
    static const char *const KEPT[] = {"name", "generateName", "labels", "annotations"};
    for (size_t i = 0; i < sizeof KEPT / sizeof *KEPT; i++) {
        json_t *value = json_object_get(json_object_get(body, "metadata"), KEPT[i]);
        if (value)
            (void)json_object_set(metadata, KEPT[i], value);
    }
    (void)json_object_set_new(metadata, "namespace", json_string(query->selection->namespace_));
    objects_pick(DRY_RUN_MEMBERS, answer, status);
    json_decref(answer);
    return json_pack("{s:s, s:s, s:o, s:O, s:o}", "apiVersion", KUBERNETES_API_VERSION, "kind",
                     query->kind->name, "metadata", metadata, "spec", json_object_get(body, "spec"),
                     "status", status);
}

static void write_table(const json_t *answer, bool wide, struct arena *arena, struct buf *out)
{
    tables_write_dry_run(json_object_get(answer, "status"), wide, arena, out);
}

/* A created object is a 201, also for kubectl. */
static void answer_created(const struct objects_query *query, json_t *created)
{
    const char *output = exchange_query(query->exchange, "output");
    size_t len = 0;
    if (output && strcmp(output, "table") == 0) {
        reply(query->exchange, created, write_table);
        return;
    }
    char *text = json_take_text(created, JSON_COMPACT, &len);
    exchange_answer(query->exchange, 201, "application/json", text, len, 0);
}

/* NULL: it has answered the exchange. */
static json_t *read_body(const struct objects_query *query)
{
    struct asked_run asked = {.query = query};
    json_t *body = NULL;
    size_t len = 0;
    const char *text = exchange_body(query->exchange, &len);
    const int r = json_parse(text, len, JSON_REJECT_DUPLICATES, &query->api->request_budget, &body,
                             &asked.err);
    asked.namespace_ = json_string(query->selection->namespace_);
    asked.metadata = json_pack("{s:O}", "namespace", asked.namespace_);
    const bool is_right = r == 0 && check(&asked, body);
    json_decref(asked.metadata);
    json_decref(asked.namespace_);
    if (is_right)
        return body;
    exchange_answer_error(query->exchange, r == -EMSGSIZE ? 413 : 400, asked.err.text);
    json_decref(body);
    return NULL;
}

/* Runs the objects of the body in the request's namespace, and names no other. */
static void dry_runs_create(const struct objects_query *query)
{
    if (exchange_defer(query->exchange))
        return;
    json_t *body = read_body(query);
    if (!body)
        return;
    const json_t *spec = json_object_get(body, "spec");
    const struct dry_run_question question = {
        .manifest = {.objects = json_object_get(spec, "objects")},
        .name = "spec.objects",
        .only = query->selection->namespace_,
        .explain = json_is_true(json_object_get(spec, "explain")),
        .hides_devices = exchange_note(query->exchange) != KUBERNETES_SEES_DEVICES,
    };
    json_t *answer = dry_run_answer(query->api, query->exchange, &question);
    if (answer)
        answer_created(query, result_json(query, body, answer));
    json_decref(body);
}

/* ---- gpudecisions ---- */

extern const struct kind_member DECISION_MEMBERS[];
extern const struct kind_column DECISION_COLUMNS[];
objects_find decisions_find_objects;

const struct kind_member DECISION_MEMBERS[] = {
    {"verb", "string", "What kube-scheduler asked: filter, prioritize, preempt or bind."},
    {"pod", "string", "The pod that it asked about."},
    {"outcome", "string", "The answer, as text."},
    {"uid", "string", "The UID of the pod."},
    {"number", "integer", "Decisions are numbered from 1, from the start of the service."},
    {"time", "string", "When it was answered."},
    {"tookMicroseconds", "integer", "How long the answer took."},
    {"ledgerVersion", "integer", "The version of the inventory that it was made from."},
    {"nodesAsked", "integer", "The number of nodes that it was asked about."},
    {"nodesHandedOn", "integer", "The number of nodes in the answer."},
    {"verdicts", "object", "The numbers of nodes by reason."},
    {"best", "objects", "The best nodes: node, score, costMillionths."},
    {"node", "string", "The node of a binding; else empty."},
    {"error", "string", "What failed, or why no node can run the pod; else empty."},
    {"claims", "string", "Whether resource claims ranked the nodes, for prioritize."},
    {"observed", "boolean", "It had no effect, because of mode: observe."},
    {"wouldDiffer", "boolean", "With mode: enforce the answer would have been another."},
    {0},
};

const struct kind_column DECISION_COLUMNS[] = {
    {"Verb", "verb", 0},
    {"Pod", "pod", 0},
    {"Outcome", "outcome", 0},
    {"Age", NULL, 0},
    {"Asked", "nodesAsked", 1},
    {"Handed On", "nodesHandedOn", 1},
    {0},
};

static void add_decision(const struct objects_query *query, const json_t *decision,
                         struct objects *objects)
{
    const json_t *pod = json_object_get(decision, "pod");
    struct objects_metadata metadata = {
        .namespace_ = text_member(pod, "namespace"),
        .name = arena_printf(query->arena, "%010lld",
                             (long long)json_integer_value(json_object_get(decision, "number")))};
    if (!*metadata.namespace_)
        return;
    (void)text_time_read(text_member(decision, "time"), &metadata.created_s);
    json_t *status = json_pack("{s:s, s:s, s:s}", "pod", text_member(pod, "name"), "uid",
                               text_member(pod, "uid"), "outcome",
                               decisions_json_outcome(decision, query->arena));
    objects_pick(DECISION_MEMBERS, decision, status);
    objects_add(objects, query, &metadata, status);
}

bool decisions_find_objects(const struct objects_query *query, struct objects *objects)
{
    const char *namespace_ = query->selection->namespace_;
    if (!decisions_json_are_here(query->api, query->exchange))
        return false;
    json_t *decisions =
        decisions_json_of(query->api, *namespace_ ? namespace_ : NULL, query->arena);
    size_t i = 0;
    json_t *decision = NULL;
    json_array_foreach (decisions, i, decision)
        add_decision(query, decision, objects);
    json_decref(decisions);
    return true;
}

/* ---- gpuclaims ---- */

extern const struct kind_member CLAIM_MEMBERS[];
extern const struct kind_column CLAIM_COLUMNS[];
objects_find claims_find_objects;

const struct kind_member CLAIM_MEMBERS[] = {
    {"state", "string", "in use, unused (no pod uses it) or terminating."},
    {"node", "string", "The node of its devices; empty: several nodes reach them."},
    {"model", "string", "The GPU model of its first device; empty: unknown."},
    {"pods", "string", "The pods that use it, as text."},
    {"deviceNames", "string", "Its GPUs as pool/device, as text."},
    {"devices", "objects",
     "Its GPUs: driver, pool, device, model, published, partition, shared, adminAccess."},
    {"reservedFor", "objects", "The pods that use it: pod, uid."},
    {"reservedForCount", "integer", "The number of its users: pods and others."},
    {"unused", "boolean", "It is allocated, and nothing uses it."},
    {"terminating", "boolean", "It is being deleted."},
    {0},
};

const struct kind_column CLAIM_COLUMNS[] = {
    {"State", "state", 0}, {"Node", "node", 0},           {"Model", "model", 0},
    {"Pods", "pods", 0},   {"Devices", "deviceNames", 1}, {0},
};

static void add_claim(const struct objects_query *query, const struct claim_copy *copy,
                      struct objects *objects)
{
    struct label_set set;
    json_t *claim = inventory_claims_json_of(copy);
    const json_t *first = json_array_get(json_object_get(claim, "devices"), 0);
    label_text_split(copy->labels, &set);
    json_t *labels = objects_labels(set.labels, set.n);
    const struct objects_metadata metadata = {
        .namespace_ = copy->namespace_, .name = copy->name, .labels = labels};
    json_t *status =
        json_pack("{s:s, s:s, s:s, s:s}", "state", claims_table_state(claim), "model",
                  text_member(first, "model"), "pods", claims_table_users(claim, query->arena),
                  "deviceNames", claims_table_devices(claim, query->arena));
    objects_pick(CLAIM_MEMBERS, claim, status);
    objects_add(objects, query, &metadata, status);
    json_decref(labels);
    json_decref(claim);
}

static bool admits(const void *context, const struct device_claim *claim)
{
    const struct selection *selection = context;
    struct selection_object object = {
        .namespace_ = claim->namespace_, .name = claim->name, .field = ""};
    struct label_set set;
    if (selection->n_fields > 0)
        object.field = inventory_claims_node(claim);
    if (inventory_claims_lack_labels(&selection->labels, claim))
        return false;
    if (selection->labels.n_requirements > 0) {
        label_text_split(claim->labels, &set);
        object.labels = set.labels;
        object.n_labels = set.n;
    }
    return selection_admits(selection, &object);
}

bool claims_find_objects(const struct objects_query *query, struct objects *objects)
{
    if (reply_defer_list(query->api->inventory, query->exchange))
        return false;
    const struct selection *selection = query->selection;
    const struct claims_page page = {.admits = admits,
                                     .context = selection,
                                     .after_namespace = selection->after_namespace,
                                     .after_name = selection->after_name,
                                     .limit = selection->limit};
    const struct claims_copy copy =
        inventory_claims_page(query->api->inventory, &page, query->arena);
    const struct claim_copy *claim = NULL;
    LL_FOREACH (copy.claims, claim)
        add_claim(query, claim, objects);
    objects->is_page = true;
    objects->has_more = copy.has_more;
    return true;
}

/* ---- kinds ---- */

static const char *const OF_VIEWS[] = {"create", "get", NULL};
static const char *const CREATE[] = {"create", NULL};
static const char *const READ[] = {"get", "list", NULL};

const struct object_kind KUBERNETES_KINDS[] = {
    {.resource = "views",
     .singular = "view",
     .name = "View",
     .description = "An answer of gpu-extender's path /v1/X as the view X: kubectl get --raw "
                    "/apis/" KUBERNETES_API_VERSION "/views/inventory",
     .verbs = OF_VIEWS},
    {.resource = "gpunodes",
     .singular = "gpunode",
     .name = "GPUNode",
     .description = "The GPUs of a node: how many it has, and how many are in use and free.",
     .verbs = READ,
     .status = NODE_MEMBERS,
     .columns = NODE_COLUMNS,
     .find = nodes_find},
    {.resource = "gpupods",
     .singular = "gpupod",
     .name = "GPUPod",
     .description = "A pod that holds GPUs on a node.",
     .is_namespaced = true,
     .verbs = READ,
     .explained_kind = "GPUPodExplanation",
     .field = "node",
     .status = HOLDER_MEMBERS,
     .columns = HOLDER_COLUMNS,
     .find = pods_find_holders},
    {.resource = "gpupending",
     .singular = "gpupending",
     .name = "GPUPending",
     .description = "A pod that waits for GPUs, and why.",
     .is_namespaced = true,
     .verbs = READ,
     .status = PENDING_MEMBERS,
     .columns = PENDING_COLUMNS,
     .find = pods_find_pending},
    {.resource = "gpuclaims",
     .singular = "gpuclaim",
     .name = "GPUClaim",
     .description = "A resource claim that holds GPUs.",
     .is_namespaced = true,
     .verbs = READ,
     .field = "node",
     .status = CLAIM_MEMBERS,
     .columns = CLAIM_COLUMNS,
     .find = claims_find_objects},
    {.resource = "gpuquotas",
     .singular = "gpuquota",
     .name = "GPUQuota",
     .description = "A quota that covers the namespace, and how much of it is used.",
     .is_namespaced = true,
     .verbs = READ,
     .status = QUOTA_MEMBERS,
     .columns = QUOTA_COLUMNS,
     .find = quotas_find_objects},
    {.resource = "gpudecisions",
     .singular = "gpudecision",
     .name = "GPUDecision",
     .description = "One of the latest answers to kube-scheduler about a pod.",
     .is_namespaced = true,
     .verbs = READ,
     .field = "pod",
     .status = DECISION_MEMBERS,
     .columns = DECISION_COLUMNS,
     .find = decisions_find_objects},
    {.resource = "dryruns",
     .singular = "dryrun",
     .name = "DryRun",
     .description = "Where the pods of manifests would go now. It is not stored.",
     .is_namespaced = true,
     .verbs = CREATE,
     .spec = DRY_RUN_SPEC,
     .status = DRY_RUN_MEMBERS,
     .create = dry_runs_create},
    {0},
};

const struct object_kind *kind_find(const char *resource, size_t len)
{
    for (const struct object_kind *kind = KUBERNETES_KINDS; kind->resource; kind++) {
        if (strlen(kind->resource) == len && strncmp(kind->resource, resource, len) == 0)
            return kind;
    }
    return NULL;
}

bool kind_has_verb(const struct object_kind *kind, const char *verb)
{
    for (const char *const *has = kind->verbs; *has; has++) {
        if (strcmp(*has, verb) == 0)
            return true;
    }
    return false;
}
