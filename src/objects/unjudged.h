/*
 * unjudged: the parts of pod_not_evaluated() (include/objects/pod.h), one file each.
 *
 * They tell people what the answer leaves out; so what they can't read they pass over. Wrong types
 * are the decoders' to refuse.
 */
#ifndef OBJECTS_UNJUDGED_H
#define OBJECTS_UNJUDGED_H

#include "lines.h"

#include <jansson.h>

/* unjudged_containers.c: host ports, claims that are not in spec.resourceClaims, and, before
 * admission, missing requests. */
void unjudged_containers(const json_t *spec, bool admitted, struct lines *lines);
/* unjudged_annotations.c: of the legacy annotations what is no node affinity, and names of ours
 * that are not known. */
void unjudged_annotations(const json_t *metadata, struct lines *lines);

#endif
