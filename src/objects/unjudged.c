/*
 * unjudged: pod_not_evaluated() and its text. See include/objects/pod.h.
 *
 * It lists what an answer leaves out. It ignores unreadable members, which the decoders report.
 * Equal pods give lines in equal order.
 */
#include "objects/pod.h"

#include "annotations.h"
#include "base/buf.h"
#include "base/nearest.h"
#include "container_requests.h"
#include "fields.h"
#include "formats/json_values.h"
#include "tolerations.h"

#include <stdint.h>
#include <string.h>

/* The ledger keeps this text for each waiting pod. */
#define TEXT_BYTES_MAX ((size_t)2048)
#define LAST_BYTES_MAX sizeof "\nand 100 more\n"

/* ---- containers ---- */

static const char *container_name(const json_t *container, struct lines *lines)
{
    const char *name = json_string_value(json_member(container, "name"));
    return quoted(lines->arena, name ? name : "");
}

static void add_host_ports(const json_t *spec, const json_t *container, struct lines *lines)
{
    /* In the host network every port is a host port. */
    const bool host_network = json_is_true(json_member(spec, "hostNetwork"));
    const json_t *ports = json_member(container, "ports");
    for (size_t i = 0; i < json_array_size(ports); i++) {
        const json_t *entry = json_array_get(ports, i);
        json_int_t port = json_integer_value(json_member(entry, "hostPort"));
        if (port == 0 && host_network)
            port = json_integer_value(json_member(entry, "containerPort"));
        if (port != 0)
            lines_add(lines, "container %s: host port %" JSON_INTEGER_FORMAT,
                      container_name(container, lines), port);
    }
}

/* A request, or the limit that it defaults to. */
static bool has_request(const json_t *object, const char *resource)
{
    const json_t *resources = json_member(object, "resources");
    return json_member(json_member(resources, "requests"), resource) ||
           json_member(json_member(resources, "limits"), resource);
}

static void add_missing_requests(const json_t *spec, const json_t *container, struct lines *lines)
{
    bool cpu = has_request(container, "cpu") || has_request(spec, "cpu");
    bool memory = has_request(container, "memory") || has_request(spec, "memory");
    if (cpu && memory)
        return;
    const char *missing = cpu ? "memory" : memory ? "cpu" : "cpu and memory";
    lines_add(lines, "container %s: no request for %s; a LimitRange could add one",
              container_name(container, lines), missing);
}

/* The names in spec.resourceClaims as keys. */
static json_t *declared_claims(const json_t *spec)
{
    const json_t *entries = json_member(spec, "resourceClaims");
    json_t *declared = json_object();
    for (size_t i = 0; i < json_array_size(entries); i++) {
        const char *name = json_string_value(json_member(json_array_get(entries, i), "name"));
        if (name)
            (void)json_object_set_new(declared, name, json_true());
    }
    return declared;
}

static void add_undeclared_claims(const json_t *declared, const json_t *container,
                                  struct lines *lines)
{
    const json_t *claims = json_member(json_member(container, "resources"), "claims");
    for (size_t i = 0; i < json_array_size(claims); i++) {
        const char *name = json_string_value(json_member(json_array_get(claims, i), "name"));
        if (name && !json_object_get(declared, name))
            lines_add(lines, "container %s: resource claim %s is not in spec.resourceClaims",
                      container_name(container, lines), quoted_plain(lines->arena, name));
    }
}

/* Adds host ports, claims missing from spec.resourceClaims and, before admission, missing
 * requests. */
static void add_containers(const json_t *spec, bool admitted, struct lines *lines)
{
    static const char *const MEMBERS[] = {"containers", "initContainers"};
    json_auto_t *declared = declared_claims(spec);
    for (size_t i = 0; i < sizeof MEMBERS / sizeof MEMBERS[0]; i++) {
        const json_t *containers = json_member(spec, MEMBERS[i]);
        for (size_t j = 0; j < json_array_size(containers); j++) {
            const json_t *container = json_array_get(containers, j);
            add_undeclared_claims(declared, container, lines);
            add_host_ports(spec, container, lines);
            if (!admitted)
                add_missing_requests(spec, container, lines);
        }
    }
}

/* ---- annotations ---- */

static void add_without_effect(const char *annotation, struct lines *lines)
{
    lines_add(lines,
              "annotation %s has no effect: kube-scheduler places pods that name no GPU resource "
              "alone (scheduler.allPods is false)",
              annotation);
}

