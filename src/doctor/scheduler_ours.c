/* scheduler_ours: the members of our extender. docs/KUBE-SCHEDULER.md has the reason of each. */
#include "base/mem.h"
#include "base/table.h"
#include "formats/json_values.h"
#include "scheduler_checks.h"
#include "types/policy.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ManagedResources of our extender, which decide which pods come. */

#define LIST "managedResources"
#define NAMES_MAX 300

/* A name of the list. */
struct listed {
    UT_hash_handle hh;
    const char *name;
};

static void check_item(const struct scheduler_checks *checks, const struct yaml_value *at,
                       const char *name)
{
    if (scheduler_extenders_may_manage(name) && strcmp(name, POLICY_CLAIMS_MARKER) != 0 &&
        !policy_is_gpu_resource(&checks->settings->policy, name))
        scheduler_report_at(checks, FINDING_WARN, LIST, at,
                            "add it to gpuResources of the policy, or remove it here",
                            "%s: is not in gpuResources of the policy: gpu-extender does not "
                            "count it as a GPU",
                            name);
    if (json_is_true(json_object_get(at->value, "ignoredByScheduler")))
        scheduler_report_at(checks, FINDING_FAIL, LIST, at, "set ignoredByScheduler to false",
                            "%s: ignoredByScheduler is true: kube-scheduler offers full nodes, "
                            "and filter answers Errors",
                            name);
}

static struct listed *find(struct listed *listed, const char *name)
{
    struct listed *found = NULL;
    HASH_FIND_STR(listed, name, found);
    return found;
}

static void take_item(const struct scheduler_checks *checks, const struct yaml_value *at,
                      struct listed **listed)
{
    const char *name = json_string_value(json_object_get(at->value, "name"));
    if (!name || find(*listed, name))
        return;
    struct listed *item = MEM_NEW(struct listed);
    item->name = name;
    HASH_ADD_KEYPTR(hh, *listed, name, strlen(name), item);
    check_item(checks, at, name);
}

static struct listed *take_items(const struct scheduler_checks *checks, json_t *list)
{
    struct listed *listed = NULL;
    struct scheduler_item item;
    for (size_t i = 0; i < json_array_size(list); i++) {
        scheduler_item_place(&item, list, i, LIST);
        take_item(checks, &item.at, &listed);
    }
    return listed;
}

static void free_items(struct listed *listed)
{
    struct listed *item = NULL;
    struct listed *next = NULL;
    HASH_ITER (hh, listed, item, next) {
        HASH_DEL(listed, item);
        free(item);
    }
}

/* Names of the policy that could be listed and are not. Patterns could not. */
static void check_missing(const struct scheduler_checks *checks, struct listed *listed)
{
    const struct policy *policy = &checks->settings->policy;
    struct buf missing;
    buf_init(&missing, NAMES_MAX);
    for (size_t i = 0; i < policy->n_gpu_resources; i++) {
        const char *name = policy->gpu_resources[i];
        if (scheduler_extenders_may_manage(name) && !find(listed, name))
            buf_printf(&missing, "%s%s", missing.len > 0 ? ", " : "", name);
    }
    if (missing.len > 0)
        scheduler_report(checks, FINDING_WARN, LIST,
                         "list them, or remove them from gpuResources of the policy",
                         "does not list %s: pods that ask for no other GPUs bypass gpu-extender",
                         buf_text(&missing));
    else
        scheduler_report(checks, FINDING_OK, LIST, "",
                         "lists the names of gpuResources (%u in all)", HASH_COUNT(listed));
    buf_fini(&missing);
}

void scheduler_list_check(const struct scheduler_checks *checks)
{
    json_t *list = json_member(checks->ours, LIST);
    const bool all_pods = checks->settings->policy.all_pods;
    if (json_array_size(list) > 0) {
        struct listed *listed = take_items(checks, list);
        if (all_pods)
            scheduler_report(checks, FINDING_FAIL, LIST, "remove scheduler.allPods from the policy",
                             "is set, so kube-scheduler sends only pods that ask for these "
                             "resources, and scheduler.allPods of the policy is true");
        check_missing(checks, listed);
        free_items(listed);
    } else if (!all_pods) {
        scheduler_report(checks, FINDING_FAIL, LIST,
                         "list the GPU resources, or set scheduler.allPods in the policy",
                         "is missing, so kube-scheduler sends every pod, and schedules none while "
                         "gpu-extender is down");
    } else {
        scheduler_report(checks, FINDING_OK, LIST, "",
                         "is missing, as scheduler.allPods of the policy says");
    }
}

