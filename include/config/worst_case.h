/*
 * worst_case: how long the loss of a leader stalls kube-scheduler, as text for operators.
 */
#ifndef CONFIG_WORST_CASE_H
#define CONFIG_WORST_CASE_H

#include "base/buf.h"
#include "config/settings.h"

/* Writes one line: the sum (timing_stall_ms()), its parts, and their policy keys. Nothing without
 * leader election. */
void worst_case_report(const struct settings *settings, struct buf *out);

#endif
