/* doctor: see include/doctor/doctor.h. This file lists the checks. */
#include "doctor/doctor.h"

#include "base/mem.h"
#include "cluster_checks.h"
#include "findings.h"
#include "scheduler_checks.h"

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

static void check_cluster(const struct doctor *doctor, const struct scheduler_file *file,
                          struct findings *findings)
{
    if (doctor->options->cluster_file)
        cluster_checks_run(doctor->inventory, file->root ? file : NULL, findings);
    else
        findings_not_checked(findings, "cluster", "give --cluster-file FILE",
                             "there is no cluster file");
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
    check_cluster(doctor, &file, findings);
    if (doctor->options->output == OUTPUT_JSON)
        findings_write_json(findings, out);
    else
        findings_write_text(findings, out);
    *ret_healthy = !findings_has_fail(findings);
    return 0;
}
