/* pod_json: see pod_json.h. */
#include "pod_json.h"
#include "base/text_time.h"
#include "core/quota.h"
#include "model_words.h"

#include <string.h>

bool pod_is_pending(const struct pod *pod)
{
    return !pod->node_name[0] && !pod->finished;
}

struct asking pod_asking(const struct telling *telling, const struct pod_copy *copy)
{
    const struct shape_facts *facts = &copy->shape->facts;
    const struct pod_shape *shape = cluster_resolve(telling->fork, facts, telling->arena);
    const struct asking asking = {
        .question = {.shape = shape,
                     .refusal = copy->pod.refusal,
                     .scope = FIT_ALL,
                     .asker = asker_of(&copy->pod),
                     .quota = quota_begin(telling->fork, copy->pod.namespace_, shape, NULL,
                                          telling->arena)},
        .arena = telling->arena,
    };
    quota_promise(asking.question.quota, telling->fork, &asking.question.asker, QUOTA_NO_CLAIMS,
                  telling->arena);
    return asking;
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

/* GPUs first. A pod slot is what every pod needs, and is not told. */
static json_t *requests_json(const struct policy *policy, const struct shape_facts *facts)
{
    json_t *requests = json_object();
    json_t *others = json_object();
    for (size_t i = 0; i < facts->n_demand; i++) {
        const struct amount *amount = &facts->demand[i];
        const bool is_gpu = policy_is_gpu_resource(policy, amount->resource);
        if (is_gpu || strcmp(amount->resource, "pods") != 0)
            set(is_gpu ? requests : others, amount->resource, json_integer(amount->amount));
    }
    (void)json_object_update(requests, others);
    json_decref(others);
    return requests;
}

static json_t *scheduler_json(const struct pod *pod)
{
    if (!pod->unscheduled_reason)
        return json_null();
    return json_pack("{s:s, s:s}", "reason", pod->unscheduled_reason, "message",
                     pod->unscheduled_message);
}

static json_t *age_json(int64_t since, int64_t now)
{
    return json_integer(now > since ? now - since : 0);
}

static json_t *reservation_json(const struct telling *telling, const struct pod_copy *copy)
{
    if (!copy->reserved_node)
        return json_null();
    return json_pack("{s:s, s:o}", "node", copy->reserved_node, "ageSeconds",
                     age_json(copy->reserved_ms / 1000, telling->now_ms / 1000));
}

/* Names in the lines may be anything, and so a line may be empty. */
static json_t *not_evaluated_json(const struct pod *pod)
{
    json_t *lines = json_array();
    for (const char *at = pod->not_evaluated; at && *at;) {
        const size_t len = strcspn(at, "\n");
        if (len > 0)
            (void)json_array_append_new(lines, json_stringn(at, len));
        at += len + (at[len] != '\0');
    }
    return lines;
}

static void set_creation(json_t *object, const struct telling *telling, const struct pod *pod)
{
    char created[TEXT_TIME_SIZE];
    const bool is_known = pod->created_s != 0;
    set(object, "created",
        is_known ? json_string(text_time(pod->created_s, created)) : json_null());
    set(object, "ageSeconds", is_known ? age_json(pod->created_s, telling->now_s) : json_null());
}

static void set_judged(json_t *object, const struct judged *judged)
{
    set(object, "judged", json_boolean(judged));
    set(object, "fits", json_integer(judged ? (json_int_t)judged->n_fits : 0));
    set(object, "fitsOn", judged ? json_incref(judged->fits_on) : json_array());
    set(object, "reasons", judged ? json_incref(judged->reasons) : json_array());
    set(object, "closest", judged ? json_incref(judged->closest) : json_null());
}

json_t *pod_json(const struct telling *telling, const struct pod_copy *copy,
                 const struct judged *judged)
{
    const struct pod *pod = &copy->pod;
    json_t *object = json_pack(
        "{s:s, s:s, s:s, s:s, s:o, s:s, s:o, s:o, s:I, s:s}", "namespace", pod->namespace_, "name",
        pod->name, "uid", pod->uid, "state", state_of(pod), "node", text_or_null(pod->node_name),
        "summary", pod_summary(telling, copy, judged), "schedulerSays", scheduler_json(pod),
        "requests", requests_json(cluster_policy(telling->fork), &copy->shape->facts), "priority",
        (json_int_t)pod->priority, "priorityClass", pod->priority_class);
    set(object, "gpuModels", model_words_json(&copy->shape->facts.wants, telling->arena));
    set_creation(object, telling, pod);
    set(object, "gated", json_boolean(pod->gated));
    set(object, "terminating", json_boolean(pod->terminating));
    set(object, "refusal", text_or_null(pod->refusal));
    set(object, "nominatedNode", text_or_null(pod->nominated_node));
    set(object, "reservation", reservation_json(telling, copy));
    set(object, "notEvaluated", not_evaluated_json(pod));
    set_judged(object, judged);
    return object;
}
