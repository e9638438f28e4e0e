/*
 * worst_case: for how long a leader that vanishes stalls kube-scheduler, for operators to read.
 */
#ifndef CONFIG_WORST_CASE_H
#define CONFIG_WORST_CASE_H

#include "base/buf.h"
#include "config/settings.h"

/* One line: the sum (timing_stall_ms()) and its parts, with the keys that they are from. Nothing
 * without leader election, where nobody takes over. */
void worst_case_tell(const struct settings *settings, struct buf *out);

#endif
