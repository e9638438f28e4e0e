/* claims_checks: see checks.h. The policy gives pods with resource claims the marker by which
 * kube-scheduler sends them, unless they ask for another managed resource. */
#include "checks.h"
#include "formats/json_values.h"
#include "scheduler_checks.h"
#include "types/policy.h"

#include <stdio.h>
#include <string.h>

#define CHECK "claims"
#define GROUP "/apis/admissionregistration.k8s.io/v1/"
#define NAME "gpu-extender-claims"
#define QUOTED_BYTES 320

/* False, with a finding: it is not known whether the object is there. */
static bool read_object(const struct live_checks *checks, const char *path, json_t **ret_object)
{
    struct api_reply reply;
    api_server_ask(checks->server, path, NULL, &reply);
    *ret_object = reply.object;
    if (reply.object || reply.status == 404)
        return true;
    findings_not_checked(checks->findings, CHECK, "", "%s: %s", path, reply.why);
    return false;
}

/* Whether a condition names the resource as a text of CEL. */
static bool names(const json_t *policy, const char *resource)
{
    const json_t *conditions = json_member(json_member(policy, "spec"), "matchConditions");
    char quoted[QUOTED_BYTES];
    size_t i = 0;
    const json_t *condition = NULL;
    (void)snprintf(quoted, sizeof quoted, "'%s'", resource);
    json_array_foreach (conditions, i, condition) {
        const char *expression = json_string_value(json_member(condition, "expression"));
        if (expression && strstr(expression, quoted))
            return true;
    }
    return false;
}

static void check_names(const struct live_checks *checks, const json_t *policy,
                        const struct scheduler_file *file)
{
    struct first_names missing = {.n = 0};
    size_t i = 0;
    const json_t *item = NULL;
    json_array_foreach (json_member(file->ours, "managedResources"), i, item) {
        const char *name = json_string_value(json_member(item, "name"));
        if (name && !names(policy, name))
            first_names_add(&missing, "%s", name);
    }
    if (missing.n > 0)
        findings_add(checks->findings, FINDING_WARN, CHECK,
                     "add them to its condition has-no-managed-resource",
                     "%s: does not name %s of managedResources: pods that ask for them get the "
                     "marker, too",
                     NAME, first_names_text(&missing));
    else
        findings_add(checks->findings, FINDING_OK, CHECK, "",
                     "pods with claims get the marker %s in labelled namespaces",
                     POLICY_CLAIMS_MARKER);
}

static void check_objects(const struct live_checks *checks, const json_t *policy,
                          const json_t *binding, const struct scheduler_file *file)
{
    const char *bound = json_string_value(json_member(json_member(binding, "spec"), "policyName"));
    const bool is_bound = bound && strcmp(bound, NAME) == 0;
    if (!policy && !binding)
        findings_add(checks->findings, FINDING_OK, CHECK, "",
                     "pods with claims come only if they ask for a managed resource themselves");
    else if (!policy || !is_bound)
        findings_add(checks->findings, FINDING_WARN, CHECK, "apply manifests/overlays/claims",
                     "%s: the %s is missing, or names another policy: no pod gets the marker", NAME,
                     policy ? "MutatingAdmissionPolicyBinding" : "MutatingAdmissionPolicy");
    else if (!file)
        findings_not_checked(checks->findings, CHECK, "give --scheduler-config FILE",
                             "the file of kube-scheduler --config is not given");
    else if (!scheduler_list_manages(file, POLICY_CLAIMS_MARKER))
        findings_add(checks->findings, FINDING_FAIL, CHECK,
                     "add it to managedResources of kube-scheduler's configuration",
                     "%s: managedResources does not list %s: pods with claims bypass gpu-extender",
                     file->yaml.name, POLICY_CLAIMS_MARKER);
    else
        check_names(checks, policy, file);
}

void claims_checks_run(const struct live_checks *checks, const struct scheduler_file *file)
{
    json_t *policy = NULL;
    json_t *binding = NULL;
    if (read_object(checks, GROUP "mutatingadmissionpolicies/" NAME, &policy) &&
        read_object(checks, GROUP "mutatingadmissionpolicybindings/" NAME, &binding))
        check_objects(checks, policy, binding, file);
    json_decref(policy);
    json_decref(binding);
}
