/*
 * selector_texts: the CEL selectors of a device class or of a device request, as they are written.
 * Source: Kubernetes API resource.k8s.io/v1, DeviceSelector.
 */
#ifndef TYPES_SELECTOR_TEXTS_H
#define TYPES_SELECTOR_TEXTS_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

/* Limits of one list: the API's limit, and how many bytes of text are kept. */
#define SELECTOR_TEXTS_MAX ((size_t)32)
#define SELECTOR_TEXTS_BYTES_MAX ((size_t)16384)

/* A device must pass all of them; kube-scheduler asks them in this order. */
struct selector_texts {
    const char *const *texts;
    size_t n;
    bool is_cut; /* more than is kept, or of a kind that is not known: n is 0, and nobody can say
                  * which devices pass */
};

/* A DeviceClass. */
struct device_class_facts {
    const char *name;
    /* The extended resource that it maps to its devices; NULL or "": only the implicit name. Since
     * Kubernetes 1.36 kube-scheduler creates a claim for a pod that requests such a resource, on a
     * node that has none of it allocatable. */
    const char *resource;
    const char *driver; /* of all its devices; NULL or "": not known */
    struct selector_texts selectors;
};

bool selector_texts_equal(const struct selector_texts *a, const struct selector_texts *b);
/* In the arena. */
struct selector_texts selector_texts_copy(const struct selector_texts *selectors,
                                          struct arena *arena);

#endif
