/*
 * claims: reads claims, their devices' slices, classes and taint rules into facts. Source:
 * Kubernetes API resource.k8s.io/v1.
 */
#ifndef OBJECTS_CLAIMS_H
#define OBJECTS_CLAIMS_H

#include "base/arena.h"
#include "base/err.h"
#include "types/device_facts.h"
#include "types/policy.h"
#include "types/selector_texts.h"

#include <jansson.h>
#include <stdbool.h>

/* ---- resource claim ---- */
/* Reads what a ResourceClaim wants, which devices it has, and which pods use it; and what claims
 * from a ResourceClaimTemplate will want. Source: Kubernetes API resource.k8s.io/v1, v1beta2 and
 * v1beta1 (there a request's members are beside its name, not in `exactly`). */

/* All in the arena. -EINVAL: a member of another type, a name that is too long, or more than
 * CLAIM_RESULTS_MAX requests or devices. */
int resource_claim_from_json(const json_t *object, struct arena *arena,
                             struct claim_facts *ret_facts, struct err *err);
/* The same for a ResourceClaimTemplate, of which spec.spec is read. */
int claim_template_from_json(const json_t *object, struct arena *arena,
                             struct claim_template_facts *ret_facts, struct err *err);

/* ---- resource slice ---- */
/* Reads the GPUs of a ResourceSlice. Source: Kubernetes API resource.k8s.io/v1, v1beta2 and
 * v1beta1 (there a device's content is in its member `basic`). */

/* All in the arena. Devices are read if the policy names the driver. A device with a member that
 * must be understood and is not is not_judged. -EINVAL: not even its pool or the names of its
 * devices are readable, its counter sets are not, or it has too many devices. */
int resource_slice_from_json(const json_t *object, const struct policy *policy, struct arena *arena,
                             struct slice_facts *ret_facts, struct err *err);

/* ---- device class ---- */
/* Reads the extended resource, the selectors and the driver of a DeviceClass. Source: Kubernetes
 * API resource.k8s.io/v1, DeviceClass. */

/* All that the facts point to is in the arena. -EINVAL: the name or spec.extendedResourceName is
 * not a string. */
int device_class_from_json(const json_t *object, struct arena *arena,
                           struct device_class_facts *ret_facts, struct err *err);
/* The driver that all devices of the class have, as cel_driver() of one of its selectors. Ignores
 * members of a wrong type. */
const char *device_class_driver(const json_t *object, struct arena *arena);
/* In the arena. */
struct selector_texts device_class_selectors(const json_t *object, struct arena *arena);

/* ---- device taint rule ---- */
/* Reads which devices a DeviceTaintRule taints. Source: Kubernetes API resource.k8s.io/v1 and
 * v1beta2. */

/* All in the arena. ret_taints: false for a rule that keeps no claim off any device: it has no
 * deviceSelector, or the effect None; the facts then have the name only. -EINVAL: also for a
 * selector or an effect that is unknown, because the rule may taint fewer devices than it seems. */
int device_taint_rule_from_json(const json_t *object, struct arena *arena,
                                struct device_taint_facts *ret_facts, bool *ret_taints,
                                struct err *err);

#endif
