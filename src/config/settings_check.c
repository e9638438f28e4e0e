/* settings_check: see settings_check.h. */
#include "settings_check.h"

#include "config/settings.h"
#include "config/timing.h"
#include "formats/json_get.h"
#include "formats/yaml_json.h"
#include "setting.h"

#include <assert.h>

#define BIND "bindTimeoutSeconds"
#define HTTP "httpTimeoutSeconds"
#define LEASE "leaseDurationSeconds"
#define RENEW "renewDeadlineSeconds"
#define RETRY "retryPeriodSeconds"
#define ELECTION "leaderElection"
#define SCHEDULER "scheduler"

/* A binding that takes effect after kube-scheduler gave its call up counts as failed there: it runs
 * Unreserve and tries the pod again (PROTOCOL 3.6, 3.7). err names the key in the file, or its
 * section. */
static int check_timeouts(const struct yaml_file *file, json_t *root,
                          const struct settings *settings, struct err *err)
{
    const size_t bind_s = settings->kubernetes.bind_timeout_s;
    const size_t http_s = settings->scheduler.http_timeout_s;
    const struct yaml_value bind = setting_place(root, "kubernetes", BIND, "kubernetes." BIND);
    const struct yaml_value http = setting_place(root, "scheduler", HTTP, "scheduler." HTTP);
    if (bind_s < http_s)
        return 0;
    if (json_member(json_member(root, "kubernetes"), BIND))
        return yaml_fault(file, &bind, err, "is %zu, should be less than scheduler." HTTP " (%zu)",
                          bind_s, http_s);
    return yaml_fault(file, &http, err, "is %zu, should be more than kubernetes." BIND " (%zu)",
                      http_s, bind_s);
}

/* The times of leader election against each other. */
static int check_election(const struct yaml_file *file, json_t *root,
                          const struct settings *settings, struct err *err)
{
    const struct settings_election *election = &settings->election;
    const struct yaml_value lease = setting_place(root, ELECTION, LEASE, ELECTION "." LEASE);
    const struct yaml_value renew = setting_place(root, ELECTION, RENEW, ELECTION "." RENEW);
    if (!election->enabled)
        return 0;
    if (election->renew_s * 10 <= election->retry_s * 12)
        return yaml_fault(file, &renew, err,
                          "is %zu, should be more than 1.2 times " RETRY " (%zu)",
                          election->renew_s, election->retry_s);
    if (election->lease_s <= election->renew_s)
        return yaml_fault(file, &lease, err, "is %zu, should be more than " RENEW " (%zu)",
                          election->lease_s, election->renew_s);
    if (election->lease_s < timing_least_lease_s(settings))
        return yaml_fault(
            file, &lease, err,
            "is %zu, should be at least %zu: kubernetes.bindTimeoutSeconds (%zu), one "
            "second, and twice " RETRY " (%zu)",
            election->lease_s, timing_least_lease_s(settings), settings->kubernetes.bind_timeout_s,
            election->retry_s);
    return 0;
}

/* Checks the policy of an instance beside each kube-scheduler (scheduler.beside). */

/* Time for the API server to notice that a binding was abandoned. */
#define MARGIN_S ((size_t)1)
/* The shortest kubernetes.bindTimeoutSeconds (2), the margin, and one more second. */
#define LEAST_GAP_S ((size_t)4)

/* A kube-scheduler calls until renewDeadline after its last renewal; another may lead from
 * leaseDuration after it. The last calls must end in between. */
static int check_beside_times(const struct yaml_file *file, json_t *root,
                              const struct settings *settings, struct err *err)
{
    const size_t lease_s = settings->scheduler.lease_s;
    const size_t renew_s = settings->scheduler.renew_s;
    const size_t bind_s = settings->kubernetes.bind_timeout_s;
    const struct yaml_value lease = setting_place(root, SCHEDULER, LEASE, SCHEDULER "." LEASE);
    const struct yaml_value bind =
        setting_place(root, "kubernetes", "bindTimeoutSeconds", "kubernetes.bindTimeoutSeconds");
    if (lease_s < renew_s + LEAST_GAP_S)
        return yaml_fault(file, &lease, err, "is %zu, should be at least %zu: " RENEW " (%zu) + 4",
                          lease_s, renew_s + LEAST_GAP_S, renew_s);
    if (bind_s + MARGIN_S >= lease_s - renew_s)
        return yaml_fault(file, &bind, err,
                          "is %zu, should be at most %zu with scheduler.beside: a binding and one "
                          "second must be over before another kube-scheduler may lead "
                          "(" SCHEDULER "." LEASE " %zu - " RENEW " %zu)",
                          bind_s, lease_s - renew_s - MARGIN_S - 1, lease_s, renew_s);
    return 0;
}

