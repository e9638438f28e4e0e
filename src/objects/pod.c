/* pod: see include/objects/pod.h. unjudged.c lists the features that are not judged. */
#include "objects/pod.h"
#include "tolerations.h"

#include "affinity.h"
#include "annotations.h"
#include "base/hash.h"
#include "container_requests.h"
#include "fields.h"
#include "formats/json_values.h"
#include "ledger/shape_limits.h"
#include "objects/devices/pod_claims.h"

#include <string.h>

/* For kube-scheduler's message about a pod; an API server accepts more. */
#define TEXT_BYTES_MAX ((size_t)4096)

/* Inputs and output of decoding. */
struct pod_reading {
    const struct policy *policy;
    struct arena *arena;
    struct pod_facts *facts;
    bool is_asked;    /* a verb asks about it, so its annotations count */
    bool needs_peers; /* no verb does */
};

/* ---- soft preferences ---- */

static bool prefers(const json_t *affinity, const char *kind)
{
    return json_array_size(json_member(json_member(affinity, kind),
                                       "preferredDuringSchedulingIgnoredDuringExecution")) > 0;
}

static bool spreads_softly(const json_t *spec)
{
    size_t i = 0;
    json_t *constraint = NULL;
    json_array_foreach (json_member(spec, "topologySpreadConstraints"), i, constraint) {
        const char *what = json_string_value(json_member(constraint, "whenUnsatisfiable"));
        if (what && strcmp(what, "ScheduleAnyway") == 0)
            return true;
    }
    return false;
}

/* Preferred node affinity, preferred pod affinity or anti-affinity, a topology spread constraint
 * with whenUnsatisfiable ScheduleAnyway. Ignores members of a wrong type. */
static bool has_soft_preferences(const json_t *spec)
{
    const json_t *affinity = json_member(spec, "affinity");
    return prefers(affinity, "nodeAffinity") || prefers(affinity, "podAffinity") ||
           prefers(affinity, "podAntiAffinity") || spreads_softly(spec);
}

/* ---- owner of the replica ---- */

/* Kinds whose pods kube-scheduler spreads by default (PodTopologySpread, system default
 * constraints). */
static bool has_replicas(const char *kind)
{
    return strcmp(kind, "ReplicaSet") == 0 || strcmp(kind, "StatefulSet") == 0 ||
           strcmp(kind, "ReplicationController") == 0;
}

/* UID of the controlling ReplicaSet, StatefulSet or ReplicationController; "" for other kinds or
 * none. Ignores members of a wrong type. */
static const char *owner_of_replica(const json_t *metadata, struct arena *arena)
{
    size_t i = 0;
    json_t *reference = NULL;
    json_array_foreach (json_member(metadata, "ownerReferences"), i, reference) {
        const char *kind = json_string_value(json_member(reference, "kind"));
        const char *uid = json_string_value(json_member(reference, "uid"));
        if (!json_is_true(json_member(reference, "controller")) || !kind || !uid)
            continue;
        return has_replicas(kind) && strlen(uid) <= META_NAME_BYTES_MAX ? arena_strdup(arena, uid)
                                                                        : "";
    }
    return "";
}

/* "" for a text that cannot be a kind or a name. */
static const char *short_text(const json_t *reference, const char *member)
{
    const char *text = json_string_value(json_member(reference, member));
    return text && strlen(text) <= META_NAME_BYTES_MAX && !strchr(text, '/') ? text : "";
}

/* "Job/train" */
static const char *controller_of(const json_t *metadata, struct arena *arena)
{
    size_t i = 0;
    json_t *reference = NULL;
    json_array_foreach (json_member(metadata, "ownerReferences"), i, reference) {
        const char *kind = short_text(reference, "kind");
        const char *name = short_text(reference, "name");
        if (json_is_true(json_member(reference, "controller")) && kind[0] && name[0])
            return arena_printf(arena, "%s/%s", kind, name);
    }
    return NULL;
}

