/*
 * model_names: a GPU model as a name that is read back to it. Private to objects.
 */
#ifndef OBJECTS_MODEL_NAMES_H
#define OBJECTS_MODEL_NAMES_H

#include "base/buf.h"
#include "types/policy.h"

/* Adds its canonical name with how it is shared; where an alias of the policy takes that for
 * another model, one that it does not. */
void model_names_add(const struct gpu_model *model, const struct policy *policy, struct buf *out);

#endif
