/* snapshot: see include/objects/snapshot.h. */
#include "objects/snapshot.h"
#include "base/text_time.h"
#include "formats/json_get.h"
#include "ledger/shape_limits.h"
#include "meta.h"
#include "objects/pod.h"
#include "objects/to_json.h"

#include <errno.h>
#include <string.h>

/* Pods. */

static void make_own(json_t *object, const char *kind)
{
    (void)json_object_set_new(object, "apiVersion", json_string(SNAPSHOT_API_VERSION));
    (void)json_object_set_new(object, "kind", json_string(kind));
}

/* Some of the shape was left out, as it was over a limit. */
static void set_limit(json_t *object, const struct shape_facts *shape)
{
    if (!shape->over)
        return;
    (void)json_object_set_new(object, "shapeOver", json_string(shape_limit_name(shape->over)));
    (void)json_object_set_new(object, "demandOnly", json_boolean(shape->demand_only));
}

/* A reduced shape also lacks the tolerations of its GPUs, which decoding adds to every pod. */
static int read_limit(const json_t *object, struct shape_facts *shape, struct err *err)
{
    const char *name = NULL;
    int r = json_get_string(object, "shapeOver", &name, err);
    enum shape_limit over = SHAPE_LIMIT_NONE + 1;
    if (r < 0 || !name)
        return r;
    while (over < N_SHAPE_LIMITS && strcmp(name, shape_limit_name(over)) != 0)
        over++;
    if (over == N_SHAPE_LIMITS)
        return err_set(err, EINVAL, "shapeOver: is \"%.40s\", should be %s or %s", name,
                       shape_limit_name(SHAPE_LIMIT_POD), shape_limit_name(SHAPE_LIMIT_SUM));
    if (json_is_true(json_member(object, "demandOnly")))
        *shape = shape_demand_only(shape, over);
    else
        shape_reduce(shape, over);
    return 0;
}

/* Of a gated pod the lines that are not evaluated name the gates, which the ledger does not. */
json_t *kept_pod_to_json(const struct pod_facts *facts, const struct policy *policy)
{
    json_t *object = pod_to_json(facts, policy);
    if (!facts->refusal && !facts->not_evaluated && !facts->gated && !facts->shape.over)
        return object;
    make_own(object, "KeptPod");
    set_limit(object, &facts->shape);
    if (facts->refusal)
        (void)json_object_set_new(object, "refusal", json_string(facts->refusal));
    if (facts->not_evaluated)
        (void)json_object_set_new(object, "notEvaluated", json_string(facts->not_evaluated));
    return object;
}

static int read_text(const json_t *object, const char *member, struct arena *arena,
                     const char **ret_text, struct err *err)
{
    const char *text = NULL;
    int r = json_get_string(object, member, &text, err);
    if (r == 0)
        *ret_text = text ? arena_strdup(arena, text) : NULL;
    return r;
}

int kept_pod_from_json(const json_t *object, const struct policy *policy, struct arena *arena,
                       struct pod_facts *ret_facts, struct err *err)
{
    struct pod_facts facts;
    int r = 0;
    if ((r = pod_from_json(object, policy, arena, &facts, err)) < 0 ||
        (r = read_limit(object, &facts.shape, err)) < 0 ||
        (r = read_text(object, "refusal", arena, &facts.refusal, err)) < 0 ||
        (r = read_text(object, "notEvaluated", arena, &facts.not_evaluated, err)) < 0)
        return r;
    *ret_facts = facts;
    return 0;
}

json_t *reservation_to_json(const struct reservation_facts *facts, const struct policy *policy)
{
    json_t *object = pod_to_json(&facts->pod, policy);
    make_own(object, "Reservation");
    set_limit(object, &facts->pod.shape);
    (void)json_object_del(object, "status");
    (void)json_object_set_new(object, "node", json_string(facts->node_name));
    return object;
}

int reservation_from_json(const json_t *object, const struct policy *policy, struct arena *arena,
                          struct reservation_facts *ret_facts, struct err *err)
{
    struct reservation_facts facts = {.node_name = ""};
    int r = 0;
    if ((r = pod_from_json(object, policy, arena, &facts.pod, err)) < 0 ||
        (r = read_limit(object, &facts.pod.shape, err)) < 0 ||
        (r = meta_name(object, "node", arena, &facts.node_name, err)) < 0)
        return r;
    if (!facts.node_name[0])
        return err_set(err, EINVAL, "node: is missing");
    *ret_facts = facts;
    return 0;
}

