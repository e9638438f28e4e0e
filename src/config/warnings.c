/* warnings: see warnings.h. */
#include "warnings.h"

#include "formats/json_get.h"
#include "setting.h"

#include <assert.h>

static struct err *new_warning(struct settings *settings)
{
    assert(settings->n_warnings < SETTINGS_WARNINGS_MAX);
    return &settings->warnings[settings->n_warnings++];
}

static bool names_nobody(const struct settings_clients *clients)
{
    return clients->n_names == 0 && clients->n_organizations == 0;
}

static void warn_of_all_pods(const struct yaml_file *file, json_t *root, struct settings *settings)
{
    const struct yaml_value at = setting_place(root, "scheduler", "allPods", "scheduler.allPods");
    if (settings->policy.all_pods)
        (void)yaml_fault(file, &at, new_warning(settings),
                         "while this service is down, a kube-scheduler with ignorable: false "
                         "schedules nothing at all: this service's own pod and those of DNS and "
                         "the network plugin must be static pods, or another scheduler's");
}

/* Readers and kube-scheduler are different clients, but one authority signs the certificates of
 * both. */
static void warn_of_verb_clients(const struct yaml_file *file, json_t *root,
                                 struct settings *settings)
{
    const struct settings_tls *tls = &settings->tls;
    const struct yaml_value at = setting_place(root, "tls", "verbClients", "tls.verbClients");
    if (*tls->client_ca_file && names_nobody(&tls->verb_clients) &&
        !names_nobody(&tls->people_clients))
        (void)yaml_fault(
            file, &at, new_warning(settings),
            "is empty: every certificate signed by tls.clientCAFile may bind pods, also those of "
            "tls.peopleClients; should name kube-scheduler's certificate, such as {names: "
            "[gpu-extender-client]}");
}

/* The default weight until Kubernetes 1.34 gave DynamicResources a score. */
static void warn_of_old_weight(const struct yaml_file *file, json_t *root,
                               struct settings *settings)
{
    const size_t weight = settings->scheduler.weight;
    const struct yaml_value at = setting_place(root, "scheduler", "weight", "scheduler.weight");
    if (weight >= SCHEDULER_WEIGHT_BEFORE_DRA && weight < SCHEDULER_WEIGHT_THAT_DECIDES)
        (void)yaml_fault(file, &at, new_warning(settings),
                         "is %zu, should be at least %d: from Kubernetes 1.34 on, the scores of "
                         "kube-scheduler's default plugins reach %d, so one point of this "
                         "extender no longer decides, and filter.shortlist is not applied; set "
                         "the same weight in KubeSchedulerConfiguration",
                         weight, SCHEDULER_WEIGHT_THAT_DECIDES, SCHEDULER_PLUGIN_WEIGHTS * 100);
}

static void warn_of_observing(const struct yaml_file *file, json_t *root, struct settings *settings)
{
    const struct yaml_value at = {root, "mode", "mode", json_member(root, "mode")};
    if (settings->policy.mode == MODE_OBSERVE)
        (void)yaml_fault(file, &at, new_warning(settings),
                         settings->policy.enforce_namespaces.is_set
                             ? "is observe: outside enforceNamespaces kube-scheduler places every "
                               "pod by itself; decisions are recorded, and none takes effect"
                             : "is observe: kube-scheduler places every pod by itself; decisions "
                               "are recorded, and none takes effect");
}

static void warn_of_aggregated_api(const struct yaml_file *file, json_t *root,
                                   struct settings *settings)
{
    const struct yaml_value at =
        setting_place(root, "aggregatedAPI", "enabled", "aggregatedAPI.enabled");
    if (settings->aggregated_api && !*settings->tls.certificate_file)
        (void)yaml_fault(file, &at, new_warning(settings),
                         "has no effect without TLS, should come with tls.certificateFile, "
                         "tls.privateKeyFile and tls.clientCAFile");
}

void warnings_find(const struct yaml_file *file, json_t *root, struct settings *settings)
{
    settings->n_warnings = 0;
    warn_of_observing(file, root, settings);
    warn_of_all_pods(file, root, settings);
    warn_of_verb_clients(file, root, settings);
    warn_of_old_weight(file, root, settings);
    warn_of_aggregated_api(file, root, settings);
}

const char *settings_warning(const struct settings *settings, size_t i)
{
    return i < settings->n_warnings ? settings->warnings[i].text : NULL;
}
