/*
 * device_taint_rule: reads which devices a DeviceTaintRule taints. Source: Kubernetes API
 * resource.k8s.io/v1 and v1beta2.
 */
#ifndef OBJECTS_DEVICE_TAINT_RULE_H
#define OBJECTS_DEVICE_TAINT_RULE_H

#include "base/arena.h"
#include "base/err.h"
#include "types/device_facts.h"

#include <jansson.h>
#include <stdbool.h>

/* All in the arena. ret_taints: false for a rule that keeps no claim off any device: it has no
 * deviceSelector, or the effect None; the facts then have the name only. -EINVAL: also for a
 * selector or an effect that is unknown, because the rule may taint fewer devices than it seems. */
int device_taint_rule_from_json(const json_t *object, struct arena *arena,
                                struct device_taint_facts *ret_facts, bool *ret_taints,
                                struct err *err);

#endif
