/*
 * observes: records what mode: enforce would have done with a pod that is only observed. Private to
 * extender.
 */
#ifndef EXTENDER_OBSERVES_H
#define EXTENDER_OBSERVES_H

#include "extender/args.h"
#include "extender/extender.h"

/* Call it before the answer, so that the watch cannot show the pod's node first.
 * verdicts: in the order of args->names; NULL: the data allow no decision. would_retry: if no node
 * is left, kube-scheduler would have been asked to retry. */
void observes_filter(const struct extender *extender, const struct args *args,
                     const enum reason *verdicts, bool would_retry);
#endif