bool scheduler_list_manages(const struct scheduler_file *file, const char *resource)
{
    const json_t *list = json_member(file->ours, LIST);
    size_t i = 0;
    const json_t *item = NULL;
    bool is_listed = json_array_size(list) == 0;
    json_array_foreach (list, i, item) {
        const char *name = json_string_value(json_object_get(item, "name"));
        is_listed = is_listed || (name && strcmp(name, resource) == 0);
    }
    return is_listed;
}

#define SECOND_MS 1000
#define DEFAULT_TIMEOUT_MS (5 * (int64_t)SECOND_MS)

static bool is_true(const json_t *object, const char *key)
{
    return json_is_true(json_object_get(object, key));
}

static void check_scheme(const struct scheduler_checks *checks, const struct scheduler_url *url)
{
    const bool has_tls = checks->settings->tls.certificate_file[0];
    if (url->https && !has_tls)
        scheduler_report(checks, FINDING_FAIL, "urlPrefix",
                         "set tls in the policy, or write http, if no proxy ends TLS",
                         "is https, and the policy has no certificate (tls.certificateFile)");
    else if (!url->https && has_tls)
        scheduler_report(checks, FINDING_FAIL, "urlPrefix", "write https, and set tlsConfig",
                         "is http, and the policy serves TLS");
}

static void check_address(const struct scheduler_checks *checks, const struct scheduler_url *url)
{
    char host[SCHEDULER_HOST_MAX];
    long port = 0;
    scheduler_address_split(checks->verbs_address, host, &port);
    if (scheduler_host_is_local(host) && !scheduler_host_is_local(url->host))
        scheduler_report(checks, FINDING_FAIL, "urlPrefix",
                         "listen on an address that kube-scheduler reaches, with TLS",
                         "names the host %s, and listen.verbs (%s) is reached from its own "
                         "machine only",
                         url->host, checks->verbs_address);
    else if (port != 0 && port != url->port)
        scheduler_report(checks, FINDING_WARN, "urlPrefix",
                         "write the same port, unless a Service or a proxy maps it",
                         "has the port %ld, listen.verbs has %ld", url->port, port);
}

static void check_url(const struct scheduler_checks *checks)
{
    const char *text = scheduler_text(checks->ours, "urlPrefix");
    struct scheduler_url url;
    if (!scheduler_url_parse(text, &url)) {
        /* It may have a password. */
        const char *shown = strpbrk(text, "@?#") ? "an address with a user or a query" : text;
        scheduler_report(checks, FINDING_FAIL, "urlPrefix",
                         "write it like http://127.0.0.1:8888/scheduler",
                         "is \"%s\", should be a URL with http or https, and nothing but host, "
                         "port and path",
                         shown);
        return;
    }
    if (!scheduler_url_is_ours(&url))
        scheduler_report(checks, FINDING_FAIL, "urlPrefix", "end it with /scheduler",
                         "is \"%s\"; gpu-extender answers under /scheduler only", text);
    check_scheme(checks, &url);
    check_address(checks, &url);
}

static void check_verb(const struct scheduler_checks *checks, const char *key, const char *word,
                       const char *without)
{
    const char *verb = scheduler_text(checks->ours, key);
    if (!*verb)
        scheduler_report(checks, FINDING_FAIL, key, "add the line", "is missing, should be %s: %s",
                         word, without);
    else if (strcmp(verb, word) != 0)
        scheduler_report(checks, FINDING_FAIL, key, "correct it",
                         "is \"%s\", should be %s: gpu-extender answers 404 to others", verb, word);
}

/* In this mode kube-scheduler may decide without us, and binds itself. */
static bool observes(const struct scheduler_checks *checks)
{
    return checks->settings->policy.mode == MODE_OBSERVE;
}

