/*
 * tolerations: spec.tolerations, and the effects of taints.
 */
#ifndef OBJECTS_TOLERATIONS_H
#define OBJECTS_TOLERATIONS_H

#include "base/arena.h"
#include "base/err.h"
#include "types/facts.h"
#include "types/policy.h"

#include <jansson.h>
#include <stdbool.h>

/* ---- taint effect ---- */

#define TAINT_EFFECT_NAMES "NoSchedule, PreferNoSchedule or NoExecute"

/* False: unknown name; ret_effect is unchanged. */
bool taint_effect_from_name(const char *name, enum taint_effect *ret_effect);

const char *taint_effect_name(enum taint_effect effect);

/* ---- tolerations ---- */

/* spec.tolerations, and tolerations that Kubernetes adds. */

/* Reads spec.tolerations into the shape. An unknown operator tolerates nothing
 * (tolerations_unknown_operator()). -EINVAL: wrong types; -ENOTSUP: Kubernetes' validation rejects
 * it, as in affinity.h. */
int tolerations_read(const json_t *spec, struct arena *arena, struct shape_facts *shape,
                     struct err *err);

/* The operator if it is not supported here ("Lt", "Gt": numeric comparison of Kubernetes 1.35),
 * else NULL. */
const char *tolerations_unknown_operator(const json_t *toleration);

/* Adds the tolerations of the DaemonSet controller. */
void tolerations_add_daemon(struct shape_facts *shape, bool host_network, struct arena *arena);

/* Adds the tolerations of not-ready and unreachable nodes (NoExecute) that the pod lacks, like the
 * admission plugin DefaultTolerationSeconds. */
void tolerations_add_default(struct shape_facts *shape, struct arena *arena);

/* Adds Exists, NoSchedule with the resource's name as key, like the admission plugin
 * ExtendedResourceToleration. */
void tolerations_add_resource(struct shape_facts *shape, const char *resource, struct arena *arena);

/* ---- the annotation gpu-extender.io/domain: "require LEVEL" or "prefer LEVEL" ---- */

/* LEVEL is a key of the policy's topology.levels, or the part after its '/'; of several, the
 * innermost. -EINVAL: another text; err says what would be right. */
int domain_wish_read(const char *text, const struct policy *policy, struct arena *arena,
                     struct domain_wish *ret_wish, struct err *err);

/* ---- peer terms ---- */
/* Decodes what decides which pods may be near each other: a pod's labels, its required affinity
 * and anti-affinity between pods, and its hard topology spread constraints.  Errors as in
 * affinity.h. Preferences are left out. */

/* metadata, spec: of a pod. On an error the labels are read if they could be. -E2BIG: the API
 * server allows it, but it has too many terms to judge. */
int peer_terms_read(const json_t *metadata, const json_t *spec, struct arena *arena,
                    struct peer_facts *ret_facts, struct err *err);
/* matchLabels and matchExpressions of the member; *ret_is_none: it is absent. */
int peer_terms_read_selector(const json_t *object, const char *member, struct arena *arena,
                             struct selector_term *ret_term, bool *ret_is_none, struct err *err);

#endif
