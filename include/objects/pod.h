/*
 * pod: a Kubernetes Pod, or the template of one, read into facts. Source: Kubernetes API v1, Pod.
 */
#ifndef OBJECTS_POD_H
#define OBJECTS_POD_H

#include "base/arena.h"
#include "base/err.h"
#include "types/facts.h"
#include "types/policy.h"

#include <jansson.h>

/* Everything the facts point to lives in the arena; nothing points into the JSON.
 *
 * Demand: see demand.h. What makes the pod unable to run anywhere but leaves its demand known (a
 * GPU request that is not its limit, an annotation that can't be read, an affinity or toleration
 * that Kubernetes' validation refuses) is ret_facts->refusal, not an error. Texts of its condition
 * PodScheduled are cut at 4 KiB. A shape over the policy's limits.podShapeBytes is reduced to what
 * filter and bind judge (ledger/shape_limits.h). -EINVAL: a member of the wrong type, a quantity
 * that is none; the message names the path. A pod without a UID gets "NAMESPACE/NAME" for one;
 * without a namespace, "default". */
int pod_from_json(const json_t *object, const struct policy *policy, struct arena *arena,
                  struct pod_facts *ret_facts, struct err *err);

struct text_list {
    const char **items;
    size_t n;
};

/* What the pod uses that this program does not judge, one line each, for people: "resource claim
 * gpu (exclusive-gpu-claim): claims are not yet judged", "spec.topologySpreadConstraints", what
 * admission could still change ... At most 100; what can't be read is passed over. */
struct text_list pod_not_evaluated(const json_t *object, struct arena *arena);

/* The same of a pod that the API server has taken: without what admission could still change. One
 * text, a '\n' behind each line; at most 2 KiB of whole lines, the last of which says how many are
 * left out. NULL: there is nothing. */
const char *pod_not_evaluated_text(const json_t *object, struct arena *arena);

/* last: the last state of a pod that has finished or is gone. The name of the node whose kubelet
 * would not have it: it was bound to it, nobody was deleting it, and no kubelet had ever told of
 * its containers. NULL: that is not so. Borrowed from last. */
const char *pod_refused_by(const json_t *last);

#endif
