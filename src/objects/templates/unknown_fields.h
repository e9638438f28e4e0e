/*
 * unknown_fields: fields of manifests that Kubernetes does not know, and values that it rejects.
 */
#ifndef OBJECTS_TEMPLATES_UNKNOWN_FIELDS_H
#define OBJECTS_TEMPLATES_UNKNOWN_FIELDS_H

#include "objects/templates/template_walk.h"
#include "objects/warnings.h"

/* Appends a warning for each unknown field of an object of a built-in kind. True: it is one. */
bool unknown_fields_find(const struct warned *object, const char *api_version);
/* The same for a pod template of another kind. Such kinds have fields of their own there, so only
 * names close to a known one, which is missing, get a warning. */
void unknown_fields_find_near(const struct warned *object, const struct pod_template *template);

#endif
