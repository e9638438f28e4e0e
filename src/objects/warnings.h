/*
 * warnings: warnings about an object of a manifest: what has no effect in it.
 */
#ifndef OBJECTS_WARNINGS_H
#define OBJECTS_WARNINGS_H

#include "objects/templates/template_walk.h"
#include "objects/workload.h"

/* ---- warned ---- */

/* An object of a manifest, and warnings about it. */

struct warned {
    const char *kind;
    const char *namespace_;
    const char *name;
    const json_t *object;
    struct arena *arena;
    struct workload_list *list; /* gets the warnings */
};

/* Whether no more warnings fit. */
bool warned_is_full(const struct warned *warned);
/* Appends a warning; both texts are borrowed. Not if the list is full, or has it. */
void warned_add(const struct warned *warned, const char *path, const char *message);

/* ---- misplaced ---- */

/* Finds annotations of ours that have no effect, because of their place or their key. */

/* Appends warnings about a pod, or about a pod template (path: where it is; "" for a pod). */
void misplaced_find(const struct warned *object, const struct pod_template *template);
/* Appends warnings about the metadata of an object with pod templates, whose first is given. */
void misplaced_find_outside(const struct warned *object, const struct pod_template *template);

/* ---- old claims ---- */

/* Objects of dynamic resource allocation in forms that the API server does not serve
 * any more, or that have no effect. */

/* Warns of what the API server says to the object, and of what the same means in v1. */
void old_claims_warn(const struct warned *object, const char *api_version);
/* Why no API server takes such an object, which then does not count; NULL: one may. */
const char *old_claims_refusal(const char *kind, const char *api_version);

/* ---- visible gpus ---- */

/* Finds containers that ask the NVIDIA container runtime for GPUs by a variable,
 * which nothing counts. */

/* Appends warnings about a pod, or about a pod template (path: where it is; "" for a pod). */
void visible_gpus_find(const struct warned *object, const struct pod_template *template);

#endif
