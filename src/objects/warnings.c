/* warnings: see warnings.h. */
#include "warnings.h"

#include "annotations.h"
#include "base/nearest.h"
#include "fields.h"
#include "formats/json_values.h"
#include "objects/templates/schema.h"

#include <stdint.h>
#include <string.h>
#include <strings.h>

/* ---- warned ---- */

bool warned_is_full(const struct warned *warned)
{
    return warned->list->n_warnings == WORKLOAD_WARNINGS_MAX;
}

static bool is_there(const struct workload_list *list, const struct manifest_warning *warning)
{
    for (size_t i = 0; i < list->n_warnings; i++) {
        const struct manifest_warning *other = &list->warnings[i];
        if (strcmp(other->path, warning->path) == 0 &&
            strcmp(other->message, warning->message) == 0 &&
            strcmp(other->object, warning->object) == 0)
            return true;
    }
    return false;
}

void warned_add(const struct warned *warned, const char *path, const char *message)
{
    struct workload_list *list = warned->list;
    if (warned_is_full(warned))
        return;
    if (!list->warnings)
        list->warnings = ARENA_ARRAY(warned->arena, struct manifest_warning, WORKLOAD_WARNINGS_MAX);
    const char *object =
        arena_printf(warned->arena, "%s %s/%s", warned->kind, warned->namespace_, warned->name);
    const struct manifest_warning warning = {.object = object, .path = path, .message = message};
    if (!is_there(list, &warning))
        list->warnings[list->n_warnings++] = warning;
}

/* ---- misplaced ---- */

/* Unreadable metadata give no warning; the decoders report them. */
/* The metadata of one object or template. */
struct place {
    const struct warned *object;
    const char *prefix; /* of paths: "", "spec.template." */
};

static void add(const struct place *place, const char *map, const char *key, const char *message)
{
    struct arena *arena = place->object->arena;
    warned_add(
        place->object,
        arena_printf(arena, "%smetadata.%s[%s]", place->prefix, map, quoted_plain(arena, key)),
        message);
}

static bool is_known(const char *name)
{
    return name && !annotations_nearest(name);
}

/* The name after a prefix that is nearly ours, or without any; NULL: the key is not meant for us.
 * A single word without prefix ("models") may be somebody else's. */
static const char *name_without_prefix(const char *key)
{
    char prefix[sizeof ANNOTATION_PREFIX + 8];
    const char *slash = strchr(key, '/');
    if (!slash)
        return is_known(key) && strchr(key, '-') ? key : NULL;
    const size_t len = (size_t)(slash - key);
    if (annotations_own_name(key) || !is_known(slash + 1) || len >= sizeof prefix)
        return NULL;
    memcpy(prefix, key, len);
    prefix[len] = '\0';
    return nearest_distance(prefix, "gpu-extender.io") == SIZE_MAX ? NULL : slash + 1;
}

/* Returns whether the key is known elsewhere. */
static bool check_elsewhere(const struct place *place, const char *map, const char *key)
{
    const char *name = annotations_own_name(key);
    const char *carrier = name ? annotations_elsewhere(name) : NULL;
    if (carrier && *carrier)
        add(place, map, key,
            arena_printf(place->object->arena, "has no effect here; it is %s", carrier));
    return carrier != NULL;
}

static void check_key(const struct place *place, const char *key)
{
    if (warned_is_full(place->object) || check_elsewhere(place, "annotations", key))
        return;
    const char *name = annotations_own_name(key);
    const char *meant = name ? annotations_nearest(name) : name_without_prefix(key);
    if (!meant)
        return;
    if (*meant == '\0')
        add(place, "annotations", key, "unknown key");
    else
        add(place, "annotations", key,
            arena_printf(place->object->arena, "unknown key; did you mean " ANNOTATION_PREFIX "%s?",
                         meant));
}

