/*
 * controller_labels: the labels that Kubernetes' own controllers add to the pods of a template.
 * Keys of matchLabelKeys mostly name these.
 */
#ifndef OBJECTS_TEMPLATES_CONTROLLER_LABELS_H
#define OBJECTS_TEMPLATES_CONTROLLER_LABELS_H

#include "objects/fields.h"

#include <jansson.h>

/* The object around a template. */
struct controller {
    const char *kind;
    const char *name;
    bool is_known; /* all labels that it adds are in the table */
};

/* The pod template `made` with these labels: a new reference, which shares the rest. An unknown
 * value, such as the hash of a template, becomes one that no label may have, so no running pod has
 * it. */
json_t *controller_labels_add(const json_t *made, const struct controller *controller);
/* A line for each key of matchLabelKeys and mismatchLabelKeys, in required terms, whose value is
 * not known. made: the template without the added labels. */
struct text_list controller_labels_not_evaluated(const json_t *made,
                                                 const struct controller *controller,
                                                 struct arena *arena);

#endif
