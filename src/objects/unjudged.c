/*
 * unjudged: pod_not_evaluated() and its text. See include/objects/pod.h.
 *
 * The order of the lines is that of this file, the same for the same pod.
 */
#include "unjudged.h"

#include "base/buf.h"
#include "formats/json_get.h"
#include "quoted.h"
#include "tolerations.h"

#include <string.h>

/* The ledger keeps the text of each pod that waits. */
#define TEXT_BYTES_MAX ((size_t)2048)
#define LAST_BYTES_MAX sizeof "\nand 100 more\n"

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_member(object, key));
    return text ? text : "";
}

static const char *shown(struct lines *lines, const char *text)
{
    return quoted_plain(lines->arena, text);
}

static bool is_filled(const json_t *value)
{
    return json_array_size(value) > 0 || json_object_size(value) > 0;
}

static void add_placement(const json_t *spec, struct lines *lines)
{
    const json_t *affinity = json_member(spec, "affinity");
    if (is_filled(json_member(spec, "topologySpreadConstraints")))
        lines_add(lines, "spec.topologySpreadConstraints");
    if (is_filled(json_member(affinity, "podAffinity")))
        lines_add(lines, "spec.affinity.podAffinity");
    if (is_filled(json_member(affinity, "podAntiAffinity")))
        lines_add(lines, "spec.affinity.podAntiAffinity");
    if (is_filled(json_member(spec, "workloadRef")))
        lines_add(lines, "spec.workloadRef: the pod may have to wait for others");
}

/* Volumes that decide where a pod can run. */
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

/* The claim, or the template it is made from; since Kubernetes 1.31 not inside "source". */
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
        lines_add(lines, "resource claim %s (%s): claims are not yet judged",
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
                      "spec.tolerations[%zu]: operator %s is not known and tolerates nothing", i,
                      quoted(lines->arena, name));
    }
}

/* What admission could still change. */
static void add_admission(const json_t *spec, struct lines *lines)
{
    const char *runtime_class = text_of(spec, "runtimeClassName");
    if (*runtime_class)
        lines_add(lines,
                  "spec.runtimeClassName %s: admission may add overhead, a node selector and "
                  "tolerations",
                  shown(lines, runtime_class));
}

/* What keeps the scheduler, or this one, from placing the pod at all. */
static void add_scheduling(const json_t *spec, struct lines *lines)
{
    const json_t *gates = json_member(spec, "schedulingGates");
    const char *node = text_of(spec, "nodeName");
    const char *scheduler = text_of(spec, "schedulerName");
    for (size_t i = 0; i < json_array_size(gates); i++)
        lines_add(lines, "scheduling gate %s: the pod waits until it is removed",
                  shown(lines, text_of(json_array_get(gates, i), "name")));
    if (*node)
        lines_add(lines, "spec.nodeName %s: the pod goes there without being scheduled",
                  shown(lines, node));
    if (*scheduler && strcmp(scheduler, "default-scheduler") != 0)
        lines_add(lines, "spec.schedulerName %s: that scheduler's own rules are not judged",
                  shown(lines, scheduler));
}

static struct text_list collect(const json_t *object, bool admitted, struct arena *arena)
{
    struct lines lines = {.arena = arena};
    const json_t *spec = json_member(object, "spec");
    add_claims(spec, &lines);
    add_placement(spec, &lines);
    add_volumes(spec, &lines);
    unjudged_containers(spec, admitted, &lines);
    add_tolerations(spec, &lines);
    unjudged_annotations(json_member(object, "metadata"), &lines);
    if (!admitted)
        add_admission(spec, &lines);
    add_scheduling(spec, &lines);
    return lines_list(&lines);
}

struct text_list pod_not_evaluated(const json_t *object, struct arena *arena)
{
    return collect(object, false, arena);
}

/* Room for the line that says how many are left out is always kept. */
const char *pod_not_evaluated_text(const json_t *object, struct arena *arena)
{
    const struct text_list list = collect(object, true, arena);
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
