/*
 * to_json: facts written as the Kubernetes objects that are read back to them (objects/node.h,
 * objects/pod.h): for cluster files.
 *
 * What facts do not tell is left out, or where an object would be none without it, made up: a pod
 * has one container, which asks for all that the pod needs. Every function's object is the caller's
 * (json_decref()).
 */
#ifndef OBJECTS_TO_JSON_H
#define OBJECTS_TO_JSON_H

#include "objects/identity.h"
#include "types/facts.h"
#include "types/policy.h"

#include <jansson.h>

json_t *node_to_json(const struct node_facts *facts);
/* policy: the one by which the facts were read. What no Pod can say is left out: refusal and
 * not_evaluated (objects/snapshot.h). */
json_t *pod_to_json(const struct pod_facts *facts, const struct policy *policy);
json_t *namespace_to_json(const struct namespace_facts *facts);
json_t *priority_class_to_json(const struct priority_class_facts *facts);
/* resource: "" where it maps none. */
json_t *device_class_to_json(const char *name, const char *resource);

#endif