static void add_legacy_affinity(const json_t *metadata, struct lines *lines)
{
    static const char *const MEMBERS[] = {"podAffinity", "podAntiAffinity"};
    json_auto_t *affinity = annotations_legacy_affinity(metadata);
    for (size_t i = 0; i < sizeof MEMBERS / sizeof MEMBERS[0]; i++) {
        if (json_member(affinity, MEMBERS[i]))
            lines_add(lines, "annotation " ANNOTATION_LEGACY_AFFINITY ": %s", MEMBERS[i]);
    }
}

static void add_legacy(const json_t *metadata, bool is_managed, struct lines *lines)
{
    const json_t *annotations = json_member(metadata, "annotations");
    if (is_managed)
        add_legacy_affinity(metadata, lines);
    else if (json_member(annotations, ANNOTATION_LEGACY_AFFINITY))
        add_without_effect(ANNOTATION_LEGACY_AFFINITY, lines);
    if (json_member(annotations, ANNOTATION_LEGACY_TOLERATIONS))
        lines_add(lines, "annotation " ANNOTATION_LEGACY_TOLERATIONS);
}

/* name: the key without ANNOTATION_PREFIX. */
static void add_ours(const char *key, const char *name, bool is_managed, struct lines *lines)
{
    const char *nearest = annotations_nearest(name);
    const char *carrier = annotations_elsewhere(name);
    if (carrier) {
        if (*carrier)
            lines_add(lines, "annotation %s has no effect: it is %s", key, carrier);
        return;
    }
    if (!nearest) {
        if (!is_managed)
            add_without_effect(key, lines);
        return;
    }
    const char *shown = quoted_plain(lines->arena, key);
    if (*nearest)
        lines_add(lines, "annotation %s is unknown; did you mean " ANNOTATION_PREFIX "%s?", shown,
                  nearest);
    else
        lines_add(lines, "annotation %s is unknown", shown);
}

/* Adds legacy annotations that are not node affinity, unknown names with our prefix, and
 * annotations without effect. */
static void add_annotations(const json_t *metadata, bool is_managed, bool has_gangs,
                            struct lines *lines)
{
    add_legacy(metadata, is_managed, lines);
    const char *key = NULL;
    const json_t *value = NULL;
    bool is_said = has_gangs;
    json_object_foreach (json_member(metadata, "annotations"), key, value) {
        const char *name = annotations_own_name(key);
        if (!name)
            continue;
        const bool is_off = !has_gangs && annotations_is_of_gangs(name);
        if (!is_off)
            add_ours(key, name, is_managed, lines);
        else if (!is_said)
            lines_add(lines, "annotation %s has no effect: gangs.mode is off", key);
        is_said |= is_off;
    }
}

/* ---- the rest of the pod ---- */

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_member(object, key));
    return text ? text : "";
}

static const char *shown(struct lines *lines, const char *text)
{
    return quoted_plain(lines->arena, text);
}

static const json_t *labels_of(const json_t *object)
{
    return json_member(json_member(object, "metadata"), "labels");
}

static bool is_filled(const json_t *value)
{
    return json_array_size(value) > 0 || json_object_size(value) > 0;
}

/* ---- groups and queues ---- */

/* Labels and annotations by which a plugin, or another scheduler, holds pods together. */
static const struct {
    const char *map;
    const char *key;
} GROUPS[] = {
    {"labels", "scheduling.x-k8s.io/pod-group"},
    {"labels", "pod-group.scheduling.sigs.k8s.io"},
    {"labels", "pod-group.scheduling.sigs.k8s.io/name"},
    {"labels", "kueue.x-k8s.io/pod-group-name"},
    {"annotations", "scheduling.k8s.io/group-name"},
    {"annotations", "yunikorn.apache.org/task-group-name"},
};
static const char *const GROUP_MEMBERS[] = {"workloadRef", "schedulingGroup"};

bool pod_in_group(const json_t *object)
{
    const json_t *metadata = json_member(object, "metadata");
    const json_t *spec = json_member(object, "spec");
    for (size_t i = 0; i < sizeof GROUPS / sizeof *GROUPS; i++) {
        if (*text_of(json_member(metadata, GROUPS[i].map), GROUPS[i].key))
            return true;
    }
    for (size_t i = 0; i < sizeof GROUP_MEMBERS / sizeof *GROUP_MEMBERS; i++) {
        if (is_filled(json_member(spec, GROUP_MEMBERS[i])))
            return true;
    }
    return false;
}

static bool is_held_here(const json_t *metadata, const struct policy *policy, struct lines *lines)
{
    const char *namespace_ = text_of(metadata, "namespace");
    struct pod_facts facts = {.namespace_ = *namespace_ ? namespace_ : "default"};
    struct err why = {""};
    (void)annotations_read_gang(metadata, policy, lines->arena, &facts, &why);
    return facts.gang && policy->gangs.mode == GANGS_PLAN;
}