/* 0 also if scheduler.beside is off. */
static int check_beside(const struct yaml_file *file, json_t *root, const struct settings *settings,
                        struct err *err)
{
    const struct yaml_value beside = setting_place(root, SCHEDULER, "beside", SCHEDULER ".beside");
    if (!settings->scheduler.beside)
        return 0;
    if (settings->election.enabled)
        return yaml_fault(file, &beside, err,
                          "excludes leaderElection.enabled: the instance beside the leading "
                          "kube-scheduler decides, and this service has no Lease of its own");
    return check_beside_times(file, root, settings, err);
}

/* Otherwise a request body of the allowed size would not fit. */
static int check_bodies(const struct yaml_file *file, json_t *root, const struct settings *settings,
                        struct err *err)
{
    const struct settings_limits *limits = &settings->limits;
    if (limits->bodies_bytes / 2 >= limits->request_bytes)
        return 0;
    json_t *object = json_member(root, "limits");
    json_t *bodies = json_member(object, "bodiesBytes");
    const bool is_given = bodies && !json_is_null(bodies);
    const struct yaml_value at = {object, is_given ? "bodiesBytes" : "requestBytes",
                                  is_given ? "limits.bodiesBytes" : "limits.requestBytes",
                                  is_given ? bodies : json_member(object, "requestBytes")};
    return yaml_fault(file, &at, err,
                      "bodiesBytes is %zu, should be at least twice requestBytes (%zu)",
                      limits->bodies_bytes, limits->request_bytes);
}

/* Otherwise an operator may believe that it limits who is enforced. */
static int check_enforced(const struct yaml_file *file, json_t *root,
                          const struct settings *settings, struct err *err)
{
    const struct policy *policy = &settings->policy;
    const struct yaml_value at = {root, "enforceNamespaces", "enforceNamespaces",
                                  json_member(root, "enforceNamespaces")};
    if (!policy->enforce_namespaces.is_set || policy->mode == MODE_OBSERVE)
        return 0;
    return yaml_fault(file, &at, err,
                      "needs mode: observe; with mode: enforce every namespace is enforced");
}

static int check_gangs(const struct yaml_file *file, json_t *root, const struct settings *settings,
                       struct err *err)
{
    const struct yaml_value at = setting_place(root, "gangs", "domain", "gangs.domain");
    struct domain_wish wish;
    if (!*settings->policy.gangs.domain ||
        policy_read_domain(&settings->policy, settings->policy.gangs.domain, &wish))
        return 0;
    return yaml_fault(file, &at, err,
                      "is %s, should be \"require LEVEL\" or \"prefer LEVEL\", of a level in "
                      "topology.levels",
                      settings->policy.gangs.domain);
}

int settings_check(const struct yaml_file *file, json_t *root, const struct settings *settings,
                   struct err *err)
{
    int r = check_timeouts(file, root, settings, err);
    if (r == 0)
        r = check_election(file, root, settings, err);
    if (r == 0)
        r = check_beside(file, root, settings, err);
    if (r == 0)
        r = check_bodies(file, root, settings, err);
    if (r == 0)
        r = check_gangs(file, root, settings, err);
    return r < 0 ? r : check_enforced(file, root, settings, err);
}

/* Warnings. */

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

static void warn_of_gangs(const struct yaml_file *file, json_t *root, struct settings *settings)
{
    const struct yaml_value at = setting_place(root, "gangs", "mode", "gangs.mode");
    if (settings->policy.gangs.mode != GANGS_PLAN)
        return;
    if (settings->policy.mode == MODE_OBSERVE)
        (void)yaml_fault(file, &at, new_warning(settings),
                         "is plan, and mode is observe: groups are only observed");
    else if (!*settings->wake_object)
        (void)yaml_fault(file, &at, new_warning(settings),
                         "is plan, should come with wake.objectName: without it kube-scheduler "
                         "may ask about a waiting group only after minutes, and its plans end "
                         "unused");
}

void settings_find_warnings(const struct yaml_file *file, json_t *root, struct settings *settings)
{
    settings->n_warnings = 0;
    warn_of_observing(file, root, settings);
    warn_of_all_pods(file, root, settings);
    warn_of_verb_clients(file, root, settings);
    warn_of_old_weight(file, root, settings);
    warn_of_aggregated_api(file, root, settings);
    warn_of_gangs(file, root, settings);
}

const char *settings_warning(const struct settings *settings, size_t i)
{
    return i < settings->n_warnings ? settings->warnings[i].text : NULL;
}