/* ---- the pod ---- */

static int read_times(const json_t *metadata, struct pod_facts *facts, struct err *err)
{
    const char *created = "";
    const char *deleted = "";
    int r = 0;
    if ((r = json_get_string(metadata, "creationTimestamp", &created, err)) < 0 ||
        (r = json_get_string(metadata, "deletionTimestamp", &deleted, err)) < 0)
        return r;
    facts->created_s = meta_time_s(created);
    facts->terminating = *deleted != '\0';
    return 0;
}

static int read_metadata(struct pod_reading *reading, const json_t *metadata, struct err *err)
{
    struct pod_facts *facts = reading->facts;
    struct arena *arena = reading->arena;
    int r = 0;
    if ((r = meta_name(metadata, "generateName", arena, &facts->name, err)) < 0 ||
        (r = meta_name(metadata, "name", arena, &facts->name, err)) < 0 ||
        (r = meta_name(metadata, "namespace", arena, &facts->namespace_, err)) < 0 ||
        (r = meta_name(metadata, "uid", arena, &facts->uid, err)) < 0 ||
        (r = read_times(metadata, facts, err)) < 0)
        err_prefix(err, "metadata.");
    if (r == 0 && *facts->uid == '\0')
        facts->uid = arena_printf(arena, "%s/%s", facts->namespace_, facts->name);
    facts->replica_of = owner_of_replica(metadata, arena);
    return r;
}

static bool is_text(const json_t *object, const char *member, const char *text)
{
    const char *value = json_string_value(json_member(object, member));
    return value && strcmp(value, text) == 0;
}

/* NULL without a usable name: then it is a single pod. */
static const char *read_group(const struct pod_reading *reading, const json_t *spec)
{
    const char *name =
        json_string_value(json_member(json_member(spec, "schedulingGroup"), "podGroupName"));
    return name && name[0] && strlen(name) <= META_NAME_BYTES_MAX
               ? arena_strdup(reading->arena, name)
               : NULL;
}

static int read_spec(struct pod_reading *reading, const json_t *spec, struct err *err)
{
    struct pod_facts *facts = reading->facts;
    json_t *gates = NULL;
    int r = 0;
    if ((r = meta_name(spec, "nodeName", reading->arena, &facts->node_name, err)) < 0 ||
        (r = meta_name(spec, "priorityClassName", reading->arena, &facts->priority_class, err)) <
            0 ||
        (r = json_get_integer(spec, "priority", &facts->priority, err)) < 0 ||
        (r = json_get_array(spec, "schedulingGates", &gates, err)) < 0)
        err_prefix(err, "spec.");
    facts->gated = json_array_size(gates) > 0;
    facts->never_preempts = is_text(spec, "preemptionPolicy", "Never");
    facts->soft_preferences = has_soft_preferences(spec);
    facts->group = read_group(reading, spec);
    return r;
}

/* The first reason is reported. */
static void refuse(struct pod_reading *reading, const char *reason)
{
    if (!reading->facts->refusal)
        reading->facts->refusal = reason;
}

/* Quotas must judge all claims. */
static void read_claims(struct pod_reading *reading, const json_t *spec, const json_t *status)
{
    reading->facts->claims = pod_claims_read(
        spec, status, reading->arena, &reading->facts->made_claims, &reading->facts->templates);
    refuse(reading, pod_claims_fault(spec, reading->arena));
    if (reading->policy->n_quotas > 0 && pod_claims_are_many(spec))
        refuse(reading, arena_printf(reading->arena,
                                     "spec.resourceClaims: are more than %d, which no quota judges",
                                     POD_CLAIMS_MAX));
}

/* At most TEXT_BYTES_MAX bytes, cut at a character boundary with a mark. */
static const char *cut_text(const char *text, struct arena *arena)
{
    static const char MARK[] = "…";
    size_t len = strlen(text);
    if (len <= TEXT_BYTES_MAX)
        return arena_strdup(arena, text);
    len = TEXT_BYTES_MAX - strlen(MARK);
    while (((unsigned char)text[len] & 0xc0) == 0x80)
        len--;
    return arena_printf(arena, "%.*s%s", (int)len, text, MARK);
}

