/*
 * selectors: the compiled selectors of one device class or of one device request. kube-scheduler
 * evaluates those of the class first, then those of the request, each list in its order.
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
/* The verdict and message of the first program that is not valid. If all are valid but some are
 * left out: CEL_NOT_JUDGED. Evaluate only a valid list. */
enum cel_verdict cel_selectors_verdict(const struct cel_selectors *selectors,
                                       const char **ret_message);
/* The value is true if the device passes all programs. Stops at the first that is false, fails or
 * is not judged: *ret_i is its index, else n. The cost is the sum of all evaluated programs. */
struct cel_answer cel_selectors_evaluate(const struct cel_selectors *selectors,
                                         const struct cel_device *device, struct arena *arena,
                                         size_t *ret_i);

#endif
