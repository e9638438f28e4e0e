/*
 * doctor: checks kube-scheduler's configuration and the cluster against the policy (--doctor). It
 * changes nothing, and prints a finding for each check.
 */
#ifndef DOCTOR_DOCTOR_H
#define DOCTOR_DOCTOR_H

#include "base/buf.h"
#include "base/err.h"
#include "config/options.h"
#include "config/settings.h"
#include "inventory/inventory.h"

#include <stdbool.h>

struct doctor {
    const struct options *options;
    const struct settings *settings;
    struct inventory *inventory; /* with the cluster file, or empty: the API server fills it */
};

/* Makes all checks and writes the findings, as text or JSON by options->output. *ret_healthy: none
 * of them is a fail. An error means that the input is unusable, and nothing was written. */
int doctor_run(const struct doctor *doctor, struct buf *out, bool *ret_healthy, struct err *err);

#endif