/* Some namespaces are enforced all the same. */
static bool enforces(const struct scheduler_checks *checks)
{
    return checks->settings->policy.enforce_namespaces.is_set;
}

static void check_verbs(const struct scheduler_checks *checks)
{
    check_verb(checks, "filterVerb", "filter", "pods go to nodes of any model, past all quotas");
    check_verb(checks, "prioritizeVerb", "prioritize", "kube-scheduler chooses among the nodes");
    check_verb(checks, "preemptVerb", "preempt",
               "kube-scheduler evicts pods by filters that know no models");
    if (!observes(checks) || *scheduler_text(checks->ours, "bindVerb"))
        check_verb(checks, "bindVerb", "bind", "kube-scheduler binds without checking again");
    else if (enforces(checks))
        scheduler_report(checks, FINDING_WARN, "bindVerb",
                         "add the line before you rely on quotas there",
                         "is missing: kube-scheduler binds the pods of the namespaces that "
                         "enforceNamespaces selects, without checking them again");
}

/* Without prioritizeVerb it has no effect; scheduler_extenders.c judges whether it is positive.
 * The shortlist hides nodes that kube-scheduler's own plugins might prefer. */
static void check_weight(const struct scheduler_checks *checks)
{
    const json_t *value = json_member(checks->ours, "weight");
    const int64_t weight = json_integer_value(value);
    const struct settings_scheduler *policy = &checks->settings->scheduler;
    if (!*scheduler_text(checks->ours, "prioritizeVerb") || !json_is_integer(value) || weight <= 0)
        return;
    if ((uint64_t)weight != policy->weight)
        scheduler_report(checks, FINDING_FAIL, "weight", "set the same number in both",
                         "is %" PRId64 ", scheduler.weight of the policy is %zu", weight,
                         policy->weight);
    else if (weight < SCHEDULER_WEIGHT_THAT_DECIDES)
        scheduler_report(checks, FINDING_WARN, "weight",
                         "set it in both files if gpu-extender is to decide",
                         "is %" PRId64 "; below %d kube-scheduler's own scores may decide", weight,
                         SCHEDULER_WEIGHT_THAT_DECIDES);
    else
        scheduler_report(checks, FINDING_OK, "weight", "", "is %" PRId64 ", as in the policy",
                         weight);
}

static void judge_timeout(const struct scheduler_checks *checks, int64_t ms)
{
    const size_t policy_s = checks->settings->scheduler.http_timeout_s;
    const size_t bind_s = checks->settings->kubernetes.bind_timeout_s;
    if (!*scheduler_text(checks->ours, "bindVerb") && ms <= (int64_t)policy_s * SECOND_MS)
        scheduler_report(checks, FINDING_OK, "httpTimeout", "",
                         "is %" PRId64 " ms; bindVerb is missing, so no binding has to fit into it",
                         ms);
    else if (ms <= (int64_t)bind_s * SECOND_MS)
        scheduler_report(checks, FINDING_FAIL, "httpTimeout",
                         "set scheduler.httpTimeoutSeconds of the policy here",
                         "is %" PRId64 " ms, should be more than kubernetes.bindTimeoutSeconds "
                         "(%zu): kube-scheduler gives up bindings that succeed",
                         ms, bind_s);
    else if (ms != (int64_t)policy_s * SECOND_MS)
        scheduler_report(checks, FINDING_WARN, "httpTimeout", "set the same time in both",
                         "is %" PRId64 " ms, scheduler.httpTimeoutSeconds of the policy is %zu", ms,
                         policy_s);
    else
        scheduler_report(checks, FINDING_OK, "httpTimeout", "", "is %zu s, as in the policy",
                         policy_s);
}

static void check_timeout(const struct scheduler_checks *checks)
{
    const json_t *value = json_member(checks->ours, "httpTimeout");
    int64_t ms = 0;
    if (value && (!json_is_string(value) || !duration_parse(json_string_value(value), &ms)))
        return;
    /* 0 means the default, too. */
    judge_timeout(checks, ms == 0 ? DEFAULT_TIMEOUT_MS : ms);
}