/* where: the path of the pod's metadata, with a trailing '.', or "". */
static void check_labels(const struct place *place, const json_t *metadata, const char *where)
{
    const char *key = NULL;
    const json_t *value = NULL;
    json_object_foreach (json_member(metadata, "labels"), key, value) {
        if (warned_is_full(place->object) || check_elsewhere(place, "labels", key))
            continue;
        if (is_known(annotations_own_name(key)))
            add(place, "labels", key,
                arena_printf(place->object->arena,
                             "a label has no effect; write it under %smetadata.annotations",
                             where));
    }
}

static const json_t *metadata_of(const json_t *object)
{
    return json_member(object, "metadata");
}

/* "spec.template."; "" for a pod. */
static const char *prefix_of(const struct pod_template *template, struct arena *arena)
{
    return arena_printf(arena, "%s%s", template->path, *template->path ? "." : "");
}

void misplaced_find(const struct warned *object, const struct pod_template *template)
{
    const struct place place = {object, prefix_of(template, object->arena)};
    const json_t *metadata = metadata_of(template->object);
    const char *key = NULL;
    const json_t *value = NULL;
    json_object_foreach (json_member(metadata, "annotations"), key, value)
        check_key(&place, key);
    check_labels(&place, metadata, place.prefix);
}

void misplaced_find_outside(const struct warned *object, const struct pod_template *template)
{
    const struct place place = {object, ""};
    const char *prefix = prefix_of(template, object->arena);
    const json_t *metadata = metadata_of(object->object);
    const json_t *inside = json_member(metadata_of(template->object), "annotations");
    const char *key = NULL;
    const json_t *value = NULL;
    json_object_foreach (json_member(metadata, "annotations"), key, value) {
        if (!warned_is_full(object) && is_known(annotations_own_name(key)) &&
            !json_member(inside, key))
            add(&place, "annotations", key,
                arena_printf(object->arena,
                             "has no effect here; write it under %smetadata.annotations", prefix));
    }
    check_labels(&place, metadata, prefix);
}

/* ---- old claims ---- */

/* Sources: k8s.io/api resource/v1alpha2 (1.30) and v1alpha3, and resource/v1. */
#define GROUP "resource.k8s.io/"

struct old_form {
    const char *kind, *path; /* of members of the spec; path "": the kind itself is gone */
    const char *meaning;
};

static const struct old_form FORMS[] = {
    {"ResourceClass", "",
     "write a DeviceClass of resource.k8s.io/v1: spec.selectors are CEL expressions over "
     "device.driver, device.attributes and device.capacity"},
    {"ResourceClaimParameters", "", "write what it selects as CEL in the claim's requests"},
    {"ResourceClassParameters", "", "write what it selects as CEL in a DeviceClass"},
    {"PodSchedulingContext", "", "kube-scheduler allocates claims without it"},
    {"ResourceClass", "driverName",
     "in v1, a selector of the DeviceClass: device.driver == \"NAME\""},
    {"ResourceClass", "parameters",
     "in v1, selectors: device.capacity[\"DRIVER\"].memory.compareTo(quantity(\"16Gi\")) >= 0 for "
     "memory, device.attributes[\"DRIVER\"].NAME for the rest; partitions and sharing are the "
     "driver's, and no field says how many users may share a device"},
    {"ResourceClaim", "resourceClassName",
     "in v1, spec.devices.requests[].exactly.deviceClassName"},
    {"ResourceClaim", "resourceClassNames",
     "in v1, spec.devices.requests[].firstAvailable: a list in the order of preference"},
    {"ResourceClaim", "allocationMode",
     "in v1, every claim waits for its first pod; allocationMode of a request is ExactCount or "
     "All"},
    {"ResourceClaim", "parameters.overcommit",
     "in v1, adminAccess: true of a request gives devices in use to an administrator's pod"},
    {"ResourceClaim", "parameters.requiredNodeAffinity",
     "in v1, models are selectors of the request, and node affinity belongs into the pod"},
    {"ResourceClaim", "parametersRef", "in v1, selectors of the request"},
    {"ResourceSlice", "driverName", "in v1, spec.driver, with spec.pool and spec.nodeName"},
};

