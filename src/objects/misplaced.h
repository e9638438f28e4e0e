/*
 * misplaced: finds annotations of ours that have no effect, because of their place or their key.
 */
#ifndef OBJECTS_MISPLACED_H
#define OBJECTS_MISPLACED_H

#include "objects/workload.h"
#include "template_walk.h"

/* An object of a manifest. */
struct misplaced_object {
    const char *kind;
    const char *namespace_;
    const char *name;
    const json_t *object;
};

/* Appends warnings about a pod, or about a pod template (path: where it is; "" for a pod). */
void misplaced_find(const struct misplaced_object *object, const struct pod_template *template,
                    struct arena *arena, struct workload_list *list);
/* Appends warnings about the metadata of an object with pod templates, whose first is given. */
void misplaced_find_outside(const struct misplaced_object *object,
                            const struct pod_template *template, struct arena *arena,
                            struct workload_list *list);

#endif