static void add_groups(const json_t *metadata, const json_t *spec, const struct policy *policy,
                       struct lines *lines)
{
    const bool is_held = is_held_here(metadata, policy, lines);
    if (is_held && is_filled(json_member(spec, "resourceClaims")))
        lines_add(lines, "the group: its pods stay pending, as no places are kept for pods with "
                         "resource claims");
    for (size_t i = 0; i < sizeof GROUP_MEMBERS / sizeof *GROUP_MEMBERS; i++) {
        if (is_filled(json_member(spec, GROUP_MEMBERS[i])))
            lines_add(lines, "spec.%s: the pod may have to wait for others", GROUP_MEMBERS[i]);
    }
    for (size_t i = 0; i < sizeof GROUPS / sizeof *GROUPS; i++) {
        const char *group = text_of(json_member(metadata, GROUPS[i].map), GROUPS[i].key);
        if (*group && !is_held)
            lines_add(lines, "pod group %s: nothing here holds its pods together",
                      shown(lines, group));
    }
}

#define QUEUE_LABEL "kueue.x-k8s.io/queue-name"

static void add_queue(const char *queue, struct lines *lines)
{
    if (*queue)
        lines_add(lines, "queue %s: the quotas and the admission of Kueue are not judged",
                  shown(lines, queue));
}

/* ---- volumes, claims, scheduling ---- */

/* Volumes that affect placement. */
static const char *const VOLUME_KINDS[] = {
    "persistentVolumeClaim",
    "ephemeral",
    "csi",
    "awsElasticBlockStore",
    "azureDisk",
    "gcePersistentDisk",
    "cinder",
    "iscsi",
    "rbd",
};

static void add_volumes(const json_t *spec, struct lines *lines)
{
    const json_t *volumes = json_member(spec, "volumes");
    for (size_t i = 0; i < json_array_size(volumes); i++) {
        const json_t *volume = json_array_get(volumes, i);
        for (size_t j = 0; j < sizeof VOLUME_KINDS / sizeof VOLUME_KINDS[0]; j++) {
            if (json_member(volume, VOLUME_KINDS[j]))
                lines_add(lines, "spec.volumes: %s (%s)", shown(lines, text_of(volume, "name")),
                          VOLUME_KINDS[j]);
        }
    }
}

/* The claim or its template; before Kubernetes 1.31 inside "source". */
static const char *claim_of(const json_t *entry)
{
    static const char *const KEYS[] = {"resourceClaimName", "resourceClaimTemplateName"};
    const json_t *places[] = {entry, json_member(entry, "source")};
    for (size_t i = 0; i < 4; i++) {
        const char *claim = text_of(places[i / 2], KEYS[i % 2]);
        if (*claim)
            return claim;
    }
    return "";
}

static void add_claims(const json_t *spec, struct lines *lines)
{
    const json_t *claims = json_member(spec, "resourceClaims");
    for (size_t i = 0; i < json_array_size(claims); i++) {
        const json_t *entry = json_array_get(claims, i);
        if (json_member(entry, "source"))
            lines_add(
                lines,
                "resource claim %s (%s): Kubernetes 1.31 removed source and rejects the pod: "
                "write resourceClaimName or resourceClaimTemplateName beside the name; judged "
                "as if it were so",
                shown(lines, text_of(entry, "name")), shown(lines, claim_of(entry)));
    }
}

static void add_tolerations(const json_t *spec, struct lines *lines)
{
    const json_t *tolerations = json_member(spec, "tolerations");
    for (size_t i = 0; i < json_array_size(tolerations); i++) {
        const json_t *toleration = json_array_get(tolerations, i);
        const char *name = tolerations_unknown_operator(toleration);
        if (name)
            lines_add(lines,
                      "spec.tolerations[%zu]: operator %s is unknown and tolerates "
                      "nothing, should be Exists or Equal",
                      i, quoted(lines->arena, name));
    }
}

/* Adds changes that admission may still make. */
static void add_admission(const json_t *spec, struct lines *lines)
{
    const char *runtime_class = text_of(spec, "runtimeClassName");
    if (*runtime_class)
        lines_add(
            lines,
            "spec.runtimeClassName %s: admission may add overhead, a node selector and tolerations",
            shown(lines, runtime_class));
}

