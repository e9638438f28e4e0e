/*
 * device_requests: the requests of ResourceClaims and ResourceClaimTemplates in a manifest, and its
 * DeviceClasses, each with its CEL selectors. Source: Kubernetes API resource.k8s.io/v1, v1beta2
 * and v1beta1 (there a request has no `exactly`).
 */
#ifndef OBJECTS_DEVICE_REQUESTS_H
#define OBJECTS_DEVICE_REQUESTS_H

#include "base/arena.h"
#include "types/selector_texts.h"

#include <jansson.h>
#include <stdbool.h>

struct device_selector {
    const char *path; /* "spec.devices.requests[0].exactly.selectors[0].cel.expression" */
    const char *expression;
};

struct device_request {
    const char *object; /* "ResourceClaim ml/train"; "DeviceClass gpu" */
    const char *path;   /* "spec.devices.requests[0].exactly"; of a class "spec" */
    bool is_class;
    const char *class_name; /* of a class its own name; "": the request has none */
    const struct device_selector *selectors;
    size_t n_selectors;
    bool lacks_selectors; /* some are left out: it cannot be judged */
};

struct device_request_list {
    struct device_request *items;
    size_t n;
    size_t n_selectors; /* of all; the rest is left out, which is_cut says */
    bool is_cut;
    bool lacks_classes; /* among what is left out */
};

#define DEVICE_REQUESTS_MAX ((size_t)200)
#define DEVICE_SELECTORS_MAX ((size_t)400)

/* Appends those of the object, which may be of any kind. All in the arena. True: it is a class that
 * counts, the first of its name. */
bool device_requests_find(const json_t *object, const char *kind, const char *namespace_,
                          const char *name, struct arena *arena, struct device_request_list *list);
/* The same of a class of the cluster. Borrows the texts. */
const struct device_request *
device_requests_of_class(const char *name, const struct selector_texts *texts, struct arena *arena);

#endif
