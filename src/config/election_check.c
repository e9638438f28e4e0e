/* election_check: see election_check.h. */
#include "election_check.h"

#include "config/timing.h"
#include "setting.h"

#define SECTION "leaderElection"
#define LEASE "leaseDurationSeconds"
#define RENEW "renewDeadlineSeconds"
#define RETRY "retryPeriodSeconds"

int election_check(const struct yaml_file *file, json_t *root, const struct settings *settings,
                   struct err *err)
{
    const struct settings_election *election = &settings->election;
    const struct yaml_value lease = setting_place(root, SECTION, LEASE, SECTION "." LEASE);
    const struct yaml_value renew = setting_place(root, SECTION, RENEW, SECTION "." RENEW);
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
