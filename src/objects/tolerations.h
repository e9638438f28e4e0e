/*
 * tolerations: spec.tolerations, and the effects of taints.
 */
#ifndef OBJECTS_TOLERATIONS_H
#define OBJECTS_TOLERATIONS_H

#include "base/arena.h"
#include "base/err.h"
#include "types/facts.h"

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

#endif