/* Only for display, so an invalid message rejects no pod. */
static void read_unscheduled(struct pod_reading *reading, const json_t *status)
{
    struct pod_facts *facts = reading->facts;
    size_t i = 0;
    json_t *condition = NULL;
    json_array_foreach (json_member(status, "conditions"), i, condition) {
        if (!is_text(condition, "type", "PodScheduled") || !is_text(condition, "status", "False"))
            continue;
        const char *reason = json_string_value(json_member(condition, "reason"));
        const char *message = json_string_value(json_member(condition, "message"));
        facts->unscheduled_reason = cut_text(reason ? reason : "", reading->arena);
        facts->unscheduled_message = cut_text(message ? message : "", reading->arena);
        return;
    }
}

static bool is_ready(const json_t *status)
{
    size_t i = 0;
    json_t *condition = NULL;
    json_array_foreach (json_member(status, "conditions"), i, condition) {
        if (is_text(condition, "type", "Ready"))
            return is_text(condition, "status", "True");
    }
    return false;
}

/* NULL without a usable name: then the claim and the pod's request both count. */
static const char *read_extended_claim(const struct pod_reading *reading, const json_t *status)
{
    const char *name = json_string_value(
        json_member(json_member(status, "extendedResourceClaimStatus"), "resourceClaimName"));
    return name && name[0] && strlen(name) <= META_NAME_BYTES_MAX
               ? arena_strdup(reading->arena, name)
               : NULL;
}

static enum pod_qos read_qos(const json_t *status)
{
    if (is_text(status, "qosClass", "Guaranteed"))
        return QOS_GUARANTEED;
    if (is_text(status, "qosClass", "Burstable"))
        return QOS_BURSTABLE;
    return is_text(status, "qosClass", "BestEffort") ? QOS_BEST_EFFORT : QOS_UNKNOWN;
}

static int read_status(struct pod_reading *reading, const json_t *status, struct err *err)
{
    struct pod_facts *facts = reading->facts;
    const char *phase = "";
    const char *started = "";
    int r = 0;
    if ((r = meta_name(status, "nominatedNodeName", reading->arena, &facts->nominated_node, err)) <
            0 ||
        (r = json_get_string(status, "phase", &phase, err)) < 0 ||
        (r = json_get_string(status, "startTime", &started, err)) < 0)
        err_prefix(err, "status.");
    facts->started_s = meta_time_s(started);
    facts->qos = read_qos(status);
    facts->extended_claim = read_extended_claim(reading, status);
    facts->finished = strcmp(phase, "Succeeded") == 0 || strcmp(phase, "Failed") == 0;
    if (facts->node_name[0] == '\0' && !facts->finished)
        read_unscheduled(reading, status);
    if (facts->node_name[0] && !facts->finished) {
        facts->ready = is_ready(status);
        facts->unstarted = strcmp(phase, "Pending") == 0;
    }
    return r;
}

static int read_demand(struct pod_reading *reading, const json_t *spec, const json_t *status,
                       struct err *err)
{
    struct demand demand = {0};
    int r = demand_from_json(spec, status, reading->policy, reading->arena, &demand, err);
    if (r < 0)
        return r;
    reading->facts->shape.demand = demand.amounts;
    reading->facts->shape.n_demand = demand.n_amounts;
    refuse(reading, demand.refusal);
    return 0;
}

/* -ENOTSUP (Kubernetes' validation) rejects the pod, but its demand still counts. Other errors stay
 * errors. */
static int settle(struct pod_reading *reading, int r, const char *path, const struct err *why,
                  struct err *err)
{
    if (r == -ENOTSUP) {
        refuse(reading, arena_printf(reading->arena, "%s%s", path, why->text));
        return 0;
    }
    return r < 0 ? err_set(err, -r, "%s%s", path, why->text) : 0;
}

