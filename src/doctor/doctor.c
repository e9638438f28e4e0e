/* doctor: see include/doctor/doctor.h. This file lists the checks. */
#include "doctor/doctor.h"

#include "base/mem.h"
#include "checks.h"
#include "doctor/findings.h"
#include "kube/credentials.h"
#include "kube/target.h"
#include "scheduler_checks.h"

#include <errno.h>

static void check_policy(const struct doctor *doctor, struct findings *findings)
{
    const char *file = doctor->options->config_file;
    const char *text = NULL;
    for (size_t i = 0; (text = settings_warning(doctor->settings, i)); i++)
        findings_add(findings, FINDING_WARN, "policy", "", "%s", text);
    if (doctor->settings->n_warnings == 0)
        findings_add(findings, FINDING_OK, "policy", "", "%s", file ? file : "the built-in values");
}

static int read_scheduler(const struct doctor *doctor, struct scheduler_file *ret_file,
                          struct findings *findings, struct err *err)
{
    const struct options *options = doctor->options;
    const char *verbs = options->listen ? options->listen : doctor->settings->listen_verbs;
    if (!options->scheduler_config) {
        findings_not_checked(findings, "scheduler", "give --scheduler-config FILE",
                             "the file of kube-scheduler --config is not given");
        return 0;
    }
    int r = scheduler_file_read(options->scheduler_config, ret_file, err);
    if (r == 0)
        scheduler_checks_run(ret_file, doctor->settings, verbs, findings);
    return r;
}

static void check_live(const struct doctor *doctor, const struct kube_target *target,
                       struct kube_credentials *credentials, const struct scheduler_file *file,
                       struct findings *findings)
{
    const char *account = doctor->options->account;
    struct live_checks checks = {.settings = doctor->settings,
                                 .findings = findings,
                                 .account =
                                     account ? account : live_checks_account(doctor->settings)};
    struct err err;
    int r = api_server_open(target, credentials, doctor->settings->limits.object_bytes,
                            &checks.server, &err);
    if (r < 0) {
        findings_add(findings, FINDING_FAIL, "apiServer", "", "%s", err.text);
        return;
    }
    const bool is_there = server_checks_versions(&checks);
    if (is_there) {
        server_checks_clock(&checks);
        rights_checks_run(&checks);
        leader_checks_run(&checks);
        claims_checks_run(&checks, file);
        running_checks_sick(&checks);
        running_checks_schedulers(&checks);
    }
    api_server_close(checks.server);
    if (is_there && follow_run(doctor->settings, doctor->inventory, target, credentials, findings))
        cluster_checks_run(doctor->inventory, file, findings);
}

/* -EINVAL: a kubeconfig that was given, or found, cannot be used. */
static int find_target(const struct doctor *doctor, struct kube_target *ret_target, struct err *err)
{
    struct kube_lookup lookup;
    kube_lookup_from_env(&lookup);
    lookup.kubeconfig = doctor->options->kubeconfig;
    lookup.context = doctor->options->context;
    return kube_target_find(&lookup, ret_target, err);
}

static int check_api_server(const struct doctor *doctor, const struct scheduler_file *file,
                            struct findings *findings, struct err *err)
{
    struct kube_target target;
    struct kube_credentials *credentials = NULL;
    int r = find_target(doctor, &target, err);
    if (r == -ENOENT && !doctor->options->kubeconfig) {
        findings_not_checked(findings, "cluster", "give --kubeconfig FILE or --cluster-file FILE",
                             "%s", err->text);
        return 0;
    }
    if (r < 0)
        return r;
    r = kube_credentials_new(&target, &credentials, err);
    if (r < 0)
        findings_add(findings, FINDING_FAIL, "apiServer", "correct the kubeconfig", "%s",
                     err->text);
    else
        check_live(doctor, &target, credentials, file, findings);
    kube_credentials_free(credentials);
    kube_target_fini(&target);
    return 0;
}

static int check_cluster(const struct doctor *doctor, const struct scheduler_file *file,
                         struct findings *findings, struct err *err)
{
    const struct scheduler_file *given = file->root ? file : NULL;
    if (!doctor->options->cluster_file)
        return check_api_server(doctor, given, findings, err);
    cluster_checks_run(doctor->inventory, given, findings);
    findings_not_checked(findings, "apiServer", "give --kubeconfig FILE instead",
                         "a cluster file has no rights, versions, clock and Lease");
    return 0;
}

static void free_findings(struct findings **findings)
{
    findings_free(*findings);
}

int doctor_run(const struct doctor *doctor, struct buf *out, bool *ret_healthy, struct err *err)
{
    struct findings *findings CLEANUP(free_findings) = findings_new();
    struct scheduler_file file CLEANUP(scheduler_file_fini) = {.root = NULL};
    check_policy(doctor, findings);
    int r = read_scheduler(doctor, &file, findings, err);
    if (r < 0)
        return r;
    certificate_checks_run(&doctor->settings->tls, file.ours, findings);
    r = check_cluster(doctor, &file, findings, err);
    if (r < 0)
        return r;
    if (doctor->options->output == OUTPUT_JSON)
        findings_write_json(findings, out);
    else
        findings_write_text(findings, out);
    *ret_healthy = !findings_has_fail(findings);
    return 0;
}
