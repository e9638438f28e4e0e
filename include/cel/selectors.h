/*
 * selectors: all selectors of one device class or of one device request, compiled. kube-scheduler
 * asks those of the class first, then those of the request, each list in its order.
 */
#ifndef CEL_SELECTORS_H
#define CEL_SELECTORS_H

#include "cel/cel.h"

struct cel_selectors {
    struct cel_program **programs;
    size_t n;
    bool is_cut; /* some are left out */
};

/* Compiles each text. All in the arena. */
struct cel_selectors cel_selectors_compile(const char *const *texts, size_t n, bool is_cut,
                                           struct arena *arena);
/* The verdict of the first program that is not valid, with its message; not judged if some are left
 * out. A list that is not valid must not be evaluated. */
enum cel_verdict cel_selectors_verdict(const struct cel_selectors *selectors,
                                       const char **ret_message);
/* True if all are true of the device. The first that is false, errs or is not judged ends it: that
 * one is *ret_i, else n. The cost is that of all that were evaluated. */
struct cel_answer cel_selectors_evaluate(const struct cel_selectors *selectors,
                                         const struct cel_device *device, struct arena *arena,
                                         size_t *ret_i);

#endif