const char *pod_unasked_scheduler(const json_t *spec, const struct policy *policy,
                                  struct arena *arena)
{
    const char *named = text_of(spec, "schedulerName");
    const char *scheduler = *named ? named : POLICY_DEFAULT_SCHEDULER;
    const bool is_default = strcmp(scheduler, POLICY_DEFAULT_SCHEDULER) == 0;
    if (policy_is_asked_by(policy, scheduler))
        return NULL;
    for (size_t i = 0; i < policy->n_schedulers && !is_default; i++) {
        if (nearest_is_typo(scheduler, policy->schedulers[i]))
            return arena_printf(arena, "%s does not ask gpu-extender; did you mean %s?",
                                quoted_plain(arena, scheduler),
                                quoted_plain(arena, policy->schedulers[i]));
    }
    if (!is_default)
        return NULL;
    return arena_printf(arena, "%s does not ask gpu-extender; write %s",
                        *named ? POLICY_DEFAULT_SCHEDULER ": it"
                               : "is not set: " POLICY_DEFAULT_SCHEDULER,
                        quoted_plain(arena, policy->schedulers[0]));
}

/* A manifest gets a warning in place of the first. */
static void add_scheduler(const json_t *spec, const struct policy *policy, bool admitted,
                          struct lines *lines)
{
    const char *named = text_of(spec, "schedulerName");
    const char *unasked = pod_unasked_scheduler(spec, policy, lines->arena);
    if (unasked && admitted)
        lines_add(lines, "spec.schedulerName %s", unasked);
    if (!unasked && *named && !policy_is_asked_by(policy, named))
        lines_add(lines, "spec.schedulerName %s: that scheduler's own rules are not judged",
                  shown(lines, named));
}

/* Adds reasons why a scheduler, or this one, will not place the pod. */
static void add_scheduling(const json_t *spec, const struct policy *policy, bool admitted,
                           struct lines *lines)
{
    const json_t *gates = json_member(spec, "schedulingGates");
    const char *node = text_of(spec, "nodeName");
    for (size_t i = 0; i < json_array_size(gates); i++)
        lines_add(lines, "scheduling gate %s: the pod waits until it is removed",
                  shown(lines, text_of(json_array_get(gates, i), "name")));
    if (*node)
        lines_add(lines, "spec.nodeName %s: the pod goes there without being scheduled",
                  shown(lines, node));
    add_scheduler(spec, policy, admitted, lines);
}

/* Argo's Workflow; Kubeflow's TrainJob. */
static void add_changes_of_pods(const json_t *spec, struct lines *lines)
{
    static const char *const KEYS[] = {"podSpecPatch", "podTemplateOverrides"};
    for (size_t i = 0; i < sizeof KEYS / sizeof *KEYS; i++) {
        if (json_member(spec, KEYS[i]))
            lines_add(lines, "spec.%s: how it changes the pods is unknown", KEYS[i]);
    }
}

static struct text_list collect(const json_t *object, const struct policy *policy, bool admitted,
                                struct arena *arena)
{
    struct lines lines = {.arena = arena};
    const json_t *spec = json_member(object, "spec");
    add_claims(spec, &lines);
    add_groups(json_member(object, "metadata"), spec, policy, &lines);
    add_volumes(spec, &lines);
    add_containers(spec, admitted, &lines);
    add_tolerations(spec, &lines);
    add_annotations(json_member(object, "metadata"), managed_by_policy(spec, policy),
                    policy->gangs.mode != GANGS_OFF, &lines);
    if (!admitted) {
        add_queue(text_of(labels_of(object), QUEUE_LABEL), &lines);
        add_admission(spec, &lines);
    }
    add_scheduling(spec, policy, admitted, &lines);
    add_changes_of_pods(spec, &lines);
    return lines_list(&lines);
}

struct text_list pod_not_evaluated(const json_t *object, const struct policy *policy,
                                   struct arena *arena)
{
    return collect(object, policy, false, arena);
}

/* ---- the object around pods ---- */

static const json_t *run_policy(const json_t *spec)
{
    return json_member(spec, "runPolicy");
}

/* Members of Volcano's Job and of Kubeflow's kinds. */
static json_int_t min_available(const json_t *spec)
{
    const json_t *own = json_member(spec, "minAvailable");
    const json_t *kubeflow =
        json_member(json_member(run_policy(spec), "schedulingPolicy"), "minAvailable");
    return json_integer_value(own ? own : kubeflow);
}

bool pod_group_around(const json_t *object)
{
    return min_available(json_member(object, "spec")) > 1;
}

/* One line, because each workload of the object gets it. */
static void add_claim_templates(const json_t *spec, struct lines *lines)
{
    const json_t *claims = json_member(spec, "volumeClaimTemplates");
    const size_t n = json_array_size(claims);
    const char *name = text_of(json_member(json_array_get(claims, 0), "metadata"), "name");
    if (n == 1)
        lines_add(lines, "spec.volumeClaimTemplates: %s", shown(lines, name));
    if (n > 1)
        lines_add(lines, "spec.volumeClaimTemplates: %s and %zu more", shown(lines, name), n - 1);
}

