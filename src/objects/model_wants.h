/*
 * model_wants: the annotations gpu-extender.io/models, exclude-models and min-gpu-memory.
 */
#ifndef OBJECTS_MODEL_WANTS_H
#define OBJECTS_MODEL_WANTS_H

#include "base/arena.h"
#include "base/err.h"
#include "types/facts.h"
#include "types/policy.h"

/* Values of the annotations; NULL: absent. */
struct model_wants_texts {
    const char *models;
    const char *exclude_models;
    const char *min_gpu_memory;
};

/* -EINVAL: a value is invalid, or an accepted model is also excluded; the message names the
 * annotation. */
int model_wants_read(const struct model_wants_texts *texts, const struct policy *policy,
                     struct arena *arena, struct model_wants *ret_wants, struct err *err);

#endif
