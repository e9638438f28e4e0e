/* to_json: see include/objects/to_json.h. */
#include "objects/to_json.h"
#include "annotations.h"
#include "base/clock.h"
#include "objects/devices/selector_texts.h"
#include "objects/node.h"
#include "shape_json.h"
#include "tolerations.h"

#include <inttypes.h>
#include <string.h>

static void set_text(json_t *object, const char *key, const char *text)
{
    if (text && text[0])
        (void)json_object_set_new(object, key, json_string(text));
}

/* Nodes. */

static json_t *labels_json(const struct label *labels, size_t n)
{
    json_t *json = json_object();
    for (size_t i = 0; i < n; i++)
        (void)json_object_set_new(json, labels[i].key, json_string(labels[i].value));
    return json;
}

static json_t *amounts_json(const struct amount *amounts, size_t n)
{
    json_t *json = json_object();
    for (size_t i = 0; i < n; i++) {
        const char *unit = strcmp(amounts[i].resource, "cpu") == 0 ? "m" : "";
        (void)json_object_set_new(json, amounts[i].resource,
                                  json_sprintf("%" PRId64 "%s", amounts[i].amount, unit));
    }
    return json;
}

static json_t *node_spec_json(const struct node_facts *facts)
{
    json_t *spec = json_object();
    json_t *taints = json_array();
    for (size_t i = 0; i < facts->n_taints; i++) {
        json_t *taint = json_pack("{s:s, s:s}", "key", facts->taints[i].key, "effect",
                                  taint_effect_name(facts->taints[i].effect));
        set_text(taint, "value", facts->taints[i].value);
        (void)json_array_append_new(taints, taint);
    }
    if (facts->n_taints > 0)
        (void)json_object_set(spec, "taints", taints);
    json_decref(taints);
    if (facts->unschedulable)
        (void)json_object_set_new(spec, "unschedulable", json_true());
    return spec;
}

json_t *node_to_json(const struct node_facts *facts)
{
    json_t *conditions =
        json_pack("[{s:s, s:s}]", "type", "Ready", "status", facts->ready ? "True" : "False");
    node_conditions_append(facts->conditions, conditions);
    return json_pack("{s:s, s:s, s:{s:s, s:o}, s:o, s:{s:o, s:o, s:o}}", "apiVersion", "v1", "kind",
                     "Node", "metadata", "name", facts->name, "labels",
                     labels_json(facts->labels, facts->n_labels), "spec", node_spec_json(facts),
                     "status", "capacity", amounts_json(facts->capacity, facts->n_capacity),
                     "allocatable", amounts_json(facts->allocatable, facts->n_allocatable),
                     "conditions", conditions);
}

/* Pods. */

/* A UID made up for a pod without one is omitted, and made up again when read. */
static bool has_own_uid(const struct pod_facts *facts)
{
    const size_t len = strlen(facts->namespace_);
    return strncmp(facts->uid, facts->namespace_, len) != 0 || facts->uid[len] != '/' ||
           strcmp(facts->uid + len + 1, facts->name) != 0;
}

/* The ledger does not keep the owner's kind and name of every pod (struct pod_facts). For others,
 * any kind with replicas will do, without a name. */
static json_t *owners_json(const struct pod_facts *facts)
{
    const char *uid = facts->replica_of ? facts->replica_of : "";
    const char *name = facts->controller ? strchr(facts->controller, '/') : NULL;
    if (!name)
        return json_pack("[{s:s, s:s, s:b}]", "kind", "ReplicaSet", "uid", uid, "controller", true);
    return json_pack("[{s:s%, s:s, s:s, s:b}]", "kind", facts->controller,
                     (size_t)(name - facts->controller), "name", name + 1, "uid", uid, "controller",
                     true);
}