/* The member at a path with dots; NULL: absent. */
static const json_t *member_at(const json_t *object, const char *path)
{
    char key[64];
    while (object && *path) {
        const size_t len = strcspn(path, ".");
        if (len >= sizeof key)
            return NULL;
        memcpy(key, path, len);
        key[len] = '\0';
        object = json_member(object, key);
        path += len + (path[len] == '.');
    }
    return object;
}

/* Newer kinds began in v1alpha3. */
static bool is_old(const char *kind, const char *api_version)
{
    return strncmp(api_version, GROUP "v1alpha", strlen(GROUP "v1alpha")) == 0 &&
           schema_type_of_kind(kind, api_version) == SCHEMA_ANY;
}

const char *old_claims_refusal(const char *kind, const char *api_version)
{
    return is_old(kind, api_version) ? "Kubernetes 1.31 and newer do not serve its apiVersion"
                                     : NULL;
}

static void warn_of_version(const struct warned *object, const char *api_version)
{
    warned_add(object, "apiVersion",
               arena_printf(object->arena,
                            "Kubernetes 1.31 and newer do not serve it (no matches for kind %s in "
                            "version %s); write resource.k8s.io/v1",
                            quoted(object->arena, object->kind),
                            quoted(object->arena, api_version)));
}

/* A kind of another version, or a misspelt one. */
static void warn_of_kind(const struct warned *object, const char *api_version)
{
    const bool is_rule = strcasecmp(object->kind, "DeviceTaintRule") == 0;
    struct nearest nearest = {.asked = object->kind, .least = SIZE_MAX};
    for (size_t i = 0; !is_rule && i < SCHEMA_VERSIONED_N; i++)
        (void)nearest_try(&nearest, SCHEMA_VERSIONED[i].kind);
    const char *meant =
        is_rule         ? "; write resource.k8s.io/v1, v1beta2 for Kubernetes 1.36, or v1alpha3 "
                          "for 1.33 to 1.35"
        : nearest.found ? arena_printf(object->arena, "; did you mean %s?", nearest.found)
                        : "";
    warned_add(object, is_rule ? "apiVersion" : "kind",
               arena_printf(object->arena,
                            "Kubernetes does not serve it (no matches for kind %s in version "
                            "%s)%s",
                            quoted(object->arena, object->kind), quoted(object->arena, api_version),
                            meant));
}

static void warn_of_forms(const struct warned *object)
{
    const json_t *spec = json_member(object->object, "spec");
    for (size_t i = 0; i < sizeof FORMS / sizeof *FORMS; i++) {
        const struct old_form *form = &FORMS[i];
        if (strcasecmp(form->kind, object->kind) != 0)
            continue;
        if (!form->path[0])
            warned_add(object, "kind",
                       arena_printf(object->arena, "this kind is gone; %s", form->meaning));
        else if (member_at(spec, form->path))
            warned_add(object, arena_printf(object->arena, "spec.%s", form->path), form->meaning);
    }
}

static void warn_of_taints(const struct warned *object, const json_t *device, size_t i_device)
{
    size_t i = 0;
    json_t *taint = NULL;
    json_array_foreach (json_member(device, "taints"), i, taint) {
        const char *effect = json_string_value(json_member(taint, "effect"));
        if (effect && strcmp(effect, "PreferNoSchedule") == 0)
            warned_add(
                object,
                arena_printf(object->arena, "spec.devices[%zu].taints[%zu].effect", i_device, i),
                "devices have no PreferNoSchedule: write NoSchedule, NoExecute or None, or let an "
                "administrator write a DeviceTaintRule");
    }
}

static void warn_of_devices(const struct warned *object)
{
    size_t i = 0;
    json_t *device = NULL;
    json_array_foreach (json_member(json_member(object->object, "spec"), "devices"), i, device) {
        if (warned_is_full(object))
            return;
        warn_of_taints(object, device, i);
    }
}