static void add_suspension(const json_t *spec, struct lines *lines)
{
    static const char SUSPENDED[] = "no pods are made until it is false";
    if (json_is_true(json_member(spec, "suspend")))
        lines_add(lines, "spec.suspend: %s", SUSPENDED);
    if (json_is_true(json_member(run_policy(spec), "suspend")))
        lines_add(lines, "spec.runPolicy.suspend: %s", SUSPENDED);
}

/* Kinds whose pods mostly run together or not at all, and whose size only they know. */
static const char *const TOGETHER[] = {"JAXJob",     "JobSet",     "MPIJob", "PaddleJob",
                                       "PyTorchJob", "RayCluster", "RayJob", "TFJob",
                                       "TrainJob",   "XGBoostJob", NULL};

/* The parser bounds the depth. */
static bool has_key(const json_t *value, const char *key)
{
    size_t i = 0;
    const char *name = NULL;
    json_t *member = NULL;
    json_array_foreach (value, i, member) {
        if (has_key(member, key))
            return true;
    }
    json_object_foreach ((json_t *)(uintptr_t)value, name, member) {
        if (strcmp(name, key) == 0 || has_key(member, key))
            return true;
    }
    return false;
}

/* Its controller names the groups. */
static bool is_held_by_leaders(const json_t *object, const struct policy *policy)
{
    if (strcmp(text_of(object, "kind"), "LeaderWorkerSet") != 0 ||
        has_key(object, ANNOTATION_EXCLUSIVE_TOPOLOGY))
        return false;
    const char *namespace_ = text_of(json_member(object, "metadata"), "namespace");
    for (size_t i = 0; i < policy->gangs.n_conventions; i++) {
        const char *convention = policy->gangs.conventions[i];
        if (strncmp(convention, "lws/", 4) == 0 &&
            strcmp(convention + 4, *namespace_ ? namespace_ : "default") == 0)
            return policy->gangs.mode == GANGS_PLAN;
    }
    return false;
}

static void add_gang_hint(const json_t *object, const struct policy *policy, struct lines *lines)
{
    const char *kind = text_of(object, "kind");
    if (is_held_by_leaders(object, policy))
        lines_add(lines, "LeaderWorkerSet: each of its groups is bound whole (gangs.conventions); "
                         "its pods are judged alone here");
    for (size_t i = 0; TOGETHER[i]; i++) {
        if (strcmp(kind, TOGETHER[i]) == 0 && !has_key(object, ANNOTATION_GANG))
            lines_add(lines,
                      "%s: its pods are not bound together; if they should be, set the "
                      "annotations " ANNOTATION_GANG " and " ANNOTATION_GANG_SIZE
                      " in their templates",
                      kind);
    }
}

struct text_list pod_not_evaluated_around(const json_t *object, const struct policy *policy,
                                          struct arena *arena)
{
    struct lines lines = {.arena = arena};
    const json_t *spec = json_member(object, "spec");
    const json_int_t group = min_available(spec);
    add_claim_templates(spec, &lines);
    add_suspension(spec, &lines);
    add_queue(text_of(labels_of(object), QUEUE_LABEL), &lines);
    if (strcmp(text_of(object, "kind"), "Workload") == 0) /* Kueue's */
        add_queue(text_of(spec, "queueName"), &lines);
    add_changes_of_pods(spec, &lines);
    if (group > 1)
        lines_add(&lines,
                  "minAvailable %" JSON_INTEGER_FORMAT ": nothing here holds these pods together",
                  group);
    if (policy->gangs.mode != GANGS_OFF)
        add_gang_hint(object, policy, &lines);
    return lines_list(&lines);
}

/* Always leaves room for the line with the number left out. */
const char *pod_not_evaluated_text(const json_t *object, const struct policy *policy,
                                   struct arena *arena)
{
    const struct text_list list = collect(object, policy, true, arena);
    struct buf out;
    size_t i = 0;
    buf_init(&out, TEXT_BYTES_MAX);
    for (; i < list.n && out.len + strlen(list.items[i]) + LAST_BYTES_MAX < TEXT_BYTES_MAX; i++)
        buf_printf(&out, "%s\n", list.items[i]);
    if (i < list.n)
        buf_printf(&out, "and %zu more\n", list.n - i);
    const char *text = list.n > 0 ? arena_strdup(arena, buf_text(&out)) : NULL;
    buf_fini(&out);
    return text;
}