/* The file as a whole. */

static json_t *problems_json(const struct snapshot *snapshot)
{
    json_t *list = json_array();
    for (size_t i = 0; i < snapshot->n_problems; i++)
        (void)json_array_append_new(
            list, json_pack("{s:s, s:s, s:s}", "kind", snapshot->problems[i].kind, "name",
                            snapshot->problems[i].name, "what", snapshot->problems[i].what));
    return list;
}

json_t *snapshot_to_json(const struct snapshot *snapshot)
{
    char made[TEXT_TIME_SIZE];
    char as_of[TEXT_TIME_SIZE];
    return json_pack("{s:s, s:s, s:{s:s, s:s}, s:s, s:s, s:o, s:o, s:o, s:I}", "apiVersion",
                     SNAPSHOT_API_VERSION, "kind", SNAPSHOT_KIND, "metadata", "name", "snapshot",
                     "creationTimestamp", text_time(snapshot->made_s, made), "source",
                     snapshot->source, "asOf", text_time(snapshot->as_of_s, as_of), "policy",
                     snapshot->policy, "reckoned", snapshot->reckoned, "problems",
                     problems_json(snapshot), "problemCount", (json_int_t)snapshot->n_all_problems);
}

static int read_problem(const json_t *object, struct arena *arena,
                        struct snapshot_problem *ret_problem, struct err *err)
{
    const char *kind = "";
    const char *name = "";
    const char *what = "";
    int r = 0;
    if ((r = json_get_string(object, "kind", &kind, err)) < 0 ||
        (r = json_get_string(object, "name", &name, err)) < 0 ||
        (r = json_get_string(object, "what", &what, err)) < 0)
        return r;
    *ret_problem = (struct snapshot_problem){arena_strdup(arena, kind), arena_strdup(arena, name),
                                             arena_strdup(arena, what)};
    return 0;
}

static int read_problems(const json_t *object, struct arena *arena, struct snapshot *snapshot,
                         struct err *err)
{
    json_t *list = NULL;
    int64_t n_all = 0;
    int r = 0;
    if ((r = json_get_array(object, "problems", &list, err)) < 0 ||
        (r = json_get_integer(object, "problemCount", &n_all, err)) < 0)
        return r;
    const size_t n = json_array_size(list);
    struct snapshot_problem *problems = ARENA_ARRAY(arena, struct snapshot_problem, n);
    for (size_t i = 0; i < n; i++) {
        if ((r = read_problem(json_array_get(list, i), arena, &problems[i], err)) < 0) {
            err_prefix(err, "problems[%zu].", i);
            return r;
        }
    }
    snapshot->problems = problems;
    snapshot->n_problems = n;
    snapshot->n_all_problems = n_all > (int64_t)n ? (size_t)n_all : n;
    return 0;
}

int snapshot_from_json(const json_t *object, struct arena *arena, struct snapshot *ret_snapshot,
                       struct err *err)
{
    struct snapshot snapshot = {0};
    const char *source = "";
    const char *made = "";
    const char *as_of = "";
    json_t *metadata = NULL;
    int r = 0;
    if ((r = json_get_object(object, "metadata", &metadata, err)) < 0 ||
        (r = json_get_string(metadata, "creationTimestamp", &made, err)) < 0 ||
        (r = json_get_string(object, "source", &source, err)) < 0 ||
        (r = json_get_string(object, "asOf", &as_of, err)) < 0 ||
        (r = json_get_object(object, "policy", &snapshot.policy, err)) < 0 ||
        (r = json_get_object(object, "reckoned", &snapshot.reckoned, err)) < 0 ||
        (r = read_problems(object, arena, &snapshot, err)) < 0)
        return r;
    snapshot.source = arena_strdup(arena, source);
    snapshot.made_s = meta_time_s(made);
    snapshot.as_of_s = meta_time_s(as_of);
    json_incref(snapshot.policy);
    json_incref(snapshot.reckoned);
    *ret_snapshot = snapshot;
    return 0;
}