static int read_affinity(struct pod_reading *reading, const json_t *spec, struct err *err)
{
    struct shape_facts *shape = &reading->facts->shape;
    json_t *affinity = NULL;
    struct node_affinity found = {0};
    struct err why = {""};
    int r = json_get_object(spec, "affinity", &affinity, &why);
    if (r < 0)
        return settle(reading, r, "spec.", &why, err);
    r = affinity_read_node_affinity(affinity, NULL, reading->arena, &found, &why);
    /* A DaemonSet's pods each require one node by name, so each would have a shape of its own. Once
     * the pod has a node, that requirement is met. */
    shape->affinity = *reading->facts->node_name
                          ? affinity_without_fields(&found.required, reading->arena)
                          : found.required;
    shape->preferred = found.preferred;
    shape->n_preferred = found.n_preferred;
    return settle(reading, r, "spec.affinity.", &why, err);
}

static int read_peers(struct pod_reading *reading, const json_t *metadata, const json_t *spec,
                      struct err *err)
{
    struct err why = {""};
    if (!reading->needs_peers)
        return 0;
    int r = peer_terms_read(metadata, spec, reading->arena, &reading->facts->peers, &why);
    /* If an API server has stored it, a newer Kubernetes allows it. */
    if (r == -E2BIG || (r < 0 && json_is_string(json_object_get(metadata, "uid")))) {
        reading->facts->peers = (struct peer_facts){0};
        reading->facts->lacks_peers = true;
        return 0;
    }
    return settle(reading, r, "", &why, err);
}

static int read_tolerations(struct pod_reading *reading, const json_t *spec, struct err *err)
{
    struct shape_facts *shape = &reading->facts->shape;
    struct err why = {""};
    int r = tolerations_read(spec, reading->arena, shape, &why);
    if ((r = settle(reading, r, "spec.", &why, err)) < 0)
        return r;
    for (size_t i = 0; i < shape->n_demand; i++) {
        const char *resource = shape->demand[i].resource;
        if (reading->policy->extended_resource_toleration &&
            policy_is_gpu_resource(reading->policy, resource))
            tolerations_add_resource(shape, resource, reading->arena);
    }
    return 0;
}

static void read_domain(struct pod_reading *reading, const json_t *metadata)
{
    struct domain_wish wish;
    struct err why = {""};
    const char *text =
        json_string_value(json_member(json_member(metadata, "annotations"), ANNOTATION_DOMAIN));
    if (!text)
        return;
    if (domain_wish_read(text, reading->policy, reading->arena, &wish, &why) == 0)
        reading->facts->domain = arena_strdup(reading->arena, text);
    else if (reading->policy->gangs.mode == GANGS_PLAN)
        refuse(reading, arena_strdup(reading->arena, why.text));
}

/* Only pods that kube-scheduler asks us about can be held together. Those of a PodGroup are its
 * own. */
static void read_gang(struct pod_reading *reading, const json_t *metadata, const json_t *spec)
{
    struct pod_facts *facts = reading->facts;
    struct err why = {""};
    if (facts->group || !managed_by_policy(spec, reading->policy))
        return;
    if (annotations_read_gang(metadata, reading->policy, reading->arena, facts, &why) < 0 &&
        reading->policy->gangs.mode == GANGS_PLAN)
        refuse(reading, arena_strdup(reading->arena, why.text));
    if (!facts->gang)
        return;
    read_domain(reading, metadata);
    const char *scheduler = json_string_value(json_member(spec, "schedulerName"));
    if (scheduler && *scheduler && strcmp(scheduler, POLICY_DEFAULT_SCHEDULER) != 0)
        facts->scheduler = arena_strdup(reading->arena, scheduler);
}