static json_t *pod_metadata_json(const struct pod_facts *facts, const struct policy *policy)
{
    char text[TEXT_TIME_SIZE];
    json_t *metadata = json_pack("{s:s, s:s}", "namespace", facts->namespace_, "name", facts->name);
    json_t *annotations = shape_to_annotations(&facts->shape, policy);
    if (facts->gang) {
        annotations = annotations ? annotations : json_object();
        set_text(annotations, ANNOTATION_GANG, facts->gang);
        (void)json_object_set_new(annotations, ANNOTATION_GANG_SIZE,
                                  json_sprintf("%" PRId64, facts->gang_size));
        if (facts->domain)
            set_text(annotations, ANNOTATION_DOMAIN, facts->domain);
    }
    if (has_own_uid(facts))
        set_text(metadata, "uid", facts->uid);
    if (facts->created_s != 0)
        set_text(metadata, "creationTimestamp", text_time(facts->created_s, text));
    if (facts->terminating) /* the time is not kept */
        set_text(metadata, "deletionTimestamp", text_time(facts->created_s, text));
    if ((facts->replica_of && facts->replica_of[0]) || facts->controller)
        (void)json_object_set_new(metadata, "ownerReferences", owners_json(facts));
    if (annotations)
        (void)json_object_set_new(metadata, "annotations", annotations);
    if (facts->peers.n_labels > 0)
        (void)json_object_set_new(metadata, "labels",
                                  labels_json(facts->peers.labels, facts->peers.n_labels));
    return metadata;
}

static bool is_made(const struct pod_facts *facts, size_t line)
{
    return facts->made_claims & UINT32_C(1) << line;
}

/* Their names in the pod are not kept, nor those of templates whose claims are made. */
static json_t *claims_json(const struct pod_facts *facts)
{
    json_t *list = json_array();
    for (const char *at = facts->claims; *at; at += strcspn(at, "\n") + 1) {
        const size_t line = json_array_size(list);
        json_t *claim = json_pack("{s:o}", "name", json_sprintf("%zu", line));
        const bool is_template = *at == '/';
        at += is_template;
        (void)json_object_set_new(
            claim,
            is_template || is_made(facts, line) ? "resourceClaimTemplateName" : "resourceClaimName",
            is_made(facts, line) ? json_string("any") : json_stringn(at, strcspn(at, "\n")));
        (void)json_array_append_new(list, claim);
    }
    return list;
}

static json_t *claim_statuses_json(const struct pod_facts *facts)
{
    json_t *list = json_array();
    size_t line = 0;
    for (const char *at = facts->claims; *at; at += strcspn(at, "\n") + 1, line++) {
        if (is_made(facts, line))
            (void)json_array_append_new(
                list, json_pack("{s:o, s:o}", "name", json_sprintf("%zu", line),
                                "resourceClaimName", json_stringn(at, strcspn(at, "\n"))));
    }
    return list;
}

static json_t *pod_spec_json(const struct pod_facts *facts, const struct policy *policy)
{
    json_t *spec = json_object();
    set_text(spec, "nodeName", facts->node_name);
    set_text(spec, "priorityClassName", facts->priority_class);
    (void)json_object_set_new(spec, "priority", json_integer((json_int_t)facts->priority));
    if (facts->scheduler)
        set_text(spec, "schedulerName", facts->scheduler);
    if (facts->gated)
        (void)json_object_set_new(spec, "schedulingGates", json_pack("[{s:s}]", "name", "any"));
    if (facts->claims)
        (void)json_object_set_new(spec, "resourceClaims", claims_json(facts));
    if (facts->group)
        (void)json_object_set_new(spec, "schedulingGroup",
                                  json_pack("{s:s}", "podGroupName", facts->group));
    shape_to_spec(&facts->shape, policy, spec);
    peer_terms_to_spec(&facts->peers, spec);
    return spec;
}

static const char *const QOS_CLASSES[] = {[QOS_GUARANTEED] = "Guaranteed",
                                          [QOS_BURSTABLE] = "Burstable",
                                          [QOS_BEST_EFFORT] = "BestEffort"};

