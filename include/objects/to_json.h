/*
 * to_json: writes facts as Kubernetes objects that read back to them (objects/node.h,
 * objects/pod.h, objects/claims.h ...), for cluster files.
 *
 * Fields without facts are left out, or invented if the object would be invalid without them: a pod
 * has one container with the pod's complete demand. The caller owns every returned object
 * (json_decref()).
 */
#ifndef OBJECTS_TO_JSON_H
#define OBJECTS_TO_JSON_H

#include "types/device_facts.h"
#include "types/facts.h"
#include "types/policy.h"
#include "types/selector_texts.h"

#include <jansson.h>

json_t *node_to_json(const struct node_facts *facts);
/* policy: the one that the facts were read with. Leaves out refusal and not_evaluated, which a Pod
 * cannot express (objects/snapshot.h). */
json_t *pod_to_json(const struct pod_facts *facts, const struct policy *policy);
/* Not of one whose selector was cut. */
json_t *budget_to_json(const struct budget_facts *facts);
json_t *namespace_to_json(const struct namespace_facts *facts);
json_t *pod_group_to_json(const struct pod_group_facts *facts);
json_t *priority_class_to_json(const struct priority_class_facts *facts);
json_t *runtime_class_to_json(const char *name);
json_t *device_class_to_json(const struct device_class_facts *facts);
/* policy: as for pods. */
json_t *resource_slice_to_json(const struct slice_facts *facts, const struct policy *policy);
json_t *resource_claim_to_json(const struct claim_facts *facts);
json_t *claim_template_to_json(const struct claim_template_facts *facts);
json_t *device_taint_rule_to_json(const struct device_taint_facts *facts);

#endif
