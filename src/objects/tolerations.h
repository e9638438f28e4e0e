/*
 * tolerations: spec.tolerations, and those that Kubernetes adds by itself.
 */
#ifndef OBJECTS_TOLERATIONS_H
#define OBJECTS_TOLERATIONS_H

#include "base/arena.h"
#include "base/err.h"
#include "types/facts.h"

#include <jansson.h>
#include <stdbool.h>

/* spec.tolerations into the shape. One with an operator that is not known tolerates nothing
 * (tolerations_unknown_operator()). -EINVAL: wrong types; -ENOTSUP: what Kubernetes' validation
 * refuses, as in affinity.h. */
int tolerations_read(const json_t *spec, struct arena *arena, struct shape_facts *shape,
                     struct err *err);

/* The toleration's operator if it is none that is judged here ("Lt", "Gt": numeric comparison of
 * Kubernetes 1.35), else NULL. */
const char *tolerations_unknown_operator(const json_t *toleration);

/* What the DaemonSet controller adds to its pods. */
void tolerations_add_daemon(struct shape_facts *shape, bool host_network, struct arena *arena);

/* Exists, NoSchedule, with the resource's name as key: what the admission plugin
 * ExtendedResourceToleration adds. */
void tolerations_add_resource(struct shape_facts *shape, const char *resource, struct arena *arena);

#endif
