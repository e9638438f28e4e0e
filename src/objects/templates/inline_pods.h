/*
 * inline_pods: kinds that write parts of a pod's spec without a pod template around them: KServe's
 * InferenceService and LLMInferenceService, Argo's Workflow, Kubeflow's TrainJob, NVIDIA's
 * NIMService and NIMPipeline.
 */
#ifndef OBJECTS_TEMPLATES_INLINE_PODS_H
#define OBJECTS_TEMPLATES_INLINE_PODS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INLINE_PATH_MAX 4
#define INLINE_PARTS_MAX 18

/* A member that the made pod contains. */
struct inline_part {
    const char *key;
    const int *type; /* of schema.h; NULL: judged with the spec, or not */
};

struct inline_pods {
    const char *group;
    const char *kind;
    /* Keys from the parts of the spec up to the root; "[]" is an element of an array. */
    const char *path[INLINE_PATH_MAX + 1];
    /* A new pod template, which the caller owns. owner has the object, or the array of it. NULL: it
     * makes no pods, or they share too much with others. */
    json_t *(*make)(const json_t *root, const json_t *owner, const json_t *object);
    const int
        *type; /* of the object, whose kind has fields of its own there; NULL: of its own only */
    struct inline_part parts[INLINE_PARTS_MAX];
    /* The member that says which GPUs; without any, the controller knows which. NULL: then the pods
     * ask for none. */
    const char *gpus_in;
    const char *count;   /* the key of the number of pods; NULL: nothing says how many */
    bool one_by_default; /* a missing count means 1 */
    /* How many pods the count stands for; NULL: one. */
    int64_t (*pods_each)(const json_t *owner, const json_t *object);
    const char *note; /* what else makes the pods, and is not evaluated; NULL: nothing */
};

/* Rows for the kind, which end at one of another kind; NULL: none. */
const struct inline_pods *inline_pods_of_kind(const char *kind, const char *api_version);
/* Whether the row is for the same kind as the first. */
bool inline_pods_is_more(const struct inline_pods *first, const struct inline_pods *row);
bool inline_pods_has_part(const struct inline_pods *row, const char *key);

#endif
