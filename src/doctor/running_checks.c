/* running_checks: what only running programs know: nodes whose kubelets reject pods, of the
 * service, and whether each kube-scheduler runs with the configuration that has the extender. */
#include "checks.h"
#include "formats/json_values.h"

#include <string.h>

#define CHECK "nodes.sick"
#define SCHEDULERS "scheduler.running"
#define VIEW "/apis/visibility.gpu-extender.io/v1alpha1/views/inventory?state=marked"

void findings_add_sick(struct findings *findings, const json_t *inventory)
{
    struct first_names nodes = {.n = 0};
    size_t i = 0;
    json_t *node = NULL;
    json_array_foreach (json_member(inventory, "nodes"), i, node) {
        const char *name = "";
        const char *state = NULL;
        (void)json_get_string(node, "name", &name, NULL);
        (void)json_get_string(node, "quarantine", &state, NULL);
        if (state || json_member(node, "shapeTraps"))
            first_names_add(&nodes, "%.80s (%.12s)", name, state ? state : "shape trap");
    }
    if (nodes.n == 0)
        findings_add(findings, FINDING_OK, CHECK, "", "no node is in quarantine");
    else
        findings_add(findings, FINDING_WARN, CHECK,
                     "repair the node as GpuExtenderNodesInQuarantine in docs/RUNBOOKS.md says; "
                     "\"kubectl gpu what-if --lift NODE\" says what that would bring",
                     "kubelets reject pods: %s", first_names_text(&nodes));
}

/* ---- kube-scheduler ---- */

const char *const FINDINGS_SCHEDULER_PATHS[] = {
    "/api/v1/namespaces/kube-system/pods?labelSelector=component%3Dkube-scheduler",
    "/api/v1/pods?labelSelector=app.kubernetes.io%2Fname%3Dgpu-scheduler", NULL};

static const char *label_of(const json_t *pod, const char *label)
{
    const json_t *labels = json_member(json_member(pod, "metadata"), "labels");
    const char *value = json_string_value(json_member(labels, label));
    return value ? value : "";
}

/* Our second scheduler: the overlay's, or the chart's. */
static bool is_second(const json_t *pod)
{
    return strcmp(label_of(pod, "app.kubernetes.io/name"), "gpu-scheduler") == 0;
}

static bool has_word(const json_t *words, const char *beginning)
{
    size_t i = 0;
    json_t *word = NULL;
    json_array_foreach (words, i, word) {
        const char *text = json_string_value(word);
        if (text && strncmp(text, beginning, strlen(beginning)) == 0)
            return true;
    }
    return false;
}

static bool has_config_option(const json_t *pod)
{
    size_t i = 0;
    json_t *container = NULL;
    json_array_foreach (json_member(json_member(pod, "spec"), "containers"), i, container) {
        if (has_word(json_member(container, "command"), "--config") ||
            has_word(json_member(container, "args"), "--config"))
            return true;
    }
    return false;
}

/* docs/INSTALL.md: emergency off removes --config, or mounts this ConfigMap instead of ours. */
static bool is_off(const json_t *pod)
{
    size_t i = 0;
    json_t *volume = NULL;
    json_array_foreach (json_member(json_member(pod, "spec"), "volumes"), i, volume) {
        const char *name = json_string_value(json_member(json_member(volume, "configMap"), "name"));
        if (name && strcmp(name, "gpu-scheduler-alone") == 0)
            return true;
    }
    return !has_config_option(pod);
}

static bool has_ended(const json_t *pod)
{
    const char *phase = json_string_value(json_member(json_member(pod, "status"), "phase"));
    return json_member(json_member(pod, "metadata"), "deletionTimestamp") ||
           (phase && (strcmp(phase, "Succeeded") == 0 || strcmp(phase, "Failed") == 0));
}

void findings_add_schedulers(struct findings *findings, const json_t *pods)
{
    struct first_names on = {.n = 0};
    struct first_names off = {.n = 0};
    bool any_second = false;
    size_t i = 0;
    json_t *pod = NULL;
    json_array_foreach (pods, i, pod)
        any_second |= is_second(pod);
    json_array_foreach (pods, i, pod) {
        const char *name = json_string_value(json_member(json_member(pod, "metadata"), "name"));
        if (is_second(pod) == any_second && !has_ended(pod))
            first_names_add(is_off(pod) ? &off : &on, "%.80s", name ? name : "");
    }
    if (off.n > 0)
        findings_add(findings, FINDING_FAIL, SCHEDULERS,
                     "switch gpu-extender on again, as \"Emergency off\" in docs/INSTALL.md says",
                     "emergency off: %s without the extender, so pods get GPUs without models "
                     "and quotas",
                     first_names_text(&off));
    else if (on.n > 0)
        findings_add(findings, FINDING_OK, SCHEDULERS, "", "with a configuration: %s",
                     first_names_text(&on));
    else
        findings_not_checked(findings, SCHEDULERS, "",
                             "no pod of kube-scheduler is seen, so emergency off would not be");
}

void running_checks_schedulers(const struct live_checks *checks)
{
    json_t *pods = json_array();
    for (size_t i = 0; FINDINGS_SCHEDULER_PATHS[i]; i++) {
        struct api_reply reply;
        api_server_ask(checks->server, FINDINGS_SCHEDULER_PATHS[i], NULL, &reply);
        (void)json_array_extend(pods, json_member(reply.object, "items"));
        api_reply_fini(&reply);
    }
    findings_add_schedulers(checks->findings, pods);
    json_decref(pods);
}

/* ---- the service ---- */

void running_checks_sick(const struct live_checks *checks)
{
    struct api_reply reply CLEANUP(api_reply_fini) = {0};
    if (!checks->settings->aggregated_api)
        return;
    api_server_ask(checks->server, VIEW, NULL, &reply);
    if (reply.object)
        findings_add_sick(checks->findings, reply.object);
    else
        findings_not_checked(checks->findings, CHECK, "see \"kubectl gpu doctor\"", "%s: %s", VIEW,
                             reply.why);
}
