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

bool selector_texts_equal(const struct selector_texts *a, const struct selector_texts *b);
/* In the arena. */
struct selector_texts selector_texts_copy(const struct selector_texts *selectors,
                                          struct arena *arena);

#endif