/* Source: resourceapi.DRAAdminNamespaceLabelKey. */
static void warn_of_label(const struct warned *object)
{
    static const char LABEL[] = "resource.kubernetes.io/admin-access";
    const json_t *labels = json_member(json_member(object->object, "metadata"), "labels");
    const char *value = json_string_value(json_member(labels, LABEL));
    if (value && strcmp(value, "true") != 0)
        warned_add(object, arena_printf(object->arena, "metadata.labels.%s", LABEL),
                   arena_printf(object->arena,
                                "is %s: only \"true\" allows claims with adminAccess in the "
                                "namespace",
                                quoted(object->arena, value)));
}

/* Taints of devices look for them in the claim. */
static void warn_of_tolerations(const struct warned *object)
{
    static const char PREFIX[] = "resource.kubernetes.io/device.";
    const json_t *list = json_member(json_member(object->object, "spec"), "tolerations");
    size_t i = 0;
    json_t *toleration = NULL;
    json_array_foreach (list, i, toleration) {
        const char *key = json_string_value(json_member(toleration, "key"));
        if (key && strncmp(key, PREFIX, strlen(PREFIX)) == 0)
            warned_add(object, arena_printf(object->arena, "spec.tolerations[%zu]", i),
                       "the tolerations of a pod do not count for taints of devices: write them "
                       "into the claim's request (exactly.tolerations)");
    }
}

void old_claims_warn(const struct warned *object, const char *api_version)
{
    if (is_old(object->kind, api_version)) {
        warn_of_version(object, api_version);
        warn_of_forms(object);
        if (strcasecmp(object->kind, "ResourceSlice") == 0)
            warn_of_devices(object);
    } else if (schema_version_lacks(api_version, object->kind)) {
        warn_of_kind(object, api_version);
    }
    if (strcasecmp(object->kind, "Namespace") == 0)
        warn_of_label(object);
    if (strcasecmp(object->kind, "Pod") == 0)
        warn_of_tolerations(object);
}

/* ---- visible gpus ---- */

/* Source: NVIDIA container toolkit, "Environment variables". */
#define VARIABLE "NVIDIA_VISIBLE_DEVICES"

static bool shows_gpus(const json_t *variable)
{
    static const char *const NO_GPUS[] = {"", "none", "void"};
    const char *name = json_string_value(json_member(variable, "name"));
    const char *value = json_string_value(json_member(variable, "value"));
    if (!name || strcmp(name, VARIABLE) != 0 || !value)
        return false;
    for (size_t i = 0; i < sizeof NO_GPUS / sizeof *NO_GPUS; i++) {
        if (strcmp(value, NO_GPUS[i]) == 0)
            return false;
    }
    return true;
}

static void find_in(const struct warned *object, const json_t *container, const char *path)
{
    const json_t *variables = json_member(container, "env");
    for (size_t i = 0; i < json_array_size(variables) && !warned_is_full(object); i++) {
        const json_t *variable = json_array_get(variables, i);
        if (!shows_gpus(variable))
            continue;
        const char *value = json_string_value(json_member(variable, "value"));
        warned_add(object, arena_printf(object->arena, "%s.env[%zu]", path, i),
                   arena_printf(object->arena,
                                VARIABLE "=%s bypasses the allocation: the container may see GPUs "
                                         "that other pods use, and nothing counts them; leave it "
                                         "out, and request nvidia.com/gpu or a resource claim",
                                quoted_plain(object->arena, value)));
    }
}

void visible_gpus_find(const struct warned *object, const struct pod_template *template)
{
    static const char *const LISTS[] = {"containers", "initContainers"};
    const json_t *spec = json_member(template->object, "spec");
    const char *dot = *template->path ? "." : "";
    for (size_t i = 0; i < sizeof LISTS / sizeof *LISTS; i++) {
        const json_t *list = json_member(spec, LISTS[i]);
        for (size_t j = 0; j < json_array_size(list) && !warned_is_full(object); j++)
            find_in(
                object, json_array_get(list, j),
                arena_printf(object->arena, "%s%sspec.%s[%zu]", template->path, dot, LISTS[i], j));
    }
}
