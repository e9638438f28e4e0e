/*
 * certificate_checks: the certificates that the policy names, and kube-scheduler's.
 */
#ifndef DOCTOR_CERTIFICATE_CHECKS_H
#define DOCTOR_CERTIFICATE_CHECKS_H

#include "config/settings.h"
#include "doctor/findings.h"

#include <jansson.h>

/* ours: this service's extender in kube-scheduler's configuration; NULL: unknown. Nothing without
 * TLS in the policy. */
void certificate_checks_run(const struct settings_tls *tls, const json_t *ours,
                            struct findings *findings);

#endif