static int read_annotations(struct pod_reading *reading, const json_t *metadata, const json_t *spec,
                            struct err *err)
{
    struct shape_facts *shape = &reading->facts->shape;
    struct shape_facts ignored = *shape;
    const char *refusal = NULL;
    const bool counts = reading->is_asked || managed_by_policy(spec, reading->policy);
    int r = annotations_read(metadata, reading->policy, reading->arena, counts ? shape : &ignored,
                             &refusal, err);
    if (counts)
        refuse(reading, refusal);
    else
        reading->facts->version = 0;
    read_gang(reading, metadata, spec);
    if (r < 0)
        err_prefix(err, "metadata.");
    return r;
}

static int read_node_selector(struct pod_reading *reading, const json_t *spec, struct err *err)
{
    struct selector_term *term = &reading->facts->shape.node_selector;
    int r = affinity_read_node_selector(spec, reading->arena, term, err);
    if (r < 0)
        err_prefix(err, "spec.");
    return r;
}

/* The members that decide where the pod may go, besides its demand. */
static int read_constraints(struct pod_reading *reading, const json_t *metadata, const json_t *spec,
                            struct err *err)
{
    int r = 0;
    if ((r = read_node_selector(reading, spec, err)) < 0 ||
        (r = read_affinity(reading, spec, err)) < 0 ||
        (r = read_peers(reading, metadata, spec, err)) < 0 ||
        (r = read_tolerations(reading, spec, err)) < 0)
        return r;
    return read_annotations(reading, metadata, spec, err);
}

uint64_t pod_version(const json_t *object)
{
    const char *version =
        json_string_value(json_member(json_member(object, "metadata"), "resourceVersion"));
    return version && version[0] ? hash_text(version) | 1 : 0;
}

static int read_pod(struct pod_reading reading, const json_t *object, struct pod_facts *ret_facts,
                    struct err *err)
{
    if (!json_is_object(object))
        return err_set(err, EINVAL, "is %s, should be a Pod object", json_type_text(object));
    struct pod_facts facts = {.uid = "",
                              .namespace_ = "default",
                              .name = "",
                              .node_name = "",
                              .nominated_node = "",
                              .priority_class = "",
                              .version = pod_version(object)};
    reading.facts = &facts;
    json_t *metadata = NULL;
    json_t *spec = NULL;
    json_t *status = NULL;
    int r = 0;
    if ((r = json_get_object(object, "metadata", &metadata, err)) < 0 ||
        (r = json_get_object(object, "spec", &spec, err)) < 0 ||
        (r = json_get_object(object, "status", &status, err)) < 0 ||
        (r = read_metadata(&reading, metadata, err)) < 0 ||
        (r = read_spec(&reading, spec, err)) < 0 || (r = read_status(&reading, status, err)) < 0)
        return r;
    read_claims(&reading, spec, status);
    if ((r = read_demand(&reading, spec, status, err)) < 0 ||
        (r = read_constraints(&reading, metadata, spec, err)) < 0)
        return r;
    if (!facts.finished)
        facts.controller = controller_of(metadata, reading.arena);
    shape_limit(&facts.shape, reading.policy);
    *ret_facts = facts;
    return 0;
}

int pod_from_json(const json_t *object, const struct policy *policy, struct arena *arena,
                  struct pod_facts *ret_facts, struct err *err)
{
    const struct pod_reading asked = {.policy = policy, .arena = arena, .is_asked = true};
    return read_pod(asked, object, ret_facts, err);
}

int pod_from_json_unasked(const json_t *object, const struct policy *policy, struct arena *arena,
                          struct pod_facts *ret_facts, struct err *err)
{
    const struct pod_reading unasked = {.policy = policy, .arena = arena, .needs_peers = true};
    return read_pod(unasked, object, ret_facts, err);
}

int pod_from_json_kept(const json_t *object, const struct policy *policy, struct arena *arena,
                       struct pod_facts *ret_facts, struct err *err)
{
    const struct pod_reading kept = {
        .policy = policy, .arena = arena, .is_asked = true, .needs_peers = true};
    return read_pod(kept, object, ret_facts, err);
}
