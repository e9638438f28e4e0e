/*
 * misplaced: finds annotations of ours that have no effect, because of their place or their key.
 */
#ifndef OBJECTS_MISPLACED_H
#define OBJECTS_MISPLACED_H

#include "template_walk.h"
#include "warned.h"

/* Appends warnings about a pod, or about a pod template (path: where it is; "" for a pod). */
void misplaced_find(const struct warned *object, const struct pod_template *template);
/* Appends warnings about the metadata of an object with pod templates, whose first is given. */
void misplaced_find_outside(const struct warned *object, const struct pod_template *template);

#endif