static void check_switches(const struct scheduler_checks *checks)
{
    if (!is_true(checks->ours, "nodeCacheCapable"))
        scheduler_report(checks, FINDING_FAIL, "nodeCacheCapable", "set it to true",
                         "is not true: kube-scheduler sends whole nodes, and from 1.33 on scores "
                         "every node as empty");
    else
        scheduler_report(checks, FINDING_OK, "nodeCacheCapable", "", "is true");
    if (observes(checks) && !enforces(checks) && !is_true(checks->ours, "ignorable"))
        scheduler_report(checks, FINDING_WARN, "ignorable", "set it to true while you observe",
                         "is not true: GPU pods wait while gpu-extender is down, although "
                         "the policy only observes");
    else if (is_true(checks->ours, "ignorable") && !observes(checks))
        scheduler_report(
            checks, FINDING_FAIL, "ignorable", "set it to false",
            checks->settings->policy.gangs.mode == GANGS_PLAN
                ? "is true: after an Error of gpu-extender kube-scheduler goes on "
                  "without it, so groups of pods are split"
                : "is true: while gpu-extender is down, GPU pods are bound without it");
    else if (is_true(checks->ours, "ignorable") && enforces(checks))
        scheduler_report(checks, FINDING_WARN, "ignorable",
                         "set it to false once these pods may wait instead",
                         "is true: while gpu-extender is down, pods of the namespaces that "
                         "enforceNamespaces selects are bound without it");
    else
        scheduler_report(checks, FINDING_OK, "ignorable", "",
                         is_true(checks->ours, "ignorable")
                             ? "is true: while gpu-extender is down, kube-scheduler goes on alone"
                             : "is false: while gpu-extender is down, GPU pods wait");
}

static bool has_either(const json_t *tls, const char *file_key, const char *data_key)
{
    return *scheduler_text(tls, file_key) || *scheduler_text(tls, data_key);
}

/* Returns whether kube-scheduler verifies the server's certificate by a CA that is named. */
static bool check_server_trust(const struct scheduler_checks *checks, const json_t *tls)
{
    const bool has_ca = has_either(tls, "caFile", "caData");
    if (is_true(tls, "insecure"))
        scheduler_report(checks, FINDING_FAIL, "tlsConfig", "remove insecure, and set caFile",
                         "insecure is true: kube-scheduler trusts any server");
    else if (!has_ca && is_true(checks->ours, "enableHTTPS"))
        scheduler_report(checks, FINDING_FAIL, "tlsConfig", "set caFile",
                         "has no caFile, and with enableHTTPS kube-scheduler then trusts any "
                         "server");
    else if (!has_ca)
        scheduler_report(checks, FINDING_FAIL, "tlsConfig", "set caFile",
                         "has no caFile: kube-scheduler trusts every CA of its machine");
    return has_ca && !is_true(tls, "insecure");
}

static void check_tls(const struct scheduler_checks *checks)
{
    const json_t *tls = json_member(checks->ours, "tlsConfig");
    struct scheduler_url url;
    if (!scheduler_url_parse(scheduler_text(checks->ours, "urlPrefix"), &url))
        return;
    if (!url.https) {
        if (tls)
            scheduler_report(checks, FINDING_WARN, "tlsConfig", "write https in urlPrefix",
                             "has no effect with http in urlPrefix");
        return;
    }
    const bool trusts = check_server_trust(checks, tls);
    const bool has_certificate = has_either(tls, "certFile", "certData");
    const bool has_key = has_either(tls, "keyFile", "keyData");
    if (has_certificate && has_key && trusts)
        scheduler_report(checks, FINDING_OK, "tlsConfig", "",
                         "names a CA, a certificate and a key (the files are kube-scheduler's)");
    else if (!has_certificate || !has_key)
        scheduler_report(checks, FINDING_FAIL, "tlsConfig", "set certFile and keyFile",
                         "has no %s: gpu-extender rejects clients without a certificate",
                         has_certificate ? "keyFile" : "certFile");
}

void scheduler_ours_check(const struct scheduler_checks *checks)
{
    check_url(checks);
    check_verbs(checks);
    check_weight(checks);
    check_timeout(checks);
    check_switches(checks);
    check_tls(checks);
}
