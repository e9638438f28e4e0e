/* dry_runs: see dry_runs.h. */
#include "api/kubernetes/dry_runs.h"
#include "api/dry_run/dry_run.h"
#include "api/kubernetes.h"
#include "api/reply.h"
#include "api/tables.h"
#include "api/text.h"
#include "formats/json_get.h"
#include "formats/json_parse.h"
#include "formats/json_put.h"

#include <errno.h>
#include <string.h>

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

void dry_runs_create(const struct objects_query *query)
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