static json_t *pod_status_json(const struct pod_facts *facts)
{
    const char *phase = facts->node_name[0] && !facts->unstarted ? "Running" : "Pending";
    char text[TEXT_TIME_SIZE];
    json_t *status = json_object();
    set_text(status, "phase", facts->finished ? "Succeeded" : phase);
    set_text(status, "nominatedNodeName", facts->nominated_node);
    if (facts->extended_claim)
        (void)json_object_set_new(status, "extendedResourceClaimStatus",
                                  json_pack("{s:s, s:[]}", "resourceClaimName",
                                            facts->extended_claim, "requestMappings"));
    if (facts->claims && facts->made_claims)
        (void)json_object_set_new(status, "resourceClaimStatuses", claim_statuses_json(facts));
    if (facts->qos != QOS_UNKNOWN)
        set_text(status, "qosClass", QOS_CLASSES[facts->qos]);
    if (facts->started_s != 0)
        set_text(status, "startTime", text_time(facts->started_s, text));
    if (facts->unscheduled_reason)
        (void)json_object_set_new(status, "conditions",
                                  json_pack("[{s:s, s:s, s:s, s:s}]", "type", "PodScheduled",
                                            "status", "False", "reason", facts->unscheduled_reason,
                                            "message", facts->unscheduled_message));
    if (facts->ready)
        (void)json_object_set_new(status, "conditions",
                                  json_pack("[{s:s, s:s}]", "type", "Ready", "status", "True"));
    return status;
}

json_t *pod_to_json(const struct pod_facts *facts, const struct policy *policy)
{
    return json_pack("{s:s, s:s, s:o, s:o, s:o}", "apiVersion", "v1", "kind", "Pod", "metadata",
                     pod_metadata_json(facts, policy), "spec", pod_spec_json(facts, policy),
                     "status", pod_status_json(facts));
}

/* Other kinds. */

json_t *budget_to_json(const struct budget_facts *facts)
{
    json_t *spec = json_object();
    if (!facts->selects_none)
        (void)json_object_set_new(spec, "selector", term_to_json(&facts->selector));
    if (facts->frees_unready)
        set_text(spec, "unhealthyPodEvictionPolicy", "AlwaysAllow");
    return json_pack("{s:s, s:s, s:{s:s, s:s, s:i}, s:o, s:{s:i, s:I, s:I, s:I}}", "apiVersion",
                     "policy/v1", "kind", "PodDisruptionBudget", "metadata", "namespace",
                     facts->namespace_, "name", facts->name, "generation", 1, "spec", spec,
                     "status", "observedGeneration", facts->is_outdated ? 0 : 1,
                     "disruptionsAllowed", (json_int_t)facts->allowed, "currentHealthy",
                     (json_int_t)facts->healthy, "desiredHealthy", (json_int_t)facts->desired);
}

json_t *pod_group_to_json(const struct pod_group_facts *facts)
{
    json_t *policy = facts->min_count > 0
                         ? json_pack("{s:{s:I}}", "gang", "minCount", (json_int_t)facts->min_count)
                         : json_pack("{s:{}}", "basic");
    return json_pack("{s:s, s:s, s:{s:s, s:s}, s:{s:o}}", "apiVersion", "scheduling.k8s.io/v1beta1",
                     "kind", "PodGroup", "metadata", "namespace", facts->namespace_, "name",
                     facts->name, "spec", "schedulingPolicy", policy);
}

json_t *namespace_to_json(const struct namespace_facts *facts)
{
    return json_pack("{s:s, s:s, s:{s:s, s:o}}", "apiVersion", "v1", "kind", "Namespace",
                     "metadata", "name", facts->name, "labels",
                     labels_json(facts->labels, facts->n_labels));
}

json_t *priority_class_to_json(const struct priority_class_facts *facts)
{
    return json_pack("{s:s, s:s, s:{s:s}, s:I, s:b, s:s}", "apiVersion", "scheduling.k8s.io/v1",
                     "kind", "PriorityClass", "metadata", "name", facts->name, "value",
                     (json_int_t)facts->value, "globalDefault", facts->is_default,
                     "preemptionPolicy", facts->never_preempts ? "Never" : "PreemptLowerPriority");
}

json_t *runtime_class_to_json(const char *name)
{
    return json_pack("{s:s, s:s, s:{s:s}}", "apiVersion", "node.k8s.io/v1", "kind", "RuntimeClass",
                     "metadata", "name", name);
}

json_t *device_class_to_json(const struct device_class_facts *facts)
{
    json_t *spec = json_object();
    set_text(spec, "extendedResourceName", facts->resource);
    (void)json_object_set_new(spec, "selectors",
                              selector_texts_to_json(&facts->selectors, facts->driver));
    return json_pack("{s:s, s:s, s:{s:s}, s:o}", "apiVersion", "resource.k8s.io/v1", "kind",
                     "DeviceClass", "metadata", "name", facts->name, "spec", spec);
}
