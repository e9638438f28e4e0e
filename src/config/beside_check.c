/* beside_check: see beside_check.h. */
#include "beside_check.h"

#include "setting.h"

#define SECTION "scheduler"
#define LEASE "leaseDurationSeconds"
#define RENEW "renewDeadlineSeconds"
/* Time for the API server to notice that a binding was abandoned. */
#define MARGIN_S ((size_t)1)
/* The shortest kubernetes.bindTimeoutSeconds (2), the margin, and one more second. */
#define LEAST_GAP_S ((size_t)4)

/* A kube-scheduler calls until renewDeadline after its last renewal; another may lead from
 * leaseDuration after it. The last calls must end in between. */
static int check_times(const struct yaml_file *file, json_t *root, const struct settings *settings,
                       struct err *err)
{
    const size_t lease_s = settings->scheduler.lease_s;
    const size_t renew_s = settings->scheduler.renew_s;
    const size_t bind_s = settings->kubernetes.bind_timeout_s;
    const struct yaml_value lease = setting_place(root, SECTION, LEASE, SECTION "." LEASE);
    const struct yaml_value bind =
        setting_place(root, "kubernetes", "bindTimeoutSeconds", "kubernetes.bindTimeoutSeconds");
    if (lease_s < renew_s + LEAST_GAP_S)
        return yaml_fault(file, &lease, err, "is %zu, should be at least %zu: " RENEW " (%zu) + 4",
                          lease_s, renew_s + LEAST_GAP_S, renew_s);
    if (bind_s + MARGIN_S >= lease_s - renew_s)
        return yaml_fault(file, &bind, err,
                          "is %zu, should be at most %zu with scheduler.beside: a binding and one "
                          "second must be over before another kube-scheduler may lead "
                          "(" SECTION "." LEASE " %zu - " RENEW " %zu)",
                          bind_s, lease_s - renew_s - MARGIN_S - 1, lease_s, renew_s);
    return 0;
}

int beside_check(const struct yaml_file *file, json_t *root, const struct settings *settings,
                 struct err *err)
{
    const struct yaml_value beside = setting_place(root, SECTION, "beside", SECTION ".beside");
    if (!settings->scheduler.beside)
        return 0;
    if (settings->election.enabled)
        return yaml_fault(file, &beside, err,
                          "excludes leaderElection.enabled: the instance beside the leading "
                          "kube-scheduler decides, and this service has no Lease of its own");
    return check_times(file, root, settings, err);
}
