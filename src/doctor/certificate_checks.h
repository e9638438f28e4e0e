/*
 * certificate_checks: the certificates that the policy names.
 */
#ifndef DOCTOR_CERTIFICATE_CHECKS_H
#define DOCTOR_CERTIFICATE_CHECKS_H

#include "config/settings.h"
#include "findings.h"

/* Nothing without TLS in the policy. */
void certificate_checks_run(const struct settings_tls *tls, struct findings *findings);

#endif
