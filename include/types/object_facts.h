/*
 * object_facts: facts of classes, as facts.h and device_facts.h have those of other objects. The
 * structs own nothing that they point to.
 */
#ifndef TYPES_OBJECT_FACTS_H
#define TYPES_OBJECT_FACTS_H

#include "types/selector_texts.h"

#include <stdint.h>

/* An object of which only the name is read. */
struct name_facts {
    const char *name;
};

/* scheduling.k8s.io/v1 PriorityClass. */
struct priority_class_facts {
    const char *name;
    int64_t value;
    bool is_default;     /* globalDefault: for pods without a class */
    bool never_preempts; /* preemptionPolicy Never */
};

/* A DeviceClass of dynamic resource allocation. */
struct device_class_facts {
    const char *name;
    /* The extended resource that it maps to its devices; NULL or "": only the implicit name. Since
     * Kubernetes 1.36 kube-scheduler creates a claim for a pod that requests such a resource, on a
     * node that has none of it allocatable. */
    const char *resource;
    const char *driver; /* of all its devices; NULL or "": not known */
    struct selector_texts selectors;
};

#endif
